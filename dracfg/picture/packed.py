"""The packing that proves that guarantees fit: every device with the shares that lie on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dracfg.audit.words import count
from dracfg.dataclass import dataclass
from dracfg.picture import shares
from dracfg.picture.drawing import WIDTH, Drawing
from dracfg.plan.assurance import Assurance, own_demand, single
from dracfg.plan.promises import Market
from dracfg.plan.proofs.packing import Packing, is_packing, kinds_of
from dracfg.plan.proofs.shapes import Claims, Counts, Group, Kind, Pool
from dracfg.plan.supply import Supply

MOST_ROWS = 24
"""Rows of nodes that are drawn; the others are counted."""

_NAMES, _WIDE, _HIGH, _GAP, _ROW_GAP = 60, 32, 38, 4, 8
_ACROSS = 8


@dataclass(frozen=True, slots=True)
class Node:
    """`alike` nodes of a group whose devices carry the same."""

    group: Group
    contents: tuple[Counts, ...]
    alike: int


def demand_of(proof: Assurance, packing: Packing) -> tuple[Claims, ...] | None:
    """The claims that a packing lays out: each of the demands that the proof may be of is held against
    it. None where it packs none of them.
    """
    pool = proof.market.supply.pool
    for demand in _demands(proof):
        if _packs(pool, demand, packing):
            return demand
    return None


def _packs(pool: Pool, demand: tuple[Claims, ...], packing: Packing) -> bool:
    known = all(one.claims < len(demand) for one in packing)
    return known and is_packing(pool, demand, packing)


def _demands(proof: Assurance) -> Iterator[tuple[Claims, ...]]:
    tenant = proof.holding.tenant.name
    for market in _readings(proof.market):
        yield market.everything(proof.reclaimed)
        others = single(market.beside(tenant, proof.reclaimed))
        yield (*own_demand(market, tenant), *others)
        yield market.guaranteed()


def _readings(market: Market) -> Iterator[Market]:
    """The market by itself, and with claims of other tiers counted as holding devices of it."""
    yield replace(market, foreign={})
    if market.foreign:
        yield replace(market, exempt=market.exempt + sum(market.foreign.values()), foreign={})


def nodes_of(pool: Pool, demand: Sequence[Claims], packing: Packing) -> tuple[Node, ...]:
    """What the nodes carry, those that are alike once, the fullest first; empty ones last."""
    kinds = kinds_of(demand)
    contents: dict[tuple[int, int], list[list[int]]] = {}
    for one in packing:
        group = pool.groups[one.group]
        for number, node, device in one.places():
            if (number, node) not in contents:
                contents[number, node] = [[0] * len(kinds) for _ in range(group.per_node)]
            contents[number, node][device][kinds.index(demand[one.claims].kind)] += one.count
    found: Counter[tuple[int, tuple[Counts, ...]]] = Counter()
    for (number, _), devices in contents.items():
        found[number, tuple(sorted(map(tuple, devices), reverse=True))] += 1
    for number, group in enumerate(pool.groups):
        used = sum(1 for place in contents if place[0] == number)
        if group.nodes > used:
            found[number, ((0,) * len(kinds),) * group.per_node] += group.nodes - used
    ordered = sorted(
        found.items(), key=lambda one: (one[0][0], not any(map(sum, one[0][1])), -one[1], one[0][1])
    )
    return tuple(Node(pool.groups[g], node, alike) for (g, node), alike in ordered)


def draw_packing(
    drawing: Drawing, proof: Assurance, demand: tuple[Claims, ...], packing: Packing
) -> tuple[float, str]:
    """Draws it; the height, and the description."""
    supply = proof.market.supply
    kinds = kinds_of(demand)
    looks = shares.signs(kinds)
    nodes = nodes_of(supply.pool, demand, packing)
    y, group = 0.0, None
    for node in nodes[:MOST_ROWS]:
        if node.group is not group:
            group = node.group
            title = (
                f"{group.name}: {count(group.nodes, 'node')} × {count(group.per_node, 'device')}"
            )
            drawing.label(0, y + 8, title, "strong", room=WIDTH)
            y += 20
        y = _node(drawing, supply, node, looks, kinds, y)
    if len(nodes) > MOST_ROWS:
        left = sum(node.alike for node in nodes[MOST_ROWS:])
        drawing.label(
            0, y + 8, f"and {count(left, 'more node')} of other content", "small", "quiet"
        )
        y += 20
    rows = [(looks[kind], _kind_words(supply, kind, demand)) for kind in kinds]
    return shares.legend(drawing, rows, y + 2), _description(nodes, looks, kinds, rows)


def _kind_words(supply: Supply, kind: Kind, demand: Sequence[Claims]) -> str:
    """`a100-40g, a whole device: 1 claim for 8, 9 claims for 1`."""
    claims = [
        count(one.count, "claim") + (f" for {one.devices:,} devices" if one.devices > 1 else "")
        for one in demand
        if one.kind == kind and one.count
    ]
    return f"{kind.name}, {shares.size(supply, kind)}: {', '.join(claims)}"


def _node(
    drawing: Drawing,
    supply: Supply,
    node: Node,
    looks: dict[Kind, shares.Sign],
    kinds: Sequence[Kind],
    y: float,
) -> float:
    for number, content in enumerate(node.contents):
        line, place = divmod(number, _ACROSS)
        x, top = _NAMES + place * (_WIDE + _GAP), y + line * (_HIGH + _GAP)
        drawing.area(x, top, _WIDE, _HIGH, "device", "free")
        _fill(drawing, supply, node.group, looks, kinds, content, x, top)
    lines = -(-len(node.contents) // _ACROSS)
    height = lines * (_HIGH + _GAP) - _GAP
    said = f"{node.alike:,} ×"
    drawing.label(_NAMES - 8, y + height / 2, said, anchor="end", room=_NAMES - 8)
    return y + height + _ROW_GAP


def _fill(
    drawing: Drawing,
    supply: Supply,
    group: Group,
    looks: dict[Kind, shares.Sign],
    kinds: Sequence[Kind],
    content: Counts,
    x: float,
    top: float,
) -> None:
    """The shares of a device as blocks from the bottom up, each with its letter; where they are too
    thin for it, a kind has its number and letter once.
    """
    parts = [shares.fraction(supply, group, kind) for kind in kinds]
    whole = max(sum(part * number for part, number in zip(parts, content, strict=True)), 1)
    below = top + _HIGH
    for kind, part, number in zip(kinds, parts, content, strict=True):
        high = float(_HIGH * part / whole)
        edge = 0.5 if high > 2 else 0
        for _ in range(number):
            below -= high
            shares.draw_share(
                drawing, looks[kind], x + 0.75, below + edge, _WIDE - 1.5, high - 2 * edge
            )
        if number > 1 and high < shares.PLATE:
            text = f"{number:,} {looks[kind].letter}"
            shares.draw_plate(drawing, x, below, _WIDE, high * number, text)


def _description(
    nodes: Sequence[Node],
    looks: dict[Kind, shares.Sign],
    kinds: Sequence[Kind],
    rows: Sequence[tuple[shares.Sign, str]],
) -> str:
    parts = [f"{sign.letter} is one of {text}." for sign, text in rows]
    for node in nodes[:MOST_ROWS]:
        devices = Counter(node.contents)
        said = ", ".join(
            f"{number:,} with {content_words(looks, kinds, content)}"
            for content, number in devices.items()
        )
        parts.append(f"{count(node.alike, 'node')} of {node.group.name}, devices: {said}.")
    return " ".join(parts)


def content_words(looks: dict[Kind, shares.Sign], kinds: Sequence[Kind], content: Counts) -> str:
    """`2 A and 1 B`, `nothing`."""
    held = [
        f"{number:,} {looks[kind].letter}"
        for kind, number in zip(kinds, content, strict=True)
        if number
    ]
    return " and ".join(held) or "nothing"
