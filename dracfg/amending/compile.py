"""The last compile, amended by what some tenants changed since, to the same tree as a whole one leaves."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

from dracfg.amending.inputs import changed_files
from dracfg.amending.patches import Emission, NoPatch, Patch, Tree, patch
from dracfg.amending.recollection import Forgotten, Recollection
from dracfg.amending.standing import standing_of
from dracfg.amending.states import States, states_of
from dracfg.aside import aside, worth
from dracfg.building import Rendered, build_all
from dracfg.cache.documents import KnownFiles
from dracfg.cache.inputs import Inputs
from dracfg.cache.questions import AskedTree
from dracfg.cache.store import Details, Last
from dracfg.cache.tenants import KnownTenants
from dracfg.check.catalog import check_tenants, tenants_alone
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.emit.apply import apply
from dracfg.emit.intact import stands
from dracfg.emit.layout import OUT
from dracfg.emit.listing import read as read_standing_file
from dracfg.emit.lock import Lock, LockReading, read_rendered
from dracfg.emit.seals import Seals
from dracfg.emit.tree import plan
from dracfg.judging import Emitted, Judgement, emitted, judge, limited
from dracfg.passes import Timings, keeping_all
from dracfg.pipeline import Compiled
from dracfg.plan.jointdemand import joint_demands
from dracfg.source.seen import Seen
from dracfg.terms import Extent, Means


@dataclass(frozen=True, slots=True)
class Amended:
    """A compile whose tree has the units that differ alone; `details` are those of the whole.

    `left` are the files that it did not read: they stand as the last run read them.
    """

    compiled: Compiled
    details: Details
    left: Recollection


@keeping_all()
def amend(
    tree: AskedTree,
    last: Last,
    tenants: KnownTenants,
    known: KnownFiles,
    seen: Seen,
    *,
    jobs: int = 1,
    today: date | None = None,
    timings: Timings | None = None,
    inputs: Inputs | None = None,
    seals: Seals | None = None,
) -> Amended | None:
    """Compiles what changed since the last run; with several `jobs` large trees are hashed meanwhile.

    `tenants` and `known` are what that run knew of tenants, and its files; `seen` holds what those said,
    and objects of the tree. What `inputs` and `seals` know to stand is not read.

    None, and nothing written, where something else changed than tenants' own numbers and claims, where
    the tree does not stand as that run left it, where anything is wrong, or what they share is not what
    it was.
    """
    clock = timings or Timings()
    out = tree.root / OUT
    locked = clock.measure("read", lambda: read_rendered(out, last.lock))
    if locked is None:
        return None
    hashed = partial(stands, out, locked, seals=seals)
    files = sum(map(len, locked.units.values()))
    is_intact = hashed if worth(files, jobs) == 1 else aside(hashed)
    changed = clock.measure("read", lambda: changed_files(tree, last.notes, inputs))
    if not changed:
        return None

    def both() -> States | None:
        left = Recollection.of(tenants, last.notes, changed, known, seen)
        return states_of(tree, changed, left, seen)

    try:
        states = clock.measure("read", both)
        if states is None:
            return None
        return _amended(tree, last, states, locked, is_intact, today, clock)
    except Forgotten:
        return None


def _amended(
    tree: AskedTree,
    last: Last,
    states: States,
    locked: Lock,
    is_intact: Callable[[], bool],
    today: date | None,
    clock: Timings,
) -> Amended | None:
    """The tree and the findings of the state that is there now; None as for `amend`."""
    only, seen, out = states.only, states.seen, tree.root / OUT
    old = clock.measure("expand", states.catalog_before)
    if old is None:
        return None
    standing = Tree(
        locked,
        last.details.sizes,
        seen.recorded,
        lambda path: read_standing_file(f"{out}/{path}"),
    )
    places = states.places()
    stands = clock.measure("read", lambda: standing_of(standing, only, places))
    if stands is None:
        return None
    said = frozenset(check_tenants(tenants_alone(old, only)))
    others = tuple(one for one in last.details.by_tenant if one not in said)
    judged = judge(
        tree, clock, today=today, seen=seen, sources=states.now,
        extent=Extent(only, others, places, stands, told=last.details.of_units),
        by=Means(form="both", linker=states.left.link),
    )  # fmt: skip
    if judged.has_errors or judged.moves or joint_demands(judged.catalog):
        return None
    before = limited(old, only, places)
    building = build_all(before, judged.standing, "both")
    was = emitted(before, building, states.before, "both", clock)
    kept = (*others, *(one for one in last.details.of_units if one not in was.findings))
    if {*was.findings} != {*judged.of_units}:
        return None
    if any(_points_into(one, states.changed) for one in kept):
        return None
    if not clock.measure("read", is_intact):
        return None
    details = replace(
        last.details,
        whole=judged.checked.whole,
        by_tenant=(*others, *judged.by_tenant),
    )
    made = _patched(out, locked, details, standing, judged, was, only, clock)
    return None if made is None else Amended(*made, states.left)


def _points_into(finding: Diagnostic, changed: Collection[str]) -> bool:
    """Whether a finding that is not made anew names a line that may be another one now."""
    spans = (finding.span, *(one.span for one in finding.related))
    return any(span is not None and span.path in changed for span in spans)


def _patched(
    out: Path,
    locked: Lock,
    details: Details,
    standing: Tree,
    judged: Judgement,
    was: Emitted,
    only: Collection[str],
    clock: Timings,
) -> tuple[Compiled, Details] | None:
    before = Emission.of(was.units, was.rendered)
    now = Emission.of(judged.units, judged.rendered)
    try:
        made = clock.measure("emit", lambda: patch(before, now, standing, only))
    except NoPatch:
        return None
    return clock.measure("emit", lambda: _written(out, locked, details, judged, made))


def _written(
    out: Path, locked: Lock, details: Details, judged: Judgement, made: Patch
) -> tuple[Compiled, Details] | None:
    content = locked.render()
    known = LockReading(content, locked, None)
    tree = plan(out, made.units.values(), scope=made.units.__contains__, known=known)
    if tree.conflicts or tree.strays or tree.lock_content != content:
        return None
    applied = apply(tree)
    files = tuple(made.units.values())
    judgement = replace(judged, units=(), rendered=Rendered(files, made.sizes, made.states))
    sizes = {**details.sizes, **made.sizes}
    left = {path: size for path, size in sizes.items() if path in tree.lock.units}
    compiled = Compiled(judgement, tree, applied, judged.findings)
    return compiled, replace(details, sizes=left)
