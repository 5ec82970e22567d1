"""A compile that builds on the last one, and leaves the next one what it can build on."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from dracfg.amending.inputs import names_in
from dracfg.cache.documents import KnownFiles
from dracfg.cache.outcome import Outcome
from dracfg.cache.questions import AskedTree
from dracfg.cache.states import KnownStates
from dracfg.cache.store import Details, Store
from dracfg.cache.tenants import KnownTenants
from dracfg.judging import Judgement, Lines
from dracfg.outcomes import outcome_of
from dracfg.passes import Timings, keeping_all
from dracfg.pipeline import Compiled, compile_repository
from dracfg.source.seen import Seen
from dracfg.terms import Means

if TYPE_CHECKING:
    from dracfg.amending.recollection import Recollection


@keeping_all()
def compile_remembered(
    tree: AskedTree,
    store: Store,
    *,
    check: bool,
    timings: Timings,
    today: date | None,
    by: Means,
) -> tuple[Outcome, Lines]:
    """What the whole repository comes to, and the lines of its files.

    Where some tenants alone changed since the last run, what stands is amended; only for `check`
    everything is worked out. Raises what `compile_repository` raises.
    """
    states = timings.measure("read", lambda: KnownStates.recall(tree.root))
    known = timings.measure("read", lambda: KnownFiles.recall(tree.root))
    seen = Seen(kept=timings.measure("read", lambda: known.kept), recorded=states.pieces)
    last = None if check else timings.measure("read", store.last)
    tenants = None if last is None else timings.measure("read", lambda: store.tenants(last))
    amended = None
    if last is not None and tenants is not None:
        from dracfg.amending.compile import amend  # the first run of a repository needs none of it

        amended = amend(
            tree, last, tenants, known, seen,
            jobs=by.jobs, today=today, timings=timings, inputs=store.inputs, seals=store.seals,
        )  # fmt: skip
    if amended is not None:
        done, details = amended.compiled, amended.details
        outcome = replace(
            outcome_of(done), objects=sum(details.sizes.values()), units=len(details.sizes)
        )
    else:
        done = compile_repository(
            tree, check=check, timings=timings, today=today, seen=seen,
            by=replace(by, form="remembered"),
        )  # fmt: skip
        outcome, details = outcome_of(done), _details(done)
    judged, left = done.judgement, amended.left if amended is not None else None
    if done.tree is not None and done.applied is not None:
        states.remember(judged.rendered.states, done.tree.lock)
        known.remember(judged.sources.files.values(), left.keys() if left is not None else ())
    if done.tree is not None and done.is_settled:
        again = replace(outcome, stale=False, lock_fault=None, moved=())
        store.remember(
            tree.notes.items(),
            done.tree.lock.render(),
            again,
            details,
            _tenants(judged, seen, left),
        )
    return outcome, judged.lines if left is None else left.beside(judged.lines)


def _details(done: Compiled) -> Details:
    judged = done.judgement
    found = judged.checked
    return Details(found.whole, found.by_tenant, judged.of_units, judged.rendered.sizes)


def _tenants(judged: Judgement, seen: Seen, left: Recollection | None) -> KnownTenants:
    """What the next run can know of tenants: what is wrong with them is told by those who are linked."""
    if any(finding.severity == "error" for finding in judged.findings):
        return KnownTenants()
    names = names_in(judged.sources.files.values(), seen)
    known = {} if left is None else left.names
    return KnownTenants({**known, **names}, judged.checked.outlines)
