"""Whether each device class finds devices: on what is recorded of a cluster, else on what is modelled.

Classes with the same selectors are judged once and named together. Expressions that don't compile
are for the rules on selectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.allocate.conditions import Condition, conditions
from dracfg.allocate.devices import Device
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.modelled import Modelled, modelled_inventory
from dracfg.allocate.selection import NearMiss, Selection, name_of
from dracfg.cel import EvaluationError, Undecided
from dracfg.check.drift import check_drift
from dracfg.check.places import place
from dracfg.check.reconciled import ClusterNodes
from dracfg.check.rule import listed
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.lower.selectors import class_selectors, guarded
from dracfg.model import kinds
from dracfg.model.base import at
from dracfg.model.sharing import Partitioned
from dracfg.model.tier import AttributeRange, CapacityRange

_MOST_NAMES = 3


@dataclass(frozen=True, slots=True, eq=False)
class _Alike:
    """Classes of one cluster with one list of selectors; `plan` is the first of them."""

    cluster: Cluster
    plan: ClassPlan
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        """`class a`, `classes a, b and c`, `classes a, b, c and 2 more`."""
        shown = listed(self.names, most=_MOST_NAMES)
        return f"class{'es' if len(self.names) > 1 else ''} {shown}"

    @property
    def verb(self) -> str:
        return "match" if len(self.names) > 1 else "matches"

    @property
    def tier_name(self) -> Span:
        return place(self.plan.tier.document)


def check_inventory(
    catalog: Catalog,
    inventories: Mapping[str, Inventory],
    nodes: Mapping[str, ClusterNodes],
) -> tuple[Diagnostic, ...]:
    """INV021-025 on every class of every cluster, and INV040-045 on what is recorded; each once."""
    found: dict[Diagnostic, None] = {}
    selections: dict[str, Selection] = {}
    for cluster in catalog.clusters.values():
        groups = _groups(catalog, cluster)
        inventory = inventories.get(cluster.name)
        if inventory is None:
            modelled = modelled_inventory(cluster)
            if cluster.minor not in selections:
                selections[cluster.minor] = Selection(cluster.minor, modelled=True)
            selection = selections[cluster.minor]
            found.update(
                (f, None) for group in groups for f in _on_model(group, modelled, selection)
            )
        elif inventory.pools:
            found.update(dict.fromkeys(_on_record(groups, inventory, Selection(cluster.minor))))
            recorded = nodes.get(cluster.name, ClusterNodes())
            found.update(dict.fromkeys(check_drift(catalog, cluster, inventory, recorded)))
    return tuple(found)


def _groups(catalog: Catalog, cluster: Cluster) -> tuple[_Alike, ...]:
    """The classes by their selectors; tiers of which no node is there have none to be judged."""
    held = {
        devices.tier.name
        for pool, devices in cluster.offers()
        if pool.document.spec.nodes and pool.owner(devices.tier.driver) == "dra"
    }
    alike: dict[tuple[str, ...], list[ClassPlan]] = {}
    for plan in device_classes(catalog, cluster):
        if plan.tier.name in held and plan.tier.driver.has_dra_driver:
            alike.setdefault((plan.tier.name, *class_selectors(plan)), []).append(plan)
    return tuple(
        _Alike(cluster, plans[0], tuple(plan.name for plan in plans)) for plans in alike.values()
    )


def _on_record(
    groups: Sequence[_Alike], inventory: Inventory, selection: Selection
) -> Iterator[Diagnostic]:
    devices = inventory.devices
    recorded = {device.driver for device in devices}
    missing: dict[str, list[_Alike]] = {}
    for group in groups:
        driver = group.plan.tier.driver.name
        if not selection.compiles(group.plan):
            continue
        failed = next(_failures(group, devices, selection), None)
        if failed is not None:
            yield failed
        elif driver not in recorded:
            missing.setdefault(driver, []).append(group)
        else:
            yield from _matching(group, devices, selection)
    for driver, unserved in missing.items():
        yield _nothing_recorded(driver, unserved)


def _failures(
    group: _Alike, devices: Sequence[Device], selection: Selection
) -> Iterator[Diagnostic]:
    """INV021: one device on which a selector fails stops the allocation for all of them."""
    for device in devices:
        selected = selection.select(group.plan, device)
        if not isinstance(selected.outcome, EvaluationError):
            continue
        number = selected.passed - 1
        raw = [condition for condition in conditions(group.plan) if condition.root == "cel"]
        condition = raw[number] if number >= 0 else conditions(group.plan)[0]
        where = device.nodes.node_name
        where = f"node {where}" if where is not None else f"pool {device.pool}"
        absent = selection.absent(condition, device)
        lacks = listed(name_of(read, device.driver) for read in absent)
        yield diagnose(
            "INV021",
            _place(group.plan, condition),
            f"{group.words} fail{'' if len(group.names) > 1 else 's'} on device {device.name} of "
            f"{where}: {selected.outcome.message}",
            related=[Related(device.origin.span(), f"has no {lacks}" if absent else "the device")],
            found=f"{device.driver} publishes no {lacks} there" if absent else None,
            help=_guard([guarded(read.field, read.domain, read.id)[0] for read in absent]),
        )


def _guard(guards: Sequence[str]) -> str:
    if not guards:
        return "test for the type before, so that every device is decided"
    return f"put {' && '.join(guards)} && before it: one device that fails stops allocation for all"


def _matching(
    group: _Alike, devices: Sequence[Device], selection: Selection
) -> Iterator[Diagnostic]:
    """INV022, and INV023 where the engine could not tell."""
    own = [device for device in devices if device.driver == group.plan.tier.driver.name]
    outcomes = [selection.select(group.plan, device).outcome for device in own]
    if True in outcomes:
        return
    unsure = next((outcome for outcome in outcomes if isinstance(outcome, Undecided)), None)
    if unsure is not None:
        yield diagnose(
            "INV023",
            group.tier_name,
            f"whether {group.words} {group.verb} a recorded device of {group.cluster.name} was not "
            f"decided: {unsure.reason}",
            help="write the expression with functions that dracfg can evaluate",
        )
        return
    near = selection.near_miss(group.plan, own)
    yield diagnose(
        "INV022",
        group.tier_name if near is None else _place(group.plan, near.lacks[0][0]),
        f"{group.words} {group.verb} no device of {group.plan.tier.driver.name} on "
        f"{group.cluster.name}, where {len(own)} {'is' if len(own) == 1 else 'are'} recorded",
        related=[] if near is None else [Related(near.devices[0].origin.span(), "comes nearest")],
        found=None if near is None else f"{near.text} on {_named(near.devices)}",
        expected=None if near is None else _wanted(near),
        help="correct the condition, or record the cluster again: pods of this class stay pending",
    )


def _nothing_recorded(driver: str, groups: Sequence[_Alike]) -> Diagnostic:
    """INV022 where the root cause is the driver: all its classes in one finding."""
    cluster = groups[0].cluster
    names = tuple(name for group in groups for name in group.names)
    everything = _Alike(cluster, groups[0].plan, names)
    return diagnose(
        "INV022",
        _pool_place(cluster, driver),
        f"{everything.words} {everything.verb} nothing: no device of {driver} is recorded on "
        f"{cluster.name}",
        label="should be there",
        help="record all ResourceSlices of the cluster; if none are there, the driver does not "
        "publish: see its logs",
    )


def _on_model(group: _Alike, modelled: Modelled, selection: Selection) -> Iterator[Diagnostic]:
    """INV024 and INV025: the tier's own description stands in for its devices."""
    plan = group.plan
    if not selection.compiles(plan):
        return
    own = modelled.devices_of(plan.tier)
    outcomes = []
    for device in own:
        outcomes.append(selection.select(plan, device).outcome)
        if outcomes[-1] is True:
            return
    document = plan.tier.document
    described = document.spec.device.attributes
    unsure = next((outcome for outcome in outcomes if isinstance(outcome, Undecided)), None)
    near = selection.near_miss(plan, own)
    if unsure is not None or near is None or not described:
        what = f"its {unsure.reason.removeprefix('the ')}" if unsure and described else ""
        reason = what or "the tier has neither an inventory nor modelled attributes"
        yield diagnose(
            "INV025",
            group.tier_name,
            f"whether devices of tier {plan.tier.name} match its classes was not decided: {reason}",
            help="record the cluster's ResourceSlices and name the file in `Cluster.inventory`, or "
            "describe the attributes in `device`",
        )
        return
    yield diagnose(
        "INV024",
        _place(plan, near.lacks[0][0]),
        f"{group.words} would match no device as tier {plan.tier.name} describes them",
        related=[Related(place(document, "spec", "device"), "stands in, as nothing is recorded")],
        found=near.text,
        expected=_wanted(near),
        help="correct the match or the device, or name a recorded inventory in the Cluster",
    )


