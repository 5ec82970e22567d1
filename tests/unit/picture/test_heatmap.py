"""The map of devices: every state has a sign of its own, big pools fold, and all is counted."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.audit.ledger import Amount, Entry, Share, State
from dracfg.kube.quantity import Quantity
from dracfg.picture import heatmap
from dracfg.picture.heatmap import LOOKS, MOST_FOLDED, MOST_ROWS, look
from tests.unit.picture.drawn import assert_sound, labels, parsed, said, words

STATES: tuple[State, ...] = ("idle", "allocated", "shared", "unknown", "unpublished")
FORTY = Quantity.parse("40Gi")
EVIL = "<script>alert('&')</script>"


def gi(number: int) -> Quantity:
    return Quantity.parse(f"{number}Gi") if number else Quantity.of(0)


def device(
    node: str | None, name: str, state: State, used: int = 0, *, broken: bool = False
) -> Entry:
    used = 40 if state == "allocated" else used
    left = gi(40 - used)
    amount = Amount(FORTY, gi(used), Quantity.of(0), left, left if broken else Quantity.of(0))
    told = {} if state == "unpublished" else {"memory": amount}
    return Entry(("gpu.example.com", node or "-", name), node, "card", state, True, None, (), told)


def node(name: str, *states: State, used: int = 10) -> list[Entry]:
    return [device(name, f"gpu-{i}", state, used) for i, state in enumerate(states)]


def drawn_looks(svg: str) -> Counter[str]:
    """How often each look is drawn, the legend's own signs left out."""
    found = Counter(
        (rect.get("class") or "").removeprefix("device ")
        for rect in parsed(svg).iter("rect")
        if (rect.get("class") or "").startswith("device ")
    )
    return found - Counter(set(found))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (device("a", "g", "idle"), "free"),
        (device("a", "g", "allocated"), "full"),
        (device("a", "g", "shared", 30), "partly"),
        (device("a", "g", "shared", 36, broken=True), "fragmented"),
        (device("a", "g", "unknown", 20), "unknown"),
        (device("a", "g", "unpublished"), "unpublished"),
    ],
)
def test_states(entry: Entry, expected: str) -> None:
    assert look(entry) == expected
    svg = heatmap("cards", [entry], "h")
    assert_sound(svg, "h")
    assert f"1 {LOOKS[look(entry)]}" in said(svg)
    assert drawn_looks(svg) == {expected: 1}


def test_signs_differ_without_colour() -> None:
    """A letter, a number, a pattern or a filled box: no two states look alike in black and white."""
    signs = []
    for state, used, broken in [
        ("shared", 30, False), ("shared", 30, True), ("unknown", 30, False), ("unpublished", 0, False),
    ]:  # fmt: skip
        svg = heatmap("cards", [device("a", "g", state, used, broken=broken)], "h")  # type: ignore[arg-type]
        marks = frozenset(e.get("id") for e in parsed(svg).iter("pattern"))
        signs.append((marks, labels(svg)[1].text))
    assert len(set(signs)) == len(signs)


def test_each_device_tells_who_holds_what() -> None:
    held = Share("vision/train", "u", "gpu", None, "vision", (), None, {}, None, None, False)
    entry = device("node-a", "gpu-3", "shared", 30)
    shares = tuple(held for _ in range(6))
    told = Entry(*(getattr(entry, k) if k != "shares" else shares for k in Entry.__slots__))
    text = words(heatmap("cards", [told], "h"))
    assert "gpu-3: partly used; memory 30Gi of 40Gi used, 10Gi free" in text
    assert "vision/train (vision)" in text
    assert "2 more claims" in text
    assert "memory: 30Gi of 40Gi used" in said(heatmap("cards", [told], "h"))
    assert "75" in [label.text for label in labels(heatmap("cards", [told], "h"))]


def test_devices_and_nodes_stand_in_the_order_that_people_count_in() -> None:
    entries = [device(f"n-{i}", f"gpu-{d}", "idle") for i in (10, 2) for d in (10, 2)]
    svg = heatmap("cards", entries, "h")
    assert [one.text for one in labels(svg)][:2] == ["n-2", "n-10"]
    notes = [title.text for title in parsed(svg).findall("rect/title")]
    assert notes == ["gpu-2: free", "gpu-10: free"] * 2


