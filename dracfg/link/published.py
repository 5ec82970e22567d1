"""What a tier's devices publish, as far as the driver's preset and the documents say.

Chart values decide what many drivers publish; a value that the document does not set has the
chart's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import RequestPolicy, ValidRange, consumed
from dracfg.link.catalog import Tier
from dracfg.link.driver import Driver
from dracfg.link.presetdata import RequestPolicyFact

_WHOLE_VALUE = "capacity"


@dataclass(frozen=True, slots=True)
class Consumption:
    """What a request takes of a capacity; `amount` None means that no device can be given.

    `policy` is the request policy that the driver publishes, None where it publishes none.
    """

    amount: Quantity | None
    policy: RequestPolicy | None


def chart_values(driver: Driver) -> Mapping[str, object]:
    """The driver's chart values by dotted path: the defaults, and what the document sets."""
    values: dict[str, object] = {}
    if driver.preset is not None:
        values = {path: fact.default for path, fact in driver.preset.helm.values.items()}
    return values | _flat(driver.document.spec.values)


def value_text(value: object) -> str:
    """A chart value as Helm prints it: true and false in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def device_type(tier: Tier) -> str | None:
    """The preset's name for the type of a tier's devices, where an attribute says it."""
    preset = tier.driver.preset
    if preset is None:
        return None
    spec = tier.document.spec
    said = {**spec.device.attributes, **spec.match.attributes}
    for name, fact in preset.device_types.items():
        if fact.attribute is not None and said.get(fact.attribute) == fact.value:
            return name
    return None


def consumption(tier: Tier, key: str, requested: Quantity | None) -> Consumption | None:
    """What a request of an amount takes on a device of the tier; None where that is not known.

    `key` is spelled as published, `requested` is None for a claim that does not name it.
    """
    preset, value = tier.driver.preset, tier.capacity.get(key)
    if preset is None or value is None:
        return None
    fact = preset.capacity_fact(key, tier.driver.document.spec.version)
    if fact is None:
        return None
    policy: RequestPolicy | None = None
    if fact.request_policies:
        values = {path: value_text(found) for path, found in chart_values(tier.driver).items()}
        published = fact.policy_for(values, device_type(tier))
        if published is None:
            return None
        policy = _policy(published, value)
    return Consumption(consumed(requested, policy, value), policy)


def _policy(fact: RequestPolicyFact, value: Quantity) -> RequestPolicy:
    least, most, step = (_amount(text, value) for text in (fact.min, fact.max, fact.step))
    return RequestPolicy(
        default=_amount(fact.default, value),
        valid_values=tuple(Quantity.parse(text) for text in fact.values),
        valid_range=None if least is None else ValidRange(least, most, step),
    )


def _amount(text: str | None, value: Quantity) -> Quantity | None:
    if text is None:
        return None
    return value if text == _WHOLE_VALUE else Quantity.parse(text)


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in values.items():
        path = f"{above}.{key}" if above else key
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, path)
        else:
            flat[path] = value
    return flat
