"""fits: whether all shares of a demand lie on devices at the same time.

A packing proves it, a bound disproves it, and between the two an exact search decides within
its budget. One node carries a claim, and a claim's devices all differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from dracfg.plan.proofs.lowerbounds import NoneLeft, Reason, plain_bound, weight_bound
from dracfg.plan.proofs.packing import Packing, Placement, kinds_of, pack
from dracfg.plan.proofs.shapes import Claims, Group, Kind, Pool
from dracfg.plan.proofs.verdict import Budget, OutOfBudget, Proven, Refuted, Unknown

STATES = 20_000
_MOST_SEARCHED = 400
_QUICK = 2_000

Verdict = Proven[Packing] | Refuted[Reason] | Unknown

_Content = tuple[int, ...]
_Node = tuple[_Content, ...]
_State = tuple[tuple[_Node, ...], ...]


def fits(pool: Pool, demand: Sequence[Claims], states: int = STATES) -> Verdict:
    """Whether a packing of the demand exists."""
    plain = plain_bound(pool, demand)
    if plain is not None:
        return Refuted(plain)
    packing = pack(pool, demand)
    if packing is not None:
        return Proven(packing)
    heavy = weight_bound(pool, demand, states)
    if heavy is not None:
        return Refuted(heavy)
    if sum(claims.count for claims in demand) > _MOST_SEARCHED:
        return Unknown("first fit leaves claims over, and no bound rules them out", states)
    budget = Budget(states)
    try:
        found = _Search(pool, demand, budget).run()
    except OutOfBudget:
        return Unknown(f"search stopped after {budget.most:,} states", budget.most)
    return Refuted(NoneLeft(budget.spent)) if found is None else Proven(found)


def fits_beside(pool: Pool, own: Sequence[Claims], others: Sequence[Claims]) -> Verdict:
    """Whether a packing of `own` exists beside whatever part of `others` devices can carry.

    Others may be let more than there is. Then each kind in turn takes what it can get, and who is
    crowded out by that is refuted; with nobody crowded out it stays open.
    """
    everything = fits(pool, (*own, *others))
    if not isinstance(everything, Refuted) or not others:
        return everything
    alone = fits(pool, own)
    if not isinstance(alone, Proven):
        return alone
    open_ = False
    for first in range(len(others)):
        order = (*others[first:], *others[:first])
        held = _as_many(pool, order)
        verdict = fits(pool, (*own, *held))
        if isinstance(verdict, Refuted):
            return verdict
        open_ = open_ or isinstance(verdict, Unknown)
    why = (
        "search stopped" if open_ else "others may hold more than there is, in too many ways to try"
    )
    return Unknown(why, 0)


def _as_many(pool: Pool, order: Sequence[Claims]) -> tuple[Claims, ...]:
    """Of each kind in turn as many as certainly fit beside those before it."""
    held: list[Claims] = []
    for claims in order:
        least, most = 0, claims.count
        while least < most:
            middle = (least + most + 1) // 2
            tried = (*held, Claims(claims.kind, middle, claims.devices))
            if isinstance(fits(pool, tried, _QUICK), Proven):
                least = middle
            else:
                most = middle - 1
        if least:
            held.append(Claims(claims.kind, least, claims.devices))
    return tuple(held)


class _Search:
    """Depth first over claims, largest first; nodes and devices that are alike count as one."""

    def __init__(self, pool: Pool, demand: Sequence[Claims], budget: Budget) -> None:
        self.pool = pool
        self.demand = demand
        self.kinds = kinds_of(demand)
        self.budget = budget
        self.dead: set[tuple[int, _State]] = set()
        self.order = [
            position
            for position in sorted(
                range(len(demand)), key=lambda i: (-demand[i].devices, self._homes(i))
            )
            for _ in range(demand[position].count)
        ]

    def _homes(self, position: int) -> tuple[int, int]:
        claims = self.demand[position]
        most = sum(
            group.devices * group.room((), (), claims.kind, claims.shares)
            for group in self.pool.taking(claims.kind)
        )
        return len(self.pool.taking(claims.kind)), most

    def run(self) -> Packing | None:
        empty = (0,) * len(self.kinds)
        start = [
            [[empty] * group.per_node for _ in range(group.nodes)] for group in self.pool.groups
        ]
        steps: list[Placement] = []
        return tuple(steps) if self._place(0, start, steps) else None

    def _place(self, i: int, nodes: list[list[list[_Content]]], steps: list[Placement]) -> bool:
        if i == len(self.order):
            return True
        state = (i, _canonical(nodes))
        if state in self.dead:
            return False
        self.budget.spend()
        position = self.order[i]
        claims = self.demand[position]
        k = self.kinds.index(claims.kind)
        for g, n, devices in self._choices(claims.kind, claims.devices, nodes):
            node = nodes[g][n]
            before = list(node)
            for device in devices:
                content = node[device]
                node[device] = (*content[:k], content[k] + 1, *content[k + 1 :])
            steps.append(Placement(position, g, n, devices))
            if self._place(i + 1, nodes, steps):
                return True
            steps.pop()
            nodes[g][n] = before
        self.dead.add(state)
        return False

    def _choices(
        self, kind: Kind, devices: int, nodes: list[list[list[_Content]]]
    ) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        for g, group in enumerate(self.pool.groups):
            if not group.takes(kind):
                continue
            seen: set[_Node] = set()
            for n, node in enumerate(nodes[g]):
                alike = tuple(sorted(node))
                if alike not in seen:
                    seen.add(alike)
                    for chosen in self._sets(group, kind, devices, node):
                        yield g, n, chosen

    def _sets(
        self, group: Group, kind: Kind, devices: int, node: list[_Content]
    ) -> Iterator[tuple[int, ...]]:
        """Sets of devices with room, one for each multiset of contents."""
        open_ = [d for d, c in enumerate(node) if group.room(self.kinds, c, kind, 1)]
        seen: set[_Node] = set()
        for chosen in combinations(sorted(open_, key=lambda d: node[d], reverse=True), devices):
            alike = tuple(sorted(node[d] for d in chosen))
            if alike not in seen:
                seen.add(alike)
                yield tuple(sorted(chosen))


def _canonical(nodes: list[list[list[_Content]]]) -> _State:
    return tuple(tuple(sorted(tuple(sorted(node)) for node in group)) for group in nodes)
