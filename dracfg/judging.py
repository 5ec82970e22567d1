"""From a repository's files to what they come to: every pass short of the tree.

Errors don't end a run: each pass judges what the ones before could make sense of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Literal

from dracfg.allocate import Inventory
from dracfg.allocate.recorded import cluster_inventories, cluster_records
from dracfg.aside import aside, worth
from dracfg.building import (
    NOTHING_RENDERED,
    Building,
    ClusterBuild,
    Form,
    Rendered,
    render,
    shared,
    together,
)
from dracfg.check.expressions import check_expressions
from dracfg.check.freshness import recorded_moments
from dracfg.check.guarantees import unproven_guarantees
from dracfg.check.jointclaims import check_joint_claims
from dracfg.check.objects import check_units, meet
from dracfg.check.rebalance import check_rebalances
from dracfg.check.standing import clash_findings
from dracfg.check.versions import check_releases
from dracfg.check.waivers import read_waivers
from dracfg.check.waiving import waive
from dracfg.checking import Checked
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, sort_key
from dracfg.diagnostics.registry import Level
from dracfg.emit.layout import OUT
from dracfg.inventories import InventoryFile, read_records
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.lower.artifact import Unit
from dracfg.lower.rights import TENANT
from dracfg.model.kept import parse_files
from dracfg.model.kinds import AnyDocument
from dracfg.passes import Timings, keeping_all
from dracfg.refusals import NoRepository, NothingRead
from dracfg.scope import tenant_of
from dracfg.source import ROOTS, Sources
from dracfg.source.records import Record
from dracfg.source.seen import Seen
from dracfg.source.standing import Standing, merge_standing, read_standing
from dracfg.source.tree import Tree, tree_of
from dracfg.terms import ALONE, Extent, Means

Verdict = Literal["proven", "refuted", "unknown"]
Lines = Callable[[str], Sequence[str]]
"""The lines of a file by its path, none of one that was not read."""
_NOTHING_CHECKED = Checked((), ())


@dataclass(frozen=True, slots=True)
class Judgement:
    """A repository as understood: the catalog, the units it lowers to, and every finding.

    `records` and `inventories` are by the names of the clusters that have one. `lines` gives the
    lines of any file that was read, none for others. `standing` is what was found under `out/`, `moves`
    those of the findings that come of it. `checked` are those of rules over the catalog, `of_units`
    those of what is emitted, none of them waived. A judgement for the tree has its units as
    `rendered` files, and in `units` only where they were asked for.
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
    lines: Lines
    standing: Standing = field(default_factory=Standing)
    moves: tuple[Diagnostic, ...] = ()
    checked: Checked = _NOTHING_CHECKED
    of_units: tuple[Diagnostic, ...] = ()
    rendered: Rendered = NOTHING_RENDERED

    @property
    def by_tenant(self) -> tuple[Diagnostic, ...]:
        """Findings of rules that judge one tenant at a time."""
        return self.checked.by_tenant

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
class Emitted:
    """What a catalog comes to: its clusters, all units (none of clusters in files), and their faults.

    It is `whole` where every cluster was built; else what belongs to all of them is not there. `sound` are
    files that stand and are known to hold what they should.
    """

    builds: tuple[ClusterBuild, ...]
    units: tuple[Unit, ...]
    rendered: Rendered
    findings: tuple[Diagnostic, ...]
    whole: bool
    sound: frozenset[str]


