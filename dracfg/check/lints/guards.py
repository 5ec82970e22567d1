"""Whether an expression may raise for want of an attribute, and whether it tests the driver.

An expression is evaluated over what is known of a device: one look-up is missing, all else may be
anything. As in CEL, `false && error` is false and `true || error` is true, whichever stands first;
so a guard counts wherever it decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import product
from typing import Literal as Choice

from dracfg.cel import Read
from dracfg.cel.syntax import (
    Call,
    Comprehension,
    Expression,
    Identifier,
    ListLiteral,
    Literal,
    children,
)
from dracfg.check.lints.lookups import OPTIONAL, Bindings, LookUp, bound, named, read_at
from dracfg.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a part of an expression may come to: one value, any value, an error, no value."""

    kind: Choice["constant", "any", "error", "none"]
    value: object = None
    type: str = ""


Outcomes = frozenset[Outcome]

ANY, ERROR, NONE = Outcome("any"), Outcome("error"), Outcome("none")
TRUE, FALSE = Outcome("constant", True, "bool"), Outcome("constant", False, "bool")
EITHER: Outcomes = frozenset({TRUE, FALSE})
TESTS = frozenset({"startsWith", "endsWith", "contains", "matches"})


@dataclass(frozen=True, slots=True)
class Unguarded:
    """A look-up that ends the evaluation with an error where a device lacks it.

    `otherwise` where the expression may still take a device without it.
    """

    look_up: LookUp
    otherwise: bool


def unguarded(tree: Expression, found: Iterable[LookUp], driver: str | None) -> Iterator[Unguarded]:
    """The first raising place of each attribute and capacity on devices of the driver."""
    by_read: dict[Read, list[LookUp]] = {}
    for look_up in found:
        by_read.setdefault(look_up.read, []).append(look_up)
    for read, places in by_read.items():
        outcomes = _Evaluation(driver, own=True, missing=read).run(tree)
        if ERROR not in outcomes:
            continue
        for place in places:
            alone = _Evaluation(driver, own=True, missing=read, only=place.node.id)
            if ERROR in alone.run(tree):
                yield Unguarded(place, TRUE in _as_bool(outcomes))
                break


def takes_other_drivers(tree: Expression) -> bool:
    """Whether a device of a driver that the expression does not name may match or raise."""
    return _as_bool(_Evaluation(None, own=False).run(tree)) != {FALSE}


def conjuncts(tree: Expression) -> tuple[Expression, ...]:
    """The terms that must all hold, in the order of the text."""
    if isinstance(tree, Call) and tree.function == "_&&_":
        return tuple(term for part in tree.arguments for term in conjuncts(part))
    return (tree,)


def is_driver_test(node: Expression) -> bool:
    """Whether a term compares the driver's name."""
    if not isinstance(node, Call):
        return False
    return node.function in ("_==_", "@in", *TESTS) and any(map(_is_driver, children(node)))


def _is_driver(node: Expression) -> bool:
    return isinstance(node, Identifier) and node.name == "device.driver"


