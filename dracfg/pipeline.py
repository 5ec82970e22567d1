"""The passes from YAML to a tree, in order; the one way through dracfg for the command line and Python.

Passes are data: timings, documentation and tests name them by the same tuple. Errors don't end a
run: each pass judges what the ones before could make sense of.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, sort_key
from dracfg.emit.apply import AppliedTree, apply
from dracfg.emit.errors import TreeError
from dracfg.emit.findings import tree_findings
from dracfg.emit.layout import OUT
from dracfg.emit.tree import TreePlan, plan
from dracfg.inventories import InventoryFile
from dracfg.judging import Judgement, judge
from dracfg.lower.units import RETIRED
from dracfg.passes import PIPELINE, Timings, keeping_all, timings_table
from dracfg.refusals import NoRepository, NothingRead, OutOfScope
from dracfg.scope import Scope, blocked_units
from dracfg.source.seen import Seen
from dracfg.source.tree import Tree
from dracfg.terms import TO_FILES, Means


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
def compile_repository(
    root: Path | Tree,
    *,
    scope: Scope | None = None,
    check: bool = False,
    keep_going: bool = False,
    timings: Timings | None = None,
    today: date | None = None,
    seen: Seen | None = None,
    by: Means = TO_FILES,
) -> Compiled:
    """Compiles the repository at `root` into the `out` of its folder.

    With `check` nothing is written. With an error nothing is written either, unless `keep_going`:
    then units that no error touches are written and the others stay as they stand. Raises
    NoRepository, NothingRead, OutOfScope and `emit.errors.TreeError`.
    """
    clock = timings or Timings()
    judgement = judge(root, clock, today=today, seen=seen, by=by)
    out = judgement.root / OUT
    wanted = scope or Scope()
    if judgement.has_errors and not keep_going:
        return Compiled(judgement, None, None, judgement.findings)
    blocked = blocked_units(
        judgement.catalog,
        judgement.documents,
        judgement.findings,
        judgement.poisoned,
        judgement.sources,
    )

    def in_scope(path: str) -> bool:
        return wanted.holds(path) and not blocked(path)

    tree = clock.measure("emit", lambda: plan(out, judgement.rendered.files, scope=in_scope))
    if unmatched := tuple(wanted.unmatched({*_places(judgement), *tree.standing.units})):
        raise OutOfScope(unmatched)
    met = tree_findings(tree)
    findings = tuple(sorted((*judgement.findings, *met), key=sort_key))
    if check or any(finding.is_error for finding in met):
        return Compiled(judgement, tree, None, findings)
    applied = clock.measure("emit", lambda: apply(tree, stage=by.stage))
    return Compiled(judgement, tree, applied, findings)


def _places(judgement: Judgement) -> Iterator[str]:
    """The path of every unit, and of each tenant's on its clusters, though nothing be left of it."""
    yield from judgement.rendered.sizes
    for tenant in judgement.catalog.tenants.values():
        yield from (f"{cluster}/tenants/{tenant.name}" for cluster in tenant.clusters)
    yield from (f"-/tenants/{name}" for kind, name in judgement.poisoned if kind == "Tenant")


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
