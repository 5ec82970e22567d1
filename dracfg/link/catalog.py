"""The linked catalog: documents with their references resolved. After it no string names another document.

Knows nothing of Kubernetes objects. Values are immutable; everything is looked up by name in
mappings that keep the order of the names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dracfg.kube.quantity import Quantity
from dracfg.link.presets import Preset
from dracfg.model import kinds
from dracfg.model.cluster import Scheduler
from dracfg.model.pool import Owner
from dracfg.model.sharing import (
    Consumable,
    Exclusive,
    Partition,
    Partitioned,
    TimeSliced,
)
from dracfg.model.tenant import AcceptedOffer, Entitlement, TenantNamespace

WHOLE = "whole"
"""The built-in sharing policy: one claim has the device alone."""

AnyPolicy = Exclusive | Partitioned | Consumable | TimeSliced
Shareable = Literal["always", "where-listed", "never"]


@dataclass(frozen=True, eq=False)
class Driver:
    """A driver as it runs on this platform."""

    name: str
    document: kinds.Driver
    preset: Preset | None

    @property
    def has_dra_driver(self) -> bool:
        """False for hardware that only a device plugin serves."""
        return self.preset is None or not self.preset.plugin_only

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """Type of each attribute by its key as published."""
        known = {}
        if self.preset is not None:
            facts = self.preset.attributes_at(self.document.spec.version)
            known = {key: str(fact.type) for key, fact in facts.items()}
        return known | {
            self.spelling(key): kind for key, kind in self.document.spec.attributes.items()
        }

    @cached_property
    def capacities(self) -> tuple[str, ...]:
        """Every capacity that the driver may publish, spelled as it publishes it."""
        known: dict[str, None] = {}
        if self.preset is not None:
            known = dict.fromkeys(self.preset.capacities_at(self.document.spec.version))
        return tuple(known | dict.fromkeys(self.document.spec.capacity))

    @property
    def shareable(self) -> Shareable:
        """Whether devices are published with allowMultipleAllocations, and where."""
        said = self.document.spec.shareable
        if said is not None:
            return "where-listed" if said else "never"
        if self.preset is None:
            return "never"
        match self.preset.shareable.when:
            case "always":
                return "always"
            case "gate":
                gate = self.preset.shareable.gate
                on = gate is not None and self.document.spec.feature_gates.get(gate, False)
                return "where-listed" if on else "never"
            case _:
                return "never"

    @cached_property
    def identity_attributes(self) -> tuple[str, ...]:
        """Attributes that name one device, with their domain, of every release; sorted."""
        facts = self.preset.attributes if self.preset is not None else {}
        named = (key for key, fact in facts.items() if fact.identity)
        return tuple(sorted(key if "/" in key else f"{self.name}/{key}" for key in named))

    @property
    def shares_one_allocation(self) -> str:
        """yes, no or unknown: whether several pods or containers may use one claim."""
        return self.fact("sharesOneAllocation")

    def fact(self, name: str) -> str:
        """yes, no or unknown: the document's word on a fact of the preset, else the preset's."""
        said = {
            "sharesOneAllocation": self.document.spec.shares_one_allocation,
            "restoresSharesAfterRestart": self.document.spec.restores_shares_after_restart,
            "resetsAtUnprepare": self.document.spec.resets_at_unprepare,
        }.get(name)
        if said is not None:
            return "yes" if said else "no"
        known = self.preset.facts.get(name) if self.preset is not None else None
        return "unknown" if known is None else known.answer

    def spelling(self, key: str) -> str:
        """A capacity or attribute key as this driver publishes it; `x` and `<driver>/x` are one name."""
        bare = key.removeprefix(f"{self.name}/")
        full = f"{self.name}/{bare}"
        if key in self.document.spec.capacity:
            return key
        for own in (bare, full):
            if own in self.document.spec.capacity:
                return own
        published = self.preset.spelled(key) if self.preset is not None else None
        return published if published is not None else bare

    def enforcement(self, capacity: str) -> str:
        """hardware, driver, none or unknown: what holds a share to its amount of a capacity."""
        key = self.spelling(capacity)
        for said, how in self.document.spec.enforces.items():
            if self.spelling(said) == key:
                return str(how)
        if self.preset is not None:
            fact = self.preset.capacities_at(self.document.spec.version).get(key)
            if fact is not None:
                return str(fact.enforces)
        return "unknown"

    def unit(self, capacity: str) -> str | None:
        """bytes, bit/s, percent, count, cores or millicores; None where nothing says it."""
        key = self.spelling(capacity)
        for said, unit in self.document.spec.units.items():
            if self.spelling(said) == key:
                return str(unit)
        if self.preset is not None:
            fact = self.preset.capacity_fact(key, self.document.spec.version)
            if fact is not None:
                return fact.unit
        return None


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

    @property
    def is_sized(self) -> bool:
        """Whether tenants name a size or a partition."""
        return isinstance(self.spec, Consumable | Partitioned)

    def part(self, text: str | int | None) -> Part | None:
        """The part that a tenant means; sizes are compared as quantities, so 10240Mi is 10Gi."""
        if not self.is_sized:
            return self.parts[0] if text is None else None
        if text is None:
            return None
        for part in self.parts:
            if part.name == str(text):
                return part
        try:
            amount = str(Quantity.parse(str(text)))
        except ValueError:
            return None
        return next((part for part in self.parts if part.name == amount), None)


@dataclass(frozen=True, eq=False)
class PoolDevices:
    """Devices of one tier on each node of a pool, with the policies in force for them."""

    tier: Tier
    per_node: int
    policies: tuple[Policy, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """Nodes of one shape in one cluster."""

    name: str
    document: kinds.NodePool
    cluster: str
    devices: tuple[PoolDevices, ...]

    @property
    def is_closed(self) -> bool:
        """No new claims are let in."""
        return self.document.spec.state != "open"

    def owner(self, driver: Driver) -> Owner:
        """Who hands out the driver's devices here; DRA where the document does not say."""
        return self.document.spec.owner.get(driver.name, "dra")


