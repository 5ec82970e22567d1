"""Findings for a terminal: the source line, a caret under the value, and what to do.

Without colour the shape alone carries the meaning.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

from dracfg.diagnostics.diagnostic import Diagnostic, Related
from dracfg.diagnostics.render.links import NO_LINKS, Links
from dracfg.diagnostics.render.plain import plain
from dracfg.diagnostics.span import Span

Lines = Callable[[str], Sequence[str]]
"""The lines of a file by its path; empty where they are not at hand."""

_COLOURS = {"error": "31", "warning": "33", "unknown": "35", "note": "36"}
_SAME_MOST = 5


def render(
    findings: Iterable[Diagnostic],
    lines: Lines,
    *,
    colour: bool,
    width: int = 100,
    links: Links = NO_LINKS,
) -> str:
    """All findings that are not waived, a blank line between two; those alike fold into one."""
    standing = (finding for finding in findings if finding.waived is None)
    shown = [
        _finding(finding, more, lines, colour, width, links) for finding, more in _folded(standing)
    ]
    return "\n\n".join(shown) + "\n" if shown else ""


def _folded(findings: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, int]]:
    """Findings that say the same in more than five places, as the first with a count."""
    groups: dict[tuple[str, str], list[Diagnostic]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.message), []).append(finding)
    for same in groups.values():
        if len(same) > _SAME_MOST:
            yield same[0], len(same) - 1
        else:
            yield from ((finding, 0) for finding in same)


def _finding(
    finding: Diagnostic, more: int, lines: Lines, colour: bool, width: int, links: Links
) -> str:
    paint = _painter(colour, _COLOURS[finding.severity])
    head = f"{finding.severity}[{links.rule(finding.code)}]"
    rows = [f"{paint(head)}: {plain(finding.message)}"]
    places = [place for place in (finding.span, *(r.span for r in finding.related)) if place]
    gutter = max((len(str(place.line)) for place in places), default=1)
    margin = " " * gutter
    if finding.span is not None:
        rows.append(f"{margin}--> {links.span(finding.span)}")
        rows += _excerpt(finding.span, finding.label, lines, gutter, width, paint, "^")
    for related in finding.related:
        rows += _related(finding.span, related, lines, gutter, width, links)
    facts = [
        f"{name}: {plain(value)}"
        for name, value in (("found", finding.found), ("expected", finding.expected))
        if value is not None
    ]
    if facts:
        rows.append(f"{margin} = {', '.join(facts)}")
    if finding.help is not None:
        rows.append(f"{margin} = help: {plain(finding.help)}")
    if finding.fix is not None and finding.span is not None:
        rows.append(f"{margin} = fix:  {_fix(finding.span, finding, lines)}")
    if more:
        rows.append(f"{margin} = and {more} more of the same")
    return "\n".join(rows)


def _fix(span: Span, finding: Diagnostic, lines: Lines) -> str:
    """What stands there, what would take its place, and whether `--fix` makes it unasked."""
    rows = lines(span.path)
    old = rows[span.line - 1][span.column - 1 :] if 0 < span.line <= len(rows) else ""
    if span.end_line == span.line:
        old = old[: span.end_column - span.column]
    elif old:
        old += " …"
    made = (
        "safe: made by dracfg check --fix"
        if finding.has_safe_fix
        else "unsafe: may change what is meant"
    )
    change = f"{old} -> {finding.fix}" if old else f"-> {finding.fix}"
    return f"{span.path}:{span.line}  {plain(change)}   ({made})"


def _related(
    main: Span | None, related: Related, lines: Lines, gutter: int, width: int, links: Links
) -> list[str]:
    margin = " " * gutter
    same_file = main is not None and main.path == related.span.path
    head = "-->" if same_file else ":::"
    uncoloured = _painter(False, "")
    return [
        f"{margin}{head} {links.span(related.span)}",
        *_excerpt(related.span, related.label, lines, gutter, width, uncoloured, "-"),
    ]


def _excerpt(
    span: Span,
    label: str,
    lines: Lines,
    gutter: int,
    width: int,
    paint: Callable[[str], str],
    mark: str,
) -> list[str]:
    """The source line of a span with marks below it; nothing where the file is not at hand."""
    text = lines(span.path)
    if not 0 < span.line <= len(text):
        return [f"{' ' * gutter} = {label}"] if label else []
    line = text[span.line - 1]
    end = span.end_column if span.end_line == span.line else len(line.rstrip()) + 1
    start = min(span.column - 1, len(line))
    length = max(1, min(end - 1, len(line)) - start)
    cut = 0
    room = max(40, width - gutter - 3)
    if len(line) > room:
        cut = max(0, min(start - room // 3, len(line) - room))
        line = ("…" if cut else "") + line[cut + bool(cut) : cut + room - 1] + "…"
    line = "".join(char if char.isprintable() else " " for char in line)
    before = _cells(line[: start - cut])
    marks = mark * max(1, min(_cells(line[start - cut : start - cut + length]), room - before))
    margin = " " * gutter
    note = f"{marks} {label}".rstrip()
    return [
        f"{margin} |",
        f"{span.line:>{gutter}} | {line}".rstrip(),
        f"{margin} | {' ' * before}{paint(note)}",
    ]


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    thin = sum(unicodedata.combining(char) != 0 for char in text)
    return len(text) + wide - thin


def _painter(colour: bool, code: str) -> Callable[[str], str]:
    return (lambda text: f"\x1b[1;{code}m{text}\x1b[0m") if colour else (lambda text: text)
