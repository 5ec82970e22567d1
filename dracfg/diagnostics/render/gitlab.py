"""Findings as a GitLab code quality report.

Source: docs.gitlab.com, "Code Quality", "Code Quality report format".
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from dracfg.diagnostics.diagnostic import Diagnostic
from dracfg.diagnostics.render.fingerprint import fingerprinted

_SEVERITIES = {"error": "critical", "unknown": "major", "warning": "minor", "note": "info"}


def render_gitlab(findings: Iterable[Diagnostic]) -> str:
    """A JSON list, one entry a finding that has a place and is not waived."""
    entries = [
        {
            "description": f"{finding.code}: {finding.message}",
            "check_name": finding.code,
            "fingerprint": print_,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": finding.span.path,
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
            },
        }
        for finding, print_ in fingerprinted(findings)
        if finding.span is not None and finding.waived is None
    ]
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
