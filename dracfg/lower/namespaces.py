"""Tenants' namespaces → Namespace objects that carry their rights, and dracfg's own namespace."""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.link.catalog import Catalog, Cluster, Place, Tenant
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.lower.artifact import MANAGED_BY, ORIGIN, PART_OF, Artifact, K8sObject, make, origin_of
from dracfg.lower.rights import namespace_labels, rights

FILE = "namespaces.yaml"
OWN_NAMESPACE = "dracfg-system"
"""Holds dracfg's records of policy versions; nothing runs there."""


def own_namespace(cluster: Cluster) -> Artifact:
    """The namespace of dracfg's own records."""
    origin = origin_of(cluster.document)
    return Artifact(make("v1", "Namespace", OWN_NAMESPACE, origin, {}), FILE, origin)


def namespace_artifacts(
    cluster: Cluster,
    tenant: Tenant,
    classes: Mapping[str, ClassPlan],
    claims: Mapping[str, tuple[str, ...]],
) -> tuple[Artifact, ...]:
    """One Namespace for each of the tenant's that dracfg manages on the cluster.

    `claims` are the names that pods may use, by namespace (see `rights.claims_by_namespace`).
    """
    return tuple(
        Artifact(
            namespace_object(cluster, tenant, place, classes, claims.get(place.name, ())),
            FILE,
            origin_of(tenant.document, "spec", "namespaces", _position(tenant, place)),
        )
        for place in tenant.places_on(cluster.name)
        if place.namespace.managed_by == "dracfg"
    )


def external_namespaces(
    catalog: Catalog, cluster: Cluster, claims: Mapping[str, tuple[str, ...]]
) -> tuple[K8sObject, ...]:
    """What namespaces that somebody else manages must carry to have their rights.

    Nothing in them says that dracfg manages them, as it does not.
    """
    classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
    return tuple(
        _without_owner(
            namespace_object(cluster, tenant, place, classes, claims.get(place.name, ()))
        )
        for tenant in catalog.tenants_on(cluster.name)
        for place in tenant.places_on(cluster.name)
        if place.namespace.managed_by == "external"
    )


def _without_owner(thing: K8sObject) -> K8sObject:
    metadata = thing["metadata"]
    labels = {k: v for k, v in metadata["labels"].items() if k not in (MANAGED_BY, PART_OF)}
    annotations = {k: v for k, v in metadata["annotations"].items() if k != ORIGIN}
    return {**thing, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def namespace_object(
    cluster: Cluster,
    tenant: Tenant,
    place: Place,
    classes: Mapping[str, ClassPlan],
    claims: tuple[str, ...],
) -> K8sObject:
    origin = origin_of(tenant.document, "spec", "namespaces", _position(tenant, place))
    return make(
        "v1",
        "Namespace",
        place.name,
        origin,
        {},
        labels=namespace_labels(cluster, tenant, place),
        annotations=rights(cluster, tenant, place, classes, claims),
    )


def _position(tenant: Tenant, place: Place) -> int:
    return tenant.document.spec.namespaces.index(place.namespace)
