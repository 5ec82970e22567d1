"""The passes from YAML to a tree, in order; the one way through dracfg for the command line and Python.

Passes are data: timings, documentation and tests name them by the same tuple. Errors don't end a
run: each pass judges what the ones before could make sense of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal

from dracfg.allocate import Inventory
from dracfg.allocate.recorded import cluster_inventories, cluster_records
from dracfg.aside import aside
from dracfg.check.departures import check_departures
from dracfg.check.expressions import check_expressions
from dracfg.check.freshness import recorded_moments
from dracfg.check.guarantees import unproven_guarantees
from dracfg.check.jointclaims import check_joint_claims
from dracfg.check.leastprivilege import check_roles
from dracfg.check.objects import check_units
from dracfg.check.policies import check_policies
from dracfg.check.rebalance import check_rebalances
from dracfg.check.standing import check_standing
from dracfg.check.versions import check_versions
from dracfg.check.waivers import read_waivers
from dracfg.check.waiving import waive
from dracfg.checking import check_all
from dracfg.diagnostics import Diagnostic, sort_key
from dracfg.diagnostics.registry import Level
from dracfg.emit.apply import AppliedTree, apply
from dracfg.emit.errors import TreeError
from dracfg.emit.files import render_units
from dracfg.emit.findings import tree_findings
from dracfg.emit.layout import OUT
from dracfg.emit.tree import TreePlan, plan
from dracfg.inventories import InventoryFile, read_records
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.lower.artifact import Unit
from dracfg.lower.rights import TENANT
from dracfg.lower.units import RETIRED, gate_plans, lower
from dracfg.model.kinds import AnyDocument
from dracfg.model.parse import parse
from dracfg.passes import PIPELINE, Timings, keeping_all, timings_table
from dracfg.refusals import NoRepository, NothingRead, OutOfScope
from dracfg.scope import Scope, blocked_units, tenant_of
from dracfg.source import ROOTS, Sources, read_repository
from dracfg.source.records import Record
from dracfg.source.seen import Seen
from dracfg.source.standing import Standing, merge_standing, read_standing
from dracfg.source.tree import Tree, tree_of

Verdict = Literal["proven", "refuted", "unknown"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A repository as understood: the catalog, the units it lowers to, and every finding.

    `records` and `inventories` are by the names of the clusters that have one. `lines` gives the lines of any
    file that was read, none for others. `standing` is what was found under `out/`,
    `moves` those of the findings that come of it.
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
    standing: Standing = field(default_factory=Standing)
    moves: tuple[Diagnostic, ...] = ()

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

    @property
    def is_settled(self) -> bool:
        """Whether the same inputs and the tree as it is now would give the same findings, and no change.

        What retires depends on what stood before; a tree in which nothing has, and whose way here
        nobody found fault with, is what its inputs alone make it.
        """
        if self.applied is None or self.tree is None or self.tree.strays:
            return False
        unchanged = not self.applied.units
        names = (name for files in self.tree.lock.units.values() for name in files)
        retired = any(name.startswith(f"{RETIRED}/") for name in names)
        return unchanged or not (retired or self.judgement.moves)


@keeping_all()
def judge(
    root: Path | Tree,
    timings: Timings | None = None,
    inventories: Sequence[InventoryFile] = (),
    *,
    level: Level = "inventory",
    today: date | None = None,
    since: Standing | None = None,
    seen: Seen | None = None,
    may_be_empty: bool = False,
    only: frozenset[str] | None = None,
    jobs: int = 1,
) -> Judgement:
    """Everything short of the tree: reads, links, lowers and checks the repository at `root`.

    `inventories` are judged beside the records that Clusters name; at level `intent` none is read.
    Waivers end, and records are old, by `today` or by the day of the commit that is checked out, or
    of the revision that is read. `since` stood under `out/` in the state that this one follows on,
    `seen` are files read before. With `only`, no other tenants are lowered and validated: for two
    states in which the others are the same. With more than one of `jobs`, rules run in a process of
    their own beside lowering. Raises NoRepository or NothingRead where there is
    nothing to read, unless it `may_be_empty`.
    """
    clock = timings or Timings()
    tree = tree_of(root)
    if not may_be_empty:
        _require_repository(tree)
    sources = clock.measure("read", lambda: read_repository(tree, seen))
    if not may_be_empty and not sources.files and not sources.faults:
        raise NothingRead(tree.root)
    standing, standing_faults = clock.measure("read", lambda: _standing(tree, seen, only))
    parsed = clock.measure(
        "parse", lambda: parse(sources.documents, None if seen is None else seen.made)
    )
    named, twice = clock.measure("index", lambda: index(parsed.documents))
    linked = clock.measure("expand", lambda: link(named, parsed.poisoned))
    catalog = linked.catalog
    part = catalog
    if only is not None:
        part, standing = _limited(catalog, only), _of_tenants(standing, catalog, only)
    found = standing if since is None else merge_standing(since, standing)
    findings = [*sources.faults, *standing_faults, *parsed.faults, *twice, *linked.faults]
    own, given, unread = clock.measure(
        "read",
        lambda: ({}, [], []) if level == "intent" else read_records(tree, catalog, inventories),
    )
    records, lost = cluster_records(catalog, own, given)
    recorded, faults = clock.measure("read", lambda: cluster_inventories(catalog, records))
    findings += [*unread, *lost, *faults]
    day = (today or tree.day()) if recorded_moments(records) else None

    def check() -> tuple[Diagnostic, ...]:
        return check_all(catalog, recorded, records, day)

    checked = aside(check) if jobs > 1 else check
    units = clock.measure("lower", lambda: lower(part, found))
    findings += clock.measure("validate", lambda: _validate(part, units, sources))
    moves = clock.measure("validate", lambda: _moves(part, units, found))
    findings += moves
    findings += clock.measure("check", checked)
    findings += clock.measure("check", lambda: check_joint_claims(catalog, recorded, units))
    levels: set[Level] = {"intent", "inventory"} if recorded else {"intent"}
    findings = clock.measure(
        "validate", lambda: _waive(findings, sources, today or tree.day, levels)
    )
    return Judgement(
        tree.root,
        sources,
        parsed.documents,
        catalog,
        records,
        recorded,
        units,
        tuple(sorted(set(findings), key=sort_key)),
        linked.poisoned,
        _lines(sources, [*own.values(), *(item.record for item in given)]),
        standing,
        (*standing_faults, *moves),
    )


@keeping_all()
def compile_repository(
    root: Path | Tree,
    *,
    scope: Scope | None = None,
    check: bool = False,
    keep_going: bool = False,
    jobs: int = 1,
    timings: Timings | None = None,
    today: date | None = None,
    seen: Seen | None = None,
) -> Compiled:
    """Compiles the repository at `root` into the `out` of its folder.

    With `check` nothing is written. With an error nothing is written either, unless `keep_going`:
    then units that no error touches are written and the others stay as they stand. Raises
    NoRepository, NothingRead, OutOfScope and `emit.errors.TreeError`.
    """
    clock = timings or Timings()
    judgement = judge(root, clock, today=today, seen=seen, jobs=jobs)
    out = judgement.root / OUT
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
    tree = clock.measure("emit", lambda: plan(out, files, scope=in_scope))
    if unmatched := tuple(wanted.unmatched({*_places(judgement), *tree.standing.units})):
        raise OutOfScope(unmatched)
    met = tree_findings(tree)
    findings = tuple(sorted((*judgement.findings, *met), key=sort_key))
    if check or any(finding.is_error for finding in met):
        return Compiled(judgement, tree, None, findings)
    applied = clock.measure("emit", lambda: apply(tree))
    return Compiled(judgement, tree, applied, findings)


def _waive(
    findings: Sequence[Diagnostic],
    sources: Sources,
    today: date | Callable[[], date | None],
    levels: set[Level],
) -> list[Diagnostic]:
    """The findings under the waivers of the sources; git is asked for the day only where there are any."""
    waivers, faults = read_waivers(sources)
    if not waivers:
        return [*findings, *faults]
    day = today if isinstance(today, date) else today()
    return list(waive([*findings, *faults], waivers, day, levels))


def _places(judgement: Judgement) -> Iterator[str]:
    """The path of every unit, and of each tenant's on its clusters, though nothing be left of it."""
    yield from (unit.path for unit in judgement.units)
    for tenant in judgement.catalog.tenants.values():
        yield from (f"{cluster}/tenants/{tenant.name}" for cluster in tenant.clusters)
    yield from (f"-/tenants/{name}" for kind, name in judgement.poisoned if kind == "Tenant")


