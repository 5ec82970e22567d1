"""Two states of a repository, judged by what the last run knew of tenants that are the same in all three.

Files of these tenants are held against what that run read, and neither understood nor linked. So are only
those that differ between any two of base, head and last run, and those of their partners.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from hashlib import sha256
from pathlib import Path

from dracfg.allocate import Inventory
from dracfg.amending.recollection import Forgotten, Recollection, known_file
from dracfg.amending.states import catalog_of_some
from dracfg.cache.documents import KnownFiles
from dracfg.cache.questions import Question
from dracfg.cache.states import KnownStates
from dracfg.cache.store import Details, Last, Store
from dracfg.cache.tenants import KnownTenants
from dracfg.check.catalog import check_tenants, tenants_alone
from dracfg.checking import Checked, check_all
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diff.pair import Pair
from dracfg.diff.states import State, judge_states, pair_of
from dracfg.diff.told import Told, documents_of, has_digest
from dracfg.diff.touched import differing_tenants, tells_all, touched
from dracfg.judging import judge
from dracfg.link.catalog import Catalog
from dracfg.link.partners import partners
from dracfg.model.kept import parse_files
from dracfg.model.kinds import AnyDocument, Tenant
from dracfg.passes import Timings, keeping_all
from dracfg.pipeline import OUT, InventoryFile
from dracfg.reading import read
from dracfg.source import SourceFile, Sources
from dracfg.source.records import Record
from dracfg.source.seen import Seen
from dracfg.source.shared import shared_files
from dracfg.terms import Extent, Means, Rules


@dataclass(frozen=True, slots=True)
class LastRun:
    """What the last run asked and found, knew of tenants, and its files."""

    last: Last
    tenants: KnownTenants
    known: KnownFiles


@dataclass(frozen=True, slots=True)
class _Files:
    """Files of both states and of the last run that were read; those that are the same are the same objects.

    `only` are the tenants that can differ between the states, `apart` those that can between any two of the
    three; `left` is all that was not read.
    """

    base: Sources
    head: Sources
    last: Sources
    only: frozenset[str]
    apart: frozenset[str]
    left: Recollection


def judge_pair(
    root: Path,
    base: State,
    head: State,
    inventories: Sequence[InventoryFile] = (),
    *,
    timings: Timings | None = None,
    today: date | None = None,
) -> Pair:
    """Both states as `diff.states.judge_states` has them, with what the last run at `root` left."""
    clock = timings or Timings()
    known, states = clock.measure(
        "read", lambda: (KnownFiles.recall(root), KnownStates.recall(root))
    )
    seen = Seen(kept=known.kept, recorded=states.pieces)
    store = Store(root, OUT, (str(None),))
    last = clock.measure("read", store.last)
    tenants = None if last is None else clock.measure("read", lambda: store.tenants(last))
    whole = False
    if last is not None and tenants is not None:
        run = LastRun(last, tenants, known)
        try:
            pair = judge_recalled(
                base, head, run, inventories, timings=clock, today=today, seen=seen
            )
        except Forgotten:
            pass
        else:
            if pair is not None:
                return pair
            whole = True
    told = None if last is None else _told(last)
    return judge_states(
        base, head, inventories,
        timings=clock, today=today, seen=seen, told=told, whole=whole,
    )  # fmt: skip


@keeping_all()
def judge_recalled(
    base: State,
    head: State,
    run: LastRun,
    inventories: Sequence[InventoryFile] = (),
    *,
    timings: Timings | None = None,
    today: date | None = None,
    seen: Seen | None = None,
) -> Pair | None:
    """Both states as `diff.states.judge_states` has them; None where they have to be judged whole.

    Raises Forgotten where more differs than tenants, or what the run knew is not at hand.
    """
    clock, known = timings or Timings(), seen or Seen()
    files = clock.measure("read", lambda: _read(base, head, run, known))
    details = run.last.details
    others = clock.measure("check", lambda: _of_others(details, files, known))
    told = _told(run.last)

    def rules(sources: Sources) -> Rules:
        return told.rules if sources.files == files.last.files else partial(_rules, files.apart)

    extent = Extent(files.only, others)
    before = judge(
        base.tree, clock, inventories,
        seen=known, may_be_empty=True, sources=files.base, extent=extent,
        by=Means(rules=rules(files.base), linker=files.left.link),
    )  # fmt: skip
    after = judge(
        head.tree, clock, inventories,
        today=today, since=before.standing, seen=known, sources=files.head, extent=extent,
        by=Means(
            rules=rules(files.head), linker=partial(files.left.link, since=before.catalog)
        ),
    )  # fmt: skip
    pair = pair_of(base, before, head, after)
    return pair if tells_all(pair, files.only) else None


def _rules(
    apart: frozenset[str],
    catalog: Catalog,
    inventories: Mapping[str, Inventory],
    records: Mapping[str, Sequence[Record]],
    today: date | None,
    _only: Collection[str] | None,
    meanwhile: Callable[[], None],
) -> Checked:
    """What rules find but of those whom the last run can be asked about."""
    return check_all(catalog, inventories, records, today, apart, meanwhile)


def _of_others(details: Details, files: _Files, seen: Seen) -> tuple[Diagnostic, ...]:
    """What the last run found of tenants one by one that are the same in all three. Raises Forgotten."""
    catalog = catalog_of_some(files.last, files.left, files.apart, seen)
    if catalog is None:
        raise Forgotten("of two tenants of a name one was known")
    said = frozenset(check_tenants(tenants_alone(catalog, files.apart)))
    return tuple(finding for finding in details.by_tenant if finding not in said)


def _read(base: State, head: State, run: LastRun, seen: Seen) -> _Files:
    """Reads what isn't the same in both states and in the last run. Raises Forgotten."""
    digests = documents_of(_digests(run.last.notes))
    same = frozenset(_same(base, head, run.tenants.files, digests))
    gone = run.tenants.files.keys() - same
    left = Recollection.of(run.tenants, run.last.notes, gone, run.known, seen)
    before, now = sides = [read(one.tree, seen, left_out=left.names) for one in (base, head)]
    if before.faults or now.faults:
        raise Forgotten("not every file can be read")
    last = _last(sides, {path: one for path, one in digests.items() if path not in same}, run, seen)
    moved, was, has = (_differing(*two) for two in ((before, now), (last, before), (last, now)))
    every = [file for one in (before, now, last) for file in one.files.values()]
    documents = parse_files(every, seen).documents
    trading = [*_partners(documents), *left.partners()]
    only, apart = touched(moved, trading), touched(moved | was | has, trading)
    rest, more = left.without(apart)
    return _Files(_with(before, more), _with(now, more), _with(last, more), only, apart, rest)