def _place(plan: ClassPlan, condition: Condition) -> Span:
    """Where a condition is written: in the partition if it says so, else in the tier."""
    document: kinds.HardwareTier | kinds.SharingPolicy = plan.tier.document
    match, steps = plan.tier.document.spec.match, ("spec", "match")
    partition, policy = plan.part.partition, plan.policy.document
    own: tuple[str | int, ...] = (*steps, condition.root, condition.key)
    number = int(condition.key) if condition.root == "cel" else 0
    if condition.root == "sharing":
        return place(document)
    if condition.root == "cel":
        own = (*steps, "cel", number)
    if partition is not None and policy is not None and isinstance(policy.spec, Partitioned):
        above: tuple[str | int, ...] = (
            "spec", "partitions", policy.spec.partitions.index(partition), "match",
        )  # fmt: skip
        if condition.root == "cel" and number >= len(match.cel):
            return place(policy, *above, "cel", number - len(match.cel))
        if condition.root != "cel" and condition.key in getattr(partition.match, condition.root):
            return place(policy, *above, condition.root, condition.key)
    return place(document, *own)


def _wanted(near: NearMiss) -> str | None:
    """The value or range of the first condition, as a person would write it."""
    wanted = near.lacks[0][0].wanted
    if wanted is None:
        return None
    if isinstance(wanted, AttributeRange | CapacityRange):
        said = wanted.model_dump(exclude_none=True, by_alias=True)
        return ", ".join(f"{name} {value}" for name, value in said.items())
    return str(wanted).lower() if isinstance(wanted, bool) else str(wanted)


def _named(devices: Sequence[Device]) -> str:
    """`gpu-0 of a100-e-12`, with the number of the others."""
    first = devices[0]
    name = f"{first.name} of {first.nodes.node_name or first.pool}"
    return name if len(devices) == 1 else f"{name} and {len(devices) - 1} more"


def _pool_place(cluster: Cluster, driver: str) -> Span:
    pool, number = next(
        (pool, number)
        for pool in cluster.pools
        for number, devices in enumerate(pool.devices)
        if devices.tier.driver.name == driver and pool.document.spec.nodes
    )
    return at(pool.document, "spec", "devices", number, "tier")
