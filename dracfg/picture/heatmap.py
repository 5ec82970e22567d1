"""The ledger of devices as a map: a row for each node, a cell for each device.

A state shows by what is drawn in the cell as well as by its colour. Nodes whose devices are alike fold
into one row where there are many, and what has no room is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import groupby
from posixpath import commonprefix
from typing import Literal

from dracfg.audit.ledger import Entry
from dracfg.audit.words import count
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.picture import figures, lettering
from dracfg.picture.drawing import WIDTH, Drawing
from dracfg.picture.order import natural

Look = Literal["free", "partly", "fragmented", "full", "unknown", "unpublished"]

LOOKS: dict[Look, str] = {
    "free": "free",
    "partly": "partly used, with the percentage",
    "fragmented": "partly used, the rest too small for any size",
    "full": "full",
    "unknown": "unknown",
    "unpublished": "held, but not published",
}
"""Every state of a device with its words, in the order of the legend."""

MOST_ROWS = 24
"""Nodes up to which each has a row of its own."""
MOST_FOLDED = 40
"""Rows after folding; the rest is counted."""

_CELL, _GAP, _ROW_GAP = 20, 3, 5
_MOST_NAME = 132
_ACROSS = 8
_BESIDE, _LEAST_DEEP = 20, 3
_NO_NODE = "no node"
_EMPTY, _FULL = Fraction(0), Fraction(1)
_ODD = frozenset({"unknown", "unpublished"})
_BREAKS = ("-", ".", "/")


@dataclass(frozen=True, slots=True)
class Cell:
    """One device as it is drawn; `used` is the fraction of its fullest capacity.

    `entry` is None where it stands for devices of several nodes.
    """

    look: Look
    used: Fraction
    entry: Entry | None = None

    @property
    def note(self) -> str:
        return LOOKS[self.look] if self.entry is None else _note(self.entry)

    @property
    def shape(self) -> tuple[Look, Fraction]:
        return self.look, self.used


@dataclass(frozen=True, slots=True)
class Row:
    """One node, or `alike` nodes whose devices look the same, in whatever order they have them."""

    name: str
    cells: tuple[Cell, ...]
    alike: int = 1

    @property
    def order(self) -> tuple[bool, int]:
        """What somebody has to look at first, then the rarest."""
        return not any(cell.look in _ODD for cell in self.cells), self.alike


def heatmap(name: str, entries: Sequence[Entry], ident: str) -> str:
    """The devices of one pool as `<svg>` text; `name` is the pool's, entries are those of a ledger."""
    rows = _rows(entries)
    nodes, counts = len(rows), _counts(entries)
    if nodes > MOST_ROWS:
        rows = _folded(rows)
    drawing = Drawing(ident, "heatmap")
    y = _map(drawing, rows[:MOST_FOLDED], is_folded=nodes > MOST_ROWS)
    if left := sum(row.alike for row in rows[MOST_FOLDED:]):
        drawing.label(0, y + 8, f"and {count(left, 'more node')}", "small", "quiet")
        y += 18
    y = _legend(drawing, counts, y)
    return drawing.closed(y, f"Devices of {name}", _description(entries, counts, nodes))


def look(entry: Entry) -> Look:
    """How a device is drawn."""
    match entry.state:
        case "unknown" | "unpublished":
            return entry.state
        case "idle":
            return "free"
        case "allocated":
            return "full"
        case "shared":
            broken = any(amount.fragmented for amount in entry.capacity.values())
            return "fragmented" if broken else "partly"


def _rows(entries: Iterable[Entry]) -> tuple[Row, ...]:
    order = cache(natural)
    ordered = sorted(entries, key=lambda one: (order(one.node or ""), *map(order, one.id)))
    return tuple(
        Row(node or _NO_NODE, tuple(map(_cell, members)))
        for node, members in groupby(ordered, key=lambda entry: entry.node or "")
    )


def _cell(entry: Entry) -> Cell:
    return Cell(look(entry), _used(entry), entry)


def _used(entry: Entry) -> Fraction:
    if entry.state in ("idle", "allocated"):
        return _FULL if entry.state == "allocated" else _EMPTY
    parts = (
        Fraction(amount.used.nano, amount.total.nano)
        for amount in entry.capacity.values()
        if amount.total
    )
    return max(parts, default=_EMPTY)


def _note(entry: Entry) -> str:
    """What a pointer over a cell shows."""
    parts = [f"{entry.id[2]}: {LOOKS[look(entry)].partition(',')[0]}"]
    parts += [
        f"{key} {_amount(one.used)} of {_amount(one.total)} used, {_amount(one.free)} free"
        for key, one in entry.capacity.items()
        if one.used
    ]
    parts += [f"{share.claim} ({share.tenant or 'no tenant'})" for share in entry.shares[:4]]
    if len(entry.shares) > 4:
        parts.append(f"{len(entry.shares) - 4:,} more claims")
    return "; ".join([*parts, *([entry.reason] if entry.reason else [])])


def _amount(quantity: Quantity) -> str:
    return figures.amount(quantity.nano, quantity.format)


