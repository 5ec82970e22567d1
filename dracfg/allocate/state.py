"""What claims hold: who has which device, how much of it is consumed, and how it comes back.

Immutable: each change gives a new state. An allocation comes back part by part, each named by
(claim, ShareID, version), so that a release that arrives twice or late does no harm. Knows neither
files nor how devices are chosen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Literal, TypeAlias

from dracfg.allocate.claims import Claim, ClaimAllocation, DeviceResult
from dracfg.allocate.devices import Device
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.structured.allocated import AllocatedState, DeviceId
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity

ClaimKey: TypeAlias = tuple[str, str]
"""(namespace, name)."""
Amounts: TypeAlias = Mapping[str, Quantity]

Refusal = Literal["no such claim", "another uid", "another version", "no such share"]
"""Why a release changes nothing: what it names is not, or no longer, what is held."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is released as one: a share, or with no ShareID all that a claim holds without one.

    `version` is that of the allocation, see `AllocationState.version`.
    """

    namespace: str
    name: str
    uid: str
    share_id: str | None
    version: str


@dataclass(frozen=True, slots=True)
class Release:
    """The state after a release, and what came free; nothing where it was refused or done before."""

    state: AllocationState
    freed: tuple[DeviceResult, ...] = ()
    refused: Refusal | None = None


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """What all claims together do with one device.

    `exclusive` counts the allocations that have it alone, more than one of them only in a record
    that contradicts itself. `consumed` is what shares take, `watched` what admin access takes of
    a shareable device beside them.
    """

    exclusive: int = 0
    shares: tuple[str, ...] = ()
    consumed: Amounts = field(default_factory=dict)
    watched: Amounts = field(default_factory=dict)

    @property
    def taken(self) -> dict[str, Quantity]:
        """What is consumed in all, by shares and by admin access."""
        found = dict(self.consumed)
        _add(found, self.watched)
        return found


UNUSED = DeviceUse()


@dataclass(frozen=True, slots=True)
class _Holding:
    """One claim's allocation. `left` is what of it was not released, by ShareID.

    The entry stays when nothing is left, so that a late release is told from a wrong one.
    """

    uid: str
    number: int
    version: str
    allocation: ClaimAllocation
    left: Mapping[str | None, tuple[DeviceResult, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class AllocationState:
    """The allocations of one cluster. `AllocationState.of` reads recorded claims."""

    inventory: Inventory
    _holdings: Mapping[ClaimKey, _Holding] = field(default_factory=dict, repr=False)
    _results: Mapping[DeviceId, tuple[DeviceResult, ...]] = field(default_factory=dict, repr=False)
    _view: AllocatedState = field(default_factory=AllocatedState, repr=False)

    @classmethod
    def of(cls, claims: Iterable[Claim], inventory: Inventory) -> AllocationState:
        """What recorded claims hold; of two claims of one name the last one counts."""
        holdings: dict[ClaimKey, _Holding] = {}
        for claim in claims:
            if claim.allocation is not None:
                key = claim.namespace, claim.name
                holdings[key] = _held(claim, claim.allocation, holdings.pop(key, None))
        by_device: dict[DeviceId, list[DeviceResult]] = {}
        for held in holdings.values():
            for result in held.allocation.results:
                by_device.setdefault(result.device_id, []).append(result)
        results = {device: tuple(here) for device, here in by_device.items()}
        return cls(inventory, holdings, results, _view(AllocatedState(), results))

    def allocated(self, *, consumable: bool = True) -> AllocatedState:
        """The view that the scheduler starts a search from.

        As in its allocateddevices.go (kubernetes/kubernetes@v1.36.3), results of admin access count
        for nothing in it, also on shareable devices. `consumable` is DRAConsumableCapacity: without
        it, a device with a share is taken as a whole.
        """
        if consumable or not self._view.shared:
            return self._view
        return AllocatedState(self._view.devices | {device for device, _ in self._view.shared})

    def version(self, claim: Claim) -> str | None:
        """The version of what a claim holds or held last; None where it never held anything.

        It counts the allocations of the claim, and its digest tells apart what two records say.
        """
        held = self._holding(claim)
        return None if held is None else held.version

    def allocation(self, claim: Claim) -> ClaimAllocation | None:
        """What a claim holds, less what of it was released; None where nothing is left."""
        held = self._holding(claim)
        if held is None or not held.left:
            return None
        left = {result for results in held.left.values() for result in map(_key, results)}
        return replace(
            held.allocation,
            results=tuple(r for r in held.allocation.results if _key(r) in left),
        )

    def parts(self, claim: Claim) -> tuple[Part, ...]:
        """What of a claim can be released, in the order of its results."""
        held = self._holding(claim)
        if held is None:
            return ()
        return tuple(
            Part(claim.namespace, claim.name, held.uid, share, held.version) for share in held.left
        )

    def use(self, device: DeviceId) -> DeviceUse:
        """What all claims together do with a device."""
        return _use_of(self._results.get(device, ()))

    def remaining(self, device: Device) -> dict[str, Quantity]:
        """What is left of each capacity of a shareable device; never below zero.

        The whole of it where nobody holds the device, nothing where somebody has it alone.
        """
        use = self.use((device.driver, device.pool, device.name))
        taken = use.taken
        left = {}
        for key, fact in device.capacity.items():
            rest = fact.value - taken.get(key, _NOTHING)
            left[key] = _NOTHING if use.exclusive or rest < _NOTHING else rest
        return left

    @property
    def devices(self) -> frozenset[DeviceId]:
        """Every device that some claim holds or watches, published or not."""
        return frozenset(self._results)

    def with_allocation(self, claim: Claim, allocation: ClaimAllocation) -> AllocationState:
        """The state in which the claim holds the allocation, in the place of all that it held.

        A claim of the same name and another uid is another claim: what the old one held is gone.
        """
        key = claim.namespace, claim.name
        old = self._holdings.get(key)
        held = _held(claim, allocation, old)
        gone = () if old is None else tuple(r for results in old.left.values() for r in results)
        return self._changed(key, held, gone, allocation.results)

    def release(self, part: Part) -> Release:
        """Gives one part back. A second time changes nothing; what is stale is refused."""
        key = part.namespace, part.name
        held = self._holdings.get(key)
        if held is None:
            return Release(self, refused="no such claim")
        if held.uid != part.uid:
            return Release(self, refused="another uid")
        if held.version != part.version:
            return Release(self, refused="another version")
        if part.share_id not in held.left:
            known = {result.share_id for result in held.allocation.results}
            return Release(self, refused=None if part.share_id in known else "no such share")
        left = {share: results for share, results in held.left.items() if share != part.share_id}
        freed = held.left[part.share_id]
        return Release(self._changed(key, replace(held, left=left), freed, ()), freed)

    def without(self, claim: Claim) -> AllocationState:
        """The state after everything that a claim holds was released."""
        state = self
        for part in self.parts(claim):
            state = state.release(part).state
        return state

    def _holding(self, claim: Claim) -> _Holding | None:
        held = self._holdings.get((claim.namespace, claim.name))
        return held if held is not None and held.uid == claim.uid else None

    def _changed(
        self,
        key: ClaimKey,
        held: _Holding,
        gone: Iterable[DeviceResult],
        come: Iterable[DeviceResult],
    ) -> AllocationState:
        """The state with another holding of one claim; only the devices concerned are looked at."""
        touched: dict[DeviceId, list[DeviceResult]] = {}
        for result in (*gone, *come):
            device = result.device_id
            touched.setdefault(device, list(self._results.get(device, ())))
        for result in gone:
            touched[result.device_id].remove(result)
        for result in come:
            touched[result.device_id].append(result)
        results = dict(self._results)
        for device, here in touched.items():
            if here:
                results[device] = tuple(here)
            else:
                results.pop(device, None)
        view = _view(self._view, touched)
        return AllocationState(self.inventory, {**self._holdings, key: held}, results, view)


_NOTHING = Quantity(0)


def _held(claim: Claim, allocation: ClaimAllocation, before: _Holding | None) -> _Holding:
    """The whole of an allocation, after what a claim of that name held before."""
    left: dict[str | None, tuple[DeviceResult, ...]] = {}
    for result in allocation.results:
        left[result.share_id] = (*left.get(result.share_id, ()), result)
    number = before.number + 1 if before is not None and before.uid == claim.uid else 1
    return _Holding(claim.uid, number, _version(number, allocation), allocation, left)


def _view(
    old: AllocatedState, touched: Mapping[DeviceId, Iterable[DeviceResult]]
) -> AllocatedState:
    """The scheduler's view after the results of some devices changed."""
    uses = {device: _use_of(results) for device, results in touched.items()}
    consumed = {device: amounts for device, amounts in old.consumed.items() if device not in uses}
    consumed |= {device: use.consumed for device, use in uses.items() if use.consumed}
    return AllocatedState(
        (old.devices - uses.keys()) | {device for device, use in uses.items() if use.exclusive},
        frozenset(pair for pair in old.shared if pair[0] not in uses)
        | {(device, share) for device, use in uses.items() for share in use.shares},
        consumed,
    )


def _use_of(results: Iterable[DeviceResult]) -> DeviceUse:
    exclusive = 0
    shares: dict[str, None] = {}
    consumed: dict[str, Quantity] = {}
    watched: dict[str, Quantity] = {}
    for result in results:
        if result.admin_access:
            _add(watched, result.consumed_capacity)
        elif result.share_id is None:
            exclusive += 1
        else:
            shares[result.share_id] = None
            _add(consumed, result.consumed_capacity)
    return DeviceUse(exclusive, tuple(sorted(shares)), consumed, watched)


def _add(sums: dict[str, Quantity], amounts: Amounts) -> None:
    for key, amount in amounts.items():
        sums[key] = sums[key] + amount if key in sums else amount


def _key(result: DeviceResult) -> tuple[str, DeviceId, str | None]:
    return result.request, result.device_id, result.share_id


def _version(number: int, allocation: ClaimAllocation) -> str:
    """`<number>-<digest>`: which allocation of the claim it is, and of what."""
    said = [
        (*_key(result), sorted((k, v.nano) for k, v in result.consumed_capacity.items()))
        for result in allocation.results
    ]
    text = repr((allocation.timestamp, said))
    return f"{number}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
