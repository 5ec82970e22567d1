"""Documents by name → the linked catalog.

Documents whose references lead nowhere are left out of the catalog and listed as poisoned, so
that everything else can still be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import cast

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose, did_you_mean
from dracfg.link.carried import platform_stays, tenants_that_stay
from dracfg.link.catalog import (
    WHOLE,
    Catalog,
    Cluster,
    Policy,
    Pool,
    PoolDevices,
    Tenant,
    Tier,
)
from dracfg.link.driver import Driver
from dracfg.link.grants import link_tenants
from dracfg.link.index import Index
from dracfg.link.moves import Move, moves
from dracfg.link.parts import link_policy, whole_policy
from dracfg.link.presets import Preset, load_preset, preset_names
from dracfg.link.references import References
from dracfg.model import kinds
from dracfg.model.base import at
from dracfg.model.pool import PoolDevices as PoolDevicesSpec
from dracfg.model.sharing import Consumable, Partitioned


@dataclass(frozen=True, slots=True)
class Linked:
    """The catalog, and what could not become part of it."""

    catalog: Catalog
    poisoned: frozenset[tuple[str, str]]
    faults: tuple[Diagnostic, ...]


def link(
    index: Index,
    poisoned: frozenset[tuple[str, str]],
    since: Catalog | None = None,
    recalled: Callable[[Catalog], Mapping[str, Tenant]] | None = None,
) -> Linked:
    """Resolves every reference of every document.

    What would come out as it is in `since`, of another state of the same documents, is taken from there;
    tenants that are `recalled` beside the platform are not linked.
    """
    references = References(set(poisoned))
    kept: Mapping[str, Tenant] = {}
    if since is not None and not poisoned and platform_stays(index, since):
        platform = since
        kept = tenants_that_stay(index, since) if recalled is None else {}
    else:
        platform = _platform(index, references)
    if recalled is not None:
        kept = recalled(platform)
    tenants = link_tenants(index, platform, kept, references)
    for rollout in platform.rollouts.values():
        _follow_rollout(rollout, platform, tenants, references)
    lost = frozenset(references.poisoned)
    for cluster in platform.clusters.values():
        _follow_schedulers(cluster, platform.pools, references)
    catalog = replace(platform, tenants=tenants, poisoned=lost)
    return Linked(catalog, lost, tuple(references.faults))


def _platform(index: Index, references: References) -> Catalog:
    """A catalog without tenants."""
    drivers = _drivers(index, references)
    tiers = _tiers(index, drivers, references)
    policies = _policies(index, references)
    rollouts = cast("Mapping[str, kinds.Rollout]", index.by_kind["Rollout"])
    pools = _pools(index, tiers, policies, rollouts, references)
    return Catalog(_clusters(index, pools), drivers, tiers, policies, pools, {}, rollouts)


def _drivers(index: Index, references: References) -> dict[str, Driver]:
    linked = {}
    for name, document in cast("Mapping[str, kinds.Driver]", index.by_kind["Driver"]).items():
        preset = _preset(document, references)
        if document.spec.preset is None or preset is not None:
            linked[name] = Driver(name, document, preset)
    return linked


def _preset(document: kinds.Driver, references: References) -> Preset | None:
    name = document.spec.preset
    if name is None:
        return None
    try:
        return load_preset(name)
    except KeyError:
        near = did_you_mean(name, preset_names())
        references.faults.append(
            diagnose(
                "REF003",
                at(document, "spec", "preset"),
                f"there is no preset {name!r}",
                found=name,
                help=f"did you mean {near}?" if near else f"known: {', '.join(preset_names())}",
                fix=near,
            )
        )
        references.poison("Driver", document.name)
        return None


def _tiers(index: Index, drivers: Mapping[str, Driver], references: References) -> dict[str, Tier]:
    linked = {}
    for name, document in cast(
        "Mapping[str, kinds.HardwareTier]", index.by_kind["HardwareTier"]
    ).items():
        driver = references.follow(
            "Driver", document.spec.driver, drivers, document, "spec", "driver"
        )
        if driver is None:
            references.poison("HardwareTier", name)
        else:
            linked[name] = Tier(name, document, driver)
    return linked


def _policies(index: Index, references: References) -> dict[str, Policy]:
    documents = cast("Mapping[str, kinds.SharingPolicy]", index.by_kind["SharingPolicy"])
    if WHOLE in documents:
        references.faults.append(
            diagnose(
                "REF006",
                at(documents[WHOLE], "metadata", "name"),
                f"a policy can't be named {WHOLE}",
                help=f"{WHOLE} is built in and needs no document; name a variant otherwise",
            )
        )
    return {WHOLE: whole_policy()} | {
        name: link_policy(document) for name, document in documents.items() if name != WHOLE
    }


def _pools(
    index: Index,
    tiers: Mapping[str, Tier],
    policies: Mapping[str, Policy],
    rollouts: Mapping[str, kinds.Rollout],
    references: References,
) -> dict[str, Pool]:
    linked = {}
    clusters = index.by_kind["Cluster"]
    moved = moves(
        rollouts.values(), cast("Mapping[str, kinds.NodePool]", index.by_kind["NodePool"])
    )
    for name, document in cast("Mapping[str, kinds.NodePool]", index.by_kind["NodePool"]).items():
        spec = document.spec
        whole = references.follow("Cluster", spec.cluster, clusters, document, "spec", "cluster")
        common = _named_policies(document, spec.sharing, policies, references, "spec", "sharing")
        devices = []
        complete = whole is not None and common is not None
        for i, entry in enumerate(spec.devices):
            place = ("spec", "devices", i)
            tier = references.follow("HardwareTier", entry.tier, tiers, document, *place, "tier")
            own = (
                common
                if entry.sharing is None
                else _named_policies(
                    document, entry.sharing, policies, references, *place, "sharing"
                )
            )
            if tier is None or own is None:
                complete = False
            else:
                devices.append(_pool_devices(entry, tier, own))
        if complete:
            reached = moved.get(name, ())
            devices = [shared_now(one, reached, policies) for one in devices]
            linked[name] = Pool(name, document, spec.cluster, tuple(devices), reached)
        else:
            references.poison("NodePool", name)
    return linked


def _named_policies(
    document: kinds.NodePool,
    names: tuple[str, ...],
    policies: Mapping[str, Policy],
    references: References,
    *steps: str | int,
) -> tuple[Policy, ...] | None:
    found = [
        references.follow("SharingPolicy", name, policies, document, *steps, i)
        for i, name in enumerate(names)
    ]
    return None if None in found else tuple(policy for policy in found if policy is not None)


def _pool_devices(entry: PoolDevicesSpec, tier: Tier, policies: tuple[Policy, ...]) -> PoolDevices:
    """Policies named for the entry itself stand as they are, those of the pool where they fit."""
    if entry.sharing is None:
        policies = tuple(policy for policy in policies if applies(policy, tier))
    return PoolDevices(tier, entry.per_node, policies)


def applies(policy: Policy, tier: Tier) -> bool:
    """Whether a pool-wide policy is meant for a tier: the tier's devices have what it divides.

    A consumable policy divides capacities, a partitioned one counters (or capacities where it
    names no counter), and parameters belong to a driver that knows their kind.
    """
    driver = tier.driver
    spec = policy.spec
    if isinstance(spec, Consumable):
        return {driver.spelling(key) for key in spec.capacity} <= set(tier.capacity)
    if isinstance(spec, Partitioned):
        counters = set(tier.document.spec.device.counters)
        return all(counters.issuperset(part.consumes) for part in spec.partitions)
    if spec.config is not None and driver.preset is not None:
        config = (spec.config.api_version, spec.config.kind)
        own = {(known.api_version, known.kind) for known in driver.document.spec.configs}
        return config in own or driver.preset.config(*config) is not None
    return True


def shared_now(
    devices: PoolDevices, reached: Iterable[Move], policies: Mapping[str, Policy]
) -> PoolDevices:
    """The devices under the policies that rollouts of sharing have brought them so far."""
    for move in reached:
        spec = move.rollout.spec
        if spec.subject != "sharing" or spec.tier != devices.tier.name or not move.moved:
            continue
        new = policies.get(spec.sharing or "")
        if new is not None:
            kept = [one for one in devices.policies if one.name != (spec.replaces or WHOLE)]
            devices = replace(devices, policies=tuple(dict.fromkeys((*kept, new))))
    return devices


def _follow_rollout(
    rollout: kinds.Rollout,
    platform: Catalog,
    tenants: Mapping[str, Tenant],
    references: References,
) -> None:
    """Names of the tier, the policies, and each stage's pools and tenants; a wrong one poisons nobody."""
    references.follow("HardwareTier", rollout.spec.tier, platform.tiers, rollout, "spec", "tier")
    for key, policy in (("sharing", rollout.spec.sharing), ("replaces", rollout.spec.replaces)):
        if policy is not None:
            references.follow("SharingPolicy", policy, platform.policies, rollout, "spec", key)
    for i, stage in enumerate(rollout.spec.stages):
        place = ("spec", "stages", i)
        for j, name in enumerate(stage.pools if stage.pools != "*" else ()):
            references.follow("NodePool", name, platform.pools, rollout, *place, "pools", j)
        for j, name in enumerate(stage.tenants if stage.tenants != "*" else ()):
            references.follow("Tenant", name, tenants, rollout, *place, "tenants", j)
        for name in stage.split:
            references.follow("Tenant", name, tenants, rollout, *place, "split", name)


def _follow_schedulers(cluster: Cluster, pools: Mapping[str, Pool], references: References) -> None:
    """Names of the pools that schedulers give out; a wrong one poisons nobody."""
    for i, scheduler in enumerate(cluster.document.spec.schedulers):
        for j, name in enumerate(scheduler.pools if scheduler.pools != "*" else ()):
            place = ("spec", "schedulers", i, "pools", j)
            references.follow("NodePool", name, pools, cluster.document, *place)


def _clusters(index: Index, pools: Mapping[str, Pool]) -> dict[str, Cluster]:
    documents = cast("Mapping[str, kinds.Cluster]", index.by_kind["Cluster"])
    return {
        name: Cluster(
            name, document, tuple(pool for pool in pools.values() if pool.cluster == name)
        )
        for name, document in documents.items()
    }
