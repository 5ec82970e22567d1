"""Every rule over a linked catalog and what is recorded of its clusters, in one call.

Knows no emitted object: rules on those are the pipeline's to call, once they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date

from dracfg.allocate import Inventory
from dracfg.check.catalog import check_catalog, check_tenants, tenants_alone
from dracfg.check.disjoint import check_disjoint
from dracfg.check.distinctvalues import check_distinct_values
from dracfg.check.freshness import check_freshness, recorded_moments
from dracfg.check.guarantees import check_guarantees
from dracfg.check.inventory import check_inventory
from dracfg.check.networknames import check_network_names
from dracfg.check.opaque import check_opaque
from dracfg.check.reconciled import nodes_of
from dracfg.check.recordedclasses import check_classes
from dracfg.check.recordedmetadata import check_recorded_metadata
from dracfg.check.recordednodes import check_nodes
from dracfg.check.recordedparameters import check_parameters
from dracfg.check.recordedproofs import check_recorded_proofs
from dracfg.check.schedulers import check_pod_schedulers
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog
from dracfg.link.outlines import NOTHING_OUTLINED, Outlines
from dracfg.link.partners import partners_of
from dracfg.plan.jointdemand import asks_jointly
from dracfg.source.records import Record


@dataclass(frozen=True, slots=True)
class Checked:
    """What rules find: those that need the whole catalog, and those that judge tenants one by one.

    `outlines` are those of tenants that rules have asked for.
    """

    whole: tuple[Diagnostic, ...]
    by_tenant: tuple[Diagnostic, ...]
    outlines: Outlines = NOTHING_OUTLINED


def check_all(
    catalog: Catalog,
    inventories: Mapping[str, Inventory],
    records: Mapping[str, Sequence[Record]],
    today: date | None,
    only: Collection[str] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Checked:
    """The findings of all rules; `inventories` and `records` are by the names of the clusters.

    With `only`, of tenants that are judged one by one these are, and their partners. `meanwhile` is
    called between rules.
    """
    tenants = catalog if only is None else tenants_alone(catalog, only)
    whole = tuple(_of_catalog(catalog, inventories, records, today, meanwhile))
    found = check_tenants(tenants, meanwhile)
    for tenant in catalog.tenants.values():
        partners_of(tenant)
        asks_jointly(tenant)
    return Checked(whole, found, Outlines.of(catalog.tenants.values()))


def _of_catalog(
    catalog: Catalog,
    inventories: Mapping[str, Inventory],
    records: Mapping[str, Sequence[Record]],
    today: date | None,
    meanwhile: Callable[[], None],
) -> Iterator[Diagnostic]:
    yield from check_catalog(catalog, meanwhile)
    yield from check_opaque(catalog)
    yield from check_guarantees(catalog, inventories)
    meanwhile()
    nodes = nodes_of(catalog, inventories, records)
    yield from check_inventory(catalog, inventories, nodes)
    yield from check_recorded_proofs(catalog, inventories)
    yield from check_distinct_values(catalog, inventories)
    yield from check_nodes(catalog, nodes)
    yield from check_pod_schedulers(catalog, records)
    yield from check_network_names(inventories, records)
    yield from check_recorded_metadata(catalog, inventories, records)
    meanwhile()
    if moments := recorded_moments(records):
        yield from check_freshness(moments, today)
    yield from check_disjoint(catalog, inventories)
    yield from check_classes(catalog, inventories, records)
    yield from check_parameters([one for of in records.values() for one in of], catalog)
