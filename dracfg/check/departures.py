"""TEN019: namespaces that leave git while they still have rights.

A namespace is never pruned, and nothing updates what has left git: its rights and its quota stay
as they were last applied. So they are emptied first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.lower.artifact import Unit
from dracfg.lower.namespaces import FILE
from dracfg.lower.rights import CLASSES, STATE, TENANT
from dracfg.model.base import at
from dracfg.source.standing import Standing


def check_departures(
    catalog: Catalog, units: Sequence[Unit], standing: Standing
) -> tuple[Diagnostic, ...]:
    """One finding for each namespace that stands with rights and is not emitted any more."""
    if not catalog.is_complete("Tenant"):
        return ()
    return tuple(
        finding
        for cluster in catalog.clusters.values()
        for finding in _departing(catalog, cluster, units, standing)
    )


def _departing(
    catalog: Catalog, cluster: Cluster, units: Sequence[Unit], standing: Standing
) -> Iterator[Diagnostic]:
    stands = standing.objects(f"{cluster.name}/guard", FILE)
    if not stands:
        return
    emitted = {
        artifact.object["metadata"]["name"]
        for unit in units
        if unit.path.startswith(f"{cluster.name}/guard")
        for artifact in unit.artifacts
        if artifact.object["kind"] == "Namespace"
    }
    for thing in stands:
        name = thing["metadata"]["name"]
        notes = thing["metadata"].get("annotations") or {}
        if name in emitted or not any(key.startswith(CLASSES) for key in notes):
            continue
        tenant = catalog.tenants.get(notes.get(TENANT, ""))
        place = Span(f"out/{cluster.name}/guard/{FILE}")
        yield diagnose(
            "TEN019",
            place if tenant is None else at(tenant.document, "spec", "namespaces"),
            f"namespace {name} leaves git on {cluster.name} while it still has the rights of tenant "
            f"{notes.get(TENANT)}, which stay on the cluster with its quota",
            found=f"state {notes.get(STATE)}",
            help=_mend(cluster, tenant, notes),
        )


def _mend(cluster: Cluster, tenant: Tenant | None, notes: Mapping[str, str]) -> str:
    """What empties the rights, or at least the quota, before the namespace is taken out.

    Only a tenant as a whole can be removed. Rights on classes come from its entitlements, for all of
    its namespaces on a cluster alike; `share` divides nothing but the quota.
    """
    if tenant is None or tenant.document.spec.state == "removed":
        return (
            "keep it for one more change with `state: removed` on the tenant, which empties its "
            "rights and sets its quota to 0; then take it out"
        )
    watching = ["admin=true" in text.split(";") for key, text in notes.items() if CLASSES in key]
    if all(watching):
        return (
            "keep it for one more change without its adminAccess, which empties its rights; then "
            "take it out"
        )
    waive = "with a break-glass identity, and waive this beside `namespaces`"
    if not any(place.namespace.share for place in tenant.places_on(cluster.name)):
        return (
            f"{tenant.name} keeps no other namespace on {cluster.name}, so no change of the tenant "
            f"empties this one: take its rights and its quota off {waive}"
        )
    watches = " and without its adminAccess" if any(watching) else ""
    return (
        f"keep it for one more change with `share: 0`{watches}, which sets its quota to 0; when it "
        f"is out, take its rights off {waive}"
    )
