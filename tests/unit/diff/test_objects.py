"""Objects compared one by one: what differs, what a change explains, and the lines that are left."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import pytest

from dracfg.diff.change import Change, Impact, change
from dracfg.diff.objects import (
    PlacedObject,
    changed_objects,
    field_differences,
    impact_of,
    object_differences,
    objects_of,
    unexplained,
    unit_differences,
)
from dracfg.diff.pair import Pair, Side
from dracfg.kube.objects import object_key
from dracfg.lower.artifact import Unit
from dracfg.pipeline import Judgement, judge
from tests.unit.diff.history import GOLDEN

UNIT = "west/tenants/vision"


def quota(name: str, **hard: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "a"},
        "spec": {"hard": hard},
    }


def placed(*things: dict[str, Any], unit: str = UNIT) -> dict[str, Any]:
    return {unit.split("/")[0]: {object_key(thing): PlacedObject(unit, thing) for thing in things}}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    root = tmp_path_factory.mktemp("golden")
    for folder in ("catalog", "tenants"):
        shutil.copytree(GOLDEN / folder, root / folder)
    return judge(root)


def edited(judged: Judgement, path: str, kind: str) -> Judgement:
    """The judgement with one object of a kind changed in the unit."""

    def unit(old: Unit) -> Unit:
        if old.path != path:
            return old
        index = next(i for i, a in enumerate(old.artifacts) if a.object["kind"] == kind)
        artifact = old.artifacts[index]
        thing = {**artifact.object, "added": "field"}
        artifacts = [*old.artifacts]
        artifacts[index] = artifact._replace(object=thing)
        return replace(old, artifacts=tuple(artifacts))

    return replace(judged, units=tuple(unit(old) for old in judged.units))


def left(pair: Pair, *changes: Change) -> list[Change]:
    """The lines of what no change explains."""
    return list(changed_objects(unexplained(unit_differences(pair), changes)))


def pair_of(base: Judgement, head: Judgement, *blocked: str) -> Pair:
    return Pair(Side("a", base), Side("b", head), lambda path: path in blocked)


def test_what_came_changed_and_went() -> None:
    before = placed(quota("kept", x=1), quota("moved", x=1), quota("gone", x=1))
    after = placed(quota("new", x=1), quota("moved", x=2), quota("kept", x="1"))
    found = list(object_differences(before, after))
    assert [(one.key.name, one.how, one.tenant) for one in found] == [
        ("gone", "removed", "vision"),
        ("moved", "changed", "vision"),
        ("new", "added", "vision"),
    ]
    assert [str(field) for one in found for field in one.fields()] == ["spec.hard.x: 1 -> 2"]


def test_clusters_are_apart() -> None:
    one, other = placed(quota("q", x=1)), placed(quota("q", x=1), unit="east/guard")
    assert [found.how for found in object_differences(one, other)] == ["added", "removed"]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {}, ["a: 1 -> nothing"]),
        ({}, {"a": {"b": 1}}, ['a: nothing -> {"b": 1}']),
        ({"a": [1, 2]}, {"a": [1, 3, 4]}, ["a[1]: 2 -> 3", "a[2]: nothing -> 4"]),
        ({"a": {"x.y/z": "1"}}, {"a": {"x.y/z": "2"}}, ["a[x.y/z]: 1 -> 2"]),
        ({"a": 1}, {"a": "1"}, ["a: 1 -> 1"]),
        ({"a": True}, {"a": 1}, ["a: true -> 1"]),
        ({"a": "x" * 100}, {"a": "y"}, [f"a: {'x' * 79}… -> y"]),
        ({"a": "not present"}, {"a": "b"}, ["a: not present -> b"]),
    ],
)
def test_fields(before: dict[str, Any], after: dict[str, Any], lines: list[str]) -> None:
    assert [str(field) for field in field_differences(before, after)] == lines


def test_equal_sides_have_nothing_to_explain(judged: Judgement) -> None:
    assert left(pair_of(judged, judged)) == []


def test_an_object_that_no_change_explains_is_one_line(judged: Judgement) -> None:
    head = edited(judged, "west/tenants/search", "ResourceClaimTemplate")
    (found,) = left(pair_of(judged, head))
    assert (found.kind.name, found.cluster, found.tenant) == ("objects-changed", "west", "search")
    assert (found.object, found.impact) == ("ResourceClaimTemplate (1 changed)", Impact.NEW_CLAIMS)
    assert found.details[0].endswith(": added: nothing -> field")


@pytest.mark.parametrize(
    ("cluster", "tenant", "explains"),
    [
        ("west", "search", True),
        (None, "search", True),
        ("west", None, True),
        (None, None, True),
        ("west", "notebooks", False),
        ("east", None, False),
        ("east", "search", False),
    ],
)
def test_who_explains_what(
    cluster: str | None, tenant: str | None, explains: bool, judged: Judgement
) -> None:
    head = edited(judged, "west/tenants/search", "ResourceClaimTemplate")
    known = change("object-changed", "x", None, None, cluster=cluster, tenant=tenant)
    assert bool(left(pair_of(judged, head), known)) is not explains


def test_what_tenants_share_is_explained_by_each_of_them(judged: Judgement) -> None:
    head = edited(judged, "west/guard", "ResourceQuota")
    assert left(pair_of(judged, head))
    known = change("object-changed", "x", None, None, cluster="west", tenant="notebooks")
    assert left(pair_of(judged, head), known) == []


def test_blocked_units_are_left_out(judged: Judgement) -> None:
    head = edited(judged, "west/tenants/search", "ResourceClaimTemplate")
    assert left(pair_of(judged, head, "west/tenants/search")) == []


def test_lines_are_by_kind_and_bounded() -> None:
    before, after = ({}, placed(*(quota(f"q{i}", x=1) for i in range(9))))
    (found,) = changed_objects(object_differences(before, after))
    assert found.object == "ResourceQuota (9 added)"
    assert found.details[-1] == "and 4 more"
    assert len(found.details) == 6


def test_objects_without_a_kind_are_told_by_their_file(judged: Judgement) -> None:
    found = objects_of(judged.units)
    names = [key.name for of_cluster in found.values() for key in of_cluster]
    assert "" not in names
    count = sum(len(unit.artifacts) for unit in judged.units)
    assert sum(map(len, found.values())) == count


def test_impacts() -> None:
    assert impact_of("Namespace", "removed")[0] is Impact.DESTRUCTIVE
    assert impact_of("ResourceQuota", "changed") == (Impact.RESTRICTIVE, ("quota",))
    assert impact_of("Whatever", "changed")[0] is Impact.DISRUPTIVE
