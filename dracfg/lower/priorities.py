"""Priorities of a cluster → PriorityClasses, and quotas on the pods that may have one.

A quota with the scope PriorityClass counts pods, CPU and memory of that priority and can't count
devices (kubernetes/kubernetes@v1.36.3 pkg/apis/core/helper/helpers.go,
IsResourceQuotaScopeValidForResource). Every pod that uses devices holds one at least, so that a
tenant's pods of a priority are bounded by its limits; who was not given the priority gets 0.
"""

from __future__ import annotations

from dracfg.link.catalog import Cluster, Grant, Place, Tenant
from dracfg.link.grants import whole_part
from dracfg.lower.artifact import Artifact, origin_of
from dracfg.lower.kueuefacts import kueue_facts
from dracfg.lower.sync import make_synced
from dracfg.model.cluster import Priority
from dracfg.model.tenant import Entitlement

FILE = "priorities.yaml"
QUOTAS_FILE = "quotas.yaml"
QUOTA = "dracfg-priority-"
"""What the name of a priority's quota starts with."""


def priority_artifacts(cluster: Cluster) -> tuple[Artifact, ...]:
    """A PriorityClass for each priority, and with Kueue a WorkloadPriorityClass of the same name.

    A PriorityClass can't be edited in place but for its description, so another value is another
    priority (kubernetes pkg/apis/scheduling/validation).
    """
    kueue = kueue_facts(cluster.document.spec.addons.kueue)
    found = []
    for i, priority in enumerate(cluster.document.spec.priorities):
        origin = origin_of(cluster.document, "spec", "priorities", i)
        body = {
            "value": priority.value,
            "preemptionPolicy": "PreemptLowerPriority" if priority.preempts else "Never",
        }
        made = make_synced(
            cluster, "scheduling.k8s.io/v1", "PriorityClass", priority.name, origin, body
        )
        found.append(Artifact(made, FILE, origin))
        if kueue is not None:
            queued = make_synced(
                cluster,
                kueue.api,
                "WorkloadPriorityClass",
                priority.name,
                origin,
                {"value": priority.value},
            )
            found.append(Artifact(queued, FILE, origin))
    return tuple(found)


def priority_quotas(cluster: Cluster, tenant: Tenant) -> tuple[Artifact, ...]:
    """One ResourceQuota a namespace and priority of the cluster, on the number of its pods."""
    if not cluster.document.spec.priorities:
        return ()
    found = []
    for place in tenant.places_on(cluster.name):
        origin = origin_of(tenant.document, "spec", "namespaces", place.position)
        for i, priority in enumerate(cluster.document.spec.priorities):
            pods = pods_of(cluster, tenant, place, priority)
            selected = {
                "scopeName": "PriorityClass",
                "operator": "In",
                "values": [priority.name],
            }
            made = make_synced(
                cluster,
                "v1",
                "ResourceQuota",
                f"{QUOTA}{priority.name}",
                origin,
                {
                    "spec": {
                        "hard": {"pods": str(pods)},
                        "scopeSelector": {"matchExpressions": [selected]},
                    }
                },
                namespace=place.name,
                labels={"dracfg.dev/tenant": tenant.name},
            )
            via = (origin_of(cluster.document, "spec", "priorities", i),)
            found.append(Artifact(made, QUOTAS_FILE, origin, via))
    return tuple(found)


def pods_of(cluster: Cluster, tenant: Tenant, place: Place, priority: Priority) -> int:
    """The most pods of a priority in a namespace.

    As many as the limits of what has the priority, and for each claim that several pods share the
    others of them.
    """
    spec = tenant.document.spec
    if spec.state == "removed":
        return 0
    grants = grants_with(cluster, tenant, priority.name)
    places = tenant.places_on(cluster.name)
    pods = sum(
        whole_part(numbers.limit, place, places)
        for grant in grants
        for numbers in grant.numbers.values()
    )
    names = {grant.name for grant in grants}
    reaching = {
        profile.name
        for profile in spec.profiles
        if any(
            entitlement in names
            for request in profile.requests
            for entitlement in (request.entitlement, *(a.entitlement for a in request.any_of or ()))
        )
    }
    sharing = (c for c in spec.shared_claims if c.namespace == place.name and c.profile in reaching)
    return pods + sum(claim.pods - 1 for claim in sharing) if pods else 0


def grants_with(cluster: Cluster, tenant: Tenant, priority: str) -> tuple[Grant, ...]:
    """What the tenant may use at a priority: by the entitlement's word or that of a profile."""
    named = {
        entitlement
        for profile in tenant.document.spec.profiles
        if profile.priority == priority
        for request in profile.requests
        for entitlement in (request.entitlement, *(a.entitlement for a in request.any_of or ()))
    }
    return tuple(
        grant
        for grant in tenant.grants_on(cluster.name)
        if grant.name in named
        or (isinstance(grant.source, Entitlement) and grant.source.priority == priority)
    )
