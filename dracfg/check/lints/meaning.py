"""What an expression means, as a key: the same for texts that differ in writing only.

Blanks, quotes, `.x` or `["x"]`, `has(…)` or `in`, the order of terms and `device.driver` as a domain
make no difference.
"""

from __future__ import annotations

from collections.abc import Hashable

from dracfg.cel.devices import OWN_DOMAIN
from dracfg.cel.syntax import (
    Call,
    Comprehension,
    Expression,
    Identifier,
    ListLiteral,
    Literal,
    MapLiteral,
    MessageLiteral,
    Select,
)

SYMMETRIC = ("_==_", "_!=_")
JOINED = ("_&&_", "_||_")


def meaning(node: Expression, driver: str | None) -> Hashable:
    """The key; `driver` is whose devices the expression is put to."""
    match node:
        case Literal():
            value = OWN_DOMAIN if driver is not None and node.value == driver else node.value
            return ("constant", type(value).__name__, value)
        case Identifier(name="device.driver") if driver is not None:
            return ("driver",)
        case Identifier():
            return ("name", node.name)
        case Select():
            return ("has" if node.test else "at", meaning(node.operand, driver), node.field)
        case ListLiteral():
            return ("list", tuple(meaning(part, driver) for part in node.elements))
        case MapLiteral():
            pairs = ((meaning(k, driver), meaning(v, driver)) for k, v in node.entries)
            return ("map", tuple(pairs))
        case MessageLiteral():
            return ("message", node.name, tuple(meaning(part, driver) for part in node.values))
        case Comprehension():
            parts = (node.range, node.initial, node.condition, node.step, node.result)
            names = (node.variable, node.second, node.accumulator)
            return ("loop", names, tuple(meaning(part, driver) for part in parts))
    return _call(node, driver)


def _call(node: Call, driver: str | None) -> Hashable:
    if node.function in JOINED:
        terms = frozenset(meaning(part, driver) for part in _terms(node, node.function))
        return (node.function, terms)
    if node.function == "_[_]" and (name := _text(node.arguments[1])) is not None:
        holder = meaning(node.arguments[0], driver)
        return ("at", holder, OWN_DOMAIN if name == driver else name)
    if node.function == "_[_]" and _is_driver(node.arguments[1]):
        return ("at", meaning(node.arguments[0], driver), OWN_DOMAIN)
    if node.function == "@in" and (name := _text(node.arguments[0])) is not None:
        return ("has", meaning(node.arguments[1], driver), name)
    target = None if node.target is None else meaning(node.target, driver)
    arguments = tuple(meaning(part, driver) for part in node.arguments)
    if node.function in SYMMETRIC:
        return (node.function, frozenset(arguments))
    return ("call", node.function, target, arguments)


def _terms(node: Expression, function: str) -> tuple[Expression, ...]:
    if isinstance(node, Call) and node.function == function:
        return tuple(term for part in node.arguments for term in _terms(part, function))
    return (node,)


def _text(node: Expression) -> str | None:
    return node.value if isinstance(node, Literal) and isinstance(node.value, str) else None


def _is_driver(node: Expression) -> bool:
    return isinstance(node, Identifier) and node.name == "device.driver"