def _same(
    base: State, head: State, paths: Collection[str], digests: Mapping[str, str]
) -> Iterator[str]:
    """The paths at which both states have what the last run read."""
    for path, data in shared_files(base.tree, head.tree, paths):
        if digests.get(path) == sha256(data).hexdigest():
            yield path


def _last(
    sides: Sequence[Sources], digests: Mapping[str, str], run: LastRun, seen: Seen
) -> Sources:
    """Files as the last run read them, those of `digests` alone. Raises Forgotten."""

    def file(path: str, digest: str) -> SourceFile:
        found = (side.files[path] for side in sides if path in side.files)
        same = next((one for one in found if has_digest(one, digest)), None)
        return same or known_file(run.known, seen, path, digest)

    return replace(sides[0], files={path: file(path, one) for path, one in digests.items()})


def _differing(before: Sources, after: Sources) -> frozenset[str]:
    """Tenants whose documents are not the same in two states. Raises Forgotten."""
    found = differing_tenants(before, after)
    if found is None:
        raise Forgotten("more differs than tenants")
    return found


def _partners(documents: Collection[AnyDocument]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for one in documents:
        if isinstance(one, Tenant):
            yield one.name, partners(one)


def _with(sources: Sources, more: Mapping[str, SourceFile]) -> Sources:
    return replace(sources, files=dict(sorted({**sources.files, **more}.items())))


def _told(last: Last) -> Told:
    return Told(_digests(last.notes), Checked(last.details.whole, last.details.by_tenant))


def _digests(notes: Mapping[Question, str]) -> dict[str, str]:
    """SHA-256 of the files that a run read, by path."""
    return {question[1]: digest for question, digest in notes.items() if question[0] == "read"}