def test_what_long_names_begin_with_is_said_once() -> None:
    names = [f"a100-east-worker-group-b-{i:03}" for i in range(3)]
    svg = heatmap("cards", [one for name in names for one in node(name, "idle")], "h")
    shown = [one.text for one in labels(svg)]
    assert shown[:4] == ["a100-east-worker-group-b-…", "…000", "…001", "…002"]
    assert all(name in words(svg) for name in names)


def test_small_pools_are_drawn_node_by_node() -> None:
    entries = [one for i in range(MOST_ROWS) for one in node(f"n{i}", "idle", "allocated")]
    assert drawn_looks(heatmap("cards", entries, "h")) == {"free": 24, "full": 24}


def test_big_pools_fold_and_lose_nobody() -> None:
    entries = [one for i in range(900) for one in node(f"n{i}", "allocated", "allocated")]
    entries += [one for i in range(99) for one in node(f"m{i}", "idle", "allocated")]
    entries += [one for i in range(7) for one in node(f"k{i}", "allocated", "idle")]
    entries += node("odd", "unknown", "idle")
    svg = heatmap("cards", entries, "h")
    assert_sound(svg, "h")
    counts = [one.text for one in labels(svg) if one.text.endswith("×")]
    assert counts == ["1 ×", "106 ×", "900 ×"]
    assert "2,014 devices on 1,007 nodes" in said(svg)
    assert "107 free" in said(svg)
    assert len(svg) < 10_000


def test_what_has_no_room_is_counted() -> None:
    entries = [
        one
        for i in range(100)
        for one in [device(f"n{i}", "a", "shared", 1 + i % 39), device(f"n{i}", "b", "shared", 1 + i // 39)]
    ]  # fmt: skip
    svg = heatmap("cards", entries, "h")
    rows = [one for one in labels(svg) if one.text.endswith("×")]
    assert len(rows) == MOST_FOLDED
    assert "and 60 more nodes" in words(svg)


def test_nodes_with_many_devices_take_several_lines() -> None:
    entries = [device("node", f"gpu-{i}", "idle") for i in range(72)]
    svg = heatmap("cards", entries, "h")
    assert_sound(svg, "h")
    assert drawn_looks(svg) == {"free": 72}


def test_nodes_with_one_device_stand_in_columns_that_are_read_downwards() -> None:
    entries = [device(f"n-{i:02}", "gpu", "idle") for i in range(12)]
    svg = heatmap("cards", entries, "h")
    assert_sound(svg, "h")
    found = [one for one in labels(svg) if one.text.startswith("n-")]
    assert [one.text for one in found] == [f"n-{i:02}" for i in range(12)]
    columns: dict[float, list[float]] = {}
    for one in found:
        columns.setdefault(one.left, []).append(one.top)
    assert [len(tops) for tops in columns.values()] == [3, 3, 3, 3]
    assert all(tops == sorted(tops) for tops in columns.values())
    assert list(columns) == sorted(columns)


def test_an_empty_pool() -> None:
    svg = heatmap("cards", [], "h")
    assert_sound(svg, "h")
    assert "0 devices on 0 nodes" in said(svg)


def test_names_from_records_are_text() -> None:
    svg = heatmap(EVIL, [device(EVIL, EVIL, "shared", 10), device(None, "x", "idle")], "h")
    assert_sound(svg, "h")
    assert EVIL in words(svg)
    assert "<script" not in svg


@given(
    st.lists(
        st.tuples(
            st.integers(0, 60), st.integers(0, 20), st.sampled_from(STATES), st.integers(1, 39)
        ),
        max_size=120,
        unique_by=lambda cell: cell[:2],
    )
)
@settings(max_examples=30, deadline=None)
def test_any_ledger_has_room_and_every_device_is_counted(
    cells: list[tuple[int, int, State, int]],
) -> None:
    entries = [device(f"worker-{n}", f"gpu-{d}", state, used) for n, d, state, used in cells]
    svg = heatmap("cards", entries, "h")
    assert_sound(svg, "h")
    counted = Counter(map(look, entries))
    assert all(f"{number:,} {LOOKS[name]}." in said(svg) for name, number in counted.items())
    assert svg == heatmap("cards", list(reversed(entries)), "h")
