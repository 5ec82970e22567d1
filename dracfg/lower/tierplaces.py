"""Whose a namespace is and which tiers its claims ask for, as recorded series that alerts are joined to.

So a tenant's names stand in the tenant's own unit, and no rule of the platform grows with tenants.
Each series is 1 and has the labels namespace, tenant and tier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dracfg.link.catalog import Tenant
from dracfg.lower.alerts import FILE, Group, rule_made
from dracfg.lower.artifact import Artifact
from dracfg.lower.templates import profile_places
from dracfg.lower.tenancy import Tenancy

SERIES = "dracfg:tier_namespace:info"
NAME = "dracfg-tenant"


def tier_places(tenancy: Tenancy) -> Mapping[str, tuple[str, ...]]:
    """The tiers that the tenant's profiles ask for, by namespace of the cluster; both sorted."""
    found: dict[str, set[str]] = {}
    for plan in tenancy.plans if not tenancy.is_removed else ():
        if plan is None:
            continue
        tiers = {ask.grant.tier.name for request in plan.requests for ask in request.asks}
        for place in profile_places(tenancy.tenant, plan.profile, tenancy.cluster.name):
            found.setdefault(place.name, set()).update(tiers)
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


def place_group(tenant: Tenant, places: Mapping[str, Sequence[str]]) -> Group:
    """The recording rules of one tenant's namespaces."""
    rules = [_rule(tenant, name, tier) for name, tiers in places.items() for tier in tiers]
    return {"name": f"dracfg-tenant-{tenant.name}", "rules": rules}


def place_objects(tenancy: Tenancy) -> tuple[Artifact, ...]:
    """A PrometheusRule in each namespace whose profiles ask for devices, where the operator is."""
    if not tenancy.cluster.document.spec.addons.prometheus_operator:
        return ()
    tenant, origin = tenancy.tenant, tenancy.origin
    return tuple(
        Artifact(rule_made(NAME, name, [place_group(tenant, {name: tiers})], origin), FILE, origin)
        for name, tiers in tier_places(tenancy).items()
    )


def _rule(tenant: Tenant, namespace: str, tier: str) -> dict[str, Any]:
    labels = {"namespace": namespace, "tenant": tenant.name, "tier": tier}
    return {"record": SERIES, "expr": "vector(1)", "labels": labels}
