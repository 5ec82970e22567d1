"""The devices of a tier on a cluster that promises may count on, as pools and kinds of proofs.

Amounts are billionths of the unit. Nodes kept spare, in quarantine or in a pool that lets nothing new
in are left out. What a class takes of a device is what the driver rounds it to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Cluster, Policy, Pool, PoolDevices, Tier
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.link.published import consumption
from dracfg.lower.quarantine import quarantined
from dracfg.model.pool import Owner
from dracfg.model.sharing import Consumable
from dracfg.plan.proofs import shapes

EXEMPT = shapes.Kind("exempt namespaces", whole=True)
"""Namespaces outside the tenants' rules: what they hold counts as devices held alone."""

COUNTER = "counter "
PARTS = "parts of "


@dataclass(frozen=True, slots=True)
class Withheld:
    """Nodes of a pool that no promise counts on, and devices on the others.

    `spare` are the nodes that are still kept for failures: quarantine takes of them first.
    """

    quarantined: int
    spare: int
    closed: int
    devices: int = 0

    @property
    def nodes(self) -> int:
        return self.quarantined + self.spare + self.closed


@dataclass(frozen=True, slots=True, eq=False)
class Supply:
    """Devices of a tier on one cluster that are handed out by one owner and in common kinds.

    `kinds` go by the classes' names. `restored` is the pool as it were without quarantine and with
    every pool let open.
    """

    cluster: Cluster
    tier: Tier
    owner: Owner
    pool: shapes.Pool
    restored: shapes.Pool
    kinds: Mapping[str, shapes.Kind]
    classes: Mapping[str, ClassPlan]

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The node pools, closed ones included."""
        names = {group.name for group in self.restored.groups}
        return tuple(pool for pool in self.cluster.pools if pool.name in names)

    @property
    def name(self) -> str:
        return f"{self.tier.name} on {self.cluster.name}"


def supplies(catalog: Catalog) -> tuple[Supply, ...]:
    """Every tier of every cluster, by owner and by sets of pools that share no class."""
    return tuple(
        part
        for cluster in catalog.clusters.values()
        for tier in cluster.tiers
        for owner in sorted(cluster.owners_of(tier))
        for part in _apart(supply_of(catalog, cluster, tier, owner))
    )


def supply_of(catalog: Catalog, cluster: Cluster, tier: Tier, owner: Owner) -> Supply:
    """One tier of a cluster over all of its pools; a device plugin hands out whole devices alone."""
    classes = {
        plan.name: plan
        for plan in device_classes(catalog, cluster)
        if plan.tier is tier and not plan.admin and owner == "dra"
    }
    keys = tuple(_keys(tier, classes))
    kinds = {name: _kind(plan, keys) for name, plan in classes.items()}
    if owner == "devicePlugin":
        kinds = {tier.name: shapes.Kind(tier.name, whole=True)}
    usable, restored = (
        shapes.Pool(tuple(_groups(cluster, tier, owner, keys, classes, whole)), keys)
        for whole in (False, True)
    )
    return Supply(cluster, tier, owner, usable, restored, kinds, classes)


def _apart(supply: Supply) -> Iterator[Supply]:
    """The supply in parts: pools stay together where some class reaches both."""
    left = dict(supply.kinds)
    while left:
        names, reached = {next(iter(left))}, 0
        while len(names) > reached:
            reached = len(names)
            admitted = [g.admits or frozenset() for g in supply.restored.groups]
            names |= {n for kinds in admitted if kinds & names for n in kinds if n in left}
        yield replace(
            supply,
            pool=_reaching(supply.pool, names),
            restored=_reaching(supply.restored, names),
            kinds={name: left.pop(name) for name in tuple(left) if name in names},
            classes={n: plan for n, plan in supply.classes.items() if n in names},
        )


def _reaching(pool: shapes.Pool, names: set[str]) -> shapes.Pool:
    groups = tuple(g for g in pool.groups if g.admits is not None and g.admits & names)
    return shapes.Pool(groups, pool.keys)


def withheld(cluster: Cluster, pool: Pool, tier: Tier) -> Withheld:
    """What of a pool is out of every promise."""
    spec = pool.document.spec
    if pool.is_closed:
        return Withheld(0, 0, spec.nodes)
    out = quarantined(cluster, pool)
    spare = min(max(spec.spare.nodes - out.nodes, 0), spec.nodes - out.nodes)
    return Withheld(out.nodes, spare, 0, out.devices.get(tier.name, 0))


def enforced_shares(
    policy: Policy, tier: Tier, device: Mapping[str, Quantity] | None = None
) -> shapes.ShareBound | None:
    """maxShares with the capacity that keeps devices to it; None where nothing does.

    Kubernetes has no field for the number of shares: one more of the smallest size must not fit.
    """
    spec = policy.spec
    if not isinstance(spec, Consumable) or spec.max_shares is None:
        return None
    published = device if device is not None else tier.capacity
    for key in spec.capacity:
        value = published.get(tier.driver.spelling(key))
        sizes = [part.capacity[key] for part in policy.parts if key in part.capacity]
        least = min(sizes, default=Quantity(0))
        if (
            value is not None
            and len(sizes) == len(policy.parts)
            and least * (spec.max_shares + 1) > value
        ):
            carried = f"{spec.max_shares + 1} x {least} of {key} exceed {value}"
            return shapes.ShareBound(spec.max_shares, carried)
    return None


def _keys(tier: Tier, classes: Mapping[str, ClassPlan]) -> Iterator[str]:
    """What shares are measured in: capacities that some class takes, counters, counted parts."""
    if any(plan.policy.is_consumable for plan in classes.values()):
        yield from sorted(tier.capacity)
    parts = [plan for plan in classes.values() if plan.part.partition is not None]
    counters = tier.document.spec.device.counters
    drawn = {
        key
        for plan in parts
        if plan.part.partition is not None
        for key in plan.part.partition.consumes
    }
    yield from (f"{COUNTER}{key}" for key in sorted(drawn & set(counters)))
    for plan in parts:
        if plan.part.partition is not None and plan.part.partition.per_device is not None:
            yield f"{PARTS}{plan.name}"


def _kind(plan: ClassPlan, keys: tuple[str, ...]) -> shapes.Kind:
    if plan.part.partition is None and not plan.policy.is_consumable:
        return shapes.Kind(plan.name, whole=True)
    return shapes.Kind(plan.name, tuple(_taken(plan, key) for key in keys))


def _taken(plan: ClassPlan, key: str) -> int:
    partition = plan.part.partition
    if partition is not None:
        if key.startswith(COUNTER):
            amount = partition.consumes.get(key.removeprefix(COUNTER))
            return amount.nano if amount is not None else 0
        return int(key == f"{PARTS}{plan.name}")
    if key not in plan.tier.capacity:
        return 0
    asked = plan.capacity.get(key)
    taken = consumption(plan.tier, key, asked)
    if taken is not None and taken.amount is not None:
        return taken.amount.nano
    # What a request does not name is taken whole, unless the driver publishes a default.
    return (asked if asked is not None else plan.tier.capacity[key]).nano


def _groups(
    cluster: Cluster,
    tier: Tier,
    owner: Owner,
    keys: tuple[str, ...],
    classes: Mapping[str, ClassPlan],
    restored: bool,
) -> Iterator[shapes.Group]:
    for pool, devices in cluster.offers():
        if devices.tier is not tier or pool.owner(tier.driver) != owner:
            continue
        out = withheld(cluster, pool, tier)
        if restored:
            out = Withheld(0, min(pool.document.spec.spare.nodes, pool.document.spec.nodes), 0)
        nodes = pool.document.spec.nodes - out.nodes
        admits = frozenset(_admitted(devices, classes)) | {EXEMPT.name}
        bound = _bound(devices)
        capacity = tuple(_offered(tier, classes, key) for key in keys)
        for name, count, per_node in _shapes_of(pool, devices, nodes, out):
            if count > 0 and per_node > 0:
                yield shapes.Group(name, count, per_node, capacity, bound, admits)


def _shapes_of(
    pool: Pool, devices: PoolDevices, nodes: int, out: Withheld
) -> Iterator[tuple[str, int, int]]:
    """(name, nodes, devices a node): nodes on which single devices are out stand by themselves.

    Nodes kept spare stand in for such nodes first.
    """
    named = {entry.pool for entry in pool.document.spec.quarantine if entry.pool is not None}
    affected = min(out.devices, max(len(named), 1)) if out.devices else 0
    lost = -(-out.devices // affected) if affected else 0
    degraded = min(max(affected - out.spare, 0), nodes)
    yield pool.name, nodes - degraded, devices.per_node
    yield f"{pool.name} (devices in quarantine)", degraded, devices.per_node - lost


def _admitted(devices: PoolDevices, classes: Mapping[str, ClassPlan]) -> Iterator[str]:
    if not classes:
        yield devices.tier.name
    for name, plan in classes.items():
        if any(policy is plan.policy for policy in devices.policies):
            yield name


def _bound(devices: PoolDevices) -> shapes.ShareBound | None:
    """The bound on shares where one policy alone shares the devices."""
    shared = [policy for policy in devices.policies if policy.is_sized]
    return enforced_shares(shared[0], devices.tier) if len(shared) == 1 else None


def _offered(tier: Tier, classes: Mapping[str, ClassPlan], key: str) -> int:
    if key.startswith(COUNTER):
        return tier.document.spec.device.counters[key.removeprefix(COUNTER)].nano
    if key.startswith(PARTS):
        partition = classes[key.removeprefix(PARTS)].part.partition
        return partition.per_device or 0 if partition is not None else 0
    return tier.capacity[key].nano
