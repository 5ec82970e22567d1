"""Which devices of which nodes carry joint claims, checked from the beginning.

The check trusts nothing of the search that made a placement: what a request may take of a device is
worked out anew (see `allocate.narrowing`). Knows no promise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from dracfg.allocate.claims import ClaimAllocation, DeviceResult
from dracfg.allocate.devices import Device
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.narrowing import Ground, Narrowed, narrow
from dracfg.allocate.search import values
from dracfg.dataclass import dataclass
from dracfg.link.claims import ClaimPlan, ClaimRequest, Constraint

DeviceId = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Filling:
    """Claims on one node, or on each of the `nodes` that it stands for."""

    node: str
    nodes: int
    claims: tuple[ClaimAllocation, ...]


@dataclass(frozen=True, slots=True)
class JointPlacement:
    """Fillings of empty nodes, of which any `spare` may be missing."""

    fillings: tuple[Filling, ...]
    spare: int = 0

    @property
    def claims(self) -> int:
        """How many claims there is room for, whichever nodes are missing."""
        return remaining([(len(one.claims), one.nodes) for one in self.fillings], self.spare)

    def used(self, claims: int) -> tuple[Filling, ...]:
        """As few nodes as so many claims need, when the fullest are missing."""
        found: list[Filling] = []
        missing = self.spare
        for one in sorted(self.fillings, key=lambda one: -len(one.claims)):
            gone = min(missing, one.nodes)
            missing -= gone
            full = min(one.nodes - gone, claims // len(one.claims))
            claims -= full * len(one.claims)
            if full:
                found.append(Filling(one.node, full, one.claims))
            if 0 < claims < len(one.claims) and full < one.nodes - gone:
                found.append(Filling(one.node, 1, one.claims[:claims]))
                claims = 0
        return tuple(found)


def remaining(numbers: Iterable[tuple[int, int]], missing: int, *, best: bool = False) -> int:
    """The sum over (number, nodes) when so many nodes are missing: the fullest, or with `best` the
    emptiest of them.
    """
    total = 0
    for number, nodes in sorted(numbers, reverse=not best):
        gone = min(missing, nodes)
        missing -= gone
        total += number * (nodes - gone)
    return total


@dataclass(frozen=True, slots=True, eq=False)
class NodeDevices:
    """The devices of one node that a claim's requests may take, by the profile's request and ask."""

    devices: tuple[Device, ...]
    narrowed: Mapping[tuple[str, str], Narrowed]

    @property
    def undecided(self) -> str | None:
        """Why it is not known of some device whether a class takes it."""
        reasons = (why for one in self.narrowed.values() for why in one.undecided.values())
        return next(reasons, None)


def devices_of(plan: ClaimPlan, ground: Ground, node: str) -> NodeDevices:
    """What a claim finds on an empty node, in pools that the scheduler allocates from."""
    usable = {(pool.driver, pool.name) for pool in ground.inventory.pools if pool.usable}
    devices = tuple(
        device
        for device in ground.inventory.devices_on(node)
        if (device.driver, device.pool) in usable
    )
    narrowed: dict[tuple[str, str], Narrowed] = {}
    for request in plan.requests:
        for ask in request.asks:
            key = request.origin, ask.name
            if key not in narrowed:
                narrowed[key] = narrow(ask, request, ground, devices)
    return NodeDevices(devices, narrowed)


@dataclass(slots=True)
class _Use:
    """What is taken of the devices of a node."""

    alone: set[DeviceId] = field(default_factory=set)
    shared: dict[DeviceId, Counter[str]] = field(default_factory=dict)
    counters: dict[tuple[str, str, str, str], int] = field(default_factory=dict)


def holds(
    plan: ClaimPlan, found: NodeDevices, inventory: Inventory, claims: Sequence[ClaimAllocation]
) -> bool:
    """Whether an empty node carries these claims together.

    Each device once, or within its capacity where it is shareable; counters within their sets; each
    request with its number of different devices, all constraints met.
    """
    use = _Use()
    return all(_holds_one(plan, found, inventory, claim, use) for claim in claims)


def _holds_one(
    plan: ClaimPlan, found: NodeDevices, inventory: Inventory, claim: ClaimAllocation, use: _Use
) -> bool:
    numbers = {(d.driver, d.pool, d.name): number for number, d in enumerate(found.devices)}
    given: dict[str, list[DeviceResult]] = {}
    for result in claim.results:
        given.setdefault(result.request.partition("/")[0], []).append(result)
    taken: dict[str, tuple[Device, ...]] = {}
    for request in plan.requests:
        results = given.pop(request.name, [])
        ids = [result.device_id for result in results]
        ask = _ask(request, results)
        if ask is None or len(set(ids)) != len(ids) or not set(ids) <= set(numbers):
            return False
        takes = found.narrowed[request.origin, ask].takes
        undecided = found.narrowed[request.origin, ask].undecided
        for one in ids:
            number = numbers[one]
            if number not in takes or number in undecided:
                return False
            if not _take(found.devices[number], takes[number], inventory, use):
                return False
        taken[request.name] = tuple(found.devices[numbers[one]] for one in ids)
    return not given and all(_is_met(one, taken) for one in plan.constraints)


def _ask(request: ClaimRequest, results: Sequence[DeviceResult]) -> str | None:
    """The alternative that the results are of, if they are as many as it asks for."""
    named = {result.request.partition("/")[2] for result in results}
    for ask in request.asks:
        own = {ask.name} if request.has_alternatives else {""}
        if named == own and len(results) == ask.count:
            return ask.name
    return None


def _take(
    device: Device, amounts: Mapping[str, int] | None, inventory: Inventory, use: _Use
) -> bool:
    """Takes of a device what a request consumes, None for all of it; False where it has not so much."""
    key = device.driver, device.pool, device.name
    if amounts is None:
        if key in use.alone:
            return False
        use.alone.add(key)
        return _draw(device, inventory, use)
    first = key not in use.shared
    held = use.shared.setdefault(key, Counter())
    held.update(amounts)
    if any(held[name] > fact.value.nano for name, fact in device.capacity.items()):
        return False
    return _draw(device, inventory, use) if first else True


def _draw(device: Device, inventory: Inventory, use: _Use) -> bool:
    pools = {(pool.driver, pool.name): pool for pool in inventory.pools_of(device.driver)}
    for drawn in device.consumes_counters:
        offered = pools[device.driver, device.pool].counter_sets.get(drawn.counter_set)
        for name, amount in drawn.counters.items():
            place = (device.driver, device.pool, drawn.counter_set, name)
            use.counters[place] = use.counters.get(place, 0) + amount.nano
            most = offered.counters.get(name) if offered is not None else None
            if most is None or use.counters[place] > most.nano:
                return False
    return True


def _is_met(constraint: Constraint, taken: Mapping[str, tuple[Device, ...]]) -> bool:
    held = [
        values(device, constraint.attribute)
        for name in constraint.requests
        for device in taken.get(name, ())
    ]
    if not all(held):
        return False
    if constraint.distinct:
        return sum(map(len, held)) == len(frozenset().union(*held))
    return not held or bool(frozenset.intersection(*held))
