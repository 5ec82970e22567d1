"""A diff as findings, for the forms of hosts that know nothing else: SARIF, annotations, JUnit."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.diff.change import Change, Impact
from dracfg.diff.plan import DiffPlan

_CODES = {
    Impact.ADDITIVE: "DIF030",
    Impact.NEW_CLAIMS: "DIF031",
    Impact.RESTRICTIVE: "DIF032",
    Impact.DISRUPTIVE: "DIF033",
    Impact.DESTRUCTIVE: "DIF034",
}


def as_findings(plan: DiffPlan) -> tuple[Diagnostic, ...]:
    """Illegal steps and errors as they are, then every change that somebody feels.

    A change to what is gone has no place: the later state has no such line.
    """
    changes = (_finding(found) for found in plan.changes if found.impact in _CODES)
    told = (*plan.forbidden, *plan.base.findings, *plan.head.findings)
    return (*dict.fromkeys((*told, *changes)),)


def _finding(found: Change) -> Diagnostic:
    return diagnose(
        _CODES[found.impact],
        None if found.gone else found.span,
        "".join(_message(found)),
        found=found.before,
        expected=None,
        help=f"{found.kind.means} Way back: {found.way_back}",
    )


def _message(found: Change) -> Iterator[str]:
    yield ", ".join(filter(None, (found.tenant, found.object)))
    if found.cluster is not None:
        yield f" on {found.cluster}"
    yield f": {found.kind.title}"
    values = [value for value in (found.before, found.after) if value is not None]
    if values:
        yield f" ({' -> '.join(values)})"
