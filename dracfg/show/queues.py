"""In what order a tenant's workloads get devices on a cluster: priorities, and Kueue's queues."""

from __future__ import annotations

from collections.abc import Iterable

from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.classes import ClassPlan
from dracfg.lower.kueue import (
    COHORT,
    LOCAL_QUEUE,
    cluster_queues,
    counted_classes,
    logical_resource,
    numbers_of,
    queue_name,
)
from dracfg.lower.priorities import grants_with, pods_of
from dracfg.show.document import Document


def priorities_of(cluster: Cluster, tenant: Tenant) -> list[Document]:
    """The cluster's priorities that the tenant was given; `podsByNamespace` is what quota allows."""
    found: list[Document] = []
    for priority in cluster.document.spec.priorities:
        grants = grants_with(cluster, tenant, priority.name)
        if grants:
            found.append(
                {
                    "name": priority.name,
                    "value": priority.value,
                    "preempts": priority.preempts,
                    "grants": [grant.name for grant in grants],
                    "podsByNamespace": {
                        place.name: pods_of(cluster, tenant, place, priority)
                        for place in tenant.places_on(cluster.name)
                    },
                }
            )
    return found


def kueue_of(
    catalog: Catalog, cluster: Cluster, tenant: Tenant, classes: Iterable[ClassPlan]
) -> Document | None:
    """The tenant's queues; None without Kueue, and where it holds nothing that Kueue counts.

    `resources` are what Kueue counts a class as: the queue's own devices, and how many it may borrow.
    """
    counted = counted_classes(catalog, cluster, classes)
    queues = cluster_queues(cluster, tenant, counted)
    if not queues:
        return None
    numbers = numbers_of(cluster, tenant)
    return {
        "clusterQueue": queue_name(tenant.name),
        "cohort": COHORT,
        "stopPolicy": queues[0].object["spec"]["stopPolicy"],
        "localQueue": LOCAL_QUEUE,
        "namespaces": [place.name for place in tenant.places_on(cluster.name)],
        "resources": [
            {
                "class": plan.name,
                "resource": logical_resource(plan),
                "nominalQuota": numbers[plan.name][0],
                "borrowingLimit": numbers[plan.name][1] - numbers[plan.name][0],
            }
            for plan in counted
            if numbers.get(plan.name, (0, 0))[1]
        ],
    }
