"""Comments of a file that was read, found without reading it a second time.

The parser drops comments. A `#` that could start one does so unless it lies in a quoted or block
scalar, and the nodes know where those are. Knows nothing of what a comment says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.source.files import SourceFile
from dracfg.source.nodes import Map, Node, Scalar

_HEADER = re.compile(r"(?:[&!]\S*\s+)*[|>][-+0-9]*\s+")
"""What stands before a comment behind the sign of a block scalar."""

Position = tuple[int, int]
"""Line and column, from 1."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment without its `#`; `alone` says that nothing else stands on its line."""

    span: Span
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Extent:
    """A part of a file, from `start` up to, not including, `end`."""

    start: Position
    end: Position

    def holds(self, span: Span) -> bool:
        return self.start <= (span.line, span.column) < self.end


def comments(file: SourceFile, mark: str) -> Iterator[Comment]:
    """The comments of a file whose line has the words of `mark`; files without it cost a search."""
    if mark not in file.text:
        return
    for number, line in enumerate(file.text.split("\n"), 1):
        if mark not in line:
            continue
        for column, char in enumerate(line, 1):
            starts = char == "#" and (column == 1 or line[column - 2] in " \t")
            if starts and not _in_scalar(file, (number, column), line[: column - 1]):
                span = Span(file.path, number, column, number, len(line) + 1)
                yield Comment(span, line[column:].strip(), not line[: column - 1].strip())
                break


def line_of(comment: Comment) -> Extent:
    """The line that a comment stands on."""
    return Extent((comment.span.line, 1), (comment.span.line + 1, 1))


def below(file: SourceFile, comment: Comment) -> Extent:
    """What the next line with content begins: an entry or item with everything inside it.

    An empty extent where nothing follows. A document's own map is never meant, its first entry is.
    """
    lines = file.text.split("\n")
    after = range(comment.span.line + 1, len(lines) + 1)
    line = next((number for number in after if _has_content(lines[number - 1])), 0)
    if not line:
        return Extent((len(lines) + 1, 1), (len(lines) + 1, 1))
    end = (line + 1, 1)
    for document in file.documents:
        if not isinstance(document.root, Scalar):
            end = max([end, *_ends(document.root, line)])
    return Extent((line, 1), end)


def _has_content(line: str) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith("#") and text != "---"


def _ends(node: Node, line: int) -> Iterator[Position]:
    """The ends of the outermost entries and items that begin on a line."""
    for start, inner in _children(node):
        if start.line == line:
            yield inner.span.end_line, inner.span.end_column
        elif start.line < line <= inner.span.end_line:
            yield from _ends(inner, line)


def _children(node: Node) -> Iterator[tuple[Span, Node]]:
    """Where each entry or item begins, and its value."""
    if isinstance(node, Map):
        yield from ((entry.key.span, entry.value) for entry in node.entries.values())
    elif not isinstance(node, Scalar):
        yield from ((item.span, item) for item in node.items)


def _in_scalar(file: SourceFile, place: Position, before: str) -> bool:
    return any(_covers(document.root, place, before) for document in file.documents)


def _covers(node: Node, place: Position, before: str) -> bool:
    """Whether a place lies in a scalar; `before` is its line up to it."""
    span = node.span
    if not (span.line, span.column) <= place < (span.end_line, span.end_column):
        return False
    if isinstance(node, Scalar):
        return place[0] > span.line or not _HEADER.fullmatch(before[span.column - 1 :])
    if isinstance(node, Map):
        nodes = [part for entry in node.entries.values() for part in (entry.key, entry.value)]
        return any(_covers(inner, place, before) for inner in nodes)
    return any(_covers(item, place, before) for item in node.items)
