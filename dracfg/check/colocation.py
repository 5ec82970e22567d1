"""TEN055, CAP083: who may meet on one device is what the policy says, not what is scheduled.

The scheduler knows no tenants: two that are entitled to shares of one pool's devices will meet on
one. A policy that keeps to one tenant therefore holds only where no other reaches its devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Grant, Policy, Pool, PoolDevices, Tenant
from dracfg.model.base import at
from dracfg.model.sharing import Consumable, Partitioned, TimeSliced
from dracfg.model.tenant import Entitlement


def tenants_meet(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN055, once for each policy, tier and cluster."""
    for cluster in catalog.clusters.values():
        seen: set[tuple[str, str]] = set()
        for pool, devices in cluster.offers():
            if pool.owner(devices.tier.driver) != "dra":
                continue
            for policy in devices.policies:
                key = (policy.name, devices.tier.name)
                if key not in seen and _keeps_to_one(policy):
                    found = _meeting(catalog, cluster, devices, policy)
                    if found:
                        seen.add(key)
                        yield _finding(cluster, pool, devices, policy, found)


def _keeps_to_one(policy: Policy) -> bool:
    spec = policy.spec
    return isinstance(spec, Consumable | Partitioned | TimeSliced) and spec.tenancy in (
        "sameTenant",
        "group",
    )


def _meeting(
    catalog: Catalog, cluster: Cluster, devices: PoolDevices, policy: Policy
) -> list[tuple[Tenant, Grant]]:
    """Tenants with shares of the pool's devices, where one has them under the policy; else nothing."""
    found: dict[str, tuple[Tenant, Grant]] = {}
    under = False
    for tenant in catalog.tenants_on(cluster.name):
        if tenant.document.spec.state == "removed":
            continue
        for grant in tenant.grants_on(cluster.name):
            if grant.tier is not devices.tier or grant.policy not in devices.policies:
                continue
            shared = isinstance(grant.policy.spec, Consumable | Partitioned | TimeSliced)
            if shared and any(numbers.limit for numbers in grant.numbers.values()):
                found.setdefault(tenant.name, (tenant, grant))
                under = under or grant.policy is policy
    return list(found.values()) if under and len(found) > 1 else []


def _finding(
    cluster: Cluster,
    pool: Pool,
    devices: PoolDevices,
    policy: Policy,
    met: list[tuple[Tenant, Grant]],
) -> Diagnostic:
    document = policy.document
    if document is None:
        raise ValueError("the built-in policy shares nothing")
    names = listed(tenant.name for tenant, _ in met)
    return diagnose(
        "TEN055",
        at(document, "spec", "tenancy"),
        f"{names} would meet on devices of {devices.tier.name} on {cluster.name}: "
        f"all of them may have shares of pool {pool.name}, and the scheduler knows no tenants",
        related=[Related(_place(tenant, grant), f"{tenant.name}'s") for tenant, grant in met],
        help="give each a pool under a tier or a policy of its own, "
        "or write `tenancy: {any: <who approved that they meet>}`",
    )


def _place(tenant: Tenant, grant: Grant) -> Span:
    spec = tenant.document.spec
    if isinstance(grant.source, Entitlement):
        position = spec.entitlements.index(grant.source)
        return at(tenant.document, "spec", "entitlements", position, "name")
    position = spec.accepted_offers.index(grant.source)
    return at(tenant.document, "spec", "acceptedOffers", position, "entitlement")


def names_no_group(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP083: no document says which tenants are a group, so it is held to one tenant."""
    for policy in catalog.policies.values():
        spec = policy.spec
        if policy.document is None or not isinstance(spec, Consumable | Partitioned | TimeSliced):
            continue
        if spec.tenancy == "group":
            yield diagnose(
                "CAP083",
                at(policy.document, "spec", "tenancy"),
                f"{policy.name} lets a group of tenants meet, and nothing says who is of it",
                found="group",
                expected="sameTenant, or any with the reason",
                help="write `tenancy: sameTenant`, which it is held to, or "
                "`tenancy: {any: <who approved that they meet>}`",
            )


RULES: tuple[Rule, ...] = (tenants_meet, names_no_group)
