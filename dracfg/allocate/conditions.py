"""What a class or a request asks of a device, condition by condition, each with CEL text of its own.

All conditions of a class together mean what its selectors mean; one by one they tell which of them
a device fails. Evaluates nothing.
"""

from __future__ import annotations

from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.link.classes import ClassPlan
from dracfg.link.driver import Driver
from dracfg.lower.selectors import effective_match, expression
from dracfg.model.tier import AttributeMatch, CapacityRange, Match

Root = Literal["sharing", "attributes", "capacity", "cel"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition. `key` is spelled as the document has it, for raw CEL it is the number there.

    `wanted` is the value or the range of the document, None for raw CEL and for sharing.
    """

    root: Root
    key: str
    wanted: AttributeMatch | CapacityRange | None
    expression: str


def conditions(plan: ClassPlan) -> tuple[Condition, ...]:
    """The conditions of a class beside its driver, in the order of its selectors."""
    driver = plan.tier.driver
    found: list[Condition] = []
    if plan.sharing_test is not None:
        text = expression(driver, Match(), plan.sharing_test)
        found.append(Condition("sharing", plan.sharing_test, None, text))
    return (*found, *conditions_of(driver, effective_match(plan)))


def conditions_of(driver: Driver, match: Match) -> tuple[Condition, ...]:
    """The conditions of a match, in the order of its selectors."""
    found: list[Condition] = []
    for key, wanted in sorted(match.attributes.items()):
        text = expression(driver, Match(attributes={key: wanted}))
        found.append(Condition("attributes", key, wanted, text))
    for key, bounds in sorted(match.capacity.items()):
        text = expression(driver, Match(capacity={key: bounds}))
        found.append(Condition("capacity", key, bounds, text))
    for number, text in enumerate(match.cel):
        found.append(Condition("cel", str(number), None, text))
    return tuple(found)
