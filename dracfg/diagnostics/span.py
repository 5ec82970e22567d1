"""A place in a text file. Knows no file system and no syntax."""

from __future__ import annotations

from dracfg.dataclass import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of characters in one file.

    `path` is relative to the repository's root, with forward slashes. Lines and columns count
    characters from 1; the end is exclusive, so `end_column` is the column behind the last character.
    """

    path: str
    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"

    def part(self, offset: int, length: int) -> Span:
        """`length` characters of a one-line span, `offset` characters after its start."""
        start = self.column + offset
        return Span(self.path, self.line, start, self.line, start + length)


def whole_file(path: str) -> Span:
    """The place of a fault that belongs to a file as a whole."""
    return Span(path)
