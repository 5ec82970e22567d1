"""Located values: what a YAML document says, and where it says it.

Knows nothing of the input language. A node keeps the span of every key and value, so that any
later stage can point at the exact characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from dracfg.diagnostics import Span

ScalarValue = str | int | bool | Decimal | None


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. `text` is what stands in the file after unquoting, `plain` says it was unquoted."""

    span: Span
    value: ScalarValue
    text: str
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a mapping with its value."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class Map:
    """A mapping, keys by their text in the order of the file."""

    span: Span
    entries: dict[str, Entry]


@dataclass(frozen=True, slots=True)
class Seq:
    """A sequence."""

    span: Span
    items: tuple[Node, ...]


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


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read, whether or not it could be understood."""

    path: str
    text: str
    documents: tuple[Document, ...]


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
