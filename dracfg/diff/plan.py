"""The diff as a whole: every comparison over a pair, worst first, and the illegal steps among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, sort_key
from dracfg.diff.capacity import CapacityRow, capacity_rows
from dracfg.diff.causes import folded
from dracfg.diff.change import Change, Impact, order
from dracfg.diff.classes import class_changes
from dracfg.diff.documents import compare_documents
from dracfg.diff.drivers import driver_changes
from dracfg.diff.emitted import emitted_differences
from dracfg.diff.gates import gate_changes
from dracfg.diff.handovers import handovers
from dracfg.diff.jointproofs import joint_proof_changes
from dracfg.diff.kueue import kueue_changes
from dracfg.diff.limits import effective_limits
from dracfg.diff.matches import match_changes
from dracfg.diff.metadata import metadata_changes, metadata_steps
from dracfg.diff.minors import minor_changes
from dracfg.diff.objects import (
    ObjectDifference,
    changed_objects,
    unexplained,
    unit_differences,
)
from dracfg.diff.pair import Comparison, Pair, Side, Transition
from dracfg.diff.policies import policy_changes
from dracfg.diff.proofs import proof_changes
from dracfg.diff.protection import protection_changes
from dracfg.diff.roles import role_changes
from dracfg.diff.rolloutsteps import rollout_companions, rollout_steps
from dracfg.diff.shown import Shown
from dracfg.diff.templates import template_changes
from dracfg.diff.transitions import (
    minor_steps,
    name_steps,
    pool_steps,
    template_steps,
    tenant_steps,
)
from dracfg.diff.workloads import with_users
from dracfg.emit.layout import OUT

COMPARISONS: Sequence[Comparison] = (
    compare_documents,
    class_changes,
    effective_limits,
    match_changes,
    proof_changes,
    joint_proof_changes,
    template_changes,
    policy_changes,
    driver_changes,
    minor_changes,
    gate_changes,
    kueue_changes,
    handovers,
    protection_changes,
    role_changes,
    metadata_changes,
)
TRANSITIONS: Sequence[Transition] = (
    tenant_steps,
    pool_steps,
    name_steps,
    template_steps,
    minor_steps,
    rollout_steps,
    rollout_companions,
    metadata_steps,
)

_LEFT_GIT, _RIGHTS_LEFT = "DIF002", "TEN019"

Verdict = Literal["proven", "refuted", "unknown"]


@dataclass(frozen=True, slots=True)
class EndState:
    """One of both states as a plan names it: `findings` are those that the plan has to tell.

    They are the errors that keep it from compiling, and for the later state what is new in it.
    """

    name: str
    commit: str | None = None
    findings: tuple[Diagnostic, ...] = ()

    @property
    def compiles(self) -> bool:
        return not any(finding.is_error for finding in self.findings)


@dataclass(frozen=True, slots=True)
class DiffPlan:
    """What a diff found; `forbidden` are illegal transitions, `objects` what is behind the changes."""

    base: EndState
    head: EndState
    changes: tuple[Change, ...]
    forbidden: tuple[Diagnostic, ...] = ()
    capacity: tuple[CapacityRow, ...] = ()
    objects: tuple[ObjectDifference, ...] = ()
    shown: Shown | None = field(default=None, compare=False, repr=False)
    """What it was found on, for pictures; None where one side is a cluster or a tree of objects."""

    @property
    def faults(self) -> tuple[Diagnostic, ...]:
        """The errors of a side that does not compile."""
        found = (*self.base.findings, *self.head.findings)
        return tuple(finding for finding in found if finding.is_error)

    @property
    def max_impact(self) -> Impact:
        """The worst impact; none without a change."""
        return max((found.impact for found in self.changes), default=Impact.NONE)

    @property
    def verdict(self) -> Verdict:
        """refuted where a step is illegal or a side does not compile, unknown with a new unknown."""
        if self.forbidden or self.faults:
            return "refuted"
        is_open = any(finding.severity == "unknown" for finding in self.head.findings)
        return "unknown" if is_open else "proven"


def compare(pair: Pair) -> DiffPlan:
    """Every change in meaning between the two sides of a pair."""
    compared = {found for comparison in COMPARISONS for found in comparison(pair)}
    changes = set(with_users(pair, compared))
    moved = tuple(unit_differences(pair))
    emitted = tuple(_emitted(pair, moved))
    changes |= set(changed_objects((*unexplained(moved, changes), *emitted)))
    forbidden = {found for transition in TRANSITIONS for found in transition(pair)}
    told = frozenset(detail for found in changes for detail in found.details)
    return DiffPlan(
        _end(pair.base, _errors(pair.base)),
        _end(pair.head, (*_errors(pair.head), *_untold(_new(pair), told, forbidden))),
        sorted_changes(folded(changes)),
        tuple(sorted(forbidden, key=sort_key)),
        capacity_rows(pair),
        (*moved, *emitted),
        Shown(pair),
    )


def _emitted(pair: Pair, moved: Iterable[ObjectDifference]) -> Iterator[ObjectDifference]:
    before, after = pair.base.tree, pair.head.tree
    if before is None or after is None:
        return
    explained = {(one.cluster, one.key) for one in moved}
    for one in emitted_differences(before, after, explained):
        if not pair.blocked(one.unit):
            yield one


def sorted_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The worst first."""
    return tuple(sorted(changes, key=order))


def _end(side: Side, findings: Iterable[Diagnostic]) -> EndState:
    return EndState(side.name, side.commit, tuple(sorted(findings, key=sort_key)))


def _errors(side: Side) -> tuple[Diagnostic, ...]:
    return tuple(finding for finding in side.judgement.findings if finding.is_error)


def _new(pair: Pair) -> Iterator[Diagnostic]:
    """What the head has to be told of beside errors, and the base had not, wherever it stood."""
    known = Counter(_said(finding) for finding in pair.base.judgement.findings)
    for finding in pair.head.judgement.findings:
        if finding.is_error or finding.waived is not None or finding.severity == "note":
            continue
        if known[_said(finding)]:
            known[_said(finding)] -= 1
        else:
            yield finding


def _untold(
    findings: Iterable[Diagnostic], details: frozenset[str], forbidden: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """Findings that neither a change of a proof nor an illegal step says already."""
    leaves = any(step.code == _LEFT_GIT for step in forbidden)
    for finding in findings:
        if f"{finding.code}: {finding.message}" in details:
            continue
        # Of a tenant that the head does not have: the step out of git tells it whole.
        at_output = finding.span is not None and finding.span.path.startswith(f"{OUT}/")
        if not (leaves and at_output and finding.code == _RIGHTS_LEFT):
            yield finding


def _said(finding: Diagnostic) -> tuple[str, str]:
    return finding.code, finding.message
