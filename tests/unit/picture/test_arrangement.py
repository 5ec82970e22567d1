"""Proofs as devices: what is drawn is what the certificate says, share by share."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from dracfg.picture import arrangement, packed
from dracfg.picture.blocked import MOST_ROWS as MOST_CONTENTS
from dracfg.picture.blocked import reason
from dracfg.picture.packed import demand_of, nodes_of
from dracfg.picture.shares import fraction, signs
from dracfg.plan.assurance import Assurance, assurances
from dracfg.plan.proofs.blocking import Arrangement, NoPlace
from dracfg.plan.proofs.lowerbounds import PerNode, Volume
from dracfg.plan.proofs.packing import Placement, kinds_of
from dracfg.plan.proofs.shapes import Kind, Pool
from dracfg.plan.proofs.verdict import Proven, Refuted, Unknown
from tests.unit.picture.conftest import Linked
from tests.unit.picture.drawn import assert_sound, labels, parsed, said, words

GI = 2**30 * 10**9
CROWDED = ("limit: {5Gi: 8}", "limit: {5Gi: 30}")
PAIRS = ("entitlement: slice, size: 20Gi", "entitlement: slice, size: 20Gi, count: 2")


def proofs(linked: Linked, question: str, *changes: tuple[str, str]) -> list[Assurance]:
    found = [one for one in assurances(linked("proofs", *changes)) if one.question == question]
    assert found
    return found


def drawn_shares(svg: str) -> Counter[str]:
    """Blocks by kind, the legend's left out."""
    rects = [(r.get("class") or "", r.get("width")) for r in parsed(svg).iter("rect")]
    return Counter(
        found[0] for name, wide in rects if wide != "24" and (found := re.match(r"kind-\d+", name))
    )


def test_a_packing_shows_every_share_that_it_places(linked: Linked) -> None:
    proof = proofs(linked, "fits")[0]
    svg = arrangement(proof, "f")
    assert svg is not None
    assert_sound(svg, "f")
    assert isinstance(proof.verdict, Proven)
    packing = proof.verdict.certificate
    assert isinstance(packing, tuple)
    demand = demand_of(proof, packing)
    assert demand is not None
    kinds = kinds_of(demand)
    nodes = nodes_of(proof.market.supply.pool, demand, packing)
    assert sum(node.alike for node in nodes) == 3
    shown = Counter(
        {f"kind-{i}": sum(c[i] for node in nodes for c in node.contents) for i in range(len(kinds))}
    )
    assert drawn_shares(svg) == +shown
    for one in demand:
        assert f"{one.count:,} claim" in said(svg)
        assert one.kind.name in said(svg)
    title = parsed(svg).findtext("title")
    assert title == "fits: proven. notebooks slice 10Gi, card-40g on prod-east"


def test_shares_stay_within_their_device(linked: Linked) -> None:
    svg = arrangement(proofs(linked, "fits", CROWDED)[0], "f")
    assert svg is not None
    boxes = [(r.get("class") or "", *(float(r.get(k, 0)) for k in ("x", "y", "width", "height")))
             for r in parsed(svg).iter("rect")]  # fmt: skip
    devices = [box for box in boxes if box[0] == "device free"]
    shares = [box for box in boxes if box[0].startswith("kind-") and box[3] != 24]
    assert shares
    for _, x, y, wide, high in shares:
        assert any(
            dx <= x and x + wide <= dx + dw and dy - 0.01 <= y and y + high <= dy + dh + 0.01
            for _, dx, dy, dw, dh in devices
        )


def test_equal_nodes_are_drawn_once(linked: Linked) -> None:
    proof = proofs(linked, "fits", ("nodes: 4", "nodes: 400"))[0]
    svg = arrangement(proof, "f")
    assert svg is not None
    assert_sound(svg, "f")
    assert "cards: 399 nodes × 2 devices" in words(svg)
    counts = [
        int(one.text.split()[0].replace(",", "")) for one in labels(svg) if one.text.endswith("×")
    ]
    assert sum(counts) == 399


