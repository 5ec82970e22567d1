"""The ledger: per device who holds it and how much, what is free, and what nobody can tell.

Sums are exact. What is held on a node that may be lost counts as held and as unknown: it is given to
nobody else before the node is fenced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Literal

from dracfg.allocate.devices import Device
from dracfg.allocate.state import UNUSED
from dracfg.audit.nodes import lost_node
from dracfg.audit.tiers import Tiers
from dracfg.audit.view import DeviceId, Holding, View
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity

State = Literal["idle", "allocated", "shared", "unknown", "unpublished"]
"""shared: held by shares that leave something. unknown: held on a node that may be lost, in a pool
that is not recorded as a whole, or of a record without claims. unpublished: held, and no slice tells
of it."""

_NONE = Quantity.of(0)


@dataclass(frozen=True, slots=True)
class Share:
    """What one claim holds of a device; amounts by capacity, none for a whole device."""

    claim: str
    claim_uid: str
    request: str
    device_class: str | None
    tenant: str | None
    pods: tuple[str, ...]
    share_id: str | None
    consumed: Mapping[str, Quantity]
    policy: str | None
    version: str | None
    admin_access: bool


@dataclass(frozen=True, slots=True)
class Amount:
    """One capacity of a device, or of several: `free` is what is left, `fragmented` the part of it
    that is less than the smallest size, `unknown` the part of `used` that may be given back or not."""

    total: Quantity = _NONE
    used: Quantity = _NONE
    unknown: Quantity = _NONE
    free: Quantity = _NONE
    fragmented: Quantity = _NONE

    def plus(self, other: Amount) -> Amount:
        """The sum, amount by amount."""
        return Amount(
            self.total + other.total,
            self.used + other.used,
            self.unknown + other.unknown,
            self.free + other.free,
            self.fragmented + other.fragmented,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One device of the ledger."""

    id: DeviceId
    node: str | None
    tier: str | None
    state: State
    shareable: bool
    reason: str | None
    shares: tuple[Share, ...]
    capacity: Mapping[str, Amount]


@dataclass(frozen=True, slots=True)
class Total:
    """The sums over the devices of one tier, or of one driver where no tier is known."""

    name: str
    driver: str
    devices: int = 0
    states: Mapping[State, int] = field(default_factory=dict)
    shares: int = 0
    capacity: Mapping[str, Amount] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every published device and every one that a claim holds, by (driver, pool, device)."""

    entries: tuple[Entry, ...]
    totals: tuple[Total, ...]


def build_ledger(view: View) -> Ledger:
    """The ledger of a view."""
    tiers = Tiers(view)
    unasked = None if "ResourceClaim" in view.dump.recorded else "no claims are recorded"
    incomplete = {
        (pool.driver, pool.name): pool.invalid_reason or "its pool is not recorded as a whole"
        for pool in view.dump.inventory.pools
        if not pool.usable
    }
    entries = []
    seen: set[DeviceId] = set()
    for device in view.dump.inventory.devices:
        key = (device.driver, device.pool, device.name)
        if key not in seen:
            seen.add(key)
            reason = unasked or incomplete.get((device.driver, device.pool))
            entries.append(_entry(view, tiers, key, device, reason))
    entries += [
        _entry(view, tiers, key, None, "no slice tells of it")
        for key in view.by_device
        if key not in seen
    ]
    ordered = tuple(sorted(entries, key=lambda entry: entry.id))
    return Ledger(ordered, _totals(ordered))


def _entry(
    view: View, tiers: Tiers, key: DeviceId, device: Device | None, reason: str | None
) -> Entry:
    held = view.by_device.get(key, ())
    taking = [holding for holding in held if holding.takes]
    lost = [h for h in taking if lost_node(view.dump, h.node) is not None]
    tier = tiers.tier(device) if device is not None else view.tier(held[0])
    nodes = {holding.node for holding in held if holding.node is not None}
    node = device.nodes.node_name if device is not None else None
    shareable = device is not None and device.allow_multiple_allocations
    capacity = {} if device is None else _amounts(view, tiers, device, lost)
    if lost and (reason is None or device is None):
        reason = f"node {lost[0].node} may be lost"
    return Entry(
        key,
        node or (nodes.pop() if len(nodes) == 1 else None),
        tier.name if tier is not None else None,
        _state(device, taking, bool(lost), reason, capacity),
        shareable,
        reason,
        tuple(_share(view, holding) for holding in held),
        capacity,
    )


def _state(
    device: Device | None,
    taking: list[Holding],
    lost: bool,
    reason: str | None,
    capacity: Mapping[str, Amount],
) -> State:
    if lost or (device is not None and reason is not None and taking):
        return "unknown"
    if device is None:
        return "unpublished"
    if not taking:
        return "idle" if reason is None else "unknown"
    shares = device.allow_multiple_allocations and all(amount.free for amount in capacity.values())
    return "shared" if shares else "allocated"


def _share(view: View, holding: Holding) -> Share:
    policy = view.policy(holding)
    note = holding.note
    version = note.version if note is not None else policy.version if policy is not None else None
    return Share(
        holding.claim.ref,
        holding.claim.claim.uid,
        holding.result.request,
        holding.class_name,
        view.tenant_name(holding.claim),
        tuple(pod.name for pod in holding.pods)
        + tuple(f"{consumer.name} (gone)" for consumer in holding.gone),
        holding.result.share_id,
        holding.result.consumed_capacity,
        note.policy if note is not None else policy.name if policy is not None else None,
        version if version not in ("", "-") else None,
        holding.result.admin_access,
    )


def _amounts(view: View, tiers: Tiers, device: Device, lost: list[Holding]) -> dict[str, Amount]:
    """The capacities of a device; one that is held as a whole is taken with all that it has.

    Where no claims are recorded, nobody knows that anything is free.
    """
    if "ResourceClaim" not in view.dump.recorded:
        return {
            key: Amount(fact.value, used=fact.value, unknown=fact.value)
            for key, fact in device.capacity.items()
        }
    use = view.state.use((device.driver, device.pool, device.name))
    left = view.state.remaining(device)
    whole = [holding for holding in lost if holding.result.share_id is None]
    amounts: dict[str, Amount] = {}
    for key, fact in device.capacity.items():
        used = fact.value if use.exclusive else use.taken.get(key, _NONE)
        unknown = fact.value if whole else _sum(key, lost)
        amounts[key] = Amount(fact.value, used, unknown, left[key])
    if not device.allow_multiple_allocations or use == UNUSED:
        return amounts
    sizes = tiers.sizes(device)
    fits = any(
        all(amount <= left[key] for key, amount in size.items() if key in left) for size in sizes
    )
    if fits or not sizes:
        return amounts
    return {key: replace(one, fragmented=one.free) for key, one in amounts.items()}


def _sum(key: str, held: Iterable[Holding]) -> Quantity:
    return sum((h.result.consumed_capacity.get(key, _NONE) for h in held), _NONE)


def _totals(entries: Iterable[Entry]) -> tuple[Total, ...]:
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.tier or "", entry.id[0]), []).append(entry)
    totals = []
    for (tier, driver), members in sorted(groups.items()):
        states: dict[State, int] = {}
        capacity: dict[str, Amount] = {}
        for entry in members:
            states[entry.state] = states.get(entry.state, 0) + 1
            for key, amount in entry.capacity.items():
                capacity[key] = capacity[key].plus(amount) if key in capacity else amount
        shares = sum(len(entry.shares) for entry in members)
        totals.append(
            Total(
                tier or driver, driver, len(members), states, shares, dict(sorted(capacity.items()))
            )
        )
    return tuple(totals)