def _folded(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Nodes with as many devices of each look as one row."""
    groups: dict[tuple[tuple[Look, Fraction], ...], list[Row]] = {}
    for row in rows:
        shapes = sorted((cell.shape for cell in row.cells), key=_fullest_first)
        groups.setdefault(tuple(shapes), []).append(row)
    found = [
        Row(own[0].name, tuple(Cell(*shape) for shape in shapes), len(own))
        for shapes, own in groups.items()
    ]
    return tuple(sorted(found, key=lambda row: row.order))


def _fullest_first(shape: tuple[Look, Fraction]) -> tuple[int, Fraction]:
    return -tuple(LOOKS).index(shape[0]), -shape[1]


def _map(drawing: Drawing, rows: Sequence[Row], *, is_folded: bool) -> float:
    """The rows; folded ones begin with how many nodes they stand for."""
    counts = [f"{row.alike:,} ×" if is_folded else "" for row in rows]
    first = max((lettering.width(text, "small") for text in counts), default=0)
    left = first + 8 if first else 0
    names = [row.name for row in rows]
    common, short = _shortened(names, _MOST_NAME - left)
    room = max((lettering.width(name, "small") for name in short), default=0)
    start = left + min(room, _MOST_NAME - left) + 8
    y = 0.0
    if common:
        drawing.label(0, 8, f"{common}…", "small", "quiet", room=WIDTH)
        y += 20
    widest = max((len(row.cells) for row in rows), default=0)
    across = max(1, min(_ACROSS, int((WIDTH - start + _GAP) // (_CELL + _GAP))))
    columns = _columns(start + widest * (_CELL + _GAP), len(rows)) if widest <= across else 1
    deep = -(-len(rows) // columns)
    lowest = below = y
    for number, (row, text, name) in enumerate(zip(rows, counts, short, strict=True)):
        x = number // deep * (WIDTH + _BESIDE) / columns
        top = below if number % deep else y
        middle = top + _CELL / 2
        drawing.label(x + first, middle, text, "small", anchor="end")
        drawing.label(
            x + left, middle, name, "small", room=start - left - 8,
            note=f"{row.name} and {row.alike - 1:,} more" if row.alike > 1 else row.name,
        )  # fmt: skip
        below = _cells(drawing, row, x + start, top, across)
        lowest = max(lowest, below)
    return lowest


def _columns(wide: float, rows: int) -> int:
    """Nodes with few devices stand in columns, each read downwards."""
    return max(1, min(int((WIDTH + _BESIDE) // (wide + _BESIDE)), rows // _LEAST_DEEP))


def _shortened(names: Sequence[str], room: float) -> tuple[str, list[str]]:
    """What all begin with where one has no room, and the names without it."""
    if len(names) > 1 and any(lettering.width(name, "small") > room for name in names):
        common = commonprefix(names)
        common = common[: max(map(common.rfind, _BREAKS)) + 1]
        if common:
            return common, [f"…{name.removeprefix(common)}" for name in names]
    return "", list(names)


def _cells(drawing: Drawing, row: Row, start: float, y: float, across: int) -> float:
    for number, cell in enumerate(row.cells):
        line, place = divmod(number, across)
        x, top = start + place * (_CELL + _GAP), y + line * (_CELL + _GAP)
        _draw(drawing, cell, x, top, cell.note)
    lines = -(-len(row.cells) // across)
    return y + lines * (_CELL + _GAP) - _GAP + _ROW_GAP


def _draw(drawing: Drawing, cell: Cell, x: float, y: float, note: str = "") -> None:
    """One device: a frame, what is used of it from below, and the sign of its state."""
    drawing.area(x, y, _CELL, _CELL, "device", cell.look, note=note)
    if cell.look in ("partly", "fragmented"):
        height = max(1.0, float(_CELL * min(cell.used, Fraction(1))))
        drawing.area(x, y + _CELL - height, _CELL, height, "used")
        if cell.look == "fragmented":
            drawing.marked(x, y, _CELL, _CELL - height, "hatch")
        drawing.label(x + _CELL / 2, y + _CELL / 2, _percent(cell.used), "tiny", anchor="middle")
    elif cell.look == "unknown":
        drawing.marked(x, y, _CELL, _CELL, "dots")
        drawing.label(x + _CELL / 2, y + _CELL / 2, "?", "strong", anchor="middle")
    elif cell.look == "unpublished":
        drawing.label(x + _CELL / 2, y + _CELL / 2, "✗", "bad", anchor="middle")


def _percent(used: Fraction) -> str:
    return str(min(99, max(1, round(used * 100))))


def _counts(entries: Iterable[Entry]) -> dict[Look, int]:
    found = dict.fromkeys(LOOKS, 0)
    for entry in entries:
        found[look(entry)] += 1
    return found


def _legend(drawing: Drawing, counts: dict[Look, int], y: float) -> float:
    """The signs that occur, each with its number."""
    y += 4
    for name, number in counts.items():
        if number:
            _draw(drawing, Cell(name, Fraction(1, 2)), 0, y)
            text = f"{number:,} {LOOKS[name]}"
            drawing.label(_CELL + 8, y + _CELL / 2, text, "small")
            y += _CELL + 4
    return y


def _description(entries: Sequence[Entry], counts: dict[Look, int], nodes: int) -> str:
    parts = [f"{count(len(entries), 'device')} on {count(nodes, 'node')}."]
    parts += [f"{number:,} {LOOKS[name]}." for name, number in counts.items() if number]
    parts += [f"{text}." for text in _sums(entries)]
    return " ".join(parts)


def _sums(entries: Iterable[Entry]) -> Iterator[str]:
    totals: dict[str, tuple[Quantity, Quantity]] = {}
    for entry in entries:
        for key, one in entry.capacity.items():
            used, total = totals.get(key, (Quantity(0), Quantity(0)))
            totals[key] = used + one.used, total + one.total
    for key, (used, total) in totals.items():
        yield f"{key}: {_amount(used)} of {_amount(total)} used"
