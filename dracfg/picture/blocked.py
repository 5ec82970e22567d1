"""How others block a request: what lies on the devices, and why one more share has no room there."""

from __future__ import annotations

from collections.abc import Sequence

from dracfg.audit.words import count
from dracfg.picture import lettering, shares
from dracfg.picture.drawing import WIDTH, Drawing
from dracfg.picture.packed import content_words
from dracfg.plan.assurance import Assurance
from dracfg.plan.proofs.blocking import Arrangement
from dracfg.plan.proofs.shapes import Counts, Group, Kind
from dracfg.plan.supply import Supply

MOST_ROWS = 12
"""Contents that are drawn; the others are counted."""

_BAR, _NODE = 26, 22
_ROOM = 264
"""Units of a device's whole capacity; a request that has no room reaches beyond."""


def draw_blocking(drawing: Drawing, proof: Assurance, found: Arrangement) -> tuple[float, str]:
    """Draws it; the height, and the description."""
    supply, request = proof.market.supply, proof.holding.kind
    looks = shares.signs(found.kinds)
    groups = {group.name: group for group in (*supply.restored.groups, *supply.pool.groups)}
    y = 0.0
    lines: list[str] = []
    for name, content, number in found.rows[:MOST_ROWS]:
        group = groups[name]
        why = reason(proof, group, found.kinds, content)
        title = f"{count(number, 'device')} of {name}"
        drawing.label(0, y + 8, title, "strong", room=WIDTH)
        y = _device(drawing, proof, group, found.kinds, content, looks, y + 19)
        for line in lettering.wrapped(why, WIDTH, "small"):
            drawing.label(0, y + 8, line, "small", "bad")
            y += 15
        y += 8
        lines.append(f"{title} with {content_words(looks, found.kinds, content)}: {why}.")
    if len(found.rows) > MOST_ROWS:
        left = sum(number for _, _, number in found.rows[MOST_ROWS:])
        drawing.label(0, y + 8, f"and {count(left, 'more device')}", "small", "quiet")
        y += 20
        lines.append(f"And {count(left, 'more device')}.")
    if proof.devices > 1:
        y = _nodes(drawing, proof, found, groups, y)
        lines.append(_spread(proof))
    used = [
        (looks[kind], f"{total:,} × {kind.name}: {shares.size(supply, kind)}")
        for i, kind in enumerate(found.kinds)
        if (total := sum(content[i] * number for _, content, number in found.rows))
    ]
    asked = f"asked for: {request.name}, {shares.size(supply, request)}"
    drawing.area(0.75, y + 1, 22.5, 14, "wanted")
    for line in lettering.wrapped(asked, WIDTH - 32, "small"):
        drawing.label(32, y + 8, line, "small")
        y += 15
    y = shares.legend(drawing, used, y + 4)
    lines += [f"{sign.letter} is one of {text}." for sign, text in used]
    return y, " ".join([*lines, f"{asked}."])


def reason(proof: Assurance, group: Group, kinds: Sequence[Kind], content: Counts) -> str:
    """Why a device with this content refuses one more share: `8Gi of memory left, 10Gi asked for`."""
    supply, request = proof.market.supply, proof.holding.kind
    held = [kind for kind, number in zip(kinds, content, strict=True) if number]
    if any(kind.whole for kind in held):
        return "held whole"
    if request.whole:
        return "a whole device is asked for, and shares lie on it"
    if group.shares is not None and sum(content) >= group.shares.most:
        return f"it has {count(sum(content), 'share')}, as many as it takes"
    for i, key in enumerate(supply.pool.keys):
        left = _left(group, kinds, content, i)
        if left < request.size[i]:
            asked = shares.amount(supply, key, request.size[i])
            return f"{shares.full_amount(supply, key, left)} left, {asked} asked for"
    return "it is not handed out in this way"


def _left(group: Group, kinds: Sequence[Kind], content: Counts, key: int) -> int:
    used = sum(
        kind.size[key] * number
        for kind, number in zip(kinds, content, strict=True)
        if number and not kind.whole
    )
    return group.capacity[key] - used


def _device(
    drawing: Drawing,
    proof: Assurance,
    group: Group,
    kinds: Sequence[Kind],
    content: Counts,
    looks: dict[Kind, shares.Sign],
    y: float,
) -> float:
    """One device from left to right: shares, what is left, and the request that goes beyond it."""
    supply, request = proof.market.supply, proof.holding.kind
    key = _key(proof, group, kinds, content)
    drawing.area(0.5, y, _ROOM, _BAR, "device", "free")
    x = 0.5
    for kind, number in zip(kinds, content, strict=True):
        part = _part(supply, group, kind, key)
        text = "" if key is None or kind.whole else _text(proof, looks, kind, key)
        for _ in range(number):
            width = min(float(_ROOM * part), _ROOM + 0.5 - x)
            shares.draw_share(drawing, looks[kind], x, y + 1, width - 1, _BAR - 2, text)
            x += width
    width = float(_ROOM * _part(supply, group, request, key)) if not request.whole else float(_ROOM)
    start = min(x, WIDTH - 24)
    drawing.area(start, y + 4, min(width, WIDTH - start - 1), _BAR - 8, "wanted")
    drawing.line(_ROOM + 0.5, y - 4, _ROOM + 0.5, y + _BAR + 4, "bound")
    return y + _BAR + 6


def _key(proof: Assurance, group: Group, kinds: Sequence[Kind], content: Counts) -> int | None:
    """The key in which the request has no room; None where it is about whole devices or shares."""
    request = proof.holding.kind
    if request.whole:
        return next((i for i, most in enumerate(group.capacity) if most), None)
    short = (
        i for i in range(len(group.capacity)) if _left(group, kinds, content, i) < request.size[i]
    )
    return next(short, next((i for i, n in enumerate(request.size) if n), None))


def _part(supply: Supply, group: Group, kind: Kind, key: int | None) -> float:
    if kind.whole or key is None or not group.capacity[key]:
        return float(shares.fraction(supply, group, kind))
    return kind.size[key] / group.capacity[key]


def _text(proof: Assurance, looks: dict[Kind, shares.Sign], kind: Kind, key: int) -> str:
    supply = proof.market.supply
    return f"{looks[kind].letter} {shares.amount(supply, supply.pool.keys[key], kind.size[key])}"


def _nodes(
    drawing: Drawing,
    proof: Assurance,
    found: Arrangement,
    groups: dict[str, Group],
    y: float,
) -> float:
    """A claim for several devices of one node: how many of each node are without room."""
    for line in lettering.wrapped(_spread(proof), WIDTH, "small"):
        drawing.label(0, y + 8, line, "small")
        y += 15
    y += 2
    for name in dict.fromkeys(name for name, _, _ in found.rows):
        group = groups[name]
        full = group.per_node - proof.devices + 1
        for device in range(min(group.per_node, 12)):
            x = device * (_NODE + 4) + 0.5
            drawing.area(x, y, _NODE, _NODE, "device", "full" if device < full else "free")
            if device < full:
                drawing.label(
                    x + _NODE / 2, y + _NODE / 2, "✗", "strong", "on-full", anchor="middle"
                )
        x = min(group.per_node, 12) * (_NODE + 4) + 6
        text = f"on each of {count(group.nodes, 'node')}"
        drawing.label(x, y + _NODE / 2, text, "small", "quiet", room=WIDTH - x)
        y += _NODE + 6
    return y + 4


def _spread(proof: Assurance) -> str:
    return f"A claim for {proof.devices:,} devices of one node finds no node with so many of them open."
