"""The linked catalog: documents with their references resolved. After it no string names another document.

Knows nothing of Kubernetes objects. Values are immutable; everything is looked up by name in
mappings that keep the order of the names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from operator import attrgetter
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.driver import Driver
from dracfg.link.grouping import grouped, grouped_by
from dracfg.link.moves import Move, of_ownership, state_now
from dracfg.link.numbers import ByPart, rest
from dracfg.link.outlines import outline
from dracfg.model import kinds
from dracfg.model.cluster import Scheduler
from dracfg.model.objectives import Objectives
from dracfg.model.pool import Owner, PoolState
from dracfg.model.sharing import Consumable, Exclusive, Partition, Partitioned, TimeSliced
from dracfg.model.tenant import AcceptedOffer, Entitlement, TenantNamespace

WHOLE = "whole"
"""The built-in sharing policy: one claim has the device alone."""

_A_CLUSTER = 16
"""A cluster takes as long by itself as so many tenants on it."""

AnyPolicy = Exclusive | Partitioned | Consumable | TimeSliced


@dataclass(frozen=True, eq=False)
class Tier:
    """One kind of device."""

    name: str
    document: kinds.HardwareTier
    driver: Driver

    @cached_property
    def capacity(self) -> Mapping[str, Quantity]:
        """What one device offers, by the key that the driver publishes."""
        device = self.document.spec.device
        return {self.driver.spelling(key): amount for key, amount in device.capacity.items()}

    @property
    def objectives(self) -> Objectives | None:
        """What claims of the tier may count on."""
        return self.document.spec.objectives

    @property
    def legacy_resource(self) -> str | None:
        return self.document.spec.legacy_resource


@dataclass(frozen=True, eq=False)
class Part:
    """What one class of a policy hands out: a device, a size, or a partition.

    `name` is what tenants write (`10Gi`, `1g.5gb`, empty for whole devices), `suffix` what stands
    in class names, `capacity` the amounts by the key that the policy uses.
    """

    name: str
    suffix: str
    capacity: Mapping[str, Quantity]
    partition: Partition | None = None


@dataclass(frozen=True, eq=False)
class Policy:
    """How devices are handed out. `version` is the digest of the policy's numbers, empty for whole."""

    name: str
    document: kinds.SharingPolicy | None
    spec: AnyPolicy
    parts: tuple[Part, ...]
    version: str

    @property
    def is_whole(self) -> bool:
        return self.name == WHOLE

    @property
    def is_consumable(self) -> bool:
        return isinstance(self.spec, Consumable)

    @cached_property
    def is_sized(self) -> bool:
        """Whether tenants name a size or a partition."""
        return isinstance(self.spec, Consumable | Partitioned)

    @cached_property
    def _parts(self) -> Mapping[str, Part]:
        """By name; of two with the same name the first."""
        return {part.name: part for part in reversed(self.parts)}

    def part(self, text: str | int | None) -> Part | None:
        """The part that a tenant means; sizes are compared as quantities, so 10240Mi is 10Gi."""
        if text is None or not self.is_sized:
            return self.parts[0] if text is None and not self.is_sized else None
        found = self._parts.get(str(text))
        if found is not None:
            return found
        try:
            amount = str(Quantity.parse(str(text)))
        except ValueError:
            return None
        return self._parts.get(amount)


