"""Findings as code hosts and CI systems read them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from dracfg.diagnostics import Diagnostic, Related, Span, Waived, diagnose
from dracfg.diagnostics.render.concise import render_concise
from dracfg.diagnostics.render.document import report
from dracfg.diagnostics.render.fingerprint import fingerprinted
from dracfg.diagnostics.render.github import render_github
from dracfg.diagnostics.render.gitlab import render_gitlab
from dracfg.diagnostics.render.junit import render_junit
from dracfg.diagnostics.render.sarif import render_sarif
from dracfg.diagnostics.render.text import render

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "data" / "sarif" / "sarif-schema-2.1.0.json").read_text()
)
HERE = Span("tenants/vision.yaml", 12, 50, 12, 52)
ERROR = diagnose(
    "CAP003",
    HERE,
    "limit 8 is below 16, 100% of it\npromised",
    related=[Related(Span("tenants/a b.yaml", 3, 1, 4, 9), "")],
    found="8",
    expected="16 or more",
    help="raise it: to 16, or more",
    fix="16",
)
UNKNOWN = diagnose("SEL008", Span("catalog/tiers.yaml", 3, 1, 5, 4), "not judged \x07")
WARNING = diagnose("SEL010", replace(HERE, line=4, end_line=4), "a read")
NOTE = diagnose("INV020", None, "nobody's record")
WAIVED = replace(ERROR, waived=Waived("2027-01-31", "a rack is on its way", HERE))
ALL = (ERROR, UNKNOWN, WARNING, NOTE, WAIVED)


def sarif(findings: Any) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(render_sarif(findings, "0.1.0"))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    return log


def test_concise() -> None:
    assert render_concise([UNKNOWN, NOTE, WAIVED]) == (
        "catalog/tiers.yaml:3:1: SEL008 unknown: not judged \\x07\n"
        "-: INV020 note: nobody's record\n"
    )


def test_github() -> None:
    assert render_github(ALL) == (
        "::error file=tenants/vision.yaml,line=12,endLine=12,col=50,endColumn=51,"
        "title=CAP003%3A a limit below what is guaranteed"
        "::limit 8 is below 16, 100%25 of it%0Apromised%0Araise it: to 16, or more\n"
        "::warning file=catalog/tiers.yaml,line=3,endLine=5,"
        "title=SEL008%3A unknown%3A an expression that is not judged::not judged \x07\n"
        "::warning file=tenants/vision.yaml,line=4,endLine=4,col=50,endColumn=51,"
        "title=SEL010%3A a read without a guard::a read\n"
        "::notice title=INV020%3A a record of no cluster::nobody's record\n"
    )


def test_github_commands_can_not_be_smuggled_in() -> None:
    finding = diagnose(
        "CAP003", Span("a,b:c\n::error::x", 1, 1, 1, 2), "x\n::set-output name=a::b\r\n::debug::y"
    )
    (line,) = render_github([finding]).splitlines()
    assert line.startswith("::error file=a%2Cb%3Ac%0A%3A%3Aerror%3A%3Ax,")


def test_gitlab() -> None:
    entries = json.loads(render_gitlab(ALL))
    assert [(e["check_name"], e["severity"]) for e in entries] == [
        ("CAP003", "critical"),
        ("SEL008", "major"),
        ("SEL010", "minor"),
    ]
    assert entries[1]["description"] == "SEL008: not judged \x07"
    assert entries[1]["location"] == {
        "path": "catalog/tiers.yaml",
        "lines": {"begin": 3, "end": 5},
    }
    assert all(len(entry["fingerprint"]) == 64 for entry in entries)


def test_junit() -> None:
    root = ElementTree.fromstring(render_junit(ALL))
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["tenants/vision.yaml", "catalog/tiers.yaml", "-"]
    vision = suites["tenants/vision.yaml"]
    assert (vision.get("tests"), vision.get("failures"), vision.get("skipped")) == ("3", "1", "1")
    assert [[part.tag for part in case] for case in vision] == [
        ["failure"],
        ["system-out"],
        ["skipped"],
    ]
    skipped = vision[2][0]
    assert skipped.get("message") == "waived until 2027-01-31: a rack is on its way"
    failure = suites["catalog/tiers.yaml"][0][0]
    assert failure.get("type") == "unknown"
    assert failure.get("message") == "not judged �"


def test_junit_of_nothing_is_one_passing_case() -> None:
    root = ElementTree.fromstring(render_junit(()))
    assert [(case.get("name"), len(case)) for case in root.iter("testcase")] == [("no findings", 0)]


def test_sarif() -> None:
    (run,) = sarif(ALL)["runs"]
    rules = [one["id"] for one in run["tool"]["driver"]["rules"]]
    assert rules == ["CAP003", "INV020", "SEL008", "SEL010"]
    error, unknown, warning, note, waived = run["results"]
    assert [rules[one["ruleIndex"]] == one["ruleId"] for one in run["results"]] == [True] * 5
    assert (error["kind"], error["level"]) == ("fail", "error")
    assert (unknown["kind"], unknown["level"]) == ("open", "none")
    assert warning["level"] == "warning"
    assert (note["level"], "locations" in note) == ("note", False)
    assert error["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "tenants/vision.yaml", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 12, "startColumn": 50, "endLine": 12, "endColumn": 52},
            }
        }
    ]
    (related,) = error["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "tenants/a%20b.yaml"
    (change,) = error["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "16"}
    assert "suppressions" not in error
    assert waived["suppressions"] == [
        {"kind": "inSource", "justification": "until 2027-01-31: a rack is on its way"}
    ]


def test_sarif_of_nothing_is_a_run() -> None:
    assert sarif(())["runs"][0]["results"] == []


def test_the_schema_of_sarif_can_refuse() -> None:
    log = json.loads(render_sarif([ERROR], "0.1.0"))
    log["runs"][0]["results"][0]["level"] = "unknown"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SCHEMA).validate(log)


def test_a_fingerprint_outlives_moved_lines() -> None:
    moved = replace(ERROR, span=replace(HERE, line=90, end_line=90))
    (_, before), (_, twin) = fingerprinted([ERROR, ERROR])
    ((_, after),) = fingerprinted([moved])
    ((_, other),) = fingerprinted([replace(ERROR, message="another")])
    assert before == after
    assert len({before, twin, other}) == 3


def test_json_keeps_what_is_waived() -> None:
    first, last = report("CheckReport", "proven", [ERROR, WAIVED])["findings"]
    assert first["waived"] is None
    assert last["waived"] == {"until": "2027-01-31", "reason": "a rack is on its way"}


@pytest.mark.parametrize("renderer", [render_concise, render_github])
def test_what_is_waived_is_not_shown(renderer: Callable[[list[Diagnostic]], str]) -> None:
    assert renderer([WAIVED]) == ""
    assert render([WAIVED], lambda _: [], colour=False) == ""


def test_what_is_waived_is_no_error() -> None:
    assert ERROR.is_error
    assert not WAIVED.is_error
