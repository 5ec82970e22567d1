"""How much of each tier is in use on a site, before and after pods were placed.

Counts what claims hold, not what pods do with it. Knows neither pods nor files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dracfg.allocate.devices import Device
from dracfg.allocate.selection import Selection
from dracfg.allocate.state import AllocationState
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.plan.site import Site


@dataclass(frozen=True, slots=True)
class CapacityUse:
    """One capacity, summed over the shareable devices of a tier."""

    key: str
    total: Quantity
    before: Quantity
    after: Quantity


@dataclass(frozen=True, slots=True)
class TierUse:
    """The devices that some class of the tier takes. `before` and `after` count those in use.

    `partition` names the parts that are counted in place of whole devices. `free` are those that
    nobody holds after it; of partitions that exclude each other not all can be had. `tier` is None
    for devices of `driver` that no tier of the catalog has.
    """

    tier: str | None
    partition: str | None
    driver: str
    devices: int
    before: int
    after: int
    capacity: tuple[CapacityUse, ...]

    @property
    def free(self) -> int:
        return self.devices - self.after


def utilisation(
    catalog: Catalog, site: Site, before: AllocationState, after: AllocationState
) -> tuple[TierUse, ...]:
    """The use of each tier and its partitions by name, then of other devices in use, by driver.

    A device that classes of two of them take counts for both.
    """
    taken = _Taken(site)
    devices = [one for pool in site.inventory.pools if pool.usable for one in pool.devices]
    by_tier: dict[tuple[str, str], dict[int, Device]] = {}
    for plan in device_classes(catalog, site.cluster):
        if not plan.admin:
            part = plan.part.partition
            held = by_tier.setdefault((plan.tier.name, part.name if part is not None else ""), {})
            held |= {id(one): one for one in devices if taken.by(plan, one)}
    drivers = {tier.name: tier.driver.name for tier in site.cluster.tiers}
    found = [
        _use((tier, part or None, drivers[tier]), held.values(), before, after)
        for (tier, part), held in sorted(by_tier.items(), key=lambda item: item[0])
    ]
    known = {key for held in by_tier.values() for key in held}
    others: dict[str, list[Device]] = {}
    for one in devices:
        if id(one) not in known and (one.driver, one.pool, one.name) in after.devices:
            others.setdefault(one.driver, []).append(one)
    found += [_use((None, None, name), others[name], before, after) for name in sorted(others)]
    return tuple(found)


class _Taken:
    """Which devices classes take. Devices with the very same content are asked about once."""

    def __init__(self, site: Site) -> None:
        self._selection = Selection(site.cluster.minor, modelled=site.modelled)
        self._known: dict[tuple[str, int, int, bool], bool] = {}

    def by(self, plan: ClassPlan, device: Device) -> bool:
        if device.driver != plan.tier.driver.name:
            return False
        content = id(device.attributes), id(device.capacity), device.allow_multiple_allocations
        key = (plan.name, *content)
        if key not in self._known:
            self._known[key] = self._selection.select(plan, device).outcome is True
        return self._known[key]


def _use(
    name: tuple[str | None, str | None, str],
    devices: Iterable[Device],
    before: AllocationState,
    after: AllocationState,
) -> TierUse:
    listed = tuple(devices)
    shareable = [one for one in listed if one.allow_multiple_allocations]
    keys = sorted({key for one in shareable for key in one.capacity})
    left, rest = _left(before, shareable), _left(after, shareable)
    total = _sums({key: fact.value for key, fact in one.capacity.items()} for one in shareable)
    return TierUse(
        *name,
        len(listed),
        sum(_in_use(before, one) for one in listed),
        sum(_in_use(after, one) for one in listed),
        tuple(
            CapacityUse(key, total[key], total[key] - left[key], total[key] - rest[key])
            for key in keys
        ),
    )


def _in_use(state: AllocationState, device: Device) -> bool:
    use = state.use((device.driver, device.pool, device.name))
    return bool(use.exclusive or use.shares)


def _left(state: AllocationState, devices: Iterable[Device]) -> dict[str, Quantity]:
    return _sums(state.remaining(one) for one in devices)


def _sums(amounts: Iterable[Mapping[str, Quantity]]) -> dict[str, Quantity]:
    sums: dict[str, Quantity] = {}
    for held in amounts:
        for key, amount in held.items():
            sums[key] = sums[key] + amount if key in sums else amount
    return sums
