"""What stands in the racks, what is taken off it step by step, and what is promised of the rest.

Every bar lies on one scale. What is taken off hangs where the bar before it ends, so that the eye
walks down from what exists to what can be promised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from dracfg.check.rule import listed
from dracfg.dataclass import dataclass
from dracfg.picture import figures, lettering
from dracfg.picture.drawing import WIDTH, Drawing
from dracfg.plan.estimate import DEVICES, Estimate

Role = Literal["physical", "taken", "promiseable", "promised", "limit"]

_ROW, _BAR, _GAP = 22, 12, 8
_LEAST_BAR, _VALUES, _SHARES = 90, 58, 32
_NAMES = {"closed": "closed pools", "step": "step loss"}
_WIDEST = "fragmentation"


@dataclass(frozen=True, slots=True)
class Step:
    """One bar: from `start` to `end` in billionths of the unit, what it says and why."""

    role: Role
    name: str
    start: int
    end: int
    value: str
    share: str
    why: str = ""

    @property
    def weight(self) -> str:
        return "plain" if self.role in ("taken", "limit") else "strong"


def waterfall(found: Estimate, ident: str, *, beside: Sequence[Estimate] = ()) -> str:
    """One key of one tier as `<svg>` text; `ident` is unique on the page.

    `beside` are figures that it is looked at together with, such as the ones before a change: they
    share one scale, and a deduction that any of them has keeps its place in each.
    """
    together = (found, *beside)
    kept = tuple(
        one.name
        for one in found.deductions
        if any(d.amount for each in together for d in each.deductions if d.name == one.name)
    )
    steps = tuple(_steps(found, kept))
    most = max((max(each.physical, each.promised, each.limit) for each in together), default=0)
    drawing = Drawing(ident, "waterfall")
    columns = _columns([step for each in together for step in _steps(each, kept)])
    lowest = _rows(drawing, steps, columns, most)
    bottom = _promise_line(drawing, found, columns, most, lowest)
    bottom = _told(drawing, found, bottom)
    return drawing.closed(bottom, _title(found), _description(found, steps, kept))


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the columns are: the room of names, where bars begin and how long the longest is, where
    values end and the room of each.
    """

    names: float
    bars: float
    bar: float
    values: float
    value: float


def _columns(steps: Sequence[Step]) -> _Columns:
    """The same for all but unusual numbers, so that bars of pictures below each other line up."""
    names = lettering.width(_WIDEST)
    shares = max(_SHARES, *(lettering.width(step.share, "small") for step in steps))
    values = max(_VALUES, *(lettering.width(step.value, step.weight) for step in steps))
    values = min(values, WIDTH - names - shares - 3 * _GAP - _LEAST_BAR)
    bar = WIDTH - names - values - shares - 3 * _GAP
    return _Columns(names, names + _GAP, bar, WIDTH - shares - _GAP, values)


def _steps(found: Estimate, kept: Sequence[str]) -> Iterator[Step]:
    yield Step("physical", "physical", 0, found.physical, _shown(found, found.physical), "")
    left = found.physical
    for one in found.deductions:
        if one.name in kept:
            share = figures.percent(one.amount, found.physical)
            value = f"−{_shown(found, one.amount)}" if one.amount else "0"
            yield Step("taken", _name(one.name), left - one.amount, left, value, share, one.why)
        left -= one.amount
    rest = found.promiseable
    of_all = figures.percent(rest, found.physical)
    yield Step("promiseable", "promiseable", 0, rest, _shown(found, rest), of_all)
    for role, number in (("promised", found.promised), ("limit", found.limit)):
        share = figures.percent(number, rest)
        yield Step(role, role, 0, number, _shown(found, number), share)  # type: ignore[arg-type]


def _name(deduction: str) -> str:
    return _NAMES.get(deduction, deduction)


def _shown(found: Estimate, nano: int) -> str:
    return figures.amount(nano, found.like.format)


