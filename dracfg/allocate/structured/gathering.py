"""The pools of one node: what is complete and valid there, and in which order devices are tried.

Follows GatherPools of kubernetes/dynamic-resource-allocation@v0.34.4 to @v0.37.2
(structured/internal/*/pools_*.go). Where upstream takes the order of a Go map, which is random,
pools stand in the order of driver and name, and slices in that of their names. Knows no claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dracfg.allocate.devices import CounterSet
from dracfg.allocate.nodes import Node
from dracfg.allocate.pools import PoolKey
from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.candidates import Candidate, Published, PublishedSlice, in_order
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.outcomes import Stop, Undecided
from dracfg.dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class NodePool:
    """A pool as one node sees it.

    `devices` are those of the slices for the node, `elsewhere` those of the others, which draw
    from the same counters. An incomplete or invalid pool has neither, but in 1.34.
    """

    key: PoolKey
    incomplete: bool = False
    invalid_reason: str | None = None
    devices: tuple[Candidate, ...] = ()
    elsewhere: tuple[Candidate, ...] = ()
    counter_sets: tuple[CounterSet, ...] = ()
    has_binding: bool = False

    @property
    def name(self) -> str:
        """<driver>/<pool>, as upstream prints it."""
        return "/".join(self.key)


@dataclass(frozen=True, slots=True, eq=False)
class NodeView:
    """Everything the search needs of a node.

    `candidates` are the devices of usable pools in the order in which they are tried, `excluded`
    those that their own node selection keeps from the node. `barrier` is an invalid pool that ends
    the way (1.34).
    """

    node: Node
    pools: tuple[NodePool, ...]
    candidates: tuple[Candidate, ...]
    excluded: frozenset[Candidate]
    barrier: NodePool | None
    by_key: dict[PoolKey, NodePool]
    has_counters: bool
    has_shareable: bool
    has_negative: bool
    has_invalid_pool: bool


class Gathering:
    """Gathers the pools of nodes from one inventory, for one set of features."""

    def __init__(self, parts: Published, features: Features, behaviour: Behaviour) -> None:
        self._published, self._features, self._behaviour = parts, features, behaviour
        self._distant = tuple(self._unusable())

    def view(self, node: Node) -> NodeView:
        """The view of a node. Raises Stop where its labels would have to be known."""
        pools = self._pools(node)
        usable: list[Candidate] = []
        barrier = None
        for pool in pools:
            if self._behaviour.aborts_on_invalid_pool:
                if pool.invalid_reason is not None:
                    barrier = pool
                    break
                usable += pool.devices
            elif not pool.incomplete and pool.invalid_reason is None:
                usable += pool.devices
        return NodeView(
            node=node,
            pools=pools,
            candidates=tuple(usable),
            excluded=self._excluded(pools, node),
            barrier=barrier,
            by_key={pool.key: pool for pool in pools},
            has_counters=any(candidate.counters for candidate in usable),
            has_shareable=any(candidate.shareable for candidate in usable),
            has_negative=any(candidate.has_negative for candidate in usable),
            has_invalid_pool=any(pool.invalid_reason is not None for pool in pools),
        )

    def _excluded(self, pools: Iterable[NodePool], node: Node) -> frozenset[Candidate]:
        return frozenset(
            candidate
            for pool in pools
            for candidate in pool.devices
            if candidate.slice.per_device_nodes
            and not _known(candidate.device.nodes.reaches(node), node)
        )

    def _pools(self, node: Node) -> tuple[NodePool, ...]:
        early: list[PublishedSlice] = []
        late: list[PublishedSlice] = []
        for part in self._relevant(node):
            comes_late = self._behaviour.binding_slices_last and part.has_binding
            (late if comes_late else early).append(part)
        pools = [*self._grouped((*early, *late))]
        pools += [pool for name, pool in self._distant if name != node.name]
        pools.sort(key=lambda pool: pool.key)
        if self._behaviour.binding_pools_last:
            pools.sort(key=lambda pool: pool.has_binding)
        return tuple(pools)

    def _grouped(self, parts: Iterable[PublishedSlice]) -> Iterator[NodePool]:
        by_key: dict[PoolKey, list[PublishedSlice]] = {}
        for part in parts:
            _add(by_key, part)
        for key, found in by_key.items():
            pool = self._pool(key, found)
            if pool is not None:
                yield pool

    def _unusable(self) -> Iterator[tuple[str, NodePool]]:
        """The pools of single nodes that other nodes see as well, by their counter sets alone.

        Whole and valid ones are left out: without a device they make no difference.
        """
        for name, parts in self._published.local.items():
            for pool in self._grouped(part for part in parts if self._visible(part)):
                if pool.incomplete or pool.invalid_reason is not None:
                    yield name, pool

    def _relevant(self, node: Node) -> Iterator[PublishedSlice]:
        """The slices that count for a node, in the order in which they are gathered."""
        own = self._published.by_node.get(node.name, ())
        local = self._published.local.get(node.name, ())
        parts: Sequence[PublishedSlice] = self._published.elsewhere
        if local:
            parts = sorted((*local, *parts), key=_name)
        if own:
            parts = (*own, *parts)
            if not self._behaviour.own_slices_first:
                parts = sorted(parts, key=_name)
        for part in parts:
            if self._visible(part) and self._is_relevant(part, node):
                yield part

    def _visible(self, part: PublishedSlice) -> bool:
        if not self._features.partitionable_devices:
            if part.slice.per_device_nodes:
                return False
            if part.has_counter_sets and not self._behaviour.counters_in_slice:
                return False
        return not self._hides(part)

    def _hides(self, part: PublishedSlice) -> bool:
        grouped = self._behaviour.ignores_grouped_slices and part.has_groups
        return grouped and not self._features.compatibility_groups

    def _is_relevant(self, part: PublishedSlice, node: Node) -> bool:
        if part.has_counter_sets and self._behaviour.counter_sets_everywhere:
            return True
        if part.slice.nodes is not None:
            return _known(part.slice.nodes.reaches(node), node)
        return part.slice.per_device_nodes and any(
            _known(candidate.device.nodes.reaches(node), node) for candidate in part.candidates
        )

    def _pool(self, key: PoolKey, parts: list[PublishedSlice]) -> NodePool | None:
        """A pool of the relevant slices of its newest generation; None where it is outdated."""
        first = parts[0].slice
        everything: Sequence[PublishedSlice] | None = None
        complete = len(parts) == first.slice_count
        if not complete and self._behaviour.counts_whole_pool:
            known = self._published.by_pool[key]
            if any(part.slice.generation > first.generation for part in known):
                return None
            everything = [
                part
                for part in known
                if part.slice.generation == first.generation and not self._hides(part)
            ]
            complete = len(everything) == first.slice_count
        complete = complete and key not in self._published.spoiled
        if self._behaviour.counters_in_slice:
            return NodePool(
                key,
                incomplete=not complete,
                invalid_reason=_duplicate_device(parts),
                devices=in_order(parts),
                has_binding=any(part.has_binding for part in parts),
            )
        if not complete:
            return NodePool(key, incomplete=True)
        return self._built(key, parts, everything or ())

    def _built(
        self, key: PoolKey, parts: list[PublishedSlice], everything: Sequence[PublishedSlice]
    ) -> NodePool:
        parts = sorted(parts, key=_name) if self._behaviour.own_slices_first else parts
        partitions = self._features.partitionable_devices
        holders = [part for part in parts if partitions and part.has_counter_sets]
        own = [part for part in parts if not (partitions and part.has_counter_sets)]
        seen = {part.slice.name for part in parts}
        others = [part for part in everything if part.slice.name not in seen]
        reason = _duplicate_device(own)
        if not partitions or reason is not None:
            return self._judged(key, reason, own)
        if self._behaviour.counter_sets_everywhere:
            checked = parts
        else:
            holders += [part for part in others if part.has_counter_sets]
            others = [part for part in others if not part.has_counter_sets]
            checked = own
        sets = tuple(one for part in holders for one in part.slice.counter_sets)
        reason = _duplicate_set(sets) or _dangling((*checked, *others), sets)
        return self._judged(key, reason, own, others, sets)

    def _judged(
        self,
        key: PoolKey,
        reason: str | None,
        own: Iterable[PublishedSlice],
        others: Iterable[PublishedSlice] = (),
        sets: tuple[CounterSet, ...] = (),
    ) -> NodePool:
        if reason is not None:
            return NodePool(key, invalid_reason=reason)
        own = tuple(own)
        binding = any(part.has_binding for part in own)
        return NodePool(key, False, None, in_order(own), in_order(others), sets, binding)


def _known(reached: bool | None, node: Node) -> bool:
    if reached is None:
        raise Stop(Undecided(f"the labels of node {node.name} are not recorded"))
    return reached


def _name(part: PublishedSlice) -> str:
    return part.slice.name


def _add(by_key: dict[PoolKey, list[PublishedSlice]], part: PublishedSlice) -> None:
    """Adds a slice to its pool; a newer generation takes the place of older ones."""
    parts = by_key.setdefault(part.pool, [part])
    newest = parts[0].slice.generation
    if part.slice.generation > newest:
        by_key[part.pool] = [part]
    elif part.slice.generation == newest and part is not parts[0]:
        parts.append(part)


def _duplicate_device(parts: Iterable[PublishedSlice]) -> str | None:
    names: set[str] = set()
    for candidate in in_order(parts):
        if candidate.id[2] in names:
            return f"two devices are named {candidate.id[2]}"
        names.add(candidate.id[2])
    return None


def _duplicate_set(sets: Iterable[CounterSet]) -> str | None:
    names: set[str] = set()
    for one in sets:
        if one.name in names:
            return f"two counter sets are named {one.name}"
        names.add(one.name)
    return None


def _dangling(parts: Iterable[PublishedSlice], sets: Iterable[CounterSet]) -> str | None:
    known = {one.name: one.counters for one in sets}
    for candidate in in_order(parts):
        for taken in candidate.device.consumes_counters:
            if taken.counter_set not in known:
                return f"no counter set is named {taken.counter_set}"
            for name in taken.counters:
                if name not in known[taken.counter_set]:
                    return f"counter set {taken.counter_set} has no counter {name}"
    return None