@dataclass(frozen=True, eq=False)
class PoolDevices:
    """Devices of one tier on each node of a pool, with the policies in force for them."""

    tier: Tier
    per_node: int
    policies: tuple[Policy, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """Nodes of one shape in one cluster, as rollouts have them now. `moves` are those that reach it."""

    name: str
    document: kinds.NodePool
    cluster: str
    devices: tuple[PoolDevices, ...]
    moves: tuple[Move, ...] = ()

    @property
    def state(self) -> PoolState:
        """The document's, but at least draining while a rollout fences the pool."""
        return state_now(self.document.spec.state, self.moves)

    @property
    def is_closed(self) -> bool:
        """No new claims are let in."""
        return self.state != "open"

    def has_node(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels is one of the pool's."""
        wanted = self.document.spec.node_selector
        return all(labels.get(key) == value for key, value in wanted.items())

    def owner(self, driver: Driver) -> Owner:
        """Who hands out the driver's devices here: DRA where a rollout has come or no document says."""
        moved = any(move.moved for move in self._ownership(driver))
        return "dra" if moved else self.document.spec.owner.get(driver.name, "dra")

    def claims_ever(self, driver: Driver) -> bool:
        """Whether claims get the driver's devices here, now or in some stage of a rollout."""
        return self.owner(driver) == "dra" or bool(self._ownership(driver))

    def _ownership(self, driver: Driver) -> tuple[Move, ...]:
        tiers = {devices.tier.name for devices in self.devices if devices.tier.driver is driver}
        return of_ownership(self.moves, tiers)


@dataclass(frozen=True, eq=False)
class Cluster:
    """One Kubernetes cluster with its pools."""

    name: str
    document: kinds.Cluster
    pools: tuple[Pool, ...]

    @property
    def minor(self) -> str:
        return self.document.spec.kubernetes

    @property
    def objectives(self) -> Objectives | None:
        """What all claims of the cluster together may count on."""
        return self.document.spec.objectives

    def offers(self) -> Iterator[tuple[Pool, PoolDevices]]:
        """Every (pool, devices) of the cluster."""
        for pool in self.pools:
            for devices in pool.devices:
                yield pool, devices

    def pool_of(self, labels: Mapping[str, str]) -> Pool | None:
        """The pool that a node with these labels belongs to."""
        return next((pool for pool in self.pools if pool.has_node(labels)), None)

    def given_out_by(self, scheduler: Scheduler) -> tuple[Pool, ...]:
        """The pools whose devices a scheduler of the cluster gives out."""
        wanted = scheduler.pools
        return tuple(pool for pool in self.pools if wanted == "*" or pool.name in wanted)

    @cached_property
    def _pools(self) -> Mapping[Tier, tuple[Pool, ...]]:
        found = grouped_by(self.offers(), lambda offer: offer[1].tier)
        return {tier: tuple(pool for pool, _ in offers) for tier, offers in found.items()}

    def pools_of(self, tier: Tier) -> tuple[Pool, ...]:
        return self._pools.get(tier, ())

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """Tiers that some pool holds, by name."""
        found = {devices.tier.name: devices.tier for _, devices in self.offers()}
        return tuple(found[name] for name in sorted(found))

    @cached_property
    def drivers(self) -> tuple[Driver, ...]:
        found = {tier.driver.name: tier.driver for tier in self.tiers}
        return tuple(found[name] for name in sorted(found))

    @cached_property
    def _owners(self) -> Mapping[Tier, frozenset[Owner]]:
        return {
            tier: frozenset(pool.owner(tier.driver) for pool in pools)
            for tier, pools in self._pools.items()
        }

    def owners_of(self, tier: Tier) -> frozenset[Owner]:
        """Who hands out the tier's devices here; both while a move is under way."""
        return self._owners.get(tier, frozenset())

    def has_claims_ever(self, tier: Tier) -> bool:
        """Whether claims get the tier's devices here, now or in some stage of a rollout."""
        return any(pool.claims_ever(tier.driver) for pool in self.pools_of(tier))

    def is_closed(self, tier: Tier) -> bool:
        """No pool of the tier that DRA owns lets new claims in."""
        pools = [pool for pool in self.pools_of(tier) if pool.owner(tier.driver) == "dra"]
        return all(pool.is_closed for pool in pools)


@dataclass(frozen=True, eq=False)
class Place:
    """A namespace of a tenant on one cluster. `position` is its own among those of the document."""

    tenant: str
    cluster: str
    namespace: TenantNamespace
    position: int

    @property
    def name(self) -> str:
        return self.namespace.name


@dataclass(frozen=True, eq=False)
class Grant:
    """An entitlement, own or borrowed, on one cluster.

    `name` is what profiles call it: the entitlement's name, or `<lender>-<entitlement>` where it
    was borrowed. `numbers` go by the part's name and hold for the whole cluster, over both paths;
    `by_plugin` is what of them a rollout leaves to the device plugin, None where nothing splits them.
    `owners` are the paths open to new work; what a rollback takes back stays counted by claims.
    """

    name: str
    tenant: str
    cluster: Cluster
    tier: Tier
    policy: Policy
    numbers: ByPart
    owners: frozenset[Owner]
    source: Entitlement | AcceptedOffer
    lender: str | None = None
    by_plugin: ByPart | None = None

    @property
    def uses_claims(self) -> bool:
        return "dra" in self.owners

    def on(self, owner: Owner) -> ByPart:
        """The numbers that quota has for one path: its part of a split, else all while it is open."""
        if self.by_plugin is None:
            return self.numbers if owner in self.owners else {}
        return self.by_plugin if owner == "devicePlugin" else rest(self.numbers, self.by_plugin)


@dataclass(frozen=True, eq=False)
class Tenant:
    """A team with its namespaces and grants, cluster by cluster.

    `outlines` are answers of `link.outlines`, which may be known where the rest is not linked yet.
    """

    name: str
    document: kinds.Tenant
    places: tuple[Place, ...]
    grants: tuple[Grant, ...]
    outlines: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    @property
    def clusters(self) -> tuple[str, ...]:
        """Where it has namespaces, by name."""
        return clusters_of(self)

    @cached_property
    def _places(self) -> Mapping[str, tuple[Place, ...]]:
        return grouped_by(self.places, attrgetter("cluster"))

    @cached_property
    def _grants(self) -> Mapping[str, tuple[Grant, ...]]:
        return grouped_by(self.grants, attrgetter("cluster.name"))

    def places_on(self, cluster: str) -> tuple[Place, ...]:
        return self._places.get(cluster, ())

    def grants_on(self, cluster: str) -> tuple[Grant, ...]:
        return self._grants.get(cluster, ())

    def grant(self, cluster: str, name: str) -> Grant | None:
        return next((grant for grant in self.grants_on(cluster) if grant.name == name), None)


@outline
def clusters_of(tenant: Tenant) -> tuple[str, ...]:
    """Where a tenant has namespaces, by name."""
    return tuple(sorted({place.cluster for place in tenant.places}))


@dataclass(frozen=True, eq=False)
class Catalog:
    """Everything that the repository says, linked."""

    clusters: Mapping[str, Cluster]
    drivers: Mapping[str, Driver]
    tiers: Mapping[str, Tier]
    policies: Mapping[str, Policy]
    pools: Mapping[str, Pool]
    tenants: Mapping[str, Tenant]
    rollouts: Mapping[str, kinds.Rollout]
    poisoned: frozenset[tuple[str, str]] = frozenset()
    """(kind, name) of documents that could not become part of it."""

    def is_complete(self, kind: str) -> bool:
        """Whether all documents of a kind are here, so that what is absent does not exist."""
        return all(lost != kind for lost, _ in self.poisoned)

    @property
    def weight(self) -> int:
        """What it takes to judge and to build it, in files of tenants."""
        return len(self.tenants) + _A_CLUSTER * len(self.clusters)

    @cached_property
    def _tenants(self) -> Mapping[str, tuple[Tenant, ...]]:
        return grouped(self.tenants.values(), lambda tenant: tenant.clusters)

    def tenants_on(self, cluster: str) -> tuple[Tenant, ...]:
        return self._tenants.get(cluster, ())