@dataclass(slots=True)
class _Evaluation:
    """One evaluation: on a device of `driver` (`own`) or of another, with a look-up missing.

    `only` is the node that raises; the same look-up elsewhere then has some value.
    """

    driver: str | None
    own: bool
    missing: Read | None = None
    only: int | None = None
    values: dict[str, Outcomes] = field(default_factory=dict)

    def run(self, node: Expression, bindings: Bindings | None = None) -> Outcomes:
        names: Bindings = bindings or {}
        found = read_at(node, names)
        if found is not None and named(found[0], self.driver) == self.missing:
            return self._missing(node, found[1])
        match node:
            case Literal():
                return frozenset({Outcome("constant", node.value, type(node.value).__name__)})
            case Identifier():
                return self.values.get(node.name, _unknown(node))
            case Comprehension():
                return self._loop(node, names)
            case Call():
                return self._call(node, names)
        return _combined(node, [self.run(child, names) for child in children(node)])

    def _missing(self, node: Expression, tests: bool) -> Outcomes:
        if isinstance(node, Call) and node.function in OPTIONAL:
            return frozenset({NONE})
        if tests:
            return frozenset({FALSE})
        return frozenset({ERROR}) if self.only in (None, node.id) else _unknown(node)

    def _call(self, node: Call, names: Bindings) -> Outcomes:
        decided = self._driver_test(node)
        if decided is not None:
            return decided
        parts = [self.run(child, names) for child in children(node)]
        match node.function:
            case "_&&_" | "_||_":
                return _joined(parts, FALSE if node.function == "_&&_" else TRUE)
            case "!_":
                return frozenset(map(_negated, _as_bool(parts[0])))
            case "_?_:_":
                return _chosen(*parts)
            case "_==_" | "_!=_":
                return _compared(parts[0], parts[1], equal=node.function == "_==_")
            case "optional.none":
                return frozenset({NONE})
            case "hasValue" | "value" | "orValue" | "or":
                return _unwrapped(node, parts)
            case "_?._" | "_[?_]" if NONE in parts[0]:
                return frozenset({NONE}) | _combined(node, [parts[0] - {NONE}, *parts[1:]])
        return _combined(node, parts)

    def _driver_test(self, node: Call) -> Outcomes | None:
        parts = children(node)
        if node.function not in ("_==_", "_!=_", "@in", *TESTS) or not any(map(_is_driver, parts)):
            return None
        holds = self.own
        other = next((part for part in parts if not _is_driver(part)), None)
        if self.own and self.driver is not None:
            wanted = other.elements if isinstance(other, ListLiteral) else (other,)
            constants = [part.value for part in wanted if isinstance(part, Literal)]
            if len(constants) != len(wanted) or node.function in TESTS:
                return EITHER
            holds = self.driver in constants
        return frozenset({TRUE if holds == (node.function != "_!=_") else FALSE})

    def _loop(self, node: Comprehension, names: Bindings) -> Outcomes:
        inner = bound(node, names)
        initial = self.run(node.initial, names)
        kept = dict(self.values)
        if node.is_bind:
            self.values[node.accumulator] = initial
            result = self.run(node.result, inner)
        else:
            source = self.run(node.range, names)
            self.values[node.accumulator] = initial | _unknown(node)
            result = (
                self.run(node.step, inner) | initial | self.run(node.condition, inner) & {ERROR}
            )
            self.values[node.accumulator] = result
            result = self.run(node.result, inner) | (source & {ERROR})
        self.values = kept
        return result


def _unknown(node: Expression) -> Outcomes:
    return EITHER if node.type.name == "bool" else frozenset({ANY})


def _as_bool(outcomes: Outcomes) -> Outcomes:
    """The outcomes where a bool is wanted: what may be anything may be true or false."""
    plain = outcomes & {TRUE, FALSE, ERROR}
    return plain if len(plain) == len(outcomes) else plain | EITHER


def _negated(outcome: Outcome) -> Outcome:
    return {TRUE: FALSE, FALSE: TRUE}.get(outcome, outcome)


def _joined(parts: Iterable[Outcomes], decides: Outcome) -> Outcomes:
    """`&&` (decided by false) or `||` (decided by true) of the parts."""
    neutral = _negated(decides)
    found = set()
    for pair in product(*map(_as_bool, parts)):
        found.add(decides if decides in pair else ERROR if ERROR in pair else neutral)
    return frozenset(found)


def _chosen(condition: Outcomes, then: Outcomes, otherwise: Outcomes) -> Outcomes:
    ways: Mapping[Outcome, Outcomes] = {
        TRUE: then,
        FALSE: otherwise,
        ERROR: frozenset({ERROR}),
    }
    return frozenset(outcome for way in _as_bool(condition) for outcome in ways[way])


def _compared(left: Outcomes, right: Outcomes, *, equal: bool) -> Outcomes:
    found: set[Outcome] = set()
    for a, b in product(left, right):
        if ERROR in (a, b):
            found.add(ERROR)
        elif a.kind == b.kind == "constant":
            same = (a.type, a.value) == (b.type, b.value)
            found.add(TRUE if same == equal else FALSE)
        else:
            found |= EITHER
    return frozenset(found)


def _unwrapped(node: Call, parts: list[Outcomes]) -> Outcomes:
    """What the functions of an optional value give."""
    held, *others = parts
    found: set[Outcome] = set(held & {ERROR})
    if NONE in held:
        match node.function:
            case "hasValue":
                found.add(FALSE)
            case "value":
                found.add(ERROR)
            case _:
                found |= others[0]
    if held - {NONE, ERROR}:
        found |= _unknown(node)
    return frozenset(found)


def _combined(node: Expression, parts: Iterable[Outcomes]) -> Outcomes:
    """Any other operation: an error in a part is its error."""
    parts = list(parts)
    errors: Outcomes = frozenset({ERROR}) if any(ERROR in part for part in parts) else frozenset()
    may_work = all(part - {ERROR} for part in parts)
    return errors | (_unknown(node) if may_work else frozenset())
