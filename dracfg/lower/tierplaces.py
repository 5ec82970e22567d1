"""Whose a namespace is and which tiers its claims ask for, as recorded series that alerts are joined to.

So a tenant's names stand in the tenant's own unit, and no rule of the platform grows with tenants.
Each series is 1 and has the labels namespace, tenant and tier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dracfg.link.catalog import Tenant
from dracfg.lower.alerts import FILE, RULE_API, Group
from dracfg.lower.artifact import Artifact, in_namespace
from dracfg.lower.sync import make_synced
from dracfg.lower.tenancy import Tenancy

SERIES = "dracfg:tier_namespace:info"
NAME = "dracfg-tenant"


def place_group(tenant: Tenant, places: Mapping[str, Sequence[str]]) -> Group:
    """The recording rules of one tenant's namespaces."""
    rules = [_rule(tenant, name, tier) for name, tiers in places.items() for tier in tiers]
    return {"name": f"dracfg-tenant-{tenant.name}", "rules": rules}


def place_objects(tenancy: Tenancy) -> tuple[Artifact, ...]:
    """A PrometheusRule in each namespace whose profiles ask for devices, where the operator is."""
    if not tenancy.cluster.document.spec.addons.prometheus_operator:
        return ()
    tenant, origin = tenancy.tenant, tenancy.origin
    made = make_synced(tenancy.cluster, RULE_API, "PrometheusRule", NAME, origin, {})
    found = []
    for name, tiers in tenancy.tiers.items():
        spec = {"groups": [place_group(tenant, {name: tiers})]}
        found.append(Artifact(in_namespace(made, name, spec=spec), FILE, origin))
    return tuple(found)


def _rule(tenant: Tenant, namespace: str, tier: str) -> dict[str, Any]:
    labels = {"namespace": namespace, "tenant": tenant.name, "tier": tier}
    return {"record": SERIES, "expr": "vector(1)", "labels": labels}
