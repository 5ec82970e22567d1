"""Pages of rules and fields."""

import json
import re

import pytest

from dracfg.cli.main import invoke
from dracfg.diagnostics.registry import rules
from dracfg.diff.change import change_kinds
from dracfg.model.fields import UnknownPath, describe, fields_of, kinds


def test_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "CAP004"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(
        "# CAP004: a profile that its namespace's quota never lets through\n\n"
        "error, level intent, waivable\n\n## What it means\n"
    )
    assert "Mended:" in shown


@pytest.mark.parametrize(
    ("code", "facts"),
    [
        ("SRC006", "error, level intent, not waivable, mended by dracfg check --fix"),
        ("INV022", "error, level inventory, waivable"),
        ("OWN007", "error, level intent, waivable from catalog/ only"),
        ("sel008", "unknown, level intent, waivable"),
    ],
)
def test_the_facts_of_a_rule(code: str, facts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", code]) == 0
    assert capsys.readouterr().out.split("\n")[2] == facts


def test_a_rule_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "CAP004", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    page = document.pop("page")
    assert page.startswith("# CAP004: ")
    assert document == {
        "schemaVersion": 1,
        "kind": "RulePage",
        "code": "CAP004",
        "title": "a profile that its namespace's quota never lets through",
        "severity": "error",
        "level": "intent",
        "family": "capacity",
        "waivable": "anywhere",
        "safeFix": False,
    }


def test_all_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {code}  " in shown for code in rules())
    assert invoke(["explain", "--list"]) == 0
    assert capsys.readouterr().out == shown
    assert invoke(["explain", "--list", "cap00"]) == 0
    listed = capsys.readouterr().out
    assert invoke(["explain", "CAP00"]) == 0
    assert capsys.readouterr().out == listed
    assert invoke(["explain", "CAP00"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[0] == "CAP: capacity"
    assert all(line.startswith("  CAP00") for line in listed[1:])


def test_a_list_of_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "--list", "SHT"]) == 3
    assert "no code is or begins with SHT; did you mean SHR?" in capsys.readouterr().err


def test_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "--search", "Rounds size"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[:2] == ["rules", f"  SHR004  error    {rules()['SHR004'].title}"]
    assert invoke(["explain", "--search", "quota enforces"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("fields\n")
    assert "\n  Tenant.spec.entitlements.limit\n      What quota enforces;" in shown
    assert invoke(["explain", "--search", "lower limit"]) == 0
    assert "\nchanges\n  limit-lowered  a lower limit\n" in capsys.readouterr().out


def test_a_search_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "--search", "quota enforces", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["words"]) == ("SearchResult", ["quota", "enforces"])
    assert "Tenant.spec.entitlements.limit" in [one["path"] for one in document["fields"]]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--search", "zebra giraffe"], "has all of: zebra giraffe"),
        (["--search", "a", "CAP001"], "--search takes the place of a subject"),
        (["--recursive"], "--recursive needs a kind or field"),
        (["--recursive", "Tenent"], "did you mean Tenant?"),
    ],
)
def test_wrong_options(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", *arguments]) == 3
    assert part in capsys.readouterr().err


def test_a_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "--recursive", "Tenant"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "Tenant"
    assert "    entitlements: list of map, default []" in rows
    assert "      sharing: text, default whole" in rows
    assert invoke(["explain", "--recursive", "Tenant.profiles", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["path"]) == ("FieldTree", "Tenant.spec.profiles")
    assert document["fields"][0]["path"] == "Tenant.spec.profiles.name"


@pytest.mark.parametrize("kind", kinds())
def test_every_field_is_in_its_tree(kind: str) -> None:
    listed = [path for path, _ in fields_of(kind)]
    assert len(listed) == len(set(listed))
    for path, field in fields_of(kind):
        assert describe(path).field == field


def test_a_page_in_colour(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "SHR004", "--color", "always"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"\x1b[1;4mSHR004: {rules()['SHR004'].title}\x1b[0m\n\nerror, level")
    assert "\n\n\x1b[1;35mWhat it means\x1b[0m\n\n" in shown
    assert "\n\n\n" not in shown
    assert "##" not in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.split("\n"))) <= 80
    assert invoke(["explain", "SHR004", "--color", "always", "--format", "json"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_field_in_colour(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "Tenant.profiles", "--color", "always"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("\x1b[1mTenant.spec.profiles\x1b[0m: list of map\n")
    assert "\n\x1b[1mname\x1b[0m: text, required\n" in shown


def test_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "tenant"]) == 0
    assert "A team and what it may have." in capsys.readouterr().out


def test_a_field(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "Tenant.spec.entitlements"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Tenant.spec.entitlements: list of map\n")
    assert "\nsharing: text, default whole\n" in shown
    assert "\nguaranteed: whole number or map to whole number, required\n" in shown


def test_a_kind_of_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "limit-lowered"]) == 0
    assert capsys.readouterr().out == (
        "# limit-lowered: a lower limit\n\n"
        "restrictive, felt with the next claim, flag quota\n\n"
        "## What it means\n\nNew claims beyond the limit are refused; nothing is evicted.\n\n"
        "## The way back\n\nRaise the limit again.\n\n"
        "## Given by\n\nTenant.spec.entitlements.limit\n"
    )


