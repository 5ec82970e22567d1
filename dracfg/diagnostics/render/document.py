"""Findings as JSON: the fields that every machine-readable report shares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dracfg.diagnostics.diagnostic import Diagnostic, Waived

SCHEMA_VERSION = 1


def finding_document(finding: Diagnostic) -> dict[str, Any]:
    """One finding; lines and columns count characters from 1, absent values are null."""
    span = finding.span
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "file": span.path if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "endLine": span.end_line if span else None,
        "endColumn": span.end_column if span else None,
        "label": finding.label,
        "related": [
            {
                "file": related.span.path,
                "line": related.span.line,
                "column": related.span.column,
                "label": related.label,
            }
            for related in finding.related
        ],
        "found": finding.found,
        "expected": finding.expected,
        "help": finding.help,
        "fix": finding.fix,
        "waived": _waived(finding.waived),
    }


def _waived(waived: Waived | None) -> dict[str, Any] | None:
    if waived is None:
        return None
    return {"until": waived.until, "reason": waived.reason}


def report(kind: str, verdict: str, findings: Iterable[Diagnostic], **more: Any) -> dict[str, Any]:
    """A report document: `{schemaVersion, kind, verdict, …, findings}`."""
    listed = [finding_document(finding) for finding in findings]
    return {
        "schemaVersion": SCHEMA_VERSION,
        "kind": kind,
        "verdict": verdict,
        **more,
        "findings": listed,
    }
