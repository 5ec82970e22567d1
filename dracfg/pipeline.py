"""The passes from YAML to a tree, in order; the one way through dracfg for the command line and Python.

Passes are data: timings, documentation and tests name them by the same tuple. Errors don't end a
run: each pass judges what the ones before could make sense of.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from dracfg.allocate import Inventory
from dracfg.allocate.recorded import GivenRecord, cluster_inventories
from dracfg.check.catalog import check_catalog
from dracfg.check.departures import check_departures
from dracfg.check.disjoint import check_disjoint
from dracfg.check.expressions import check_expressions
from dracfg.check.inventory import check_inventory
from dracfg.check.leastprivilege import check_roles
from dracfg.check.objects import check_units
from dracfg.check.opaque import check_opaque
from dracfg.check.standing import check_standing
from dracfg.check.versions import check_versions
from dracfg.diagnostics import Diagnostic, Span, diagnose, sort_key
from dracfg.emit.apply import AppliedTree, apply
from dracfg.emit.errors import TreeError
from dracfg.emit.files import render_units
from dracfg.emit.tree import TreePlan, plan
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.lower.artifact import Unit
from dracfg.lower.units import gate_plans, lower
from dracfg.model.base import at
from dracfg.model.kinds import AnyDocument
from dracfg.model.parse import parse
from dracfg.scope import Scope, blocked_units
from dracfg.source import Sources, read_repository
from dracfg.source.records import Record, read_record
from dracfg.source.standing import Standing, read_standing

Pass = Literal["read", "parse", "index", "expand", "check", "lower", "validate", "emit"]
PIPELINE: tuple[Pass, ...] = (
    "read",
    "parse",
    "index",
    "expand",
    "check",
    "lower",
    "validate",
    "emit",
)
Verdict = Literal["proven", "refuted", "unknown"]

OUT = "out"
_T = TypeVar("_T")


@dataclass(slots=True)
class Timings:
    """Seconds by pass, of this run only; never part of a result."""

    seconds: dict[Pass, float] = field(default_factory=dict)

    def measure(self, name: Pass, work: Callable[[], _T]) -> _T:
        start = time.perf_counter()
        try:
            return work()
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class InventoryFile:
    """A recorded dump of ResourceSlices, for the named cluster or for those that it fits.

    `path` is as the process sees it. It takes the place of what the Cluster names itself.
    """

    path: Path
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A repository as understood: the catalog, the units it lowers to, and every finding.

    `inventories` are by the names of the clusters that have one. `lines` gives the lines of any
    file that was read, none for others.
    """

    root: Path
    sources: Sources
    documents: tuple[AnyDocument, ...]
    catalog: Catalog
    inventories: Mapping[str, Inventory]
    units: tuple[Unit, ...]
    findings: tuple[Diagnostic, ...]
    poisoned: frozenset[tuple[str, str]]
    lines: Callable[[str], Sequence[str]]

    @property
    def has_errors(self) -> bool:
        return any(finding.is_error for finding in self.findings)

    @property
    def verdict(self) -> Verdict:
        return verdict(self.findings)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A judgement and what it means for the tree; `applied` is None where nothing was written."""

    judgement: Judgement
    tree: TreePlan | None
    applied: AppliedTree | None
    findings: tuple[Diagnostic, ...]

    @property
    def has_errors(self) -> bool:
        return any(finding.is_error for finding in self.findings)


class NoRepository(Exception):
    """There is neither `catalog/` nor `tenants/` here; `near` names a folder that has them."""

    def __init__(self, root: Path, near: Path | None) -> None:
        super().__init__(f"no catalog/ in {root}")
        self.root = root
        self.near = near


class NothingRead(Exception):
    """`catalog/` and `tenants/` hold no document: to go on would empty the tree."""

    def __init__(self, root: Path) -> None:
        super().__init__(f"no document below catalog/ and tenants/ in {root}")
        self.root = root


class OutOfScope(Exception):
    """A scope names what is neither described nor stands; `unmatched` holds (option, glob)."""

    def __init__(self, unmatched: Sequence[tuple[str, str]]) -> None:
        super().__init__(", ".join(" ".join(pair) for pair in unmatched))
        self.unmatched = tuple(unmatched)


def verdict(findings: tuple[Diagnostic, ...]) -> Verdict:
    """refuted with an error, unknown with something undecided, else proven."""
    severities = {finding.severity for finding in findings}
    if "error" in severities:
        return "refuted"
    return "unknown" if "unknown" in severities else "proven"


def judge(
    root: Path, timings: Timings | None = None, inventories: Sequence[InventoryFile] = ()
) -> Judgement:
    """Everything short of the tree: reads, links, lowers and checks the repository at `root`.

    `inventories` are judged beside the records that Clusters name. Raises NoRepository where there
    is nothing to read.
    """
    clock = timings or Timings()
    _require_repository(root)
    sources = clock.measure("read", lambda: read_repository(root))
    if not sources.files and not sources.faults:
        raise NothingRead(root)
    standing, standing_faults = clock.measure("read", lambda: read_standing(root / OUT))
    parsed = clock.measure("parse", lambda: parse(sources.documents))
    named, twice = clock.measure("index", lambda: index(parsed.documents))
    linked = clock.measure("expand", lambda: link(named, parsed.poisoned))
    catalog = linked.catalog
    findings = [*sources.faults, *standing_faults, *parsed.faults, *twice, *linked.faults]
    findings += clock.measure("check", lambda: check_catalog(catalog))
    findings += clock.measure("check", lambda: check_opaque(catalog))
    own, given, unread = clock.measure("read", lambda: _read_records(root, catalog, inventories))
    recorded, faults = clock.measure("read", lambda: cluster_inventories(catalog, own, given))
    findings += [*unread, *faults]
    findings += clock.measure("check", lambda: check_inventory(catalog, recorded))
    findings += clock.measure("check", lambda: check_disjoint(catalog, recorded))
    units = clock.measure("lower", lambda: lower(catalog, standing))
    findings += clock.measure("validate", lambda: _validate(catalog, units, standing, sources))
    return Judgement(
        root,
        sources,
        parsed.documents,
        catalog,
        recorded,
        units,
        tuple(sorted(set(findings), key=sort_key)),
        linked.poisoned,
        _lines(sources, [*own.values(), *(item.record for item in given)]),
    )


def compile_repository(
    root: Path,
    *,
    scope: Scope | None = None,
    check: bool = False,
    keep_going: bool = False,
    jobs: int = 1,
    timings: Timings | None = None,
) -> Compiled:
    """Compiles the repository at `root` into `root/out`.

    With `check` nothing is written. With an error nothing is written either, unless `keep_going`:
    then units that no error touches are written and the others stay as they stand. Raises
    NoRepository, NothingRead, OutOfScope and `emit.errors.TreeError`.
    """
    clock = timings or Timings()
    judgement = judge(root, clock)
    wanted = scope or Scope()
    if judgement.has_errors and not keep_going:
        return Compiled(judgement, None, None, judgement.findings)
    blocked = blocked_units(
        judgement.catalog,
        judgement.documents,
        judgement.findings,
        judgement.poisoned,
        judgement.sources.documents,
    )

    def in_scope(path: str) -> bool:
        return wanted.holds(path) and not blocked(path)

    units = [unit for unit in judgement.units if in_scope(unit.path)]
    files = clock.measure("emit", lambda: render_units(units, jobs))
    tree = clock.measure("emit", lambda: plan(root / OUT, files, scope=in_scope))
    if unmatched := tuple(wanted.unmatched({*_places(judgement), *tree.standing.units})):
        raise OutOfScope(unmatched)
    findings = tuple(sorted((*judgement.findings, *_tree_findings(tree)), key=sort_key))
    refused = any(f.is_error for f in _tree_findings(tree))
    if check or refused:
        return Compiled(judgement, tree, None, findings)
    applied = clock.measure("emit", lambda: apply(tree))
    return Compiled(judgement, tree, applied, findings)


def _places(judgement: Judgement) -> Iterator[str]:
    """The path of every unit, and of each tenant's on its clusters, though nothing be left of it."""
    yield from (unit.path for unit in judgement.units)
    for tenant in judgement.catalog.tenants.values():
        yield from (f"{cluster}/tenants/{tenant.name}" for cluster in tenant.clusters)
    yield from (f"-/tenants/{name}" for kind, name in judgement.poisoned if kind == "Tenant")


