"""Findings as SARIF 2.1.0, which code hosts show beside the lines that they are about.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from dracfg.diagnostics.diagnostic import Diagnostic
from dracfg.diagnostics.pages import page
from dracfg.diagnostics.registry import Rule, rule
from dracfg.diagnostics.render.fingerprint import fingerprinted
from dracfg.diagnostics.span import Span

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {"error": "error", "warning": "warning", "note": "note", "unknown": "none"}
_ROOT = "%SRCROOT%"


def render_sarif(findings: Iterable[Diagnostic], version: str) -> str:
    """One run of dracfg `version`; what is unknown is an `open` result, what is waived is suppressed."""
    listed = tuple(findings)
    codes = sorted({finding.code for finding in listed})
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "dracfg",
                        "semanticVersion": version,
                        "rules": [_rule(rule(code)) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, print_, codes) for one, print_ in fingerprinted(listed)],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(known: Rule) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": known.code,
        "shortDescription": {"text": known.title},
        "defaultConfiguration": {"level": _LEVELS[known.severity]},
        "properties": {"family": known.family.title, "level": known.level},
    }
    if (text := page(known.code)) is not None:
        described["help"] = {"text": text, "markdown": text}
    return described


def _result(finding: Diagnostic, print_: str, codes: Sequence[str]) -> dict[str, Any]:
    said = [finding.message, *([finding.help] if finding.help else [])]
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "kind": "open" if finding.severity == "unknown" else "fail",
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join(said)},
        "partialFingerprints": {"dracfg/v1": print_},
    }
    if finding.span is not None:
        result["locations"] = [_location(finding.span)]
    if finding.related:
        result["relatedLocations"] = [
            {"id": i, **_location(related.span), "message": {"text": related.label or "see here"}}
            for i, related in enumerate(finding.related)
        ]
    if finding.fix is not None and finding.span is not None:
        result["fixes"] = [_fix(finding.span, finding.fix)]
    if finding.waived is not None:
        reason = f"until {finding.waived.until}: {finding.waived.reason}"
        result["suppressions"] = [{"kind": "inSource", "justification": reason}]
    return result


def _location(span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": _artifact(span), "region": _region(span)}}


def _artifact(span: Span) -> dict[str, Any]:
    return {"uri": quote(span.path), "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(span: Span, text: str) -> dict[str, Any]:
    replacement = {"deletedRegion": _region(span), "insertedContent": {"text": text}}
    return {
        "artifactChanges": [{"artifactLocation": _artifact(span), "replacements": [replacement]}]
    }
