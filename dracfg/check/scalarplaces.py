"""Offsets in the text of a YAML scalar → places in its file.

Knows the ways in which YAML writes text, and nothing of what the text says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dracfg.diagnostics import Span
from dracfg.source import Scalar

_DOUBLE = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)|[^\\]")
_SINGLE = re.compile(r"''|[^']")


def part_of(scalar: Scalar, lines: Sequence[str], offset: int, length: int) -> Span:
    """The place of `length` characters at `offset` of a scalar's text, at most to the end of the line.

    `lines` are those of the file. Text that YAML folds has no places of its own: then the scalar's
    place, or its first line.
    """
    start = _place(scalar, lines, offset)
    if start is None:
        return first_line(scalar, lines)
    line, column = start
    stop = scalar.text.find("\n", offset)
    last = min(offset + max(length, 1), len(scalar.text) if stop < 0 else stop) - 1
    end = _place(scalar, lines, max(last, offset))
    width = end[1] - column + 1 if end is not None and end[0] == line else 1
    return Span(scalar.span.path, line, column, line, column + max(width, 1))


def takes(scalar: Scalar, lines: Sequence[str], text: str) -> bool:
    """Whether text may take the place of a part of the scalar as it stands, without escapes."""
    match _style(scalar, lines):
        case '"':
            return '"' not in text and "\\" not in text
        case "'":
            return "'" not in text
        case "|":
            return True
        case "":
            return ": " not in text and " #" not in text and not text.endswith(":")
    return False


def first_line(scalar: Scalar, lines: Sequence[str]) -> Span:
    """The scalar as far as its first line goes."""
    span = scalar.span
    if span.line == span.end_line or not 0 < span.line <= len(lines):
        return span
    end = max(len(lines[span.line - 1].rstrip()) + 1, span.column + 1)
    return Span(span.path, span.line, span.column, span.line, end)


def _style(scalar: Scalar, lines: Sequence[str]) -> str:
    """The character that a scalar begins with where it is quoted or a block, else ""."""
    span = scalar.span
    if scalar.plain:
        return ""
    return lines[span.line - 1][span.column - 1] if span.line <= len(lines) else "?"


def _place(scalar: Scalar, lines: Sequence[str], offset: int) -> tuple[int, int] | None:
    """(line, column) of one character; None where it can't be told."""
    style, span = _style(scalar, lines), scalar.span
    if style == "|":
        return _in_block(scalar, lines, offset)
    if span.line != span.end_line or span.line > len(lines):
        return None
    raw = lines[span.line - 1][span.column - 1 : span.end_column - 1]
    if style == "":
        return (span.line, span.column + offset) if raw == scalar.text else None
    if style not in "\"'":
        return None
    pieces = (_DOUBLE if style == '"' else _SINGLE).findall(raw[1:-1])
    if len(pieces) != len(scalar.text):
        return None
    return span.line, span.column + 1 + sum(map(len, pieces[:offset]))


def _in_block(scalar: Scalar, lines: Sequence[str], offset: int) -> tuple[int, int] | None:
    written = scalar.text.split("\n")
    first = scalar.span.line
    number = scalar.text.count("\n", 0, offset)
    index = next((i for i, line in enumerate(written) if line.strip()), None)
    if index is None or first + max(index, number) >= len(lines):
        return None
    indent = len(lines[first + index]) - len(written[index])
    if indent < 0 or lines[first + number][indent:] != written[number]:
        return None
    column = offset - (scalar.text.rfind("\n", 0, offset) + 1)
    return first + number + 1, indent + column + 1