def _require_repository(root: Path) -> None:
    if (root / "catalog").is_dir() or (root / "tenants").is_dir():
        return
    places = [*root.resolve().parents, *sorted(p for p in root.glob("*") if p.is_dir())]
    near = next((place for place in places if (place / "catalog").is_dir()), None)
    raise NoRepository(root, near)


def _read_records(
    root: Path, catalog: Catalog, inventories: Sequence[InventoryFile]
) -> tuple[dict[str, Record], list[GivenRecord], list[Diagnostic]]:
    """The records that Clusters name, by cluster, those from outside, and faults of either."""
    own: dict[str, Record] = {}
    faults: list[Diagnostic] = []
    named = {item.cluster for item in inventories}
    for cluster in catalog.clusters.values():
        path = cluster.document.spec.inventory
        if path is None or cluster.name in named:
            continue
        record, found = read_record(root, path)
        faults += [_at_its_name(cluster, fault) for fault in found]
        if record.objects:
            own[cluster.name] = record
    given = []
    for item in inventories:
        record, found = read_record(root, _from_root(root, item.path))
        faults += found
        given.append(GivenRecord(record, item.cluster))
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


def _from_root(root: Path, path: Path) -> str:
    """A path as the process sees it, from the root on where it lies below it."""
    whole, above = path.resolve(), root.resolve()
    return (whole.relative_to(above) if whole.is_relative_to(above) else whole).as_posix()


