"""CAP084 to CAP086: words of the catalog and of tenants that have no effect, and so mislead."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog, Grant, Tenant
from dracfg.link.rights import held_by
from dracfg.model.base import Spec, at


def is_asked_for_by_nothing(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP084: an entitlement that no claim can name, however much of it is guaranteed."""
    for tenant in catalog.tenants.values():
        spec = tenant.document.spec
        if spec.state == "removed" or spec.own_claims:
            continue
        used = {
            wanted.entitlement
            for profile in spec.profiles
            for request in profile.requests
            for wanted in request.any_of or (request,)
        } | {offer.entitlement for offer in spec.offers}
        for number, entitlement in enumerate(spec.entitlements):
            if entitlement.name in used:
                continue
            grants = [one for one in tenant.grants if one.source is entitlement]
            if grants and not _by_name(grants):
                yield _unused(tenant, ("entitlements", number, "name"), entitlement.name)
        for number, accepted in enumerate(spec.accepted_offers):
            name = f"{accepted.from_}-{accepted.entitlement}"
            if name not in used and any(one.source is accepted for one in tenant.grants):
                yield _unused(tenant, ("acceptedOffers", number, "entitlement"), name)


def _by_name(grants: list[Grant]) -> bool:
    """Whether pods may get the devices by a resource name, without any profile."""
    return any(
        not grant.uses_claims or grant.tier.document.spec.takes_over_legacy_name for grant in grants
    )


def _unused(tenant: Tenant, steps: tuple[str | int, ...], name: str) -> Diagnostic:
    return diagnose(
        "CAP084",
        at(tenant.document, "spec", *steps),
        f"no profile of {tenant.name} asks for {name}, and the tenant writes no claims of its own",
        help="add a profile that asks for it, or take it out",
    )


def is_named_by_nothing(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP085: drivers, tiers and policies that lead to no device of any pool."""
    offered = [part for pool in catalog.pools.values() for part in pool.devices]
    tiers = {part.tier.name for part in offered}
    policies = {policy.name for part in offered for policy in part.policies}
    drivers = {tier.driver.name for tier in catalog.tiers.values()}
    if catalog.is_complete("NodePool"):
        for tier in catalog.tiers.values():
            if tier.name not in tiers:
                yield _dead(tier.document, f"no pool has devices of tier {tier.name}")
        for policy in catalog.policies.values():
            if policy.document is not None and policy.name not in policies:
                yield _dead(policy.document, f"no pool hands devices out under {policy.name}")
    if catalog.is_complete("HardwareTier"):
        for driver in catalog.drivers.values():
            if driver.name not in drivers:
                yield _dead(driver.document, f"no tier is of driver {driver.name}")


def _dead(document: Spec, message: str) -> Diagnostic:
    return diagnose(
        "CAP085",
        at(document, "metadata", "name"),
        message,
        help="take the document out, or put it to use",
    )


def is_for_nobody(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP086: a pool of whose devices nobody may hold one."""
    if not catalog.tenants or not catalog.is_complete("Tenant"):
        return
    granted = {right for tenant in catalog.tenants.values() for right in held_by(tenant)}
    for cluster in catalog.clusters.values():
        if any(one.devices for one in cluster.document.spec.exempt_namespaces):
            continue
        for pool in (pool for pool in cluster.pools if not pool.is_closed):
            offered = {
                (cluster.name, part.tier.name, policy.name)
                for part in pool.devices
                for policy in part.policies
            }
            if not offered & granted:
                yield diagnose(
                    "CAP086",
                    at(pool.document, "metadata", "name"),
                    f"no tenant is entitled to devices of pool {pool.name} on {cluster.name}",
                    help="entitle a tenant to them, or say with `state: frozen` that the pool is not "
                    "in use yet",
                )


RULES: tuple[Rule, ...] = (is_named_by_nothing, is_for_nobody)
TENANT_RULES: tuple[Rule, ...] = (is_asked_for_by_nothing,)
