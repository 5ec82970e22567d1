"""Located values: what a YAML document says, and where it says it.

Knows nothing of the input language. A node keeps the place of every key and value, so that any
later stage can point at the exact characters. A fleet has hundreds of thousands of nodes, of which
few are ever pointed at: they are tuples, and their spans are made when asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span

ScalarValue = str | int | bool | Decimal | None

Place = tuple[str, int, int, int, int]
"""What a `Span` holds, in its order."""


class Scalar(NamedTuple):
    """One value. `text` is what stands in the file after unquoting, `plain` says it was unquoted."""

    place: Place
    value: ScalarValue
    text: str
    plain: bool = False

    @property
    def span(self) -> Span:
        return Span(*self.place)


class Entry(NamedTuple):
    """A key of a mapping with its value."""

    key: Scalar
    value: Node


class Map(NamedTuple):
    """A mapping, keys by their text in the order of the file."""

    place: Place
    entries: dict[str, Entry]

    @property
    def span(self) -> Span:
        return Span(*self.place)


class Seq(NamedTuple):
    """A sequence."""

    place: Place
    items: tuple[Node, ...]

    @property
    def span(self) -> Span:
        return Span(*self.place)


Node = Scalar | Map | Seq


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document of a file; `index` counts from 0.

    Where it is not `sound`, a fault was found in it, and `root` is what could be read all the same:
    enough to know which document it was, not to believe what it says.
    """

    path: str
    index: int
    root: Node
    sound: bool = True


def follow(node: Node, steps: Iterable[str | int]) -> tuple[Node, Scalar | None]:
    """The node at the end of a path, and the key it stands under; stops at the last that exists.

    Steps that name nothing are passed over, so a path that was made for a richer tree (an error
    location of a validator, say) still leads to the nearest place.
    """
    key: Scalar | None = None
    for step in steps:
        if isinstance(node, Map) and isinstance(step, str) and step in node.entries:
            entry = node.entries[step]
            node, key = entry.value, entry.key
        elif isinstance(node, Seq) and isinstance(step, int) and 0 <= step < len(node.items):
            node, key = node.items[step], None
    return node, key


def kind_of(node: Node) -> str:
    """How a person calls what stands there: "a list", "text", "a number"."""
    if isinstance(node, Map):
        return "a map"
    if isinstance(node, Seq):
        return "a list"
    match node.value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | Decimal():
            return "a number"
        case _:
            return "text"
