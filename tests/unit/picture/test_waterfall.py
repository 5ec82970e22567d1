"""The waterfall: every figure is told, bars lie on one scale, and no label touches another."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dracfg.kube.quantity import Quantity
from dracfg.picture import waterfall
from dracfg.plan.estimate import Deduction, Estimate, estimates
from tests.unit.picture.conftest import Linked
from tests.unit.picture.drawn import assert_sound, labels, parsed, said, words

NAMES = ("reserve", "spare", "quarantine", "closed", "step", "fragmentation")


def gi(number: int) -> int:
    return Quantity.parse(f"{number}Gi").nano


def taken(*amounts: int) -> tuple[Deduction, ...]:
    pairs = zip(NAMES, amounts, strict=False)
    return tuple(Deduction(name, gi(number), f"because of {name}") for name, number in pairs)


@pytest.fixture
def rack(linked: Linked) -> Estimate:
    (found,) = estimates(linked("proofs"))
    return replace(
        found,
        devices=96,
        a_device=gi(40),
        physical=gi(3840),
        deductions=taken(176, 320, 160, 0, 96, 400),
        promised=gi(2400),
        limit=gi(3600),
    )


def bars(svg: str, role: str) -> list[dict[str, float]]:
    keys = ("x", "y", "width", "height")
    return [
        {key: float(rect.get(key, 0)) for key in keys}
        for rect in parsed(svg).iter("rect")
        if rect.get("class") == role
    ]


def test_every_figure_is_told(rack: Estimate) -> None:
    svg = waterfall(rack, "w")
    assert_sound(svg, "w")
    for number in ("3,840Gi", "−176Gi", "−320Gi", "−160Gi", "−96Gi", "−400Gi", "2,688Gi"):
        assert number in words(svg)
    for text in ("96 devices of 40Gi each", "promised 2,400Gi (89%)", "limit 3,600Gi (134%)"):
        assert text in said(svg)
    assert "spare −320Gi (8%): because of spare." in said(svg)
    assert "288Gi left to promise" in words(svg)
    assert "limits reach 912Gi beyond what can be promised" in words(svg)
    assert "Nothing is lost to closed pools." in said(svg)


def test_bars_walk_down_from_what_exists_to_what_can_be_promised(rack: Estimate) -> None:
    svg = waterfall(rack, "w")
    (physical,), (promiseable,) = bars(svg, "physical"), bars(svg, "promiseable")
    edge = physical["x"] + physical["width"]
    for step in bars(svg, "taken"):
        assert step["x"] + step["width"] == pytest.approx(edge, abs=0.05)
        edge = step["x"]
    assert promiseable["x"] + promiseable["width"] == pytest.approx(edge, abs=0.05)
    assert promiseable["width"] / physical["width"] == pytest.approx(2688 / 3840, abs=0.001)


def test_promises_beyond_what_there_is_stand_out_without_colour(rack: Estimate) -> None:
    svg = waterfall(replace(rack, promised=gi(2900)), "w")
    assert "✗ 212Gi more promised than there is to promise" in words(svg)
    assert len(bars(svg, "beyond")) == 2
    assert parsed(svg).find(".//pattern[@id='w-cross']") is not None


def test_all_is_promised(rack: Estimate) -> None:
    svg = waterfall(replace(rack, promised=rack.promiseable), "w")
    assert "nothing left to promise" in words(svg)
    assert "promised 2,688Gi (100%)" in said(svg)


def test_before_and_after_share_a_scale_and_their_rows(rack: Estimate) -> None:
    grown = replace(rack, physical=2 * rack.physical, deductions=taken(176, 320, 0, 80, 96, 400))
    before, after = waterfall(rack, "b", beside=[grown]), waterfall(grown, "a", beside=[rack])
    assert bars(before, "physical")[0]["width"] * 2 == pytest.approx(
        bars(after, "physical")[0]["width"], abs=0.05
    )
    names = [[one.text for one in labels(svg) if one.left < 1][:9] for svg in (before, after)]
    assert names[0] == names[1]
    assert "closed pools" in names[0]


@pytest.mark.parametrize("factor", [10**6, 10**15, 10**30])
def test_huge_racks(rack: Estimate, factor: int) -> None:
    assert_sound(waterfall(replace(rack, physical=rack.physical * factor), "w"), "w")
    assert_sound(waterfall(replace(rack, limit=rack.limit * factor + 7), "w"), "w")


def test_nothing_at_all(rack: Estimate) -> None:
    nothing = replace(
        rack, devices=0, physical=0, promised=0, limit=0, deductions=taken(0, 0, 0, 0, 0, 0)
    )
    svg = waterfall(nothing, "w")
    assert_sound(svg, "w")
    assert "left to promise" not in words(svg)
    assert not bars(svg, "promised")


def test_what_is_little_is_seen(rack: Estimate) -> None:
    svg = waterfall(replace(rack, promised=1), "w")
    assert bars(svg, "promised")[0]["width"] > 0
    assert "promised 1n (<1%)" in said(svg)


@given(
    st.lists(st.integers(0, 10**18), min_size=6, max_size=6),
    st.integers(0, 10**21),
    st.integers(0, 10**21),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_figures_have_room(rack: Estimate, lost: list[int], promised: int, limit: int) -> None:
    found = replace(
        rack,
        physical=sum(lost) + 10**18,
        deductions=tuple(Deduction(n, a, "why") for n, a in zip(NAMES, lost, strict=True)),
        promised=promised,
        limit=limit,
    )
    svg = waterfall(found, "w")
    assert_sound(svg, "w")
    assert svg == waterfall(found, "w")


def test_text_of_the_catalog_is_text(rack: Estimate) -> None:
    evil = tuple(replace(one, why="<script>alert(1)</script> & \x00") for one in rack.deductions)
    svg = waterfall(replace(rack, deductions=evil), "w")
    assert_sound(svg, "w")
    assert "<script>alert(1)</script> & \ufffd" in said(svg)
    assert "<script" not in svg
    assert ElementTree.tostring(parsed(svg), encoding="unicode") == svg
