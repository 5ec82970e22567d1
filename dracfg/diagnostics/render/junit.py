"""Findings as JUnit XML, for CI systems that show nothing else: a suite a file, a case a finding."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from dracfg.diagnostics.diagnostic import Diagnostic
from dracfg.diagnostics.render.concise import render_concise

_FAILING = ("error", "unknown")
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 can't hold, not even as a reference."""


def render_junit(findings: Iterable[Diagnostic]) -> str:
    """Errors and unknowns as failures, waived findings as skipped, others as output of passing cases.

    Without a finding one passing case stands, as some systems take an empty report for a failed run.
    """
    suites: dict[str, list[Diagnostic]] = {}
    for finding in findings:
        suites.setdefault(finding.span.path if finding.span else "-", []).append(finding)
    root = ElementTree.Element("testsuites", name="dracfg")
    for path, found in suites.items():
        suite = _suite(root, path, found)
        for finding in found:
            _case(suite, finding)
    if not suites:
        ElementTree.SubElement(_suite(root, "dracfg", ()), "testcase", name="no findings")
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(
    root: ElementTree.Element, name: str, found: Iterable[Diagnostic]
) -> ElementTree.Element:
    listed = list(found)
    failures = sum(_fails(finding) for finding in listed)
    skipped = sum(finding.waived is not None for finding in listed)
    counts = {"tests": len(listed) or 1, "failures": failures, "skipped": skipped}
    attributes = {"name": _fit(name), **{key: str(value) for key, value in counts.items()}}
    return ElementTree.SubElement(root, "testsuite", attributes)


def _fails(finding: Diagnostic) -> bool:
    return finding.severity in _FAILING and finding.waived is None


def _case(suite: ElementTree.Element, finding: Diagnostic) -> None:
    span = finding.span
    place = f" {span.line}:{span.column}" if span else ""
    attributes = {
        "name": _fit(f"{finding.code}{place} {finding.message}"),
        "classname": finding.code,
        **({"file": _fit(span.path), "line": str(span.line)} if span else {}),
    }
    case = ElementTree.SubElement(suite, "testcase", attributes)
    help_ = f"\n{finding.help}" if finding.help else ""
    if finding.waived is not None:
        reason = f"waived until {finding.waived.until}: {finding.waived.reason}"
        ElementTree.SubElement(case, "skipped", message=_fit(reason))
    elif _fails(finding):
        failure = ElementTree.SubElement(
            case, "failure", message=_fit(finding.message), type=finding.severity
        )
        failure.text = _fit(render_concise([finding]).rstrip("\n") + help_)
    else:
        output = ElementTree.SubElement(case, "system-out")
        output.text = _fit(f"{finding.severity}: {finding.message}{help_}")


def _fit(text: str) -> str:
    return _UNFIT.sub("�", text)
