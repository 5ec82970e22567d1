"""Tenants' namespaces → Namespace objects that carry their rights, and dracfg's own namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from dracfg.link.catalog import Cluster, Place
from dracfg.lower.artifact import MANAGED_BY, PART_OF, Artifact, K8sObject, in_order, origin_of
from dracfg.lower.rights import namespace_labels, rights
from dracfg.lower.sync import make_synced
from dracfg.lower.tenancy import Tenancy

FILE = "namespaces.yaml"
OWN_NAMESPACE = "dracfg-system"
"""Holds dracfg's records of policy versions; nothing runs there."""


def own_namespace(cluster: Cluster) -> Artifact:
    """The namespace of dracfg's own records."""
    origin = origin_of(cluster.document)
    made = make_synced(cluster, "v1", "Namespace", OWN_NAMESPACE, origin, {})
    return Artifact(made, FILE, origin)


def namespace_artifacts(
    tenancy: Tenancy, claims: Mapping[str, Sequence[str]]
) -> tuple[Artifact, ...]:
    """One Namespace for each of the tenant's that dracfg manages on the cluster.

    `claims` are the names that pods may use, by namespace (see `rights.claims_by_namespace`).
    """
    cluster = tenancy.cluster
    found = []
    for place, labels, noted in _marks(tenancy, claims, "dracfg"):
        origin = tenancy.origins[place]
        made = make_synced(
            cluster, "v1", "Namespace", place.name, origin, {}, labels=labels, annotations=noted
        )
        found.append(Artifact(made, FILE, origin))
    return tuple(found)


def external_namespaces(
    tenancies: Iterable[Tenancy], claims: Mapping[str, Sequence[str]]
) -> tuple[K8sObject, ...]:
    """What namespaces that somebody else manages must carry to have their rights.

    Nothing in them says that dracfg manages them, as it does not.
    """
    return tuple(
        _external(place, labels, noted)
        for tenancy in tenancies
        for place, labels, noted in _marks(tenancy, claims, "external")
    )


def _external(place: Place, labels: Mapping[str, str], annotations: Mapping[str, str]) -> K8sObject:
    metadata = {
        "name": place.name,
        "labels": {k: v for k, v in labels.items() if k not in (MANAGED_BY, PART_OF)},
        "annotations": in_order(annotations),
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _marks(
    tenancy: Tenancy, claims: Mapping[str, Sequence[str]], manager: Literal["dracfg", "external"]
) -> Iterator[tuple[Place, dict[str, str], Mapping[str, str]]]:
    """Labels and annotations of a tenant's Namespaces on a cluster that somebody manages."""
    places = [place for place in tenancy.places if place.namespace.managed_by == manager]
    held = rights(tenancy, claims) if places else {}
    for place in places:
        yield place, namespace_labels(tenancy.cluster, tenancy.tenant, place), held[place.name]