def _require_repository(tree: Tree) -> None:
    if any(_is_there(tree, folder) for folder in ROOTS):
        return
    root = tree.root
    places = [*root.resolve().parents, *sorted(p for p in root.glob("*") if p.is_dir())]
    near = next((place for place in places if (place / "catalog").is_dir()), None)
    raise NoRepository(root, near)


def _is_there(tree: Tree, folder: str) -> bool:
    try:
        tree.entries(folder)
    except OSError:
        return False
    return True


def _standing(
    tree: Tree, seen: Seen | None, only: frozenset[str] | None
) -> tuple[Standing, tuple[Diagnostic, ...]]:
    """The standing tree; of the units of tenants, those of `only`."""

    def holds(path: str) -> bool:
        tenant = tenant_of(path.partition("/")[2])
        return only is None or not tenant or tenant in only

    return read_standing(tree, OUT, holds=holds, seen=seen)


def _limited(catalog: Catalog, only: frozenset[str]) -> Catalog:
    tenants = {name: tenant for name, tenant in catalog.tenants.items() if name in only}
    return replace(catalog, tenants=tenants)


def _of_tenants(standing: Standing, catalog: Catalog, only: frozenset[str]) -> Standing:
    """What stands without the objects that bear the name of a tenant who is left out."""
    left_out = catalog.tenants.keys() - only

    def stays(thing: Mapping[str, Any]) -> bool:
        return (thing["metadata"].get("annotations") or {}).get(TENANT) not in left_out

    files = {path: tuple(filter(stays, things)) for path, things in standing.files.items()}
    return Standing(files, standing.texts)


def _lines(sources: Sources, records: Sequence[Record]) -> Callable[[str], Sequence[str]]:
    """The lines of a document or record by its path; a record is split once at most."""
    texts = {record.path: record.text for record in records}

    @cache
    def recorded(path: str) -> Sequence[str]:
        return texts.get(path, "").split("\n")

    return lambda path: recorded(path) if path in texts else sources.lines(path)


def _moves(catalog: Catalog, units: tuple[Unit, ...], standing: Standing) -> tuple[Diagnostic, ...]:
    """What is wrong with the way from the tree that stands; every rule that looks at it is here."""
    return (
        *check_standing(catalog, units, standing),
        *check_departures(catalog, units, standing),
        *check_rebalances(catalog, standing),
    )


def _validate(
    catalog: Catalog, units: tuple[Unit, ...], sources: Sources
) -> tuple[Diagnostic, ...]:
    plans = gate_plans(catalog, units)
    return (
        *check_versions(catalog, units, plans),
        *check_expressions(catalog, plans, sources.lines),
        *check_units(catalog, units),
        *check_roles(catalog, units),
        *check_policies(catalog, units),
    )


__all__ = [
    "OUT",
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
