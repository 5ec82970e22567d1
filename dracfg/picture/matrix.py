"""Tenants by tiers: what each is guaranteed and how far its limit lets it go.

A column is one key of one tier, on a scale of its own; a cell is a bar of what is guaranteed in the
frame of the limit, with both numbers above it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dracfg.audit.words import count
from dracfg.check.rule import listed
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Format
from dracfg.picture import figures, lettering
from dracfg.picture.drawing import WIDTH, Drawing
from dracfg.plan.estimate import DEVICES, estimate, tenant_amounts
from dracfg.plan.promises import Market
from dracfg.plan.supply import PARTS

_ROW, _BAR, _GAP, _BETWEEN = 30, 7, 10, 22
_EDGE = 0.5
"""Half of a frame's line, which stands outside of it."""
_NAME = 84
_ALL = "all tenants"
_BY_PLUGIN = " by device plugin"


@dataclass(frozen=True, slots=True)
class Column:
    """One key of one tier of a cluster; amounts are billionths of the unit.

    `cells` are (guaranteed, limit) by tenant, of the tenants that have some. `key` names the pools as
    well where others of the tier are handed out in classes of their own.
    """

    tier: str
    cluster: str
    key: str
    notation: Format
    promiseable: int
    cells: Mapping[str, tuple[int, int]]
    pools: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.tier} on {self.cluster}, {self.key}"

    @property
    def most(self) -> int:
        """The largest number of a cell."""
        return max((max(one) for one in self.cells.values()), default=0)

    @property
    def total(self) -> tuple[int, int]:
        numbers = self.cells.values()
        return sum(one[0] for one in numbers), sum(one[1] for one in numbers)

    def rest(self, tenants: Collection[str]) -> tuple[int, int] | None:
        """What all but some tenants have together; None where none of them has any."""
        left = [held for name, held in self.cells.items() if name not in tenants]
        return (sum(one[0] for one in left), sum(one[1] for one in left)) if left else None


def columns_of(markets: Iterable[Market]) -> tuple[Column, ...]:
    """The columns of markets in their order, a key of a market each."""
    found = [
        Column(
            market.supply.tier.name,
            market.supply.cluster.name,
            _key(market, one.key),
            one.like.format,
            one.promiseable,
            tenant_amounts(market, one.key),
            tuple(pool.name for pool in market.supply.pools),
        )
        for market in markets
        for one in estimate(market)
    ]
    names = [column.name for column in found]
    return tuple(
        replace(column, key=f"{column.key}, {listed(column.pools)}")
        if names.count(column.name) > 1
        else column
        for column in found
    )


def matrix(
    columns: Sequence[Column],
    tenants: Sequence[str],
    ident: str,
    *,
    across: int = 3,
    beside: Sequence[Column] = (),
) -> str:
    """Rows of tenants as `<svg>` text, in the order that they are given in; others are summed up.

    Columns stand in bands of `across`, one band below the other, so that three find room on a narrow
    telephone; a picture of more is as much wider. `beside` are columns that it is looked at together
    with, such as the ones before a change: a column shares its scale with the one of its name.
    """
    both: dict[str, list[Column]] = {}
    for column in (*columns, *beside):
        both.setdefault(column.name, []).append(column)
    scales = {name: max(column.most for column in own) for name, own in both.items()}
    present = {name: {t for one in own for t in one.cells} for name, own in both.items()}
    bands = [columns[i : i + across] for i in range(0, len(columns), across)]
    cell = (WIDTH - _NAME) / 3
    drawing = Drawing(ident, "matrix", max(WIDTH, _NAME + cell * min(across, len(columns))))
    y = 0.0
    for band in bands:
        rows = [t for t in tenants if any(t in present[column.name] for column in band)]
        y = _band(drawing, band, rows, scales, cell, y)
    return drawing.closed(
        max(y - _BETWEEN, 1), "Guarantees and limits by tenant", _description(columns, tenants)
    )


def _key(market: Market, key: str) -> str:
    return f"{key}{_BY_PLUGIN}" if market.supply.owner == "devicePlugin" else key


