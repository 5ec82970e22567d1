"""The device classes of a cluster: one for each thing that can be asked for, with its name.

A class stands for (tier, policy, part). Says what each class means; how that is written as a
DeviceClass is for `lower/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Cluster, Part, Policy, Tier
from dracfg.link.driver import Driver
from dracfg.link.memo import per_catalog
from dracfg.link.parts import whole_policy
from dracfg.link.published import consumption
from dracfg.link.rights import watched_by

SharingTest = Literal["shareable", "exclusive"]


@dataclass(frozen=True, eq=False)
class ClassPlan:
    """One DeviceClass.

    `capacity` is what every request of the class writes, by the key that the driver publishes.
    `sharing_test` says which devices belong, where shareable and exclusive ones stand side by
    side. `closed` classes let no new claims in.
    """

    name: str
    tier: Tier
    policy: Policy
    part: Part
    capacity: Mapping[str, Quantity]
    sharing_test: SharingTest | None = None
    extended_name: str | None = None
    closed: bool = False
    admin: bool = False


def class_name(tier: str, policy: Policy, part: Part) -> str:
    """`<tier>`, `<tier>-<sharing>`, `<tier>-<sharing>-<size>` or `<tier>-<sharing>-<partition>`."""
    if policy.is_whole:
        return tier
    return f"{tier}-{policy.name}-{part.suffix}" if part.suffix else f"{tier}-{policy.name}"


def admin_class_name(tier: str) -> str:
    return f"{tier}-admin"


@per_catalog
def device_classes(catalog: Catalog, cluster: Cluster) -> tuple[ClassPlan, ...]:
    """Every class of the cluster in the order of the names.

    A tier has classes where some pool that DRA owns holds it, or will in a stage of a rollout, so that
    none comes or goes while stages do; policies count as the pools list them. Admin classes exist for
    tiers that some tenant may watch there.
    """
    plans: list[ClassPlan] = []
    for tier in cluster.tiers:
        if not cluster.has_claims_ever(tier):
            continue
        for policy in policies_in_force(cluster, tier):
            plans += [_plan(cluster, tier, policy, part) for part in policy.parts]
    plans += [_admin_plan(cluster, tier) for tier in watched_tiers(catalog, cluster)]
    return tuple(sorted(plans, key=lambda plan: plan.name))


@per_catalog
def classes_by_name(catalog: Catalog, cluster: Cluster) -> Mapping[str, ClassPlan]:
    """The same, to be looked up."""
    return {plan.name: plan for plan in device_classes(catalog, cluster)}


def policies_in_force(cluster: Cluster, tier: Tier) -> tuple[Policy, ...]:
    """The policies under which DRA hands out the tier on some pool, now or in some stage, by name."""
    found = {
        policy.name: policy
        for pool, devices in cluster.offers()
        if devices.tier is tier and pool.claims_ever(tier.driver)
        for policy in devices.policies
    }
    return tuple(found[name] for name in sorted(found))


def watched_tiers(catalog: Catalog, cluster: Cluster) -> tuple[Tier, ...]:
    """Tiers that some tenant has admin access to on this cluster, by name."""
    names = {
        tier
        for tenant in catalog.tenants_on(cluster.name)
        for where, tier in watched_by(tenant)
        if where == cluster.name
    }
    held = {tier.name: tier for tier in cluster.tiers if cluster.has_claims_ever(tier)}
    return tuple(held[name] for name in sorted(names & held.keys()))


def shares_on(cluster: Cluster, tier: Tier) -> tuple[bool, bool]:
    """(some pool publishes the tier's devices as shareable, such a pool lists `whole`)."""
    shareable = whole = False
    for pool, devices in cluster.offers():
        if devices.tier is not tier or not pool.claims_ever(tier.driver):
            continue
        if publishes_shareable(tier.driver, devices.policies):
            shareable = True
            whole = whole or any(policy.is_whole for policy in devices.policies)
    return shareable, whole


def publishes_shareable(driver: Driver, policies: tuple[Policy, ...]) -> bool:
    """Whether devices are published as shareable on a pool that lists these policies for them."""
    if driver.shareable == "always":
        return True
    listed = any(policy.is_consumable for policy in policies)
    return driver.shareable == "where-listed" and listed


def _plan(cluster: Cluster, tier: Tier, policy: Policy, part: Part) -> ClassPlan:
    shareable, whole_among = shares_on(cluster, tier)
    capacity: dict[str, Quantity] = {}
    test: SharingTest | None = None
    if policy.is_consumable:
        capacity = {tier.driver.spelling(key): amount for key, amount in part.capacity.items()}
        test = "shareable"
    elif part.partition is None and shareable:
        capacity = dict(tier.capacity)
        test = None if whole_among else "exclusive"
    alone = "devicePlugin" not in cluster.owners_of(tier) or not _moves(cluster, tier)
    takes_over = policy.is_whole and tier.document.spec.takes_over_legacy_name and alone
    return ClassPlan(
        name=class_name(tier.name, policy, part),
        tier=tier,
        policy=policy,
        part=part,
        capacity=dict(sorted(capacity.items())),
        sharing_test=test,
        extended_name=tier.legacy_resource if takes_over else None,
        closed=cluster.is_closed(tier),
    )


def _moves(cluster: Cluster, tier: Tier) -> bool:
    """Whether a rollout is moving the tier: its legacy name is the plugin's until the last pool moved."""
    return any(pool.moves for pool in cluster.pools_of(tier))


def _admin_plan(cluster: Cluster, tier: Tier) -> ClassPlan:
    """Watching takes no share: 0 of each capacity where the driver's request policy allows that."""
    policy = whole_policy()
    shareable, _ = shares_on(cluster, tier)
    capacity = {key: _least(tier, key) for key in sorted(tier.capacity)} if shareable else {}
    return ClassPlan(
        name=admin_class_name(tier.name),
        tier=tier,
        policy=policy,
        part=policy.parts[0],
        capacity=capacity,
        admin=True,
    )


def _least(tier: Tier, key: str) -> Quantity:
    """The least amount of a capacity that a request may take, as far as it is known."""
    nothing = Quantity.parse("0")
    taken = consumption(tier, key, nothing)
    return nothing if taken is None or taken.amount is None else taken.amount
