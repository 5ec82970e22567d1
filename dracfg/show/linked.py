"""A document of the catalog → what is shown of it; the one place that knows every kind."""

from __future__ import annotations

from collections.abc import Sequence

from dracfg.check.gateview import GateView
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Unit
from dracfg.lower.units import gate_plan
from dracfg.show.clusters import cluster_document, pool_document
from dracfg.show.document import Document
from dracfg.show.drivers import driver_document
from dracfg.show.gatetable import gate_table
from dracfg.show.hardware import policy_document, tier_document
from dracfg.show.subjects import Named, UnknownSubject
from dracfg.show.tenants import tenant_document

GATES = "gates"


def linked_document(catalog: Catalog, units: Sequence[Unit], named: Named) -> Document:
    """The linked, defaulted form of a document. KeyError for a name that the catalog lacks."""
    match named.word:
        case "cluster":
            return cluster_document(catalog, catalog.clusters[named.name])
        case "driver":
            return driver_document(catalog.drivers[named.name])
        case "policy":
            return policy_document(catalog, catalog.policies[named.name])
        case "pool":
            return pool_document(catalog, catalog.pools[named.name])
        case "tier":
            return tier_document(catalog, catalog.tiers[named.name])
        case _:
            return tenant_document(catalog, catalog.tenants[named.name], units)


def aspect_document(catalog: Catalog, units: Sequence[Unit], named: Named, aspect: str) -> Document:
    """One side of a document: the `gates` of a cluster. Raises UnknownSubject for any other."""
    if named.word != "cluster" or aspect != GATES:
        near = f"{named.ref} {GATES}" if named.word == "cluster" else None
        raise UnknownSubject(f"aspect {aspect} of {named.ref}", near)
    cluster = catalog.clusters[named.name]
    return gate_table(GateView(catalog, cluster, gate_plan(cluster, units), units))
