"""Which recorded dumps a run reads: those that Clusters name, and those given from outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dracfg.allocate.recorded import GivenRecord
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog, Cluster
from dracfg.model.base import at
from dracfg.source.records import Record, read_record
from dracfg.source.tree import Tree, from_root, tree_of


@dataclass(frozen=True, slots=True)
class InventoryFile:
    """A recorded dump of ResourceSlices, for the named cluster or for those that it fits.

    `path` is as the process sees it. It takes the place of what the Cluster names itself, but for one
    that holds answers of Prometheus alone: that stands beside it.
    """

    path: Path
    cluster: str | None = None


def read_records(
    root: Path | Tree, catalog: Catalog, inventories: Sequence[InventoryFile]
) -> tuple[dict[str, Record], list[GivenRecord], list[Diagnostic]]:
    """The records that Clusters name, by cluster, those from outside, and faults of either.

    Those from outside are read from disk, whatever state the repository is read in.
    """
    tree = tree_of(root)
    own: dict[str, Record] = {}
    faults: list[Diagnostic] = []
    given = []
    for item in inventories:
        record, found = read_record(tree.root, from_root(tree.root, item.path))
        faults += found
        given.append(GivenRecord(record, item.cluster))
    named = {item.cluster for item in given if not item.record.is_measured}
    for cluster in catalog.clusters.values():
        path = cluster.document.spec.inventory
        if path is None or cluster.name in named:
            continue
        record, found = read_record(tree, path)
        faults += [_at_its_name(cluster, fault) for fault in found]
        if record.objects:
            own[cluster.name] = record
    return own, given, faults


def _at_its_name(cluster: Cluster, fault: Diagnostic) -> Diagnostic:
    """A record that can't be read is a fault of the value that names it."""
    if fault.code != "SRC001" or fault.span is None:
        return fault
    return diagnose(
        "INV019",
        at(cluster.document, "spec", "inventory"),
        f"{fault.span.path} {fault.message}",
        help="record it with `kubectl get resourceslices -o yaml`, or take the line out",
    )
