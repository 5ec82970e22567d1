"""The JSON document of a diff, and the schema that is its contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dracfg.cli.main import invoke
from dracfg.diagnostics import Related, Span, diagnose
from dracfg.diff.capacity import CapacityRow, Figures
from dracfg.diff.change import Impact, change, change_kinds
from dracfg.diff.document import diff_document, diff_schema, document_text
from dracfg.diff.narrowing import narrow, unmatched
from dracfg.diff.objects import ObjectDifference
from dracfg.diff.plan import DiffPlan, EndState
from dracfg.kube.objects import ObjectKey
from dracfg.kube.quantity import Quantity

ROOT = Path(__file__).parents[3]
KEY = ObjectKey("v1", "ResourceQuota", "n", "q")
SPAN = Span("tenants/a.yaml", 3, 5, 3, 9)


def figures(amount: str) -> Figures:
    return Figures(*(Quantity.parse(amount) for _ in range(4)))


@pytest.fixture
def plan() -> DiffPlan:
    """Something of everything that a plan can hold."""
    related = (Related(SPAN, "the other place"),)
    wrong = diagnose("OBJ004", SPAN, "wrong", related=related, found="a", expected="b", help="c")
    changes = (
        change(
            "object-removed", "Quota q", "there", None,
            cluster="west", tenant="a", namespaces=["n"], span=SPAN, gone=True,
            details=["d"], workloads=["n/pod"], flags=["quota"],
        ),
        change("object-added", "Quota r", None, "there", cluster="east", impact=Impact.ADDITIVE),
        change("object-changed", "Class c", "1", "2", tenant="b"),
    )  # fmt: skip
    rows = (
        CapacityRow("west", "l40s", ("l40s",), "memory", figures("40Gi"), None),
        CapacityRow("east", "l40s", ("l40s",), "devices", None, figures("4")),
    )
    return DiffPlan(
        EndState("base", "0" * 40, (wrong,)),
        EndState("head", None, (diagnose("SRC015", None, "void"),)),
        changes,
        (wrong,),
        rows,
        (
            ObjectDifference("west", KEY, "west/tenants/a", {"spec": {"x": 1}}, {"spec": {}}),
            ObjectDifference("west", KEY, "west/guard", None, {"spec": {}}),
        ),
    )


def test_the_schema_holds_for_what_is_written(plan: DiffPlan) -> None:
    validator = jsonschema.Draft7Validator(diff_schema())
    for one in (plan, DiffPlan(EndState("a"), EndState("b"), ())):
        for full in (False, True):
            document = diff_document(one, full=full)
            assert [fault.message for fault in validator.iter_errors(document)] == []


def test_the_schema_is_strict_about_every_key(plan: DiffPlan) -> None:
    """Whatever key is left out, the schema misses it."""
    validator = jsonschema.Draft7Validator(diff_schema())
    whole = diff_document(plan, full=True)
    missed = [path for path, less in without_each_key(whole) if validator.is_valid(less)]
    assert missed == [".objects"]


def without_each_key(value: Any, path: str = "") -> list[tuple[str, Any]]:
    found = []
    if isinstance(value, dict):
        if path.rpartition(".")[2] == "waived":
            return []
        for key in value:
            found.append((f"{path}.{key}", {k: v for k, v in value.items() if k != key}))
            found += [
                (below, {**value, key: less})
                for below, less in without_each_key(value[key], f"{path}.{key}")
            ]
    elif isinstance(value, list):
        for i, item in enumerate(value):
            found += [
                (below, [*value[:i], less, *value[i + 1 :]])
                for below, less in without_each_key(item, f"{path}[{i}]")
            ]
    return found


def test_the_schema_is_itself_sound() -> None:
    jsonschema.Draft7Validator.check_schema(diff_schema())


def test_the_written_schema_is_this_one() -> None:
    assert invoke(["schema", "DiffPlan", "--out", str(ROOT / "schemas"), "--check"]) == 0


def test_the_documents_fields(plan: DiffPlan) -> None:
    document = diff_document(plan)
    assert (document["verdict"], document["maxImpact"]) == ("refuted", "destructive")
    assert document["base"] == {"name": "base", "commit": "0" * 40, "compiles": False}
    assert document["head"] == {"name": "head", "commit": None, "compiles": True}
    first = document["changes"][0]
    kind = change_kinds()["object-removed"]
    assert first == {
        "kind": "object-removed",
        "impact": "destructive",
        "flags": ["quota"],
        "cluster": "west",
        "tenant": "a",
        "object": "Quota q",
        "before": "there",
        "after": None,
        "effect": "sync",
        "wayBack": kind.way_back,
        "title": kind.title,
        "means": kind.means,
        "namespaces": ["n"],
        "workloads": ["n/pod"],
        "details": ["d"],
        "file": "tenants/a.yaml",
        "line": 3,
        "column": 5,
        "gone": True,
    }
    assert [(f["side"], f["code"]) for f in document["findings"]] == [
        ("base", "OBJ004"),
        ("head", "SRC015"),
    ]
    assert document["capacity"][0]["before"]["usable"] == "40Gi"
    assert document["capacity"][0]["after"] is None


def test_objects_are_only_in_a_full_document(plan: DiffPlan) -> None:
    assert "objects" not in diff_document(plan)
    first, second = diff_document(plan, full=True)["objects"]
    assert first["fields"] == [{"path": "spec.x", "before": 1, "after": None}]
    assert (first["object"], first["tenant"], first["how"]) == (
        "ResourceQuota q in n",
        "a",
        "changed",
    )
    assert (second["tenant"], second["how"], second["fields"]) == (None, "added", [])


@pytest.mark.parametrize(
    ("findings", "forbidden", "verdict"),
    [
        ((), (), "proven"),
        (("SRC015",), (), "proven"),
        (("OBJ004",), (), "refuted"),
        ((), ("OBJ004",), "refuted"),
    ],
)
def test_verdicts(findings: tuple[str, ...], forbidden: tuple[str, ...], verdict: str) -> None:
    found, wrong = (
        tuple(diagnose(code, None, "x") for code in codes) for codes in (findings, forbidden)
    )
    assert DiffPlan(EndState("a"), EndState("b", findings=found), (), wrong).verdict == verdict


def test_text_of_every_writing_system_stays_itself() -> None:
    text = document_text({"a": "größe 測試"})
    assert json.loads(text) == {"a": "größe 測試"}
    assert "größe" in text


@pytest.mark.parametrize(
    ("clusters", "tenants", "changes", "rows"),
    [
        ((), (), ["Quota q", "Quota r", "Class c"], 2),
        (("west",), (), ["Quota q", "Class c"], 1),
        (("w*", "e*"), (), ["Quota q", "Quota r", "Class c"], 2),
        ((), ("a",), ["Quota q"], 0),
        (("east",), ("a",), [], 0),
        (("west",), ("b",), ["Class c"], 0),
    ],
)
def test_a_part_of_a_plan(
    clusters: tuple[str, ...],
    tenants: tuple[str, ...],
    changes: list[str],
    rows: int,
    plan: DiffPlan,
) -> None:
    part = narrow(plan, clusters, tenants)
    assert [found.object for found in part.changes] == changes
    assert len(part.capacity) == rows
    assert (part.forbidden, part.faults) == (plan.forbidden, plan.faults)


def test_globs_that_fit_nothing() -> None:
    assert unmatched(["a", "b*", "c"], ["a", "bee"]) == ("c",)