def test_a_packing_of_something_else_is_not_drawn(linked: Linked) -> None:
    """What is drawn is checked against the demand first."""
    proof = proofs(linked, "fits")[0]
    wrong = Proven((Placement(0, 0, 0, (0,), 99),))
    assert arrangement(replace(proof, verdict=wrong), "f") is None
    assert arrangement(replace(proof, verdict=Proven((Placement(77, 0, 0, (0,)),))), "f") is None


def test_a_blocking_arrangement_tells_what_lies_where_and_why(linked: Linked) -> None:
    proof = next(
        one for one in proofs(linked, "nonBlocking", CROWDED)
        if isinstance(one.verdict, Refuted) and one.holding.what == "slice 10Gi"
    )  # fmt: skip
    svg = arrangement(proof, "b")
    assert svg is not None
    assert_sound(svg, "b")
    assert isinstance(proof.verdict, Refuted)
    found = proof.verdict.reason
    assert isinstance(found, Arrangement)
    for name, content, number in found.rows:
        assert f"{number:,} device" in words(svg)
        assert name in words(svg)
        (group,) = (g for g in proof.market.supply.pool.groups if g.name == name)
        assert reason(proof, group, found.kinds, content) in words(svg)
    assert "5Gi of memory left, 10Gi asked for" in words(svg)
    assert "asked for: card-40g-slices-10gi, 10Gi memory" in words(svg)
    totals = Counter({
        f"kind-{i}": sum(content[i] for _, content, _ in found.rows) for i in range(len(found.kinds))
    })  # fmt: skip
    assert drawn_shares(svg) == +totals


def test_what_is_asked_for_reaches_beyond_the_device(linked: Linked) -> None:
    for proof in proofs(linked, "nonBlocking", CROWDED):
        svg = arrangement(proof, "b")
        if svg is None:
            continue
        wanted = [r for r in parsed(svg).iter("rect") if r.get("class") == "wanted"][:-1]
        edge = {float(line.get("x1", 0)) for line in parsed(svg).iter("line")}
        assert wanted
        assert all(float(r.get("x", 0)) + float(r.get("width", 0)) > max(edge) for r in wanted)


def test_claims_for_several_devices_of_a_node(linked: Linked) -> None:
    proof = next(
        one for one in proofs(linked, "nonBlocking", CROWDED, PAIRS)
        if one.devices == 2 and isinstance(one.verdict, Refuted)
    )  # fmt: skip
    svg = arrangement(proof, "b")
    assert svg is not None
    assert_sound(svg, "b")
    assert "A claim for 2 devices of one node finds no node with so many of them open." in said(svg)
    assert "on each of 3 nodes" in words(svg)
    assert [one.text for one in labels(svg)].count("✗") == 1


@pytest.mark.parametrize(
    ("whole_held", "whole_asked", "expected"),
    [
        (True, False, "held whole"),
        (False, True, "a whole device is asked for, and shares lie on it"),
    ],
)
def test_why_a_device_refuses(
    linked: Linked, whole_held: bool, whole_asked: bool, expected: str
) -> None:
    proof = proofs(linked, "nonBlocking")[0]
    share = proof.holding.kind
    held = Kind("other", whole=True) if whole_held else share
    asked = Kind("gpu", whole=True) if whole_asked else share
    (group,) = proof.market.supply.pool.groups
    other = replace(proof, holding=replace(proof.holding, kind=asked))
    assert reason(other, group, (held,), (1,)) == expected


def test_a_device_with_all_its_shares(linked: Linked) -> None:
    proof = proofs(linked, "nonBlocking")[0]
    (group,) = proof.market.supply.pool.groups
    nothing = Kind("small", tuple(0 for _ in group.capacity))
    assert reason(proof, group, (nothing,), (8,)) == "it has 8 shares, as many as it takes"


def test_many_contents_are_bounded(linked: Linked) -> None:
    proof = proofs(linked, "nonBlocking")[0]
    (group,) = proof.market.supply.pool.groups
    kinds = tuple(Kind(f"k{i}", tuple(1 for _ in group.capacity)) for i in range(30))
    rows = tuple((group.name, tuple(int(i == j) for j in range(30)), 10**9) for i in range(30))
    svg = arrangement(replace(proof, verdict=Refuted(Arrangement(kinds, rows))), "b")
    assert svg is not None
    assert_sound(svg, "b")
    assert f"and {(30 - MOST_CONTENTS) * 10**9:,} more devices" in words(svg)


