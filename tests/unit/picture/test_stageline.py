"""The line of stages: where it stands, which way it goes, what is fenced, and what gates said last."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.link.catalog import Catalog
from dracfg.model import kinds
from dracfg.picture import stageline
from tests.unit.picture.conftest import Linked
from tests.unit.picture.drawn import assert_sound, labels, parsed, said, words

EVIL = "<script>alert('gate')</script> & more"
GATE = "- {name: pods pending, promql: sum(pending), max: 30s, halt: 5m}"
DIGEST = "sha256:41b8f5b04d3ec31e2d8a5a1a2a4bbf0f4cf1ff2e4d4b8be7b3a0bb0b9c8a7d61"


def rollout(catalog: Catalog, **changes: Any) -> kinds.Rollout:
    (found,) = catalog.rollouts.values()
    data = found.spec.model_dump(by_alias=True, exclude_unset=True) | changes
    return found.model_copy(update={"spec": type(found.spec).model_validate(tuples(data))})


def tuples(value: Any) -> Any:
    """Lists as the language has them once a document is read."""
    if isinstance(value, dict):
        return {key: tuples(one) for key, one in value.items()}
    return tuple(map(tuples, value)) if isinstance(value, list | tuple) else value


def drawn(catalog: Catalog, **changes: Any) -> str:
    pools = {name: pool.document for name, pool in catalog.pools.items()}
    svg = stageline(rollout(catalog, **changes), pools, "r")
    assert_sound(svg, "r")
    return svg


def evidence(at: str, *readings: dict[str, Any], stage: str = "canary") -> dict[str, Any]:
    return {
        "stage": stage, "direction": "forward", "verdict": "failed", "at": at,
        "source": "https://prometheus.example.com", "digest": DIGEST, "readings": list(readings),
    }  # fmt: skip


def standings(svg: str) -> list[str]:
    marks = (circle.get("class") or "" for circle in parsed(svg).iter("circle"))
    return [mark.removeprefix("stage ") for mark in marks if mark.startswith("stage ")]


def test_stages_with_what_they_reach(linked: Linked) -> None:
    svg = drawn(linked("rollout"))
    for text in (
        "canary  ◀ stands here", "1 pool more: one", "ann; work that can be tried again",
        "1 pool more: two", "ann and bob; work that can be tried again", "every tenant; any work",
    ):  # fmt: skip
        assert text in words(svg)
    assert standings(svg) == ["passed", "here", "coming", "coming"]
    assert "Stands at canary, forward, open." in said(svg)
    assert parsed(svg).findtext("title") == "Rollout sim-to-claims of sim: ownership"


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("start", ["here", "coming", "coming", "coming"]),
        ("shared", ["passed", "passed", "here", "coming"]),
        ("everyone", ["passed", "passed", "passed", "here"]),
    ],
)
def test_where_it_stands(linked: Linked, stage: str, expected: list[str]) -> None:
    svg = drawn(linked("rollout"), stage=stage)
    assert standings(svg) == expected
    assert [one.text for one in labels(svg) if "stands here" in one.text] == [
        f"{stage}  ◀ stands here"
    ]


@pytest.mark.parametrize(
    ("direction", "sign"), [("forward", "▼"), ("halted", "■"), ("rollback", "▲")]
)
def test_the_way_it_goes(linked: Linked, direction: str, sign: str) -> None:
    svg = drawn(linked("rollout"), direction=direction)
    assert labels(svg)[0].text.startswith(sign)
    assert direction in said(svg)


def rows(svg: str) -> list[str]:
    """Names of stages and what is fenced, from top to bottom."""
    wanted = ("start", "canary", "shared", "everyone", "╳")
    return [one.text for one in labels(svg) if one.text.startswith(wanted)]


def test_what_moves_next_is_fenced_before_its_stage(linked: Linked) -> None:
    svg = drawn(linked("rollout"), phase="fenced")
    assert rows(svg).index("╳ fenced until empty: two") == rows(svg).index("shared") - 1
    assert "Fenced until empty: two." in said(svg)


def test_what_moves_back_is_fenced_at_its_stage(linked: Linked) -> None:
    svg = drawn(linked("rollout"), stage="shared", direction="rollback")
    place = rows(svg).index("╳ fenced until empty: two")
    assert rows(svg)[place + 1].startswith("shared")


def test_gates_with_the_last_that_they_showed(linked: Linked) -> None:
    catalog = linked("rollout")
    gates = [
        {"name": "pods pending", "promql": "sum(pending)", "max": "30s"},
        {"name": EVIL, "promql": "x", "max": 1},
        {"name": "no data", "promql": "y", "max": 3},
        {"name": "never asked", "promql": "z", "max": 5},
    ]
    told = [
        evidence(
            "2026-11-28T22:00:00Z",
            {"gate": "pods pending", "value": "12s", "limit": "30s", "passed": True},
            {"gate": EVIL, "value": "0.002", "limit": "0.01", "passed": True},
        ),
        evidence(
            "2026-11-29T22:00:00Z",
            {"gate": "pods pending", "value": "42s", "limit": "30s", "passed": False},
            {"gate": "no data", "limit": "3", "passed": False},
        ),
    ]
    svg = drawn(catalog, gates=gates, evidence=told)
    assert "Gate pods pending: 42s above 30s at canary, 2026-11-29T22:00:00Z." in said(svg)
    assert "12s" not in words(svg)
    assert f"Gate {EVIL}: 0.002 within 0.01 at canary, 2026-11-28T22:00:00Z." in said(svg)
    assert "Gate no data: no data, at most 3 at canary" in said(svg)
    assert "Gate never asked: not asked yet, at most 5." in said(svg)
    signs = [one.text for one in labels(svg) if one.text in "✗✓?○"]
    assert signs == ["✗", "✓", "?", "○"]
    assert "<script" not in svg


def test_gates_of_the_way_back_say_so(linked: Linked) -> None:
    gate = {"name": "left over", "promql": "x", "max": 0, "directions": ["rollback"]}
    svg = drawn(linked("rollout"), gates=[gate])
    assert "asked in a rollback alone" in words(svg)
    assert "Gate left over: not asked yet, at most 0 asked in a rollback alone." in said(svg)


def test_long_names_and_many_pools_have_room(linked: Linked) -> None:
    catalog = linked("rollout")
    name = "a-stage-with-a-name-as-long-as-kubernetes-lets-a-label-value-be"
    stages = [
        {"name": name, "pools": "*", "tenants": [f"tenant-number-{i}" for i in range(90)], "workloads": "any"}
    ]  # fmt: skip
    gates = [{"name": "g" * 100, "promql": "x", "max": 123456789123}]
    told = [
        evidence(
            "2026-11-28T22:00:00Z",
            {"gate": "g" * 100, "value": "9" * 64, "limit": "8" * 64, "passed": False},
        )
    ]
    svg = drawn(catalog, stage=name, stages=stages, gates=gates, evidence=told)
    assert "86 more" in words(svg)
    assert "3 pools more: one, three and two" in words(svg)


def test_a_rollout_of_nothing(linked: Linked) -> None:
    svg = stageline(rollout(linked("rollout")), {}, "r")
    assert_sound(svg, "r")
    assert "no more pools" in words(svg)


def test_the_same_rollout_gives_the_same_bytes(linked: Linked) -> None:
    catalog = linked("rollout")
    assert drawn(catalog) == drawn(catalog)
