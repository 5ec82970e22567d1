"""Which record tells of which cluster, and the inventories that come of it. Reads no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.shape import KIND
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.diagnostics.span import whole_file
from dracfg.link.catalog import Catalog, Cluster
from dracfg.source.records import Record


@dataclass(frozen=True, slots=True)
class GivenRecord:
    """A record from outside the catalog, for the named cluster or for those that it fits."""

    record: Record
    cluster: str | None = None


def cluster_records(
    catalog: Catalog, own: Mapping[str, Record], given: Sequence[GivenRecord]
) -> tuple[Mapping[str, tuple[Record, ...]], tuple[Diagnostic, ...]]:
    """The records of each cluster that has one, by the clusters' names; and those of no cluster.

    `own` are the records that Clusters name; what is given from outside takes their place, or stands
    beside them where it holds answers of Prometheus alone.
    """
    records: dict[str, list[Record]] = {}
    findings: list[Diagnostic] = []
    for item in given:
        fitting = _fitting(catalog, item)
        for name in fitting:
            records.setdefault(name, []).append(item.record)
        if not fitting and item.record.objects:
            findings.append(_of_no_cluster(item.record))
    for name, record in own.items():
        found = records.setdefault(name, [])
        if all(one.is_measured for one in found):
            found.insert(0, record)
    return {name: tuple(records[name]) for name in sorted(records)}, tuple(findings)


def cluster_inventories(
    catalog: Catalog, records: Mapping[str, Sequence[Record]]
) -> tuple[Mapping[str, Inventory], tuple[Diagnostic, ...]]:
    """The inventory of each cluster that has records, and what is wrong with them."""
    findings: list[Diagnostic] = []
    inventories = {}
    for name, recorded in records.items():
        inventory, found = load_inventory(recorded, catalog.clusters[name].minor)
        inventories[name] = inventory
        findings += found
    return inventories, tuple(dict.fromkeys(findings))


def _fitting(catalog: Catalog, given: GivenRecord) -> tuple[str, ...]:
    """The clusters of a record: the one that is named, or those with a pool of one of its drivers.

    Answers of Prometheus name no driver; they are of the cluster where there is but one.
    """
    if given.cluster is not None:
        return (given.cluster,) if given.cluster in catalog.clusters else ()
    if given.record.is_measured and len(catalog.clusters) == 1:
        return tuple(catalog.clusters)
    drivers = _drivers(given.record)
    return tuple(name for name, one in catalog.clusters.items() if drivers & _driver_names(one))


def _drivers(record: Record) -> set[str]:
    specs = [item.data.get("spec") for item in record.objects if item.data["kind"] == KIND]
    return {str(spec.get("driver")) for spec in specs if isinstance(spec, dict)}


def _driver_names(cluster: Cluster) -> set[str]:
    return {driver.name for driver in cluster.drivers}


def _of_no_cluster(record: Record) -> Diagnostic:
    named = ", ".join(sorted(_drivers(record))) or "no driver"
    return diagnose(
        "INV020",
        whole_file(record.path),
        f"no cluster has a pool of the drivers recorded here ({named}); the file has no effect",
        help="name the cluster: `--inventory CLUSTER=FILE`",
    )
