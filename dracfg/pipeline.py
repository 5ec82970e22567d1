"""The passes from YAML to a tree, in order; the one way through dracfg for the command line and Python.

Passes are data: timings, documentation and tests name them by the same tuple. Errors don't end a
run: each pass judges what the ones before could make sense of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal

from dracfg.allocate import Inventory
from dracfg.allocate.recorded import cluster_inventories, cluster_records
from dracfg.check.catalog import check_catalog
from dracfg.check.departures import check_departures
from dracfg.check.disjoint import check_disjoint
from dracfg.check.expressions import check_expressions
from dracfg.check.freshness import check_freshness, recorded_moments
from dracfg.check.guarantees import unproven_guarantees
from dracfg.check.inventory import check_inventory
from dracfg.check.jointclaims import check_joint_claims
from dracfg.check.leastprivilege import check_roles
from dracfg.check.objects import check_units
from dracfg.check.opaque import check_opaque
from dracfg.check.policies import check_policies
from dracfg.check.recordedclasses import check_classes
from dracfg.check.recordednodes import check_nodes
from dracfg.check.recordedproofs import check_recorded_proofs
from dracfg.check.schedulers import check_pod_schedulers
from dracfg.check.standing import check_standing
from dracfg.check.versions import check_versions
from dracfg.check.waivers import read_waivers
from dracfg.check.waiving import waive
from dracfg.diagnostics import Diagnostic, sort_key
from dracfg.diagnostics.registry import Level
from dracfg.emit.apply import AppliedTree, apply
from dracfg.emit.errors import TreeError
from dracfg.emit.files import render_units
from dracfg.emit.findings import tree_findings
from dracfg.emit.tree import TreePlan, plan
from dracfg.inventories import InventoryFile, read_records
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.lower.artifact import Unit
from dracfg.lower.units import gate_plans, lower
from dracfg.model.kinds import AnyDocument
from dracfg.model.parse import parse
from dracfg.passes import PIPELINE, Timings, timings_table
from dracfg.scope import Scope, blocked_units
from dracfg.source import Sources, read_repository
from dracfg.source.records import Record
from dracfg.source.revision import head_date
from dracfg.source.standing import Standing, read_standing

Verdict = Literal["proven", "refuted", "unknown"]

OUT = "out"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A repository as understood: the catalog, the units it lowers to, and every finding.

    `records` and `inventories` are by the names of the clusters that have one. `lines` gives the lines of any
    file that was read, none for others.
    """

    root: Path
    sources: Sources
    documents: tuple[AnyDocument, ...]
    catalog: Catalog
    records: Mapping[str, tuple[Record, ...]]
    inventories: Mapping[str, Inventory]
    units: tuple[Unit, ...]
    findings: tuple[Diagnostic, ...]
    poisoned: frozenset[tuple[str, str]]
    lines: Callable[[str], Sequence[str]]

    @property
    def has_errors(self) -> bool:
        return any(finding.is_error for finding in self.findings)

    @property
    def unproven(self) -> int:
        """Guarantees whose proofs were left open."""
        return unproven_guarantees(self.findings)

    @property
    def verdict(self) -> Verdict:
        """refuted with an error, unknown with something undecided or unproven, else proven."""
        severities = {finding.severity for finding in self.findings if finding.waived is None}
        if "error" in severities:
            return "refuted"
        return "unknown" if "unknown" in severities or self.unproven else "proven"


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


def judge(
    root: Path,
    timings: Timings | None = None,
    inventories: Sequence[InventoryFile] = (),
    *,
    level: Level = "inventory",
    today: date | None = None,
) -> Judgement:
    """Everything short of the tree: reads, links, lowers and checks the repository at `root`.

    `inventories` are judged beside the records that Clusters name; at level `intent` none is read.
    Waivers end, and records are old, by `today` or by the day of the commit that is checked out.
    Raises NoRepository where there is nothing to read.
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
    own, given, unread = clock.measure(
        "read",
        lambda: ({}, [], []) if level == "intent" else read_records(root, catalog, inventories),
    )
    records, lost = cluster_records(catalog, own, given)
    recorded, faults = clock.measure("read", lambda: cluster_inventories(catalog, records))
    findings += [*unread, *lost, *faults]
    findings += clock.measure("check", lambda: check_inventory(catalog, recorded))
    findings += clock.measure("check", lambda: check_recorded_proofs(catalog, recorded))
    findings += clock.measure("check", lambda: check_nodes(catalog, recorded, records))
    findings += clock.measure("check", lambda: check_pod_schedulers(catalog, records))
    if moments := recorded_moments(records):
        findings += check_freshness(moments, today or head_date(root))
    findings += clock.measure("check", lambda: check_disjoint(catalog, recorded))
    findings += clock.measure("check", lambda: check_classes(catalog, recorded, records))
    units = clock.measure("lower", lambda: lower(catalog, standing))
    findings += clock.measure("validate", lambda: _validate(catalog, units, standing, sources))
    findings += clock.measure("check", lambda: check_joint_claims(catalog, recorded, units))
    levels: set[Level] = {"intent", "inventory"} if recorded else {"intent"}
    findings = clock.measure("validate", lambda: _waive(findings, sources, today, levels))
    return Judgement(
        root,
        sources,
        parsed.documents,
        catalog,
        records,
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
    today: date | None = None,
) -> Compiled:
    """Compiles the repository at `root` into `root/out`.

    With `check` nothing is written. With an error nothing is written either, unless `keep_going`:
    then units that no error touches are written and the others stay as they stand. Raises
    NoRepository, NothingRead, OutOfScope and `emit.errors.TreeError`.
    """
    clock = timings or Timings()
    judgement = judge(root, clock, today=today)
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
    met = tree_findings(tree)
    findings = tuple(sorted((*judgement.findings, *met), key=sort_key))
    if check or any(finding.is_error for finding in met):
        return Compiled(judgement, tree, None, findings)
    applied = clock.measure("emit", lambda: apply(tree))
    return Compiled(judgement, tree, applied, findings)


def _waive(
    findings: Sequence[Diagnostic], sources: Sources, today: date | None, levels: set[Level]
) -> list[Diagnostic]:
    """The findings under the waivers of the sources; git is asked for the day only where there are any."""
    waivers, faults = read_waivers(sources)
    if not waivers:
        return [*findings, *faults]
    return list(waive([*findings, *faults], waivers, today or head_date(sources.root), levels))


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
        *check_policies(catalog, units),
        *check_standing(catalog, units, standing),
        *check_departures(catalog, units, standing),
    )


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
