"""Tenants' namespaces → Namespace objects that carry their rights, and dracfg's own namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import (
    MANAGED_BY,
    ORIGIN,
    PART_OF,
    Artifact,
    K8sObject,
    Origin,
    make,
    origin_of,
)
from dracfg.lower.rights import namespace_labels, rights
from dracfg.lower.tenancy import Tenancy

FILE = "namespaces.yaml"
OWN_NAMESPACE = "dracfg-system"
"""Holds dracfg's records of policy versions; nothing runs there."""


def own_namespace(cluster: Cluster) -> Artifact:
    """The namespace of dracfg's own records."""
    origin = origin_of(cluster.document)
    return Artifact(make("v1", "Namespace", OWN_NAMESPACE, origin, {}), FILE, origin)


def namespace_artifacts(
    tenancy: Tenancy, claims: Mapping[str, Sequence[str]]
) -> tuple[Artifact, ...]:
    """One Namespace for each of the tenant's that dracfg manages on the cluster.

    `claims` are the names that pods may use, by namespace (see `rights.claims_by_namespace`).
    """
    return tuple(
        Artifact(made, FILE, origin) for origin, made in _namespaces(tenancy, claims, "dracfg")
    )


def external_namespaces(
    tenancies: Iterable[Tenancy], claims: Mapping[str, Sequence[str]]
) -> tuple[K8sObject, ...]:
    """What namespaces that somebody else manages must carry to have their rights.

    Nothing in them says that dracfg manages them, as it does not.
    """
    return tuple(
        _without_owner(made)
        for tenancy in tenancies
        for _, made in _namespaces(tenancy, claims, "external")
    )


def _without_owner(thing: K8sObject) -> K8sObject:
    metadata = thing["metadata"]
    labels = {k: v for k, v in metadata["labels"].items() if k not in (MANAGED_BY, PART_OF)}
    annotations = {k: v for k, v in metadata["annotations"].items() if k != ORIGIN}
    return {**thing, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def _namespaces(
    tenancy: Tenancy, claims: Mapping[str, Sequence[str]], manager: Literal["dracfg", "external"]
) -> Iterator[tuple[Origin, K8sObject]]:
    """The Namespaces of a tenant on a cluster that somebody manages, each with its origin."""
    places = [place for place in tenancy.places if place.namespace.managed_by == manager]
    held = rights(tenancy, claims) if places else {}
    for place in places:
        origin = tenancy.origin_of(place)
        labels = namespace_labels(tenancy.cluster, tenancy.tenant, place)
        noted = held[place.name]
        yield (
            origin,
            make("v1", "Namespace", place.name, origin, {}, labels=labels, annotations=noted),
        )
