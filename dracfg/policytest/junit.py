"""A TestReport as JUnit XML, one suite a cluster. Made from the document alone.

Source: the format that Jenkins and GitLab read (testmoapp/junitxml).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

NOT_IN_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32)))


def junit(report: Mapping[str, Any]) -> str:
    """The XML text. A test whose verdict is unknown is an error rather than a failure."""
    suites: dict[str, list[Mapping[str, Any]]] = {}
    for result in report["results"]:
        suites.setdefault(result["cluster"], []).append(result)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for name, results in suites.items():
        failed = sum(not one["passed"] and one["actual"] != "unknown" for one in results)
        unknown = sum(not one["passed"] and one["actual"] == "unknown" for one in results)
        lines.append(
            f"  <testsuite name={_attribute(name)} tests={_attribute(len(results))} "
            f"failures={_attribute(failed)} errors={_attribute(unknown)}>"
        )
        for result in results:
            lines += _case(result)
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _case(result: Mapping[str, Any]) -> list[str]:
    head = (
        f"    <testcase name={_attribute(result['name'])} "
        f"classname={_attribute(result['file'] or result['cluster'])}"
    )
    if result["passed"]:
        return [f"{head}/>"]
    tag = "error" if result["actual"] == "unknown" else "failure"
    rule = f" {result['rule']}" if result["rule"] else ""
    text = f"expected {result['expected']}, was {result['actual']}{rule}"
    body = escape(result["message"].translate(NOT_IN_XML))
    return [
        f"{head}>",
        f"      <{tag} message={_attribute(text)}>{body}</{tag}>",
        "    </testcase>",
    ]


def _attribute(value: object) -> str:
    return quoteattr(str(value).translate(NOT_IN_XML))
