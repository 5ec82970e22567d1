"""A file that was read: its text, and what stands in it.

Knows nothing of the input language. A file that has been read before carries the data of its documents
as bytes; its nodes are then made when somebody asks for a place in it, which most runs never do.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from dracfg.dataclass import dataclass
from dracfg.source.nodes import Document, Map, Node, Seq


@dataclass(frozen=True)
class SourceFile:
    """A file that was read, whether or not it could be understood.

    `composed` are its documents, None where they are to be made from the text. `kept` is their data,
    as `source.plain` writes it, None where that has not been worked out.
    """

    path: str
    text: str
    composed: tuple[Document, ...] | None = None
    kept: bytes | None = None

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        if self.composed is not None:
            return self.composed
        from dracfg.source.composer import compose  # YAML is not read in every run

        return compose(self.path, self.text)[0]

    @cached_property
    def maps(self) -> tuple[Map, ...]:
        """The mappings of all documents in the order in which they begin, as often as they stand there."""
        return tuple(node for document in self.documents for node in _maps(document.root))


class UnreadMap(NamedTuple):
    """The mapping of `file.maps` at `position`, for whoever keeps the place and not the node."""

    file: SourceFile
    position: int

    def read(self) -> Map:
        return self.file.maps[self.position]


def _maps(node: Node) -> Iterator[Map]:
    if isinstance(node, Map):
        yield node
        for entry in node.entries.values():
            yield from _maps(entry.value)
    elif isinstance(node, Seq):
        for item in node.items:
            yield from _maps(item)
