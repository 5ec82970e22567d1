"""Shared counters and compatibility groups: what devices of a pool draw from one source.

Follows checkAvailableCounters and compatibility_groups.go of
kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2. Knows no request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate, CounterKey
from dracfg.allocate.structured.gathering import NodePool, NodeView
from dracfg.dataclass import dataclass

Scope = tuple[str, ...]
"""What keeps counters apart: (driver, pool), (pool,) or (slice,)."""


@dataclass(slots=True)
class _Source:
    """What one scope has and what a search has taken of it, in billionths."""

    available: dict[CounterKey, int]
    overdrawn: bool
    taken: dict[CounterKey, int] = field(default_factory=dict)


class Counters:
    """The counters of one search. `held` tells whether a device is allocated already."""

    def __init__(
        self, view: NodeView, behaviour: Behaviour, held: Callable[[Candidate], bool]
    ) -> None:
        self._view, self._behaviour, self._held = view, behaviour, held
        self._sources: dict[Scope, _Source] = {}

    def take(self, candidate: Candidate) -> bool:
        """Draws what the device needs, or nothing where a counter does not suffice."""
        scope = self._scope(candidate)
        source = self._sources.get(scope)
        if source is None:
            source = self._sources[scope] = self._source(candidate)
        for key, amount in candidate.counters:
            source.taken[key] = source.taken.get(key, 0) + amount
        if source.overdrawn or any(
            key in source.available and source.available[key] < source.taken[key]
            for key, _ in candidate.counters
        ):
            self.release(candidate)
            return False
        return True

    def release(self, candidate: Candidate) -> None:
        """Gives back what `take` has drawn."""
        taken = self._sources[self._scope(candidate)].taken
        for key, amount in candidate.counters:
            taken[key] -= amount

    def _scope(self, candidate: Candidate) -> Scope:
        match self._behaviour.counter_scope:
            case "slice":
                return (candidate.slice.name,)
            case "pool name":
                return (candidate.id[1],)
            case _:
                return candidate.pool

    def _source(self, candidate: Candidate) -> _Source:
        pool = self._view.by_key[candidate.pool]
        sets, drawing = pool.counter_sets, _all_devices(pool)
        if self._behaviour.counter_scope == "slice":
            sets = candidate.slice.counter_sets
            drawing = [one for one in drawing if one.slice is candidate.slice]
        available = {
            (one.name, name): amount.nano for one in sets for name, amount in one.counters.items()
        }
        for other in drawing:
            if other.counters and self._held(other):
                for key, amount in other.counters:
                    if key in available:
                        available[key] -= amount
        return _Source(available, any(amount < 0 for amount in available.values()))


def _all_devices(pool: NodePool) -> list[Candidate]:
    return [*pool.devices, *pool.elsewhere]


@dataclass(frozen=True, slots=True)
class _Common:
    """What the devices on one counter set have in common; no groups go with no groups only.

    `grouped` devices that are allocated already may have nothing in common: then none joins them.
    """

    groups: frozenset[str]
    grouped: bool

    @classmethod
    def of(cls, groups: frozenset[str]) -> _Common:
        """What the first device has."""
        return cls(groups, bool(groups))

    def admits(self, groups: frozenset[str]) -> bool:
        return bool(self.groups & groups) if groups else not self.grouped

    def joined(self, groups: frozenset[str]) -> _Common:
        return _Common(self.groups & groups, True) if groups and self.grouped else self


GroupsUndo = Iterable[tuple[tuple[str, str, str], "_Common | None"]]


class Groups:
    """The compatibility groups of one search (1.37)."""

    def __init__(self, view: NodeView, held: Callable[[Candidate], bool]) -> None:
        self._view, self._held = view, held
        self._running: dict[tuple[str, str, str], _Common | None] = {}
        self._baselines: dict[tuple[str, str], dict[str, _Common]] = {}

    def join(self, candidate: Candidate) -> GroupsUndo | None:
        """Adds the device to its counter sets; None where its groups do not go with the others."""
        undo: list[tuple[tuple[str, str, str], _Common | None]] = []
        for counter_set, groups in candidate.groups:
            key = (*candidate.pool, counter_set)
            before = self._running.get(key)
            current = before or self._baseline(candidate).get(counter_set)
            if current is not None and not current.admits(groups):
                self.leave(undo)
                return None
            undo.append((key, before))
            self._running[key] = _Common.of(groups) if current is None else current.joined(groups)
        return undo

    def leave(self, undo: GroupsUndo) -> None:
        """Restores what was before `join`."""
        for key, before in reversed(list(undo)):
            self._running[key] = before

    def _baseline(self, candidate: Candidate) -> dict[str, _Common]:
        """Counter set → what the allocated devices of the pool have in common."""
        found = self._baselines.get(candidate.pool)
        if found is None:
            found = self._baselines[candidate.pool] = {}
            for other in _all_devices(self._view.by_key[candidate.pool]):
                if other.groups and self._held(other):
                    for counter_set, groups in other.groups:
                        known = found.get(counter_set)
                        found[counter_set] = (
                            _Common.of(groups) if known is None else known.joined(groups)
                        )
        return found
