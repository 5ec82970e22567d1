"""The devices of an inventory, ready to be tried: what the search looks at is worked out once.

Knows neither nodes nor claims.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from dracfg.allocate.devices import Attribute, CapacityFact, Device
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.pools import PoolKey
from dracfg.allocate.slices import Slice
from dracfg.allocate.structured.allocated import DeviceId
from dracfg.cel import DeviceFacts
from dracfg.dataclass import dataclass

CounterKey = tuple[str, str]
"""(counter set, counter)."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A published device and its place in its slice; equal only to itself."""

    id: DeviceId
    device: Device
    slice: Slice
    position: int
    facts: DeviceFacts = field(repr=False)
    counters: tuple[tuple[CounterKey, int], ...]
    """What it draws, in billionths, one entry for each counter of each consumption."""
    groups: tuple[tuple[str, frozenset[str]], ...]
    """Counter set → compatibility groups."""
    shareable: bool
    has_negative: bool
    """Whether an amount that it consumes by itself is negative."""
    has_lists: bool
    """Whether an attribute is a list."""

    @property
    def pool(self) -> PoolKey:
        """(driver, pool)."""
        return self.id[:2]

    def attribute(self, name: str) -> Attribute | None:
        """The published attribute of a fully qualified name."""
        domain, slash, identifier = name.partition("/")
        return self.device.attributes.get(domain, {}).get(identifier) if slash else None


@dataclass(frozen=True, slots=True, eq=False)
class PublishedSlice:
    """A slice with its devices as candidates."""

    slice: Slice
    candidates: tuple[Candidate, ...]
    has_counter_sets: bool
    has_binding: bool
    has_groups: bool

    @property
    def pool(self) -> PoolKey:
        """(driver, pool)."""
        return self.slice.driver, self.slice.pool


@dataclass(frozen=True, slots=True)
class Published:
    """The slices of an inventory by where they may count: one node's own, and all others.

    `local` are counter sets that count everywhere, but belong to pools of one node alone.
    """

    by_node: dict[str, tuple[PublishedSlice, ...]]
    local: dict[str, tuple[PublishedSlice, ...]]
    elsewhere: tuple[PublishedSlice, ...]
    by_pool: dict[PoolKey, tuple[PublishedSlice, ...]]
    spoiled: frozenset[PoolKey]


def published(inventory: Inventory, *, counter_sets_everywhere: bool) -> Published:
    """The slices of an inventory in the order of their names.

    `counter_sets_everywhere`: slices with counter sets are no node's own.
    """
    by_node: dict[str, list[PublishedSlice]] = {}
    local: dict[str, list[PublishedSlice]] = {}
    by_pool: dict[PoolKey, list[PublishedSlice]] = {}
    elsewhere: list[PublishedSlice] = []
    homes: dict[PoolKey, set[str | None]] = {}
    for part in inventory.slices:
        homes.setdefault((part.driver, part.pool), set()).add(part.node_name)
    for part in inventory.slices:
        made = _published(part)
        by_pool.setdefault(made.pool, []).append(made)
        everywhere = counter_sets_everywhere and made.has_counter_sets
        if part.node_name is None or (everywhere and len(homes[made.pool]) > 1):
            elsewhere.append(made)
        else:
            (local if everywhere else by_node).setdefault(part.node_name, []).append(made)
    incomplete = {(part.driver, part.pool) for part in inventory.slices if not part.complete}
    return Published(
        by_node={name: tuple(parts) for name, parts in by_node.items()},
        local={name: tuple(parts) for name, parts in local.items()},
        elsewhere=tuple(elsewhere),
        by_pool={key: tuple(parts) for key, parts in by_pool.items()},
        spoiled=inventory.spoiled | incomplete,
    )


def _published(part: Slice) -> PublishedSlice:
    candidates = tuple(_candidate(part, number) for number in range(len(part.devices)))
    return PublishedSlice(
        slice=part,
        candidates=candidates,
        has_counter_sets=bool(part.counter_sets),
        has_binding=any(one.device.binding_conditions for one in candidates),
        has_groups=any(groups for one in candidates for _, groups in one.groups),
    )


def _candidate(part: Slice, number: int) -> Candidate:
    device = part.devices[number]
    consumptions = device.consumes_counters
    return Candidate(
        id=(device.driver, device.pool, device.name),
        device=device,
        slice=part,
        position=number,
        facts=device.facts,
        counters=tuple(
            ((taken.counter_set, name), amount.nano)
            for taken in consumptions
            for name, amount in taken.counters.items()
        ),
        groups=tuple(
            (taken.counter_set, frozenset(taken.compatibility_groups)) for taken in consumptions
        ),
        shareable=device.allow_multiple_allocations,
        has_negative=any(map(_is_negative, device.capacity.values())),
        has_lists=any(
            isinstance(attribute.value, tuple)
            for held in device.attributes.values()
            for attribute in held.values()
        ),
    )


def _is_negative(fact: CapacityFact) -> bool:
    policy = fact.request_policy
    given = (policy.default, *policy.valid_values) if policy is not None else ()
    return any(amount is not None and amount.nano < 0 for amount in (fact.value, *given))


def in_order(parts: Iterable[PublishedSlice]) -> tuple[Candidate, ...]:
    """The devices of slices one after the other."""
    return tuple(candidate for part in parts for candidate in part.candidates)
