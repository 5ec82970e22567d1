"""Claims for several things at once, as they lie on nodes: the devices of one claim have one letter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dracfg.allocate.claims import ClaimAllocation, DeviceResult
from dracfg.audit.words import count, named
from dracfg.picture import lettering, shares
from dracfg.picture.bound import draw_sum
from dracfg.picture.drawing import WIDTH, Drawing
from dracfg.picture.order import natural
from dracfg.plan.assurance import QUESTIONS
from dracfg.plan.jointassurance import JointAssurance
from dracfg.plan.jointplacement import Filling, JointPlacement
from dracfg.plan.jointproofs import TooFew
from dracfg.plan.proofs.shapes import Kind
from dracfg.plan.proofs.verdict import Proven, Refuted

MOST_ROWS = 12
"""Nodes that are drawn; the others are counted."""

_WIDE, _HIGH, _GAP, _ROW_GAP = 28, 20, 4, 6
_MOST_NAME = 92


def joint_arrangement(proof: JointAssurance, ident: str) -> str | None:
    """The placement that a proof rests on, or the number of claims that is more than nodes hold, as
    `<svg>` text; None where neither can be drawn.
    """
    drawing = Drawing(ident, "arrangement")
    verdict = proof.verdict
    if isinstance(verdict, Proven) and isinstance(verdict.certificate, JointPlacement):
        height, description = _draw(drawing, proof, verdict.certificate)
    elif isinstance(verdict, Refuted) and isinstance(verdict.reason, TooFew):
        found = verdict.reason
        height, description = draw_sum(
            drawing, found.needed, found.most, lambda n: count(n, "claim"), found.why
        )
    else:
        return None
    return drawing.closed(height, _title(proof), description)


def _title(proof: JointAssurance) -> str:
    demand = proof.demand
    asker = demand.largest
    return (
        f"{QUESTIONS[proof.question]}: {proof.verdict.word}. {count(demand.claims, 'claim')} of "
        f"profile {asker.tenant.name}/{asker.profile.name} on {demand.cluster.name}"
    )


def _draw(drawing: Drawing, proof: JointAssurance, found: JointPlacement) -> tuple[float, str]:
    origins = {request.name: request.origin for request in proof.demand.plan.requests}
    names = list(dict.fromkeys(origins.values()))
    room = min(max((lettering.width(name, "small") for name in names), default=0), _MOST_NAME)
    y = 0.0
    told = [f"Each claim: {asked_of_each(proof)}."]
    fillings = _alike(found)
    for filling in fillings[:MOST_ROWS]:
        title = filling.node
        if filling.nodes > 1:
            title = f"{count(filling.nodes, 'node')} like {title}"
        drawing.label(0, y + 8, title, "strong", room=WIDTH)
        y += 20
        kinds = [Kind(f"claim {number}") for number in range(len(filling.claims))]
        looks = tuple(shares.signs(kinds).values())
        for name in names:
            y = _row(drawing, name, _of(filling, name, origins), looks, room, y)
        told.append(f"{title}: {count(len(filling.claims), 'claim')}.")
        y += _ROW_GAP
    if left := sum(one.nodes for one in fillings[MOST_ROWS:]):
        drawing.label(0, y + 8, f"and {count(left, 'more node')}", "small", "quiet")
        y += 18
    notes = [f"each letter is one claim: {asked_of_each(proof)}"]
    if found.spare:
        notes.append(f"any {count(found.spare, 'node')} of them may be missing")
    for note in notes:
        for line in lettering.wrapped(note, WIDTH, "small"):
            drawing.label(0, y + 8, line, "small", "quiet")
            y += 15
    return y + 4, " ".join([*told, *(f"{note}." for note in notes[1:])])


def _alike(found: JointPlacement) -> list[Filling]:
    """Nodes with as many claims, each for as many devices of a request, as one."""
    groups: dict[tuple[tuple[str, ...], ...], Filling] = {}
    for one in found.fillings:
        shape = tuple(tuple(sorted(r.request for r in claim.results)) for claim in one.claims)
        first = groups.setdefault(shape, replace(one, nodes=0))
        groups[shape] = replace(first, nodes=first.nodes + one.nodes)
    return list(groups.values())


def asked_of_each(proof: JointAssurance) -> str:
    """`4 of a100-40g and 4 of cx7-400g`."""
    devices: dict[str, int] = {}
    for request in proof.demand.plan.requests:
        classes = " or ".join(dict.fromkeys(ask.plan.name for ask in request.asks))
        devices[classes] = devices.get(classes, 0) + request.devices
    return named(f"{number:,} of {classes}" for classes, number in devices.items())


def _of(filling: Filling, name: str, origins: dict[str, str]) -> list[tuple[int, DeviceResult]]:
    """(number of the claim, device) of one request of the profile, by device."""
    held = [
        (number, result)
        for number, claim in enumerate(filling.claims)
        for result in _results(claim)
        if origins.get(result.request.partition("/")[0]) == name
    ]
    return sorted(held, key=lambda one: (natural(one[1].device), one[0]))


def _results(claim: ClaimAllocation) -> tuple[DeviceResult, ...]:
    return tuple(result for result in claim.results if not result.admin_access)


def _row(
    drawing: Drawing,
    name: str,
    held: Sequence[tuple[int, DeviceResult]],
    looks: Sequence[shares.Sign],
    room: float,
    y: float,
) -> float:
    start = room + 8
    across = max(1, int((WIDTH - start + _GAP) // (_WIDE + _GAP)))
    drawing.label(0, y + _HIGH / 2, name, "small", room=room)
    for place, (number, result) in enumerate(held):
        line, column = divmod(place, across)
        x, top = start + column * (_WIDE + _GAP), y + line * (_HIGH + _GAP)
        shares.draw_share(drawing, looks[number], x, top, _WIDE, _HIGH, note=result.device)
    lines = max(1, -(-len(held) // across))
    return y + lines * (_HIGH + _GAP)
