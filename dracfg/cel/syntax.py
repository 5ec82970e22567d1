"""A checked expression as a tree of values, macros expanded.

Every node has the engine's id, its offset in the expression (code points from 0) and its type. It
may not know where the tree comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from dracfg.cel.signatures import Type
from dracfg.dataclass import dataclass

__all__ = [
    "Call",
    "Comprehension",
    "Expression",
    "Identifier",
    "ListLiteral",
    "Literal",
    "MapLiteral",
    "MessageLiteral",
    "Select",
    "children",
    "walk",
]


@dataclass(frozen=True, slots=True)
class _Node:
    id: int
    offset: int
    type: Type


@dataclass(frozen=True, slots=True)
class Literal(_Node):
    """A constant."""

    value: bool | int | float | str | bytes | None


@dataclass(frozen=True, slots=True)
class Identifier(_Node):
    """A variable by its full name, such as `device.attributes` or a loop variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(_Node):
    """`operand.field`, or `has(operand.field)` where `test` is set."""

    operand: Expression
    field: str
    test: bool


@dataclass(frozen=True, slots=True)
class Call(_Node):
    """A function or an operator; `target` is the receiver of a member call."""

    function: str
    target: Expression | None
    arguments: tuple[Expression, ...]
    overloads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListLiteral(_Node):
    """`[a, b]`."""

    elements: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral(_Node):
    """`{a: b}`."""

    entries: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class MessageLiteral(_Node):
    """`Name{field: value}`."""

    name: str
    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Comprehension(_Node):
    """A loop over a list or over the keys of a map; `second` is the value variable of two-variable loops."""

    variable: str
    second: str
    range: Expression
    accumulator: str
    initial: Expression
    condition: Expression
    step: Expression
    result: Expression

    @property
    def is_bind(self) -> bool:
        """Whether this is `cel.bind`: a loop over nothing that only names a value."""
        return (
            isinstance(self.range, ListLiteral)
            and not self.range.elements
            and isinstance(self.condition, Literal)
            and self.condition.value is False
            and self.accumulator not in ("@result", "__result__")
        )


Expression: TypeAlias = (
    Literal | Identifier | Select | Call | ListLiteral | MapLiteral | MessageLiteral | Comprehension
)


def children(node: Expression) -> tuple[Expression, ...]:
    """The direct parts in source order."""
    match node:
        case Select():
            return (node.operand,)
        case Call():
            return (*((node.target,) if node.target else ()), *node.arguments)
        case ListLiteral():
            return node.elements
        case MapLiteral():
            return tuple(part for entry in node.entries for part in entry)
        case MessageLiteral():
            return node.values
        case Comprehension():
            return (node.range, node.initial, node.condition, node.step, node.result)
    return ()


def walk(node: Expression) -> Iterator[Expression]:
    """The node and all below it, each before its parts."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(children(node))
