"""Outlines of tenants: the namespaces, devices and partners that rules hold tenants against each other by."""

from __future__ import annotations

from dracfg.link.catalog import Tenant
from dracfg.link.outlines import outline


@outline
def namespaces_of(tenant: Tenant) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(name, clusters) of each of its namespaces."""
    return tuple((one.name, tuple(one.clusters)) for one in tenant.document.spec.namespaces)


@outline
def held_by(tenant: Tenant) -> tuple[tuple[str, str, str], ...]:
    """(cluster, tier, policy) of the devices that it may hold."""
    grants = tenant.grants if tenant.document.spec.state != "removed" else ()
    return tuple((grant.cluster.name, grant.tier.name, grant.policy.name) for grant in grants)


@outline
def guaranteed_to(tenant: Tenant) -> tuple[tuple[str, str], ...]:
    """(policy, tier) of the devices of which a number is guaranteed to it, in the order of its grants."""
    return tuple(
        (grant.policy.name, grant.tier.name)
        for grant in tenant.grants
        if any(numbers.guaranteed for numbers in grant.numbers.values())
    )


@outline
def watched_by(tenant: Tenant) -> tuple[tuple[str, str], ...]:
    """(cluster, tier) of the devices that it has admin access to."""
    return tuple(
        (place.cluster, tier)
        for access in tenant.document.spec.admin_access
        for place in tenant.places
        if place.name == access.namespace
        for tier in access.tiers
    )
