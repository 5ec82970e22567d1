"""A file that was read: its text, and what stands in it.

Knows nothing of the input language. A file that has been read before carries the data of its documents
as bytes; its nodes are then made when somebody asks for a place in it, which most runs never do.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dracfg.dataclass import dataclass
from dracfg.source.nodes import Document, Map


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


class UnreadMap(NamedTuple):
    """The mapping that a document of a file is, for whoever keeps the file and not the nodes.

    `position` is the document's; of what it is no mapping, none may be kept.
    """

    file: SourceFile
    position: int

    def read(self) -> Map:
        root = self.file.documents[self.position].root
        assert isinstance(root, Map)
        return root
