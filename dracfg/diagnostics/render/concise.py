"""Findings one a line, as compilers write them: for editors, grep and short logs."""

from __future__ import annotations

from collections.abc import Iterable

from dracfg.diagnostics.diagnostic import Diagnostic
from dracfg.diagnostics.render.plain import plain


def render_concise(findings: Iterable[Diagnostic]) -> str:
    """One line a finding: `tenants/vision.yaml:23:66: CAP001 error: …`; waived ones are left out."""
    shown = (finding for finding in findings if finding.waived is None)
    rows = [f"{f.span or '-'}: {f.code} {f.severity}: {plain(f.message)}" for f in shown]
    return "\n".join(rows) + "\n" if rows else ""
