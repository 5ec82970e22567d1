"""Findings with the source lines that they point at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dracfg.diagnostics import Diagnostic, Span
from dracfg.report.document import Excerpt, Finding, SourceLine

Lines = Callable[[str], Sequence[str]]
"""The lines of a file by its path; empty where they are not at hand."""

_AROUND = 1
_LONGEST = 160


def finding(
    found: Diagnostic, lines: Lines, *, cluster: str | None = None, handling: str | None = None
) -> Finding:
    """A finding with its main place, and the others that make it wrong behind."""
    places = [] if found.span is None else [_excerpt(found.span, found.label, lines, _AROUND)]
    places += [_excerpt(related.span, related.label, lines, 0) for related in found.related]
    waived = found.waived
    return Finding(
        code=found.code,
        severity=found.severity,
        message=found.message,
        cluster=cluster,
        handling=handling,
        places=tuple(places),
        found=found.found,
        expected=found.expected,
        help=found.help,
        waived=None if waived is None else f"{waived.reason}, until {waived.until}",
    )


def _excerpt(span: Span, label: str, lines: Lines, around: int) -> Excerpt:
    """The line of a span with so many more on both sides; none where the file is not at hand."""
    text = lines(span.path)
    if not 0 < span.line <= len(text):
        return Excerpt(span.path, span.line, span.column, label, ())
    first, last = max(1, span.line - around), min(len(text), span.line + around)
    while last > span.line and not text[last - 1].strip():
        last -= 1
    shown = tuple(_line(text[number - 1], number, span) for number in range(first, last + 1))
    return Excerpt(span.path, span.line, span.column, label, shown)


def _line(text: str, number: int, span: Span) -> SourceLine:
    """One line, a long one cut to what surrounds the mark."""
    text = text.rstrip("\r\n")
    if number != span.line:
        return SourceLine(number, _cut(text, 0), None, None)
    end = span.end_column if span.end_line == span.line else len(text) + 1
    start = min(span.column, len(text) + 1)
    end = max(start, min(end, len(text) + 1))
    left_out = max(0, min(start - 1 - _LONGEST // 3, len(text) - _LONGEST))
    shift = left_out - bool(left_out)
    shown = _cut(text, left_out)
    return SourceLine(
        number, shown, start - shift, max(start, min(end, left_out + _LONGEST + 1)) - shift
    )


def _cut(text: str, left_out: int) -> str:
    """What a line shows of itself from a place on; `…` stands where something is left out."""
    shown = text[left_out : left_out + _LONGEST]
    more = "…" if len(text) > left_out + _LONGEST else ""
    return f"{'…' if left_out else ''}{shown}{more}"