def _rows(drawing: Drawing, steps: Sequence[Step], at: _Columns, most: int) -> float:
    y = 0.0
    before: Step | None = None
    for step in steps:
        if step.role in ("promiseable", "promised"):
            y += 4
        middle = y + _ROW / 2
        _bar(drawing, step, at, most, middle)
        if before is not None and before.role in ("physical", "taken"):
            edge = at.bars + _scaled(
                before.start if before.role == "taken" else before.end, at, most
            )
            drawing.line(edge, middle - _ROW + _BAR / 2, edge, middle - _BAR / 2, "step")
        drawing.label(0, middle, step.name, step.weight, room=at.names, note=step.why)
        drawing.label(at.values, middle, step.value, step.weight, anchor="end", room=at.value)
        drawing.label(WIDTH, middle, step.share, "small", "quiet", anchor="end")
        y, before = y + _ROW, step
    return y


def _bar(drawing: Drawing, step: Step, at: _Columns, most: int, middle: float) -> None:
    left, right = _scaled(step.start, at, most), _scaled(step.end, at, most)
    place = (at.bars + left, middle - _BAR / 2, right - left, _BAR)
    drawing.area(*place, step.role, note=step.why)
    if step.role == "taken":
        drawing.marked(*place, "hatch")


def _scaled(nano: int, at: _Columns, most: int) -> float:
    """Units from the left of the bars; an amount that is not nothing is never invisible."""
    if not most or not nano:
        return 0.0
    return max(at.bar * nano / most, 0.75)


def _promise_line(
    drawing: Drawing, found: Estimate, at: _Columns, most: int, bottom: float
) -> float:
    """How far promises may go, drawn through what is promised, and what goes beyond it."""
    edge = _scaled(found.promiseable, at, most)
    for row, number in ((2, found.promised), (1, found.limit)):
        over = _scaled(number, at, most) - edge
        if number > found.promiseable and over > 0:
            y = bottom - row * _ROW + (_ROW - _BAR) / 2
            drawing.area(at.bars + edge, y, over, _BAR, "beyond")
            drawing.marked(at.bars + edge, y, over, _BAR, "cross")
    x = at.bars + edge
    drawing.line(x, bottom - 3 * _ROW + 1, x, bottom - 2, "bound")
    return bottom


def _told(drawing: Drawing, found: Estimate, bottom: float) -> float:
    """The lines below the bars."""
    for text, name in _notes(found):
        for line in lettering.wrapped(text, WIDTH, "small"):
            bottom += 15
            drawing.label(0, bottom - 5, line, "small", name)
    return bottom + 4


def _notes(found: Estimate) -> Iterator[tuple[str, str]]:
    beyond = found.promised - found.promiseable
    if beyond > 0:
        yield f"✗ {_shown(found, beyond)} more promised than there is to promise", "bad"
    elif found.promiseable:
        left = _shown(found, -beyond) if beyond else "nothing"
        yield f"{left} left to promise", "quiet"
    beyond = found.limit - found.promiseable
    if beyond > 0:
        yield f"limits reach {_shown(found, beyond)} beyond what can be promised", "quiet"


def _title(found: Estimate) -> str:
    by = ", by device plugin" if found.supply.owner == "devicePlugin" else ""
    return f"Capacity of {found.supply.name}, {found.key}{by}"


def _description(found: Estimate, steps: Sequence[Step], kept: Sequence[str]) -> str:
    a_device = ""
    if found.key != DEVICES:
        a_device = f" of {_shown(found, found.a_device)} each"
    parts = [f"{found.devices:,} devices{a_device}."]
    for step in steps:
        share = f" ({step.share})" if step.share else ""
        why = f": {step.why}" if step.why else ""
        parts.append(f"{step.name} {step.value}{share}{why}.")
    parts += [f"{text}." for text, _ in _notes(found)]
    clear = [_name(one.name) for one in found.deductions if one.name not in kept]
    if clear:
        parts.append(f"Nothing is lost to {listed(clear, 'or')}.")
    return " ".join(parts)
