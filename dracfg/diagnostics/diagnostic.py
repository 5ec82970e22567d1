"""What a finding is. Knows no renderer; severities come from the registry of rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.diagnostics.registry import rule
from dracfg.diagnostics.span import Span

Severity = Literal["error", "warning", "unknown", "note"]

_RANK: dict[Severity, int] = {"error": 0, "unknown": 1, "warning": 2, "note": 3}


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that makes the first one wrong."""

    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Waived:
    """Why a finding does not count: a comment in the sources says so until a day (YYYY-MM-DD)."""

    until: str
    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `message` names the thing and what is wrong with it; `help` says what to do.

    `label` stands under the caret. `found` and `expected` are values as a person would write
    them. `fix` is the text that would replace the span where the mend is mechanical. A `waived`
    finding is kept in reports and counts for nothing else.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    label: str = ""
    related: tuple[Related, ...] = ()
    found: str | None = None
    expected: str | None = None
    help: str | None = None
    fix: str | None = None
    waived: Waived | None = None

    @property
    def is_error(self) -> bool:
        return self.severity == "error" and self.waived is None

    @property
    def has_safe_fix(self) -> bool:
        """Whether the fix keeps the meaning: its rule says so, or it puts what was found in quotes."""
        quoted = self.found is not None and self.fix == f'"{self.found}"'
        return self.fix is not None and (quoted or rule(self.code).safe_fix)


def diagnose(
    code: str,
    span: Span | None,
    message: str,
    *,
    label: str = "",
    related: Iterable[Related] = (),
    found: str | None = None,
    expected: str | None = None,
    help: str | None = None,  # noqa: A002  the field's name in every machine-readable form
    fix: str | None = None,
) -> Diagnostic:
    """A finding of the rule `code`, with the severity that the registry gives it."""
    return Diagnostic(
        code=code,
        severity=rule(code).severity,
        message=message,
        span=span,
        label=label,
        related=tuple(related),
        found=found,
        expected=expected,
        help=help,
        fix=fix,
    )


def sort_key(finding: Diagnostic) -> tuple[str, int, int, int, str, str]:
    """The order in which findings are shown: file, line, column, then severity, code, message."""
    span = finding.span or Span("")
    rank = _RANK[finding.severity]
    return (span.path, span.line, span.column, rank, finding.code, finding.message)