def _band(
    drawing: Drawing,
    band: Sequence[Column],
    tenants: Sequence[str],
    scales: Mapping[str, int],
    cell: float,
    y: float,
) -> float:
    places = [(column, _NAME + number * cell + _GAP) for number, column in enumerate(band)]
    room = cell - _GAP - _EDGE
    y = max(_head(drawing, column, x, y, room) for column, x in places)
    for tenant in tenants:
        drawing.line(0, y, drawing.width, y, "rule")
        drawing.label(0, y + 11, tenant, room=_NAME)
        for column, x in places:
            _cell(drawing, column, column.cells.get(tenant), scales[column.name], x, y, room)
        y += _ROW
    if others := {name for column in band for name in column.cells} - set(tenants):
        drawing.line(0, y, drawing.width, y, "rule")
        drawing.label(0, y + 11, count(len(others), "other"), "quiet", room=_NAME)
        for column, x in places:
            rest = column.rest(tenants)
            text = _pair(column, rest) if rest is not None else "–"
            drawing.label(x, y + 10, text, "small", "quiet", room=room)
        y += _ROW - 8
    drawing.line(0, y, drawing.width, y, "rule", "total")
    drawing.label(0, y + 11, _ALL, "strong", room=_NAME)
    drawing.label(0, y + 25, "promiseable", "small", "quiet", room=_NAME)
    for column, x in places:
        _total(drawing, column, x, y, room)
    return y + _ROW + 4 + _BETWEEN


def _head(drawing: Drawing, column: Column, x: float, y: float, room: float) -> float:
    for line in lettering.wrapped(column.tier, room, "strong"):
        drawing.label(x, y + 8, line, "strong", note=column.name)
        y += 15
    for text in (column.cluster, *_key_words(column)):
        for line in lettering.wrapped(text, room, "small"):
            drawing.label(x, y + 7, line, "small", "quiet", note=column.name)
            y += 14
    return y + 4


def _key_words(column: Column) -> Iterator[str]:
    """The key in a narrow column: `memory`, `mig-1g-5gb`; nothing where whole devices are counted."""
    key, _, pools = column.key.partition(", ")
    what, by, _ = key.partition(_BY_PLUGIN)
    if what != DEVICES:
        yield what.removeprefix(PARTS).removeprefix(f"{column.tier}-")
    if by:
        yield "by plugin"
    if pools:
        yield pools


def _cell(
    drawing: Drawing,
    column: Column,
    held: tuple[int, int] | None,
    most: int,
    x: float,
    y: float,
    room: float,
) -> None:
    if held is None:
        drawing.label(x, y + 11, "–", "quiet")
        return
    drawing.label(x, y + 10, _pair(column, held), "small", room=room)
    guaranteed, limit = (room * number / most if most else 0.0 for number in held)
    drawing.area(x, y + 19, limit, _BAR, "limit")
    drawing.area(x, y + 19, guaranteed, _BAR, "promised")


def _total(drawing: Drawing, column: Column, x: float, y: float, room: float) -> None:
    is_over = column.total[0] > column.promiseable
    text = _pair(column, column.total)
    sign, kind = ("✗ ", "bad") if is_over else ("", "plain")
    drawing.label(x, y + 10, f"{sign}{text}", "small", "strong", kind, room=room)
    most = figures.amount(column.promiseable, column.notation)
    drawing.label(x, y + 25, most, "small", "quiet", room=room)


def _pair(column: Column, held: tuple[int, int]) -> str:
    """Guaranteed and limit: `16 / 24`, `120 / 140Gi`."""
    first, second = (figures.amount(one, column.notation) for one in held)
    unit = first.lstrip("0123456789,.")
    if unit and unit == second.lstrip("0123456789,."):
        first = first.removesuffix(unit)
    return f"{first} / {second}"


def _description(columns: Sequence[Column], tenants: Sequence[str]) -> str:
    parts = ["Each cell: guaranteed / limit."]
    for column in columns:
        parts += list(_column_words(column, tenants))
    return " ".join(parts)


def _column_words(column: Column, tenants: Sequence[str]) -> Iterator[str]:
    held = [f"{t} {_pair(column, column.cells[t])}" for t in tenants if t in column.cells]
    if (rest := column.rest(tenants)) is not None:
        held.append(f"others {_pair(column, rest)}")
    total = _pair(column, column.total)
    of = figures.amount(column.promiseable, column.notation)
    yield f"{column.name}: {', '.join(held) or 'nobody'}; {_ALL} {total} of {of}."
