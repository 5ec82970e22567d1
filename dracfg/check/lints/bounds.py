"""SEL013: strict bounds that leave out the very device that is meant."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.cel import Semver
from dracfg.cel.syntax import Call, Expression, Literal
from dracfg.check.lints.context import PARSED, Context, end_of_call
from dracfg.check.lints.finding import Lint, LintFinding
from dracfg.check.lints.names import meant
from dracfg.check.lints.text import Edit, called_at, closing, token_at
from dracfg.kube.quantity import Quantity

STRICT = {"isGreaterThan": ">=", "isLessThan": "<="}
STRICT_SIGNS = {"_>_": ">=", "_<_": "<="}


def strict_call(context: Context, node: Call, value: Expression) -> Iterator[Lint]:
    """SEL013: `isGreaterThan` and `isLessThan` at the very value that the modelled device has."""
    argument = node.arguments[0]
    called = called_at(context.text, node.offset)
    if called is None or not _is_modelled(context, value, argument):
        return
    end = end_of_call(context, argument)
    after = closing(context.text, end, 1) if end is not None else None
    edits: tuple[Edit, ...] = ()
    if after is not None and node.id not in context.negated:
        sign = STRICT[node.function]
        edits = (
            Edit(called.start, called.end, "compareTo"),
            Edit(after, after, f" {sign} 0"),
        )
    yield _boundary(context, value, called.start, called.length, STRICT[node.function], edits)


def strict_sign(
    context: Context, node: Call, value: Expression, bound: Expression
) -> Iterator[Lint]:
    """SEL013: the same with `>` and `<`, for numbers."""
    if node.function not in STRICT_SIGNS or not _is_modelled(context, value, bound):
        return
    sign = token_at(context.text, node.offset)
    edit = Edit(sign.start, sign.end, STRICT_SIGNS[node.function])
    yield _boundary(context, value, sign.start, sign.length, edit.text, (edit,))


def _boundary(
    context: Context,
    value: Expression,
    offset: int,
    length: int,
    sign: str,
    edits: tuple[Edit, ...],
) -> Lint:
    look_up = context.look_ups[value.id]
    amount = context.modelled[meant(look_up, context.facts).key]
    finding = LintFinding(
        "SEL013",
        offset,
        length,
        f"the tier's own device has {look_up.read.id} {amount}, and this leaves it out",
        f"use compareTo(…) {sign} 0",
        fix=edits[0].text if len(edits) == 1 else None,
    )
    return Lint(finding, edits)


def _is_modelled(context: Context, value: Expression, bound: Expression) -> bool:
    look_up = context.look_ups.get(value.id)
    if look_up is None:
        return False
    amount = context.modelled.get(meant(look_up, context.facts).key)
    if isinstance(bound, Literal) and type(bound.value) is int:
        return amount is not None and type(amount) is int and amount == bound.value
    if not isinstance(bound, Call) or bound.function not in PARSED or not bound.arguments:
        return False
    text = bound.arguments[0]
    if not isinstance(text, Literal) or not isinstance(text.value, str):
        return False
    try:
        if bound.function == "quantity":
            return amount == Quantity.parse(text.value)
        return isinstance(amount, str) and Semver.normalise(amount) == Semver.normalise(text.value)
    except ValueError:
        return False