def _lines(sources: Sources, records: Sequence[Record]) -> Callable[[str], Sequence[str]]:
    """The lines of a document or record by its path; a record is split once at most."""
    texts = {record.path: record.text for record in records}

    @cache
    def recorded(path: str) -> Sequence[str]:
        return texts.get(path, "").split("\n")

    return lambda path: recorded(path) if path in texts else sources.lines(path)


def _validate(
    catalog: Catalog, units: tuple[Unit, ...], standing: Standing, sources: Sources
) -> tuple[Diagnostic, ...]:
    plans = gate_plans(catalog, units)
    return (
        *check_versions(catalog, units, plans),
        *check_expressions(catalog, plans, sources.lines),
        *check_units(catalog, units),
        *check_roles(catalog, units),
        *check_standing(catalog, units, standing),
        *check_departures(catalog, units, standing),
    )


def _tree_findings(tree: TreePlan) -> list[Diagnostic]:
    """What stands in the way below `out/`."""
    findings = [
        diagnose(
            "OBJ007" if stray.synced else "OBJ006",
            Span(f"{OUT}/{stray.path}"),
            "dracfg did not write this file, and an engine would apply it"
            if stray.synced
            else "dracfg did not write this file",
            help="move it out of out/; your own manifests belong into a folder of their own",
        )
        for stray in tree.strays
    ]
    findings += [
        diagnose(
            "OBJ008",
            Span(f"{OUT}/{conflict.path}"),
            f"dracfg can't write here: {conflict.reason}",
            help="move the file away; dracfg never overwrites what it did not write",
        )
        for conflict in tree.conflicts
    ]
    return findings


def timings_table(timings: Mapping[Pass, float]) -> str:
    """One line a pass, in the order of the pipeline."""
    rows = [f"  {name:<10}{timings[name] * 1000:>9.1f} ms" for name in PIPELINE if name in timings]
    return "\n".join(rows)


__all__ = [
    "PIPELINE",
    "Compiled",
    "InventoryFile",
    "Judgement",
    "NoRepository",
    "NothingRead",
    "OutOfScope",
    "Timings",
    "TreeError",
    "compile_repository",
    "judge",
    "timings_table",
]
