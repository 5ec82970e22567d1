"""Why no packing exists: bounds that a reader can check by adding up.

The weight bound takes in the volume bounds, the pigeonhole of large shares and the bounds of Martello
and Toth (Discrete Applied Mathematics 28, 1990): each of them is a choice of weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from dracfg.dataclass import dataclass
from dracfg.plan.proofs.packing import kinds_of
from dracfg.plan.proofs.patterns import full_contents
from dracfg.plan.proofs.shapes import Claims, Group, Kind, Pool
from dracfg.plan.proofs.simplex import maximise
from dracfg.plan.proofs.verdict import Budget, OutOfBudget

_MOST_CONTENTS = 600


@dataclass(frozen=True, slots=True)
class FitsNowhere:
    """A claim that no empty node can carry."""

    kind: str
    devices: int


@dataclass(frozen=True, slots=True)
class Volume:
    """Shares that only these groups take need more of a key than the groups have.

    `key` is a key of the pool, "shares" or "devices" (which count whole shares alone).
    """

    key: str
    kinds: tuple[str, ...]
    groups: tuple[str, ...]
    needed: int
    available: int


@dataclass(frozen=True, slots=True)
class PerNode:
    """So many claims of several devices of one node, and the nodes hold fewer."""

    kind: str
    devices: int
    needed: int
    available: int


@dataclass(frozen=True, slots=True)
class Overweight:
    """Weights by kind under which no device of a group carries more than its ceiling, and all shares
    together weigh more than all the devices carry.
    """

    kinds: tuple[Kind, ...]
    weights: tuple[Fraction, ...]
    ceilings: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class NoneLeft:
    """Every packing was tried."""

    states: int


Reason = FitsNowhere | Volume | PerNode | Overweight | NoneLeft


def plain_bound(pool: Pool, demand: Sequence[Claims]) -> Reason | None:
    """The first of the bounds by adding up that shows the demand to be too much, or None."""
    for bound in (_nowhere, _volumes, _per_node):
        for reason in bound(pool, demand):
            return reason
    return None


def weight_bound(pool: Pool, demand: Sequence[Claims], states: int) -> Overweight | None:
    """Weights that show the demand to be too much, or None where there are none."""
    try:
        return _overweight(pool, demand, Budget(states))
    except OutOfBudget:
        return None


def _nowhere(pool: Pool, demand: Sequence[Claims]) -> Iterator[Reason]:
    for claims in demand:
        if claims.count and not any(
            group.per_node >= claims.devices and group.room((), (), claims.kind, 1)
            for group in pool.taking(claims.kind)
        ):
            yield FitsNowhere(claims.kind.name, claims.devices)


def _volumes(pool: Pool, demand: Sequence[Claims]) -> Iterator[Reason]:
    """Amounts over every set of groups that some shares are confined to."""
    homes = {
        claims.kind: frozenset(group.name for group in pool.taking(claims.kind))
        for claims in demand
        if claims.count
    }
    unions = set(homes.values())
    unions |= {a | b for a in unions for b in unions}
    for union in sorted(unions, key=sorted):
        groups = [group for group in pool.groups if group.name in union]
        inside = [c for c in demand if c.count and homes[c.kind] <= union]
        names = tuple(dict.fromkeys(claims.kind.name for claims in inside))
        for key, needed, available in _sums(pool, groups, inside):
            if needed > available:
                yield Volume(key, names, tuple(group.name for group in groups), needed, available)


def _sums(
    pool: Pool, groups: Sequence[Group], inside: Sequence[Claims]
) -> Iterator[tuple[str, int, int]]:
    """(key, needed, available). A whole share takes of each key at least what the least device has."""
    devices = sum(group.devices for group in groups)
    yield "devices", sum(c.shares for c in inside if c.kind.whole), devices
    if all(group.shares is not None for group in groups):
        most = sum(group.devices * group.shares.most for group in groups if group.shares)
        fewest = min((group.shares.most for group in groups if group.shares), default=0)
        taken = sum(c.shares * (fewest if c.kind.whole else 1) for c in inside)
        yield "shares", taken, most
    for i, key in enumerate(pool.keys):
        least = min((group.capacity[i] for group in groups), default=0)
        taken = sum(c.shares * (least if c.kind.whole else c.kind.size[i]) for c in inside)
        yield key, taken, sum(group.devices * group.capacity[i] for group in groups)


def _per_node(pool: Pool, demand: Sequence[Claims]) -> Iterator[Reason]:
    """Claims of one kind for as many devices or more: a node carries a bounded number of them."""
    for claims in demand:
        if claims.devices == 1 or not claims.count:
            continue
        same = [c for c in demand if c.kind == claims.kind and c.devices >= claims.devices]
        needed = sum(c.count for c in same)
        available = 0
        for group in pool.taking(claims.kind):
            a_device = group.room((), (), claims.kind, needed)
            available += group.nodes * (
                a_device * group.per_node // claims.devices
                if group.per_node >= claims.devices
                else 0
            )
        if needed > available:
            yield PerNode(claims.kind.name, claims.devices, needed, available)


def _overweight(pool: Pool, demand: Sequence[Claims], budget: Budget) -> Overweight | None:
    """Weights by the linear program of device contents, claims taken apart into shares."""
    kinds = kinds_of(demand)
    counts = [sum(c.shares for c in demand if c.kind == kind) for kind in kinds]
    groups = [group for group in pool.groups if group.devices]
    columns = [
        [0] * len(groups) + [int(i == j) for j in range(len(kinds))] * 2 for i in range(len(kinds))
    ]
    gains = [1] * len(kinds)
    for g, group in enumerate(groups):
        for content in full_contents(group, kinds, counts, budget):
            own = [int(g == other) for other in range(len(groups))]
            columns.append(own + [0] * len(kinds) + [-number for number in content])
            gains.append(0)
            if len(gains) > _MOST_CONTENTS:
                return None
    bounds = [group.devices for group in groups] + counts + [0] * len(kinds)
    optimum = maximise(columns, gains, bounds)
    if optimum is None or optimum.value >= sum(counts):
        return None
    ceilings = {group.name: optimum.prices[g] for g, group in enumerate(groups)}
    return Overweight(kinds, optimum.prices[len(groups) + len(kinds) :], ceilings)


def is_overweight(pool: Pool, demand: Sequence[Claims], reason: Overweight, budget: Budget) -> bool:
    """Checks a weight bound from the beginning: every full content, then the sum."""
    counts = [sum(c.shares for c in demand if c.kind == kind) for kind in reason.kinds]
    carried = Fraction(0)
    for group in pool.groups:
        if not group.devices:
            continue
        ceiling = reason.ceilings[group.name]
        carried += group.devices * ceiling
        for content in full_contents(group, reason.kinds, counts, budget):
            if _weigh(reason.weights, content) > ceiling:
                return False
    return min(reason.weights, default=Fraction(0)) >= 0 and (
        _weigh(reason.weights, counts) > carried
    )


def _weigh(weights: Sequence[Fraction], content: Sequence[int]) -> Fraction:
    return sum((w * n for w, n in zip(weights, content, strict=True)), Fraction(0))
