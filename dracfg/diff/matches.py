"""Which recorded devices each class takes, before and after: `96 devices -> 88 devices; these 8`.

Selectors of both sides are put to the later side's record, so a difference is that of the catalog;
where the record itself has changed, what that alone makes of a tier is a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dracfg.allocate import Inventory
from dracfg.allocate.devices import Device
from dracfg.allocate.selection import Selection
from dracfg.check.places import place
from dracfg.dataclass import dataclass
from dracfg.diff.change import Change, change
from dracfg.diff.classes import entitled
from dracfg.diff.counterparts import clusters, same_platform
from dracfg.diff.pair import Pair
from dracfg.diff.words import bounded, few, plural
from dracfg.diff.workloads import Workloads, recorded
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.lower.selectors import class_selectors

DeviceId = tuple[str, str, str]
"""(driver, pool, device)."""

_MOST_DEVICES = 10


@dataclass(frozen=True, slots=True)
class MatchSet:
    """The devices that a class takes, and how many it could not be decided of."""

    devices: frozenset[DeviceId]
    undecided: int


def match_changes(pair: Pair) -> Iterator[Change]:
    """Clusters of both sides of which devices are recorded."""
    for before, after in clusters(pair):
        record = pair.head.judgement.inventories.get(after.name)
        if record is None or not record.pools:
            continue
        earlier = pair.base.judgement.inventories.get(after.name)
        moved = earlier is not None and earlier.pools and _devices(earlier) != _devices(record)
        if same_platform(before, after) and not moved:
            continue
        old = _by_name(pair.base.judgement.catalog, before)
        new = _by_name(pair.head.judgement.catalog, after)
        live = recorded(pair, after)
        yield from _selected_otherwise(pair, (before, after), (old, new), record, live)
        if earlier is not None and moved:
            yield from _recorded_otherwise(after, old, (earlier, record), live)


def _match(selection: Selection, plan: ClassPlan, devices: Iterable[Device]) -> MatchSet:
    taken, undecided = set(), 0
    for device in devices:
        outcome = selection.select(plan, device).outcome
        if outcome is True:
            taken.add(_id(device))
        elif outcome is not False and device.driver == plan.tier.driver.name:
            undecided += 1
    return MatchSet(frozenset(taken), undecided)


def _by_name(catalog: Catalog, cluster: Cluster) -> dict[str, ClassPlan]:
    return {plan.name: plan for plan in device_classes(catalog, cluster) if not plan.admin}


def _id(device: Device) -> DeviceId:
    return device.driver, device.pool, device.name


def _devices(inventory: Inventory) -> Mapping[DeviceId, Device]:
    return {_id(device): device for device in inventory.devices}


# -- the catalog has moved -----------------------------------------------------------------------


def _selected_otherwise(
    pair: Pair,
    sides: tuple[Cluster, Cluster],
    plans: tuple[Mapping[str, ClassPlan], Mapping[str, ClassPlan]],
    record: Inventory,
    live: Workloads,
) -> Iterator[Change]:
    """Classes whose selectors differ; those of a tier that move by the same devices are one change."""
    (before, after), (old, new) = sides, plans
    was, now = Selection(before.minor), Selection(after.minor)
    groups: dict[tuple[str, frozenset[DeviceId], frozenset[DeviceId]], list[ClassPlan]] = {}
    sets: dict[str, tuple[MatchSet, MatchSet]] = {}
    for name, plan in new.items():
        if name not in old or class_selectors(old[name]) == class_selectors(plan):
            continue
        first = _match(was, old[name], record.devices)
        second = _match(now, plan, record.devices)
        sets[name] = first, second
        lost, gained = first.devices - second.devices, second.devices - first.devices
        groups.setdefault((plan.tier.name, lost, gained), []).append(plan)
    for (_, lost, gained), own in groups.items():
        first, second = sets[own[0].name]
        users = entitled(pair.head.judgement.catalog, after, frozenset(plan.name for plan in own))
        holders = _holders(live, lost)
        shown, more = bounded(holders)
        kind = "class-match" if lost or gained else "class-match-kept"
        yield change(
            kind,
            _named(own),
            _matches(first),
            _matches(second),
            cluster=after.name,
            namespaces=(p.name for t in users.values() for p in t.places_on(after.name)),
            span=place(own[0].tier.document, "spec", "match"),
            details=(
                *_listed("no longer", lost),
                *_listed("now also", gained),
                *_unsure(second),
                *(("claims on them keep their devices until they end",) if holders else ()),
                *more,
            ),
            workloads=shown,
        )


def _named(plans: list[ClassPlan]) -> str:
    word = "class" if len(plans) == 1 else "classes"
    return f"{word} {few((plan.name for plan in plans), 3)}"


def _matches(found: MatchSet) -> str:
    return f"matches {plural(len(found.devices), 'device')}"


def _listed(words: str, devices: frozenset[DeviceId]) -> Iterator[str]:
    """`no longer: a100-e-12/gpu-0, …`, the first of them by name."""
    if devices:
        names = [f"{pool}/{name}" for _, pool, name in sorted(devices)]
        yield f"{words}: {few(names, _MOST_DEVICES)}"


def _unsure(found: MatchSet) -> Iterator[str]:
    if found.undecided:
        yield f"not decided for {plural(found.undecided, 'device')}: a selector can't be evaluated there"


def _holders(live: Workloads, devices: frozenset[DeviceId]) -> tuple[str, ...]:
    return live.claims_where(lambda held: any(one.device_id in devices for one in held.results))


# -- the record has moved ------------------------------------------------------------------------


def _recorded_otherwise(
    cluster: Cluster,
    plans: Mapping[str, ClassPlan],
    records: tuple[Inventory, Inventory],
    live: Workloads,
) -> Iterator[Change]:
    """Tiers of which other devices are recorded than before, by the earlier side's selectors."""
    selection = Selection(cluster.minor)
    tiers: dict[str, list[ClassPlan]] = {}
    for plan in plans.values():
        tiers.setdefault(plan.tier.name, []).append(plan)
    for tier, own in tiers.items():
        first, second = (
            frozenset().union(*(_match(selection, plan, one.devices).devices for plan in own))
            for one in records
        )
        lost, gained = first - second, second - first
        if not lost and not gained:
            continue
        shown, more = bounded(_holders(live, lost))
        yield change(
            "record-moved",
            f"recorded devices of {tier}",
            plural(len(first), "device"),
            plural(len(second), "device"),
            cluster=cluster.name,
            span=place(cluster.document, "spec", "inventory"),
            details=(*_listed("gone", lost), *_listed("new", gained), *more),
            workloads=shown,
        )
