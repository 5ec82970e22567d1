"""Slices → pools: the newest generation, whether it is all there, and whether it holds together.

Follows GatherPools of kubernetes/dynamic-resource-allocation@v0.36.3
(structured/internal/incubating/pools_incubating.go). Knows no file and no version of the API.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from dracfg.allocate.devices import CounterConsumption, CounterSet, Device
from dracfg.allocate.slices import Slice
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, diagnose

PoolKey = tuple[str, str]
"""(driver, pool)."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The newest generation of one pool of one driver.

    `complete`: as many slices as published, and all of them could be read. `invalid_reason`: why
    the scheduler passes the pool over. `node`: the one node of all its slices. `counter_sets` are
    by name; sets that serve one slice alone (1.34) by <slice>/<name>.
    """

    driver: str
    name: str
    generation: int
    slices: tuple[Slice, ...]
    devices: tuple[Device, ...]
    counter_sets: Mapping[str, CounterSet]
    node: str | None
    complete: bool
    invalid_reason: str | None

    @property
    def usable(self) -> bool:
        """Whether the scheduler allocates from it."""
        return self.complete and self.invalid_reason is None


def build_pools(
    slices: Iterable[Slice], spoiled: frozenset[PoolKey]
) -> tuple[tuple[Pool, ...], tuple[Diagnostic, ...]]:
    """The pools in the order of driver and name; `spoiled` are those of which a slice was unread."""
    by_key: dict[PoolKey, list[Slice]] = {}
    for part in slices:
        by_key.setdefault((part.driver, part.pool), []).append(part)
    pools: list[Pool] = []
    faults: list[Diagnostic] = []
    for key in sorted(by_key):
        pool, found = _build(key, by_key[key], key in spoiled)
        pools.append(pool)
        faults += found
    return tuple(pools), tuple(faults)


def _build(key: PoolKey, slices: list[Slice], spoiled: bool) -> tuple[Pool, tuple[Diagnostic, ...]]:
    generation = max(part.generation for part in slices)
    current = [part for part in slices if part.generation == generation]
    faults = [_outdated(part, generation) for part in slices if part.generation < generation]
    counts = sorted({part.slice_count for part in current})
    here = spoiled or not all(part.complete for part in current)
    complete = not here and counts == [len(current)]
    if len(counts) > 1:
        faults.append(_contradiction(current))
    elif not spoiled and counts != [len(current)]:
        faults.append(_incomplete(current))
    invalid = _duplicates(current)
    sets = {
        f"{part.name}/{one.name}" if part.shares_only_here else one.name: one
        for part in current
        for one in part.counter_sets
    }
    devices = tuple(device for part in current for device in _localised(part))
    if invalid is None and complete:
        invalid = _dangling(devices, sets)
    if invalid is not None:
        faults.append(invalid)
    nodes = {part.node_name for part in current if part.devices or part.node_name}
    pool = Pool(
        driver=key[0],
        name=key[1],
        generation=generation,
        slices=tuple(current),
        devices=devices,
        counter_sets=sets,
        node=nodes.pop() if len(nodes) == 1 else None,
        complete=complete,
        invalid_reason=None if invalid is None else invalid.label,
    )
    return pool, tuple(faults)


def _localised(part: Slice) -> Iterator[Device]:
    """The devices of a slice, with the keys that their counter sets have in the pool."""
    if not part.shares_only_here:
        yield from part.devices
        return
    own = {one.name for one in part.counter_sets}
    for device in part.devices:
        consumed = tuple(
            replace(taken, counter_set=f"{part.name}/{taken.counter_set}")
            if taken.counter_set in own
            else taken
            for taken in device.consumes_counters
        )
        yield replace(device, consumes_counters=consumed)


def _duplicates(slices: list[Slice]) -> Diagnostic | None:
    """The first name that two devices, or two counter sets of the pool, have in common."""
    seen: dict[str, Device] = {}
    for device in (device for part in slices for device in part.devices):
        if device.name in seen:
            first = Related(seen[device.name].origin.span(), "first published here")
            return _invalid(device, f"two devices are named {device.name}", [first])
        seen[device.name] = device
    owners: dict[str, Slice] = {}
    for part in slices:
        for number, one in enumerate(part.counter_sets):
            place = f"{part.name}/{one.name}" if part.shares_only_here else one.name
            if place in owners:
                steps = ("spec", "sharedCounters", number, "name")
                return _invalid(part, f"two counter sets are named {one.name}", at=steps)
            owners[place] = part
    return None


def _dangling(devices: Iterable[Device], sets: Mapping[str, CounterSet]) -> Diagnostic | None:
    """The first consumption of a counter that the pool does not have."""
    for device in devices:
        for number, taken in enumerate(device.consumes_counters):
            reason = _missing(taken, sets)
            if reason is not None:
                return _invalid(device, reason, at=("consumesCounters", number))
    return None


def _missing(taken: CounterConsumption, sets: Mapping[str, CounterSet]) -> str | None:
    if taken.counter_set not in sets:
        return f"no counter set is named {taken.counter_set}"
    for name in taken.counters:
        if name not in sets[taken.counter_set].counters:
            return f"counter set {taken.counter_set} has no counter {name}"
    return None


def _invalid(
    owner: Device | Slice,
    reason: str,
    related: Iterable[Related] = (),
    at: tuple[str | int, ...] = (),
) -> Diagnostic:
    return diagnose(
        "INV014",
        owner.origin.span(*at),
        f"pool {owner.pool} of {owner.driver} is invalid: {reason}",
        label=reason,
        related=related,
        help="the scheduler passes such a pool over; its driver must publish it anew",
    )


def _outdated(part: Slice, generation: int) -> Diagnostic:
    return diagnose(
        "INV015",
        part.origin.span("spec", "pool", "generation"),
        f"slice {part.name} of pool {part.pool} is outdated and left out",
        found=f"generation {part.generation}",
        expected=f"generation {generation}",
        help="record again when the driver has removed it",
    )


def _contradiction(slices: list[Slice]) -> Diagnostic:
    first = slices[0]
    other = next(part for part in slices if part.slice_count != first.slice_count)
    place = ("spec", "pool", "resourceSliceCount")
    return diagnose(
        "INV012",
        other.origin.span(*place),
        f"slices of pool {first.pool} of {first.driver} differ in their number of slices",
        related=[Related(first.origin.span(*place), f"{first.slice_count} here")],
        found=str(other.slice_count),
        expected=str(first.slice_count),
        help="record again when the driver has finished its update",
    )


def _incomplete(slices: list[Slice]) -> Diagnostic:
    first = slices[0]
    number = f"{len(slices)} slice" + ("" if len(slices) == 1 else "s")
    return diagnose(
        "INV013",
        first.origin.span("spec", "pool", "resourceSliceCount"),
        f"pool {first.pool} of {first.driver} is not recorded as a whole",
        found=number,
        expected=str(first.slice_count),
        help="record all ResourceSlices of the cluster at one time; nothing is allocated from a "
        "pool that is not complete",
    )