def test_a_kind_of_change_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "limit-lowered", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schemaVersion": 1,
        "kind": "ChangePage",
        "name": "limit-lowered",
        "title": "a lower limit",
        "impact": "restrictive",
        "flags": ["quota"],
        "effect": "next claim",
        "means": "New claims beyond the limit are refused; nothing is evicted.",
        "wayBack": "raise the limit again",
        "fields": ["Tenant.spec.entitlements.limit"],
    }


def test_all_kinds_of_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", "changes"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "destructive:"
    assert {line.split()[0] for line in shown if line.startswith("  ")} == change_kinds().keys()
    assert invoke(["explain", "changes", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "ChangeList"
    assert [one["name"] for one in document["changes"]] == list(change_kinds())


@pytest.mark.parametrize(
    ("subject", "part"),
    [
        (
            "XYZ998",
            "there is no code or kind XYZ998; to look for a word: dracfg explain --search XYZ998",
        ),
        ("capo04", "did you mean CAP004?"),
        ("Tenent", "there is no code or kind Tenent; did you mean Tenant?"),
        ("nonsense", "there is no code or kind nonsense"),
        ("tenant-aded", "did you mean tenant-added?"),
        (
            "Tenant.spec.entitlement",
            "Tenant.spec has no key entitlement; did you mean entitlements?",
        ),
        ("Tenant.metadata.title", "Tenant.metadata has no key title; it has name"),
        ("Tenant.metadata.name.x", "Tenant.metadata.name has no key x; it has no keys"),
    ],
)
def test_wrong_use(subject: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["explain", subject]) == 3
    assert part in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "type_", "default", "required"),
    [
        ("Cluster.spec.kubernetes", "1.34 | 1.35 | 1.36 | 1.37", None, True),
        ("Tenant.entitlements.sharing", "text", "whole", False),
        ("SharingPolicy.spec.capacity.min", "text or number", None, True),
        ("SharingPolicy.guarantee", "none | fits | nonBlocking", "fits", False),
        ("SharingPolicy.isolation", "hardware | driver | none", None, False),
        ("SharingPolicy.spec.mode", "exclusive or partitioned or consumable or timeSliced", None, True),
        ("tenant.spec.profiles.requests.count", "whole number", "1", False),
    ],
)  # fmt: skip
def test_fields(path: str, type_: str, default: str | None, required: bool) -> None:
    field = describe(path).field
    assert (field.type, field.default, field.required) == (type_, default, required)


def test_forms_are_told_apart() -> None:
    names = [variant.name for variant in describe("SharingPolicy.spec").variants]
    assert names == ["mode: exclusive", "mode: partitioned", "mode: consumable", "mode: timeSliced"]


def test_an_unknown_path_knows_where_it_ends() -> None:
    with pytest.raises(UnknownPath) as missing:
        describe("Tenant.spec.profiles.nope")
    assert (missing.value.inside, missing.value.name) == ("Tenant.spec.profiles", "nope")
    assert "requests" in missing.value.known
