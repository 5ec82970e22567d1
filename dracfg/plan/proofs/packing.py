"""A packing: which claims lie on which devices. Found by filling, checked on its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from dracfg.dataclass import dataclass
from dracfg.plan.proofs.shapes import Claims, Counts, Group, Kind, Pool


@dataclass(frozen=True, slots=True)
class Placement:
    """`count` claims of one entry of the demand, each with a share on every one of `devices`.

    So many lie on each of `nodes` nodes from `node` on. `group` and `claims` are positions in the
    pool and in the demand, `node` and `devices` count from 0 within the group and within the node.
    """

    claims: int
    group: int
    node: int
    devices: tuple[int, ...]
    count: int = 1
    nodes: int = 1

    def places(self) -> Iterator[tuple[int, int, int]]:
        """(group, node, device) of each device that carries `count` of them."""
        nodes = range(self.node, self.node + self.nodes)
        return product((self.group,), nodes, self.devices)


Packing = tuple[Placement, ...]


def kinds_of(demand: Sequence[Claims]) -> tuple[Kind, ...]:
    """The kinds of a demand, each once."""
    return tuple(dict.fromkeys(claims.kind for claims in demand))


def is_packing(pool: Pool, demand: Sequence[Claims], packing: Packing) -> bool:
    """Checks a packing from the beginning: every claim placed, every device within its bound."""
    kinds = kinds_of(demand)
    placed = [0] * len(demand)
    contents: dict[tuple[int, int, int], list[int]] = {}
    for placement in packing:
        claims, group = demand[placement.claims], pool.groups[placement.group]
        first, nodes = placement.node, placement.nodes
        on_nodes = 0 <= first < first + nodes <= group.nodes and all(
            0 <= device < group.per_node for device in placement.devices
        )
        if not on_nodes or len(set(placement.devices)) != claims.devices or placement.count < 1:
            return False
        placed[placement.claims] += placement.count * nodes
        for place in placement.places():
            content = contents.setdefault(place, [0] * len(kinds))
            content[kinds.index(claims.kind)] += placement.count
    return all(
        number == claims.count for number, claims in zip(placed, demand, strict=True)
    ) and all(pool.groups[place[0]].holds(kinds, content) for place, content in contents.items())


def pack(pool: Pool, demand: Sequence[Claims]) -> Packing | None:
    """First fit over a few orders of the claims and of the groups; None where none of them fits."""
    groups = range(len(pool.groups))
    narrow_first = sorted(groups, key=lambda g: _admitted(pool.groups[g], demand))
    for order in _orders(pool, demand):
        for ways in dict.fromkeys((tuple(narrow_first), tuple(groups))):
            for fullest_first in (True, False):
                found = _first_fit(pool, demand, order, ways, fullest_first)
                if found is not None:
                    return found
    return None


def _admitted(group: Group, demand: Sequence[Claims]) -> int:
    return sum(group.takes(claims.kind) for claims in demand)


def _orders(pool: Pool, demand: Sequence[Claims]) -> tuple[tuple[int, ...], ...]:
    """Orders of the demand: largest share first by its largest key, by its sum, confined first."""
    largest = {claims: _part(pool, claims.kind, max) for claims in demand}
    summed = {claims: _part(pool, claims.kind, sum) for claims in demand}
    choices = {claims: len(pool.taking(claims.kind)) for claims in demand}
    positions = range(len(demand))
    made = (
        sorted(positions, key=lambda i: (-demand[i].devices, -largest[demand[i]])),
        sorted(positions, key=lambda i: (-largest[demand[i]], -demand[i].devices)),
        sorted(positions, key=lambda i: (-summed[demand[i]], -demand[i].devices)),
        sorted(positions, key=lambda i: (choices[demand[i]], -largest[demand[i]])),
    )
    return tuple(dict.fromkeys(map(tuple, made)))


def _part(pool: Pool, kind: Kind, of: Callable[[list[float]], float]) -> float:
    """How much of a device a share takes, by the largest key or over all keys."""
    if kind.whole:
        return 2.0
    parts = [
        amount / group.capacity[i]
        for group in pool.taking(kind)
        for i, amount in enumerate(kind.size)
        if amount and group.capacity[i]
    ]
    return of([*parts, 0.0])


class _Run(NamedTuple):
    """Nodes one after the other whose devices carry the same."""

    nodes: int
    node: tuple[Counts, ...]


def _first_fit(
    pool: Pool,
    demand: Sequence[Claims],
    order: Sequence[int],
    groups: Sequence[int],
    fullest_first: bool,
) -> Packing | None:
    kinds = kinds_of(demand)
    empty = (0,) * len(kinds)
    runs = [[_Run(group.nodes, (empty,) * group.per_node)] for group in pool.groups]
    placed: list[Placement] = []
    for position in order:
        claims = demand[position]
        left = claims.count
        k = kinds.index(claims.kind)
        for g in groups:
            if not left or not pool.groups[g].takes(claims.kind):
                continue
            room = _rooms(pool.groups[g], kinds, claims.kind, claims.count)
            after: list[_Run] = []
            for run in runs[g]:
                nodes = run.nodes
                while nodes and left:
                    steps, content = _filled(room, run.node, k, claims, left, fullest_first)
                    on_each = sum(count for _, count in steps)
                    if not on_each:
                        break
                    # What is left is enough for so many nodes, and each of them takes the same.
                    alike = min(nodes, left // on_each)
                    first = sum(one.nodes for one in after)
                    placed += [Placement(position, g, first, *step, alike) for step in steps]
                    after.append(_Run(alike, content))
                    nodes -= alike
                    left -= on_each * alike
                if nodes:
                    after.append(_Run(nodes, run.node))
            runs[g] = after
        if left:
            return None
    return tuple(placed)


def _rooms(group: Group, kinds: Sequence[Kind], kind: Kind, most: int) -> Callable[[Counts], int]:
    """The room for a kind by content; equal contents are looked at once."""
    known: dict[Counts, int] = {}

    def room(content: Counts) -> int:
        if content not in known:
            known[content] = group.room(kinds, content, kind, most)
        return known[content]

    return room


def _filled(
    room: Callable[[Counts], int],
    node: tuple[Counts, ...],
    k: int,
    claims: Claims,
    left: int,
    fullest_first: bool,
) -> tuple[list[tuple[tuple[int, ...], int]], tuple[Counts, ...]]:
    """What of `left` claims a node takes, step by step, and what its devices carry then."""
    steps: list[tuple[tuple[int, ...], int]] = []
    contents = list(node)
    while left and (found := _on_node(room, contents, claims, left, fullest_first)):
        devices, count = found
        for device in devices:
            content = contents[device]
            contents[device] = (*content[:k], content[k] + count, *content[k + 1 :])
        steps.append(found)
        left -= count
    return steps, tuple(contents)


def _on_node(
    room: Callable[[Counts], int],
    node: Sequence[Counts],
    claims: Claims,
    left: int,
    fullest_first: bool,
) -> tuple[tuple[int, ...], int] | None:
    """Devices of a node for one claim, and how many such claims they take at once."""
    open_ = [(found, d) for d, content in enumerate(node) if (found := room(content))]
    if len(open_) < claims.devices:
        return None
    open_.sort(key=lambda one: (one[0] if fullest_first else -one[0], one[1]))
    chosen = open_[: claims.devices]
    count = min(left, chosen[0][0]) if claims.devices == 1 else 1
    return tuple(sorted(d for _, d in chosen)), count
