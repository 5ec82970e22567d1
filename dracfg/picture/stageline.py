"""A rollout as a line of stages from top to bottom: what has moved, what moves next, and what is asked
before it may.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from dracfg.audit.words import count, named
from dracfg.dataclass import dataclass
from dracfg.link.gates import AskedGate, gates_of
from dracfg.link.moves import fenced_pools, pools_at, position
from dracfg.model import kinds
from dracfg.model.rollout import START, Evidence, Reading, RolloutSpec, Stage
from dracfg.picture import lettering
from dracfg.picture.drawing import WIDTH, Drawing

Standing = Literal["passed", "here", "coming"]
Pools = Mapping[str, kinds.NodePool]

_X, _TEXT_X = 11, 30
_LINE, _GAP = 16, 10
_SAID = 200
_WAYS = {
    "forward": "▼ goes forward",
    "halted": "■ halted: stays where it is",
    "rollback": "▲ rolls back",
}


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the line: `start`, or a stage with what it reaches."""

    name: str
    standing: Standing
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A gate with the last that it showed; None where it was never asked."""

    gate: AskedGate
    reading: Reading | None
    evidence: Evidence | None


def stageline(
    rollout: kinds.Rollout, pools: Pools, ident: str, gates: Sequence[AskedGate] | None = None
) -> str:
    """A rollout as `<svg>` text; `pools` are the node pools of the catalog by name.

    `gates` are those of its document unless given.
    """
    spec = rollout.spec
    places = tuple(_places(spec, pools))
    asked = tuple(_asked(spec, gates_of(spec) if gates is None else gates))
    fenced = tuple(sorted(fenced_pools(spec, pools)))
    drawing = Drawing(ident, "stageline")
    y = _way(drawing, spec)
    y = _line(drawing, spec, places, fenced, y)
    y = _gates(drawing, asked, y)
    return drawing.closed(y, _title(rollout), _description(spec, places, fenced, asked))


def _places(spec: RolloutSpec, pools: Pools) -> Iterator[Place]:
    at = position(spec)
    yield Place(START, _standing(-1, at), ("nothing has moved",))
    for number, stage in enumerate(spec.stages):
        yield Place(stage.name, _standing(number, at), tuple(_reach(spec, stage, number, pools)))


def _standing(number: int, at: int) -> Standing:
    if number == at:
        return "here"
    return "passed" if number < at else "coming"


def _reach(spec: RolloutSpec, stage: Stage, number: int, pools: Pools) -> Iterator[str]:
    new = pools_at(spec, number, pools) - pools_at(spec, number - 1, pools)
    names = tuple(sorted(new))
    yield f"{count(len(names), 'pool')} more: {named(names)}" if names else "no more pools"
    tenants = "every tenant" if stage.tenants == "*" else named(stage.tenants) or "no tenant"
    work = "any work" if stage.workloads == "any" else "work that can be tried again"
    yield f"{tenants}; {work}"


def _asked(spec: RolloutSpec, gates: Iterable[AskedGate]) -> Iterator[Asked]:
    for gate in gates:
        found = (
            (reading, evidence)
            for evidence in reversed(spec.evidence)
            for reading in evidence.readings
            if reading.gate == gate.name
        )
        reading, evidence = next(found, (None, None))
        yield Asked(gate, reading, evidence)


def _way(drawing: Drawing, spec: RolloutSpec) -> float:
    kind = "bad" if spec.direction == "rollback" else "plain"
    drawing.label(0, 8, _WAYS[spec.direction], "strong", kind)
    return 16 + _GAP


def _line(
    drawing: Drawing,
    spec: RolloutSpec,
    places: tuple[Place, ...],
    fenced: tuple[str, ...],
    y: float,
) -> float:
    tops: list[float] = []
    at = position(spec) + 1
    moving = at if spec.direction == "rollback" else at + 1
    for number, place in enumerate(places):
        if number == moving and fenced:
            for text in lettering.wrapped(
                f"╳ fenced until empty: {named(fenced)}", WIDTH - _TEXT_X, "small"
            ):
                drawing.label(_TEXT_X, y + 6, text, "small", "warn")
                y += _LINE
            y += 4
        tops.append(y + 8)
        strong = "quiet" if place.standing == "coming" else "strong"
        suffix = "  ◀ stands here" if place.standing == "here" else ""
        name = lettering.fitted(
            place.name, WIDTH - _TEXT_X - lettering.width(suffix, strong), strong
        )
        drawing.label(_TEXT_X, y + 8, f"{name}{suffix}", strong)
        y += 18
        for line in place.lines:
            for text in lettering.wrapped(line, WIDTH - _TEXT_X, "small"):
                drawing.label(_TEXT_X, y + 6, text, "small", "quiet")
                y += _LINE - 2
        y += _GAP
    for number, (top, below) in enumerate(pairwise(tops)):
        done = number + 1 <= at
        drawing.line(_X, top, _X, below, "way", "passed" if done else "coming")
    for place, top in zip(places, tops, strict=True):
        drawing.circle(_X, top, 6, "stage", place.standing)
        if place.standing == "here":
            drawing.circle(_X, top, 2.5, "core")
    return y


def _gates(drawing: Drawing, gates: tuple[Asked, ...], y: float) -> float:
    if not gates:
        return y
    drawing.label(0, y + 8, "gates", "strong")
    y += 20
    for one in gates:
        kind, sign, said = _verdict(one)
        shown = lettering.fitted(said, _SAID, "small")
        room = WIDTH - _TEXT_X - lettering.width(shown, "small") - 8
        drawing.label(_X, y + 6, sign, kind, anchor="middle")
        drawing.label(_TEXT_X, y + 6, one.gate.name, "small", room=room)
        note = f"{said}; {one.gate.promql}" if one.gate.promql else said
        drawing.label(WIDTH, y + 6, shown, "small", kind, anchor="end", note=note)
        y += _LINE
        if text := _when(one):
            drawing.label(_TEXT_X, y + 5, text, "small", "quiet", room=WIDTH - _TEXT_X)
            y += _LINE
    return y


def _when(one: Asked) -> str:
    """When it was asked last, and whether it is asked in a rollback alone."""
    back = "" if "forward" in one.gate.directions else "asked in a rollback alone"
    at = f"at {one.evidence.stage}, {one.evidence.at}" if one.evidence is not None else ""
    return "; ".join(filter(None, (at, back)))


def _verdict(one: Asked) -> tuple[str, str, str]:
    """(class, sign, what it says)."""
    if one.reading is None:
        return "quiet", "○", f"not asked yet, at most {one.gate.max}"
    if one.reading.value is None:
        return "warn", "?", f"no data, at most {one.reading.limit}"
    within = "within" if one.reading.passed else "above"
    kind, sign = ("good", "✓") if one.reading.passed else ("bad", "✗")
    return kind, sign, f"{one.reading.value} {within} {one.reading.limit}"


def _title(rollout: kinds.Rollout) -> str:
    return f"Rollout {rollout.name} of {rollout.spec.tier}: {rollout.spec.subject}"


def _description(
    spec: RolloutSpec, places: tuple[Place, ...], fenced: tuple[str, ...], gates: tuple[Asked, ...]
) -> str:
    parts = [f"Stands at {spec.stage}, {spec.direction}, {spec.phase}."]
    if fenced:
        parts.append(f"Fenced until empty: {', '.join(fenced)}.")
    parts += [f"{p.name} ({p.standing}): {'; '.join(p.lines)}." for p in places]
    for one in gates:
        when = _when(one)
        parts.append(f"Gate {one.gate.name}: {_verdict(one)[2]}{f' {when}' if when else ''}.")
    return " ".join(parts)
