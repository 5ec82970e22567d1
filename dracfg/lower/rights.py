"""A tenant's rights in one namespace → the annotations and labels that admission reads.

Admission policies see nothing but the request and the Namespace, so what a namespace may claim
stands in its annotations as flat text. Knows nothing of the policies that read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dracfg.link.catalog import WHOLE, Cluster, Grant, Place, Tenant
from dracfg.link.claims import claim_plan
from dracfg.link.classes import ClassPlan, admin_class_name
from dracfg.lower.quotas import grants_by_class
from dracfg.model.tenant import AdminAccess

TENANT = "dracfg.dev/tenant"
STATE = "dracfg.dev/state"
CLASSES = "classes.dracfg.dev/"
ADMIN_LABEL = "resource.kubernetes.io/admin-access"
"""The label without which the API server refuses adminAccess (KEP-5018, resource/v1/types.go)."""

NOTHING = "-"


def rights(
    cluster: Cluster, tenant: Tenant, place: Place, classes: Mapping[str, ClassPlan]
) -> dict[str, str]:
    """Annotations of the Namespace: tenant, state, and `classes.dracfg.dev/<class>` per class.

    The text of a class is `key=value;…`: entitlement (several joined with `+`), sharing, size (the
    part's name or `whole`), count (devices; the most that one request of the tenant's profiles asks
    for, at least 1), version (of the policy's numbers, or `-`), state (`open` or `closed`), then
    `capacity.<key>=<quantity>` for each amount that every request of the class writes, and
    `admin=true` for classes of admin access. A removed tenant has no classes.

    `classes` are the cluster's by name. Keys stay valid since class names have at most 63
    characters, the most for the name part of an annotation key (kubernetes/apimachinery
    pkg/api/validation/objectmeta.go).
    """
    state = tenant.document.spec.state
    noted = {TENANT: tenant.name, STATE: state}
    if state == "removed":
        return noted
    counts = _largest_counts(tenant, cluster, classes)
    noted |= {
        CLASSES + name: _text(classes[name], grants, counts.get(name, 1))
        for name, grants in sorted(grants_by_class(cluster, tenant).items())
        if name in classes
    }
    watched = {
        admin_class_name(tier) for access in _watching(tenant, place) for tier in access.tiers
    }
    noted |= {
        CLASSES + name: _text(classes[name], (), 1) for name in sorted(watched & classes.keys())
    }
    return dict(sorted(noted.items()))


def namespace_labels(cluster: Cluster, tenant: Tenant, place: Place) -> dict[str, str]:
    """Labels of the Namespace: the tenant's own, its name, and admin access where it is granted.

    Without the label `resource.kubernetes.io/admin-access: "true"` the API server refuses
    adminAccess in claims and templates (KEP-5018). It stands only where the cluster has a class of
    admin access for the namespace.
    """
    labels = {**place.namespace.labels, TENANT: tenant.name}
    held = {tier.name for tier in cluster.tiers if "dra" in cluster.owners_of(tier)}
    if tenant.document.spec.state != "removed" and any(
        held.intersection(access.tiers) for access in _watching(tenant, place)
    ):
        labels[ADMIN_LABEL] = "true"
    return dict(sorted(labels.items()))


def _watching(tenant: Tenant, place: Place) -> tuple[AdminAccess, ...]:
    return tuple(
        access for access in tenant.document.spec.admin_access if access.namespace == place.name
    )


def _largest_counts(
    tenant: Tenant, cluster: Cluster, classes: Mapping[str, ClassPlan]
) -> dict[str, int]:
    """The most devices of each class that one request of a profile asks for.

    A request that was split into pairs counts with all its pairs, as it stands in the profile.
    """
    counts: dict[str, int] = {}
    for profile in tenant.document.spec.profiles:
        plan = claim_plan(tenant, profile, cluster, classes)
        if plan is None:
            continue
        pairs = Counter(request.origin for request in plan.requests)
        for request in plan.requests:
            for ask in request.asks:
                count = ask.count * pairs[request.origin]
                counts[ask.plan.name] = max(count, counts.get(ask.plan.name, 1))
    return counts


def _text(plan: ClassPlan, grants: tuple[Grant, ...], count: int) -> str:
    fields = {
        "entitlement": "+".join(grant.name for grant in grants) or NOTHING,
        "sharing": plan.policy.name,
        "size": plan.part.name or WHOLE,
        "count": str(count),
        "version": plan.policy.version or NOTHING,
        "state": "closed" if plan.closed else "open",
    }
    fields |= {f"capacity.{key}": str(amount) for key, amount in sorted(plan.capacity.items())}
    if plan.admin:
        fields["admin"] = "true"
    return ";".join(f"{key}={value}" for key, value in fields.items())
