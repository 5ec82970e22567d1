"""VER051, VER052: devices that are asked to differ, on minors whose scheduler compares too little.

What each minor compares is known from the allocators that `allocate.structured` follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.allocate.structured import Features
from dracfg.allocate.structured.behaviour import behaviour_of
from dracfg.check.places import place
from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.claims import ClaimPlan, Constraint, claim_plan
from dracfg.link.classes import device_classes
from dracfg.link.writers import writers
from dracfg.lower.gates import CONSUMABLE
from dracfg.model.base import at


def is_not_compared(catalog: Catalog) -> Iterator[Diagnostic]:
    """Every `distinct` of a profile on each cluster that its claims can be made on."""
    tenants = writers(catalog, "distinct")
    for cluster in catalog.clusters.values() if tenants else ():
        memory = behaviour_of(Features.of(cluster.minor, frozenset({CONSUMABLE}))).distinct
        if memory == "device":
            continue
        classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
        for tenant in (one for one in tenants if cluster.name in one.clusters):
            for number, profile in enumerate(tenant.document.spec.profiles):
                plan = claim_plan(tenant, profile, cluster, classes) if profile.distinct else None
                if plan is not None:
                    yield from _judge(cluster, tenant, number, plan, memory == "identity")


def _judge(
    cluster: Cluster, tenant: Tenant, number: int, plan: ClaimPlan, never: bool
) -> Iterator[Diagnostic]:
    for position, constraint in enumerate(one for one in plan.constraints if one.distinct):
        span = at(tenant.document, "spec", "profiles", number, "distinct", position, "by")
        version = Related(place(cluster.document, "spec", "kubernetes"), "the version")
        several = _of_several(plan, constraint)
        if never:
            yield diagnose(
                "VER051",
                span,
                f"Kubernetes {cluster.minor} on {cluster.name} compares no values of "
                f"{constraint.attribute}: any two devices pass",
                related=[version],
                help="upgrade to 1.35, or ask for the values one by one, in a request for each",
            )
        elif several:
            yield diagnose(
                "VER052",
                span,
                f"Kubernetes {cluster.minor} on {cluster.name} compares one device of each request, "
                f"and {listed(several)} may get several that are alike in {constraint.attribute}",
                related=[version],
                help="write a request for each device, or upgrade to 1.37",
            )


def _of_several(plan: ClaimPlan, constraint: Constraint) -> tuple[str, ...]:
    """The requests of the constraint that are given more than one device."""
    return tuple(
        request.name
        for request in plan.requests
        if request.devices > 1 and request.name in constraint.requests
    )


TENANT_RULES: tuple[Rule, ...] = (is_not_compared,)