def test_many_nodes_of_other_content_are_bounded(
    linked: Linked, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = proofs(linked, "fits", CROWDED)[0]
    whole = arrangement(proof, "f")
    monkeypatch.setattr(packed, "MOST_ROWS", 1)
    cut = arrangement(proof, "f")
    assert whole is not None
    assert cut is not None
    assert_sound(cut, "f")
    assert "more node" not in words(whole)
    assert "and 2 more nodes of other content" in words(cut)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Volume("memory", ("a", "b"), ("cards",), 300 * GI, 240 * GI),
         ("300Gi", "240Gi", "✗ 60Gi more than there is", "cards has 240Gi of memory")),
        (Volume("devices", ("gpu",), ("one", "two"), 9, 8),
         ("9 devices", "8 devices", "✗ 1 device more than there is", "one and two have 8 devices")),
        (Volume("shares", ("s",), ("cards",), 10**30, 0),
         (f"{10**30:,} shares", "0 shares")),
        (PerNode("gpu", 8, 3, 2),
         ("3 claims", "2 claims", "✗ 1 claim more", "3 claims for 8 x whole card-40g of one node")),
    ],
)  # fmt: skip
def test_sums_that_are_too_much(
    linked: Linked, found: Volume | PerNode, expected: tuple[str, ...]
) -> None:
    svg = arrangement(replace(proofs(linked, "fits")[0], verdict=Refuted(found)), "v")
    assert svg is not None
    assert_sound(svg, "v")
    assert all(text in words(svg) for text in expected)
    assert f"Needed: {expected[0]}. There is: {expected[1]}." in said(svg)
    wide = {r.get("class"): float(r.get("width", 0)) for r in parsed(svg).iter("rect")}
    assert wide["promised"] == pytest.approx(wide.get("promiseable", 0) + wide["beyond"], abs=0.05)


@pytest.mark.parametrize("verdict", [Unknown("why", 1), Refuted(NoPlace(3))])
def test_what_no_device_shows_is_not_drawn(
    linked: Linked, verdict: Unknown | Refuted[NoPlace]
) -> None:
    proof = proofs(linked, "nonBlocking")[0]
    assert arrangement(replace(proof, verdict=verdict), "a") is None
    assert arrangement(proof, "a") is None


def test_the_same_proof_gives_the_same_bytes(linked: Linked) -> None:
    first, second = (arrangement(proofs(linked, "fits")[0], "f") for _ in range(2))
    assert first == second


def test_kinds_differ_by_letter_shade_and_pattern() -> None:
    looks = signs([Kind(f"kind {i}") for i in range(60)])
    assert len({look.letter for look in looks.values()}) == 60
    first = list(looks.values())[:12]
    assert len({(look.shade, look.mark) for look in first}) == 12


def test_how_much_of_a_device_a_share_takes(linked: Linked) -> None:
    supply = proofs(linked, "fits")[0].market.supply
    (group,) = supply.pool.groups
    shown = {name: fraction(supply, group, kind) for name, kind in supply.kinds.items()}
    assert shown["card-40g-slices-10gi"] * 4 == 1
    assert fraction(supply, group, Kind("w", whole=True)) == 1


def test_how_many_parts_there_are_says_nothing_of_their_extent(linked: Linked) -> None:
    """One part of half a device is half of it, even where a device has no more than one."""
    supply = proofs(linked, "fits")[0].market.supply
    group = replace(supply.pool.groups[0], capacity=(40, 1))
    both = replace(supply, pool=Pool((group,), ("memory", "parts of half")))
    assert fraction(both, group, Kind("half", (20, 1))) * 2 == 1
    counted = replace(supply, pool=Pool((group,), ("parts of other", "parts of half")))
    assert fraction(counted, group, Kind("half", (0, 1))) == 1
