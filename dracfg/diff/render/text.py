"""A diff for a terminal: the answer first, then a block a change, then capacity, then the sum.

Without colour the shape alone carries the meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rich.color import ColorSystem
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from dracfg.diagnostics.render.plain import plain
from dracfg.diff.change import Impact
from dracfg.diff.render.capacity import HEADINGS, capacity_cells
from dracfg.diff.render.folding import SYMBOLS, Document, Row, rows
from dracfg.diff.render.words import EFFECTS, headline, number, revisions, summary

_STYLES = {
    Impact.NONE: "dim",
    Impact.ADDITIVE: "green",
    Impact.NEW_CLAIMS: "cyan",
    Impact.RESTRICTIVE: "yellow",
    Impact.DISRUPTIVE: "bold yellow",
    Impact.DESTRUCTIVE: "bold red",
}
_LABEL = 13
"""Columns of the names of a block's facts."""
_DETAILS = 8
_MORE = "  … {} not shown: --format json has all\n"


def render_text(
    document: Document, *, colour: bool = False, width: int = 80, most: int | None = None
) -> str:
    """The diff as text; with `most`, blocks that don't fit into so many bytes are left out and counted."""
    blocks = [_shown(_head(document), colour, width)]
    tail = "".join(_shown(part, colour, width) for part in _tail(document))
    room = None if most is None else most - len((blocks[0] + tail).encode()) - len(_MORE) - 20
    found = [
        *(_shown(_finding(one), colour, width) for one in _told(document)),
        *(_shown(_block(row), colour, width) for row in rows(document)),
        *(_shown(_object(one), colour, width) for one in document.get("objects", ())),
    ]
    for i, block in enumerate(found):
        if room is not None:
            room -= len(block.encode())
            if room < 0:
                blocks.append(_MORE.format(number(len(found) - i, "block")))
                break
        blocks.append(block)
    return "".join((*blocks, tail))


def _shown(part: RenderableType, colour: bool, width: int) -> str:
    """What a terminal of that width shows, without spaces at the ends of lines."""
    console = Console(
        width=width, color_system="standard", highlight=False, markup=False, emoji=False
    )
    system = ColorSystem.STANDARD if colour else None
    return "".join(f"{_line(line, system).rstrip()}\n" for line in console.render_lines(part))


def _line(segments: Iterable[Segment], system: ColorSystem | None) -> str:
    return "".join(
        segment.text
        if segment.style is None or system is None
        else segment.style.render(segment.text, color_system=system)
        for segment in segments
    )


def _head(document: Document) -> RenderableType:
    bad = document["forbidden"] or not document["head"]["compiles"]
    worst = _STYLES[Impact.DESTRUCTIVE if bad else Impact.of(document["maxImpact"])]
    return Group(
        Text(headline(document), style=worst), Text(revisions(document), style="dim"), Text()
    )


def _told(document: Document) -> Iterator[Document]:
    """What stands in the way first, then other findings."""
    yield from ({"side": None, **finding} for finding in document["forbidden"])
    yield from sorted(document["findings"], key=lambda one: one["severity"] != "error")


def _finding(finding: Document) -> RenderableType:
    style = "bold red" if finding["severity"] == "error" else "yellow"
    side = f" ({finding['side']})" if finding["side"] else ""
    title = f"{finding['severity']}[{finding['code']}]{side}: {plain(finding['message'])}"
    facts = Table.grid(padding=(0, 2))
    facts.add_column(min_width=_LABEL)
    facts.add_column(overflow="fold")
    for name in ("found", "expected", "help"):
        if finding[name]:
            facts.add_row(name, plain(finding[name]))
    place = f"{finding['file']}:{finding['line']}" if finding["file"] else ""
    return Group(_titled(Text(title, style=style), place), Padding(facts, (0, 0, 1, 4)))


def _block(row: Row) -> RenderableType:
    mark = SYMBOLS[row.impact]
    where = f" on {row.where}" if row.clusters else ""
    title = Text(f"{mark} {row.impact.word}: ", style=_STYLES[row.impact])
    title.append(plain(f"{row.subject}{where}"), style="bold")
    facts = Table.grid(padding=(0, 2))
    facts.add_column(min_width=_LABEL)
    facts.add_column(overflow="fold")
    for name, value in _facts(row):
        facts.add_row(name, plain(value))
    said = Text(plain("  ".join(filter(None, (row.first["title"], row.values)))))
    return Group(
        _titled(title, row.place or ""),
        Padding(said, (0, 0, 0, 4)),
        Padding(facts, (0, 0, 1, 4)),
    )


def _object(found: Document) -> RenderableType:
    """An emitted object that differs, field by field."""
    title = Text(plain(f"{found['unit']}: {found['object']} {found['how']}"), style="bold")
    fields = Table.grid(padding=(0, 2))
    fields.add_column(overflow="fold")
    fields.add_column(overflow="fold")
    for field in found["fields"]:
        sides = " -> ".join(_written(field[side]) for side in ("before", "after"))
        fields.add_row(plain(field["path"]), plain(sides))
    return Group(title, Padding(fields, (0, 0, 1, 4)))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _titled(title: Text, place: str) -> RenderableType:
    """The title, and its place at the right where both fit on a line."""
    line = Table.grid(expand=True, padding=(0, 2))
    line.add_column(overflow="fold", ratio=1)
    line.add_column(justify="right", overflow="fold", style="dim")
    line.add_row(title, place)
    return line


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    change = row.first
    if change["flags"]:
        yield "touches", ", ".join(change["flags"])
    yield "means", change["means"]
    for name, key in (("workloads", "workloads"), ("", "details")):
        values = change[key]
        for i, value in enumerate(values[:_DETAILS]):
            yield (name if i == 0 else ""), value
        if len(values) > _DETAILS:
            yield "", f"and {len(values) - _DETAILS:,} more"
    if row.impact > Impact.ADDITIVE:
        yield "takes effect", EFFECTS[change["effect"]]
        yield "way back", change["wayBack"]


def _tail(document: Document) -> Iterator[RenderableType]:
    if document["capacity"]:
        table = Table(box=None, pad_edge=False, padding=(0, 2), title=None)
        for i, heading in enumerate(HEADINGS):
            table.add_column(heading, justify="left" if i == 0 else "right", overflow="fold")
        for cells in capacity_cells(document):
            table.add_row(*map(plain, cells))
        yield Group(Text("Capacity", style="bold"), Padding(table, (0, 0, 1, 2)))
    worst = Impact.of(document["maxImpact"]).word
    sum_ = f"{summary(document)}."
    yield Text(f"{sum_} Worst: {worst}." if document["changes"] else sum_)
