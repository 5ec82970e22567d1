"""A diff as a comment on a pull or merge request, within the bytes that a host takes.

The first screen answers "may I merge?"; what follows is dropped from the end and counted. Text from the
repository only ever stands in code spans and code blocks whose fences it can't close, so it is neither
markup nor a mention, a link or HTML.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal
from urllib.parse import quote

from dracfg.dataclass import dataclass
from dracfg.diff.change import Impact
from dracfg.diff.render.capacity import HEADINGS, capacity_cells
from dracfg.diff.render.folding import NOTHING, SYMBOLS, Document, Row, rows
from dracfg.diff.render.words import EFFECTS, headline, number, revisions, summary
from dracfg.diff.words import MOST as MOST_WORKLOADS

Dialect = Literal["github", "plain"]

MOST = 65_536
"""Characters of a comment on GitHub; others take more. Counted in bytes, which are never fewer."""
_WIDEST = 300
"""Characters of one value."""
_FENCE = re.compile("`+")
_ALIKE = 3
"""Findings of one rule and with one help that are shown; the others are counted."""
_FOOTER_ROOM = 200


@dataclass(frozen=True, slots=True)
class Link:
    """Where files of the later state can be seen: `https://github.com/o/r/blob/<commit>`, or nowhere."""

    files: str | None = None
    report: str | None = None

    def to(self, text: str, path: str | None, line: int | None) -> str:
        """A code span, as a link to the line where that is known."""
        if self.files is None or path is None:
            return code(text)
        return f"[{code(text)}]({self.files}/{quote(path)}#L{line})"


def render_markdown(
    document: Document,
    *,
    most: int = MOST,
    dialect: Dialect = "github",
    marker: str = "default",
    link: Link | None = None,
) -> str:
    """The comment, at most `most` bytes long; `marker` names it for the bot that replaces it."""
    links = link or Link()
    name = re.sub("[^A-Za-z0-9._-]", "-", marker)
    head = f"<!-- dracfg:diff:{name} -->\n### dracfg: {headline(document)}\n"
    footer = _footer(document, links)
    room = most - len((head + footer).encode()) - _FOOTER_ROOM
    parts, left = [head], 0
    for section in _sections(document, dialect, links):
        text, dropped = section.within(room)
        room -= len(text.encode())
        left += dropped
        parts.append(text)
    if left:
        parts.append(f"\n{number(left, 'line')} left out here: the JSON and HTML forms have all.\n")
    return "".join((*parts, footer))


def code(text: str, widest: int = _WIDEST) -> str:
    """Text as a code span that it can't leave, safe in a cell of a table."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(flat) > widest:
        flat = f"{flat[:widest]}…"
    if not flat:
        return ""
    ticks = "`" * (max((len(run) for run in _FENCE.findall(flat)), default=0) + 1)
    pad = " " if "`" in flat else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}".replace("|", "\\|")


@dataclass(frozen=True, slots=True)
class _Section:
    """A head, lines that can be dropped from the last, and a foot; nothing without any line."""

    head: str
    lines: Sequence[str]
    foot: str = ""

    def within(self, room: int) -> tuple[str, int]:
        """The text of at most so many bytes, and how many lines it lacks."""
        room -= len((self.head + self.foot).encode())
        kept: list[str] = []
        for line in self.lines:
            room -= len(line.encode())
            if room < 0:
                break
            kept.append(line)
        dropped = len(self.lines) - len(kept)
        if not kept:
            return "", dropped
        return "".join((self.head, *kept, self.foot)), dropped


def _sections(document: Document, dialect: Dialect, links: Link) -> Iterator[_Section]:
    """In the order of their weight."""
    yield _blocking(document, dialect, links)
    folded = rows(document)
    felt = [row for row in folded if row.impact > Impact.NONE]
    yield _Section(
        "\n| | what | where | before → after | takes effect |\n|---|---|---|---|---|\n",
        [_changed(row, links) for row in felt],
    )
    yield _Section(
        f"\n| capacity | {' | '.join(HEADINGS[1:])} |\n|---|{'---:|' * (len(HEADINGS) - 1)}\n",
        [f"| {' | '.join(_cells(cells))} |\n" for cells in capacity_cells(document)],
    )
    yield from _details(felt)
    same = [row for row in folded if row.impact == Impact.NONE]
    yield _Section(
        "\n<details><summary>Without effect on anybody</summary>\n\n",
        [f"- {code(row.subject)}: {row.first['title']}\n" for row in same],
        "\n</details>\n",
    )


