"""The last compile, amended by what some tenants changed since, to the same tree as a whole one leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path

from dracfg.amending.inputs import changed_files
from dracfg.amending.patches import Emission, NoPatch, Patch, Tree, patch
from dracfg.aside import aside
from dracfg.building import Rendered
from dracfg.cache.documents import KnownFiles
from dracfg.cache.questions import AskedTree
from dracfg.cache.store import Details, Last
from dracfg.check.catalog import check_tenants, tenants_alone
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diff.touched import catalog_of, touched_tenants
from dracfg.emit.apply import apply
from dracfg.emit.intact import intact
from dracfg.emit.layout import OUT
from dracfg.emit.listing import read as read_standing_file
from dracfg.emit.lock import LockReading, read_lock
from dracfg.emit.tree import plan
from dracfg.judging import Emitted, Judgement, emitted, judge, limited
from dracfg.model.kept import parse_files
from dracfg.passes import Timings, keeping_all
from dracfg.pipeline import Compiled
from dracfg.plan.jointdemand import joint_demands
from dracfg.reading import read
from dracfg.source import Sources
from dracfg.source.seen import Seen


@dataclass(frozen=True, slots=True)
class Amended:
    """A compile whose tree has the units that differ alone; `details` are those of the whole."""

    compiled: Compiled
    details: Details


@keeping_all()
def amend(
    tree: AskedTree,
    last: Last,
    known: KnownFiles,
    seen: Seen,
    *,
    jobs: int = 1,
    today: date | None = None,
    timings: Timings | None = None,
) -> Amended | None:
    """Compiles what changed since the last run; with more than one of `jobs` the tree is hashed meanwhile.

    `known` are the files of that run; `seen` holds what they said, and objects of the tree. None, and
    nothing written, where something else changed than tenants' own numbers and claims, where the tree does
    not stand as that run left it, where anything is wrong, or what they share is not what it was.
    """
    clock = timings or Timings()
    out = tree.root / OUT
    hashed = partial(intact, out) if jobs == 1 else aside(partial(intact, out))
    changed = clock.measure("read", lambda: changed_files(tree, last.notes))
    if not changed:
        return None
    sources = clock.measure("read", lambda: read(tree, seen))
    before = _files_before(sources, known, changed)
    if before is None:
        return None
    documents = [parse_files(one.files.values(), seen).documents for one in (before, sources)]
    only = touched_tenants(before, sources, chain.from_iterable(documents))
    old = None if only is None else catalog_of(documents[0], only)
    if only is None or old is None:
        return None
    said = frozenset(check_tenants(tenants_alone(old, only)))
    others = tuple(one for one in last.details.by_tenant if one not in said)
    judged = judge(
        tree, clock, today=today, seen=seen, sources=sources, only=only, form="both",
        others=others, told=last.details.of_units,
    )  # fmt: skip
    if judged.has_errors or judged.moves or joint_demands(judged.catalog):
        return None
    was = emitted(limited(old, only), judged.standing, before, "both", clock=clock)
    kept = (*others, *(one for one in last.details.of_units if one not in was.findings))
    if {*was.findings} != {*judged.of_units} or any(_points_into(one, changed) for one in kept):
        return None
    locked = clock.measure("read", lambda: read_lock(out))
    if not clock.measure("read", hashed) == last.lock == locked.digest:
        return None
    whole = replace(
        last.details,
        whole=judged.checked.whole,
        by_tenant=(*others, *judged.by_tenant),
    )
    return _patched(out, locked, whole, seen, judged, was, only, clock)


def _points_into(finding: Diagnostic, changed: Collection[str]) -> bool:
    """Whether a finding that is not made anew names a line that may be another one now."""
    spans = (finding.span, *(one.span for one in finding.related))
    return any(span is not None and span.path in changed for span in spans)


def _files_before(now: Sources, known: KnownFiles, changed: Mapping[str, str]) -> Sources | None:
    """The files as the last run read them, those that are the same as the same objects as now."""
    old = {path: known.file(path, digest) for path, digest in changed.items()}
    if now.faults or not all(old.values()) or not changed.keys() <= now.files.keys():
        return None
    return replace(now, files={path: old.get(path) or file for path, file in now.files.items()})


def _patched(
    out: Path,
    locked: LockReading,
    details: Details,
    seen: Seen,
    judged: Judgement,
    was: Emitted,
    only: Collection[str],
    clock: Timings,
) -> Amended | None:
    if locked.lock is None:
        return None
    standing = Tree(
        locked.lock, details.sizes, seen.recorded, lambda path: read_standing_file(f"{out}/{path}")
    )
    before = Emission.of(was.units, was.rendered)
    now = Emission.of(judged.units, judged.rendered)
    try:
        made = clock.measure("emit", lambda: patch(before, now, standing, only))
    except NoPatch:
        return None
    return clock.measure("emit", lambda: _written(out, locked, details, judged, made))


def _written(
    out: Path, locked: LockReading, details: Details, judged: Judgement, made: Patch
) -> Amended | None:
    tree = plan(out, made.units.values(), scope=made.units.__contains__, known=locked)
    if tree.conflicts or tree.strays or tree.lock_content != locked.content:
        return None
    applied = apply(tree)
    files = tuple(made.units.values())
    judgement = replace(judged, units=(), rendered=Rendered(files, made.sizes, made.states))
    sizes = {**details.sizes, **made.sizes}
    left = {path: size for path, size in sizes.items() if path in tree.lock.units}
    compiled = Compiled(judgement, tree, applied, judged.findings)
    return Amended(compiled, replace(details, sizes=left))
