"""What the lints on values go by: the text, its look-ups, and what is known of their values."""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.cel.syntax import Call, Expression, Literal
from dracfg.check.lints.facts import DriverFacts
from dracfg.check.lints.lookups import LookUp
from dracfg.check.lints.names import meant
from dracfg.check.lints.text import closing, token_at
from dracfg.dataclass import dataclass

PARSED = {"quantity": "quantity", "semver": "version"}
"""Functions that read text, with the type of what they give."""

Modelled = Mapping[str, object]
"""`<domain>/<id>` → what the modelled device publishes: text, a number, or a Quantity."""


@dataclass(frozen=True, slots=True)
class Context:
    """One expression under judgement.

    `look_ups` are by the id of their node, those that only test left out; `negated` are the ids of
    what stands behind a `!`.
    """

    text: str
    look_ups: Mapping[int, LookUp]
    facts: DriverFacts | None
    modelled: Modelled
    negated: frozenset[int]

    def type_of(self, node: Expression) -> str | None:
        """The type of what a node looks up: of an attribute, or `quantity`; None where not known."""
        look_up = self.look_ups.get(node.id)
        if look_up is None:
            return None
        wanted = meant(look_up, self.facts)
        if wanted.root == "capacity":
            return "quantity"
        if self.facts is None or self.facts.takes_lists(wanted.key):
            return None
        return self.facts.type_of(wanted.key)


def end_of_call(context: Context, node: Expression) -> int | None:
    """Where `quantity("…")` or `semver("…")` ends."""
    if not isinstance(node, Call) or len(node.arguments) != 1:
        return None
    argument = node.arguments[0]
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        return None
    return closing(context.text, token_at(context.text, argument.offset).end, 1)
