"""Findings as GitHub Actions annotations: workflow commands in the log of a step.

Source: docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those of
actions/toolkit@packages/core/src/command.ts.
"""

from __future__ import annotations

from collections.abc import Iterable

from dracfg.diagnostics.diagnostic import Diagnostic
from dracfg.diagnostics.registry import rule

_COMMANDS = {"error": "error", "unknown": "warning", "warning": "warning", "note": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render_github(findings: Iterable[Diagnostic]) -> str:
    """One command a finding that is not waived; what is unknown becomes a warning that says so."""
    return "".join(f"{_command(one)}\n" for one in findings if one.waived is None)


def _command(finding: Diagnostic) -> str:
    known = "" if finding.severity != "unknown" else "unknown: "
    properties = {"title": f"{finding.code}: {known}{rule(finding.code).title}"}
    if (span := finding.span) is not None:
        place = {"file": span.path, "line": span.line, "endLine": span.end_line}
        if span.line == span.end_line:
            place |= {"col": span.column, "endColumn": max(span.column, span.end_column - 1)}
        properties = {name: str(value) for name, value in place.items()} | properties
    listed = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items())
    message = finding.message if finding.help is None else f"{finding.message}\n{finding.help}"
    return f"::{_COMMANDS[finding.severity]} {listed}::{message.translate(_DATA)}"