def emitted(
    catalog: Catalog, building: Building, sources: Sources, form: Form, clock: Timings
) -> Emitted:
    """Waits for the clusters of a catalog, makes what belongs to all of them, and judges what came out."""
    builds = tuple(clock.measure("build", building.results))
    whole = len(builds) == len(catalog.clusters)
    common = shared(catalog, builds) if whole else ()
    rendered = clock.measure("build", lambda: _rendered(builds, common, form))
    found = [finding for build in builds for finding in build.findings]
    if whole:
        found += clock.measure("validate", lambda: _of_all(catalog, builds, common, sources))
    sound = frozenset(path for build in builds for path in build.sound)
    return Emitted(builds, _sorted_units(builds, common), rendered, tuple(found), whole, sound)


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
    sources: Sources | None = None,
    may_be_empty: bool = False,
    extent: Extent | None = None,
    by: Means = ALONE,
) -> Judgement:
    """Everything short of the tree: reads, links, lowers and checks the repository at `root`.

    `inventories` are judged beside the records that Clusters name; at level `intent` none is read.
    Waivers end, and records are old, by `today` or by the day of the commit that is checked out, or
    of the revision that is read. `since` stood under `out/` in the state that this one follows on,
    `seen` are files read before, `sources` all of them where they were read already.

    Without an `extent` all of it is judged, and `by` says by whom it is worked out (see `terms`).

    Raises NoRepository or NothingRead where there is nothing to read, unless it `may_be_empty`, and
    what builder and rules raise.
    """
    clock = timings or Timings()
    tree = tree_of(root)
    if not may_be_empty:
        _require_repository(tree)
    known = seen or Seen()
    if sources is None:
        sources = clock.measure("read", lambda: by.reader(tree, known, by.jobs))
    if not may_be_empty and not sources.files and not sources.faults:
        raise NothingRead(tree.root)
    only = None if extent is None else extent.only
    standing, unfound = Standing(), tuple[Diagnostic, ...]()
    if extent is not None and extent.stands is not None:
        standing = extent.stands
    else:
        standing, unfound = clock.measure("read", lambda: _standing(tree, known, only))
    parsed = clock.measure("parse", lambda: parse_files(sources.files.values(), known))
    named, twice = clock.measure("index", lambda: index(parsed.documents))
    linked = clock.measure("expand", lambda: by.linker(named, parsed.poisoned))
    catalog = linked.catalog
    judged = catalog
    faults_of = standing.faults
    if extent is not None or since is not None:  # then all that stands is looked at
        clock.measure("read", lambda: faults_of(jobs=by.jobs))
    if extent is not None:
        judged = limited(catalog, extent.only, extent.places)
        if extent.stands is None:
            standing = standing.without(TENANT, catalog.tenants.keys() - extent.only, since)
    found = standing if since is None else merge_standing(since, standing)
    findings = [*sources.faults, *unfound, *parsed.faults, *twice, *linked.faults]
    own, given, unread = clock.measure(
        "read",
        lambda: ({}, [], []) if level == "intent" else read_records(tree, catalog, inventories),
    )
    records, lost = cluster_records(catalog, own, given)
    recorded, faults = clock.measure("read", lambda: cluster_inventories(catalog, records))
    findings += [*unread, *lost, *faults]
    day = (today or tree.day()) if recorded_moments(records) else None

    others = None if extent is None else extent.others

    def check(meanwhile: Callable[[], None]) -> Checked:
        asked = only if others is not None else None
        return by.rules(catalog, recorded, records, day, asked, meanwhile)

    building = clock.measure("build", lambda: by.builder(judged, found, by.form))
    checked = clock.measure(
        "check", lambda: _checked(check, building, worth(catalog.weight, by.jobs))
    )
    made = emitted(judged, building, sources, by.form, clock)
    unread_states = clock.measure("read", lambda: faults_of(made.sound, by.jobs))
    findings += unread_states
    findings += made.findings if extent is None or extent.told is None else extent.told
    moves = clock.measure("validate", lambda: _moves(judged, made.builds, found))
    findings += moves
    said = clock.measure("check", checked)
    findings += [*said.whole, *said.by_tenant, *(others or ())]
    levels: set[Level] = set()
    if made.whole:
        levels = {"intent", "inventory"} if recorded else {"intent"}
    if made.whole and (extent is None or extent.places is None):
        plans = {build.cluster: build.plan for build in made.builds}
        findings += clock.measure("check", lambda: check_joint_claims(catalog, recorded, plans))
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
        made.units if by.form in ("units", "both") else (),
        tuple(sorted(set(findings), key=sort_key)),
        linked.poisoned,
        _lines(sources, [*own.values(), *(item.record for item in given)]),
        standing,
        (*unfound, *unread_states, *moves),
        said,
        made.findings,
        made.rendered,
    )


def _checked(
    check: Callable[[Callable[[], None]], Checked], building: Building, jobs: int
) -> Callable[[], Checked]:
    """What rules find: here while others build, elsewhere while this process does, or when asked for."""
    if building.attend is not None:
        found = check(building.attend)
        return lambda: found
    work = partial(check, lambda: None)
    return aside(work) if jobs > 1 else work


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
    tree: Tree, seen: Seen, only: frozenset[str] | None
) -> tuple[Standing, tuple[Diagnostic, ...]]:
    """The standing tree; of the units of tenants, those of `only`."""

    def holds(path: str) -> bool:
        tenant = tenant_of(path.partition("/")[2])
        return only is None or not tenant or tenant in only

    return read_standing(tree, OUT, tenants=only, holds=holds, seen=seen)


def limited(
    catalog: Catalog, only: frozenset[str], places: Collection[str] | None = None
) -> Catalog:
    """The catalog with these tenants alone, not even those that they borrow from, on some clusters."""
    tenants = {name: tenant for name, tenant in catalog.tenants.items() if name in only}
    clusters = catalog.clusters
    if places is not None:
        clusters = {name: cluster for name, cluster in clusters.items() if name in places}
    return replace(catalog, clusters=clusters, tenants=tenants)


def _lines(sources: Sources, records: Sequence[Record]) -> Lines:
    """The lines of a document or record by its path; a record is split once at most."""
    texts = {record.path: record.text for record in records}

    @cache
    def recorded(path: str) -> Sequence[str]:
        return texts.get(path, "").split("\n")

    return lambda path: recorded(path) if path in texts else sources.lines(path)


def _rendered(builds: Sequence[ClusterBuild], units: Sequence[Unit], form: Form) -> Rendered:
    """The files of all clusters, and of the units that belong to all of them."""
    if form in ("units", "none"):
        return NOTHING_RENDERED
    return together([*(build.rendered for build in builds), render(units)])


def _sorted_units(builds: Sequence[ClusterBuild], units: Sequence[Unit]) -> tuple[Unit, ...]:
    every = (*(unit for build in builds for unit in build.units), *units)
    return tuple(sorted(every, key=lambda unit: unit.path))


def _moves(
    catalog: Catalog, builds: Sequence[ClusterBuild], standing: Standing
) -> tuple[Diagnostic, ...]:
    """What is wrong with the way from the tree that stands; every rule that looks at it is here."""
    return (
        *clash_findings(catalog, (clash for build in builds for clash in build.clashes)),
        *(finding for build in builds for finding in build.departures),
        *check_rebalances(catalog, standing),
    )


def _of_all(
    catalog: Catalog, builds: Sequence[ClusterBuild], units: Sequence[Unit], sources: Sources
) -> tuple[Diagnostic, ...]:
    """What is judged of all clusters together, beside what each was judged by."""
    plans = {build.cluster: build.plan for build in builds}
    return (
        *check_releases(catalog),
        *check_expressions(catalog, plans, sources.lines),
        *check_units(replace(catalog, tenants={}), units),
        *meet(catalog, (build.engine for build in builds)),
    )