@dataclass(frozen=True, eq=False)
class Cluster:
    """One Kubernetes cluster with its pools."""

    name: str
    document: kinds.Cluster
    pools: tuple[Pool, ...]

    @property
    def minor(self) -> str:
        return self.document.spec.kubernetes

    def offers(self) -> Iterator[tuple[Pool, PoolDevices]]:
        """Every (pool, devices) of the cluster."""
        for pool in self.pools:
            for devices in pool.devices:
                yield pool, devices

    def given_out_by(self, scheduler: Scheduler) -> tuple[Pool, ...]:
        """The pools whose devices a scheduler of the cluster gives out."""
        wanted = scheduler.pools
        return tuple(pool for pool in self.pools if wanted == "*" or pool.name in wanted)

    def pools_of(self, tier: Tier) -> tuple[Pool, ...]:
        return tuple(pool for pool, devices in self.offers() if devices.tier is tier)

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """Tiers that some pool holds, by name."""
        found = {devices.tier.name: devices.tier for _, devices in self.offers()}
        return tuple(found[name] for name in sorted(found))

    @cached_property
    def drivers(self) -> tuple[Driver, ...]:
        found = {tier.driver.name: tier.driver for tier in self.tiers}
        return tuple(found[name] for name in sorted(found))

    def owners_of(self, tier: Tier) -> frozenset[Owner]:
        """Who hands out the tier's devices here; both while a move is under way."""
        return frozenset(pool.owner(tier.driver) for pool in self.pools_of(tier))

    def is_closed(self, tier: Tier) -> bool:
        """No pool of the tier that DRA owns lets new claims in."""
        pools = [pool for pool in self.pools_of(tier) if pool.owner(tier.driver) == "dra"]
        return all(pool.is_closed for pool in pools)


@dataclass(frozen=True, eq=False)
class Place:
    """A namespace of a tenant on one cluster."""

    tenant: str
    cluster: str
    namespace: TenantNamespace

    @property
    def name(self) -> str:
        return self.namespace.name


@dataclass(frozen=True, slots=True)
class Numbers:
    """Devices, or shares of one size: what is promised and what quota lets through."""

    guaranteed: int
    limit: int


@dataclass(frozen=True, eq=False)
class Grant:
    """An entitlement, own or borrowed, on one cluster.

    `name` is what profiles call it: the entitlement's name, or `<lender>-<entitlement>` where it
    was borrowed. `numbers` go by the part's name and hold for the whole cluster.
    """

    name: str
    tenant: str
    cluster: Cluster
    tier: Tier
    policy: Policy
    numbers: Mapping[str, Numbers]
    owners: frozenset[Owner]
    source: Entitlement | AcceptedOffer
    lender: str | None = None

    @property
    def uses_claims(self) -> bool:
        return "dra" in self.owners


@dataclass(frozen=True, eq=False)
class Tenant:
    """A team with its namespaces and grants, cluster by cluster."""

    name: str
    document: kinds.Tenant
    places: tuple[Place, ...]
    grants: tuple[Grant, ...]

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        return tuple(sorted({place.cluster for place in self.places}))

    def places_on(self, cluster: str) -> tuple[Place, ...]:
        return tuple(place for place in self.places if place.cluster == cluster)

    def grants_on(self, cluster: str) -> tuple[Grant, ...]:
        return tuple(grant for grant in self.grants if grant.cluster.name == cluster)

    def grant(self, cluster: str, name: str) -> Grant | None:
        return next((grant for grant in self.grants_on(cluster) if grant.name == name), None)


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

    def tenants_on(self, cluster: str) -> tuple[Tenant, ...]:
        return tuple(tenant for tenant in self.tenants.values() if cluster in tenant.clusters)