def _blocking(document: Document, dialect: Dialect, links: Link) -> _Section:
    """Illegal steps and the errors of either side, with what to do instead."""
    told = [*document["forbidden"], *(f for f in document["findings"] if f["severity"] == "error")]
    warned = [f for f in document["findings"] if f["severity"] != "error"]
    head = "\n> [!CAUTION]\n" if dialect == "github" and told else "\n"
    quoted = "> " if told else ""
    seen: Counter[tuple[str, str | None]] = Counter()
    lines = []
    for one in (*told, *warned):
        alike = one["code"], one["help"]
        if seen[alike] < _ALIKE:
            lines.append(f"{quoted}{_finding(one, links, is_new=not seen[alike])}")
        seen[alike] += 1
    for (rule, _), count in seen.items():
        if count > _ALIKE:
            lines.append(f"{quoted}- and {count - _ALIKE:,} more of **{rule}**, mended alike\n")
    return _Section(head, lines)


def _finding(finding: Document, links: Link, *, is_new: bool) -> str:
    """One line; a help that was given above is not given again."""
    where = f"{finding['file']}:{finding['line']}" if finding["file"] else ""
    place = f" at {links.to(where, finding['file'], finding['line'])}" if where else ""
    side = " (base)" if finding.get("side") == "base" else ""
    mend = f" → {code(finding['help']) if is_new else 'as above'}" if finding["help"] else ""
    return f"- **{finding['code']}**{side} {code(finding['message'])}{place}{mend}\n"


def _changed(row: Row, links: Link) -> str:
    change = row.first
    flags = "".join(f" **{flag}**" for flag in change["flags"] if flag in ("privilege", "alpha"))
    what = links.to(row.subject, change["file"], change["line"])
    cells = (
        f"`{SYMBOLS[row.impact]}` {row.impact.word}",
        f"{what}: {change['title']}{flags}{_reach(change)}",
        code(row.where),
        _values(change),
        EFFECTS[change["effect"]],
    )
    return f"| {' | '.join(cells)} |\n"


def _reach(change: Document) -> str:
    """How many recorded pods and claims it reaches; further ones are counted among the details."""
    count = len(change["workloads"])
    least = "at least " if count == MOST_WORKLOADS else ""
    return f", reaches {least}{number(count, 'workload')}" if count else ""


def _values(change: Document) -> str:
    sides = change["before"], change["after"]
    if sides == (None, None):
        return ""
    return " → ".join(NOTHING if value is None else code(value, 80) for value in sides)


def _cells(cells: Iterable[str]) -> tuple[str, ...]:
    return tuple(code(cell) for cell in cells)


def _details(felt: Iterable[Row]) -> Iterator[_Section]:
    """What each change means and how to go back, folded cluster by cluster."""
    by_cluster: dict[str, list[Row]] = {}
    for row in felt:
        by_cluster.setdefault(row.where, []).append(row)
    for where, listed in by_cluster.items():
        title = f"{_html(where)}: {number(len(listed), 'change')}"
        lines = [line for row in listed for line in _explained(row)]
        yield _Section(f"\n<details><summary>{title}</summary>\n\n", lines, "\n</details>\n")


def _explained(row: Row) -> Iterator[str]:
    change = row.first
    yield f"- {code(row.subject)}: {change['means']}\n"
    for name, values in (("workloads", change["workloads"]), ("", change["details"])):
        label = f"{name}: " if name else ""
        if values:
            more = f" and {len(values) - 8:,} more" if len(values) > 8 else ""
            yield f"  - {label}{', '.join(code(value) for value in values[:8])}{more}\n"
    if row.impact > Impact.ADDITIVE:
        yield f"  - Way back: {change['wayBack']}\n"


def _html(text: str) -> str:
    """Text inside an HTML element of a comment."""
    safe = "".join(c if c.isalnum() or c in " .,:-_" else f"&#{ord(c)};" for c in text)
    return safe[:_WIDEST]


def _footer(document: Document, links: Link) -> str:
    report = f" · [full report]({links.report})" if links.report else ""
    return f"\n{code(revisions(document))} · {summary(document)}{report}\n"
