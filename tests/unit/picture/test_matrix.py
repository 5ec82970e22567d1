"""Tenants by tiers: both numbers of each, sums that add up, and one scale before and after."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.kube.quantity import Quantity
from dracfg.picture import Column, columns_of, matrix
from dracfg.plan.assurance import markets
from dracfg.plan.estimate import estimates
from tests.unit.picture.conftest import Linked
from tests.unit.picture.drawn import assert_sound, labels, parsed, said, words

ONE = 10**9


def column(cells: dict[str, tuple[int, int]], name: str = "gpu", room: int = 88) -> Column:
    held = {tenant: (a * ONE, b * ONE) for tenant, (a, b) in cells.items()}
    return Column(name, "east", "devices", "DecimalSI", room * ONE, held)


def widths(svg: str, role: str) -> list[float]:
    return [float(r.get("width", 0)) for r in parsed(svg).iter("rect") if r.get("class") == role]


def test_columns_are_those_of_the_estimates(linked: Linked) -> None:
    catalog = linked("proofs")
    (found,), (figure,) = columns_of(markets(catalog)), estimates(catalog)
    assert found.name == "card-40g on prod-east, memory"
    assert found.total == (figure.promised, figure.limit)
    assert found.promiseable == figure.promiseable
    gi = {t: tuple(str(Quantity(n, "BinarySI")) for n in held) for t, held in found.cells.items()}
    assert gi == {"notebooks": ("80Gi", "90Gi"), "search": ("20Gi", "40Gi")}


def test_devices_of_a_plugin_are_told_apart(linked: Linked) -> None:
    names = {found.key for found in columns_of(markets(linked("rollout")))}
    assert names == {"devices", "devices by device plugin"}


def test_both_numbers_of_every_tenant_are_told() -> None:
    svg = matrix([column({"vision": (16, 24), "search": (0, 8)})], ["search", "vision"], "m")
    assert_sound(svg, "m")
    shown = [one.text for one in labels(svg)]
    assert {"16 / 24", "0 / 8", "16 / 32", "88"} <= set(shown)
    assert shown.index("search") < shown.index("vision") < shown.index("all tenants")
    assert "gpu on east, devices: search 0 / 8, vision 16 / 24; all tenants 16 / 32 of 88." in said(
        svg
    )


def test_bars_show_the_guarantee_within_the_limit() -> None:
    svg = matrix([column({"a": (16, 24), "b": (0, 12)})], ["a", "b"], "m")
    first, second = widths(svg, "limit")
    (promised,) = widths(svg, "promised")
    assert second == pytest.approx(first / 2, abs=0.02)
    assert promised == pytest.approx(first * 16 / 24, abs=0.02)


def test_who_is_not_on_the_page_is_summed_up() -> None:
    held = {f"t{i}": (1, 2) for i in range(1, 31)}
    svg = matrix([column(held), column({"t1": (5, 5)}, "nic")], ["t1", "t2"], "m")
    shown = [one.text for one in labels(svg)]
    assert "28 others" in shown
    assert "28 / 56" in shown
    assert "30 / 60" in shown
    assert "others 28 / 56" in said(svg)


def test_a_tenant_stands_only_in_bands_where_it_holds_something() -> None:
    columns = [column({"a": (1, 1)}, f"tier{i}") for i in range(3)] + [
        column({"b": (1, 1)}, "last")
    ]
    shown = [one.text for one in labels(matrix(columns, ["a", "b"], "m"))]
    assert (shown.count("a"), shown.count("b"), shown.count("all tenants")) == (1, 1, 2)
    wide = [one.text for one in labels(matrix(columns, ["a", "b"], "m", across=4))]
    assert wide.count("all tenants") == 1


def test_more_than_can_be_promised_is_marked() -> None:
    svg = matrix([column({"a": (16, 24)}, room=12)], ["a"], "m")
    assert "✗ 16 / 24" in [one.text for one in labels(svg)]


def test_before_and_after_share_a_scale_and_their_rows() -> None:
    old, new = column({"a": (10, 10)}), column({"a": (20, 20), "b": (5, 5)})
    before = matrix([old], ["a", "b"], "b", beside=[new])
    after = matrix([new], ["a", "b"], "a", beside=[old])
    assert widths(before, "limit")[0] * 2 == pytest.approx(widths(after, "limit")[0], abs=0.02)
    assert [o.text for o in labels(before) if o.left < 1] == [
        o.text for o in labels(after) if o.left < 1
    ]


def test_units_are_written_once() -> None:
    gi = replace(
        column({}), key="memory", notation="BinarySI",
        cells={"a": (120 * 2**30 * ONE, 140 * 2**30 * ONE), "b": (0, 2**30 * ONE)},
    )  # fmt: skip
    shown = [one.text for one in labels(matrix([gi], ["a", "b"], "m"))]
    assert "120 / 140Gi" in shown
    assert "0 / 1Gi" in shown


def test_parts_are_named_without_their_tier() -> None:
    part = replace(column({"a": (1, 1)}, "a100-40g"), key="parts of a100-40g-mig-1g-5gb")
    assert "mig-1g-5gb" in [one.text for one in labels(matrix([part], ["a"], "m"))]
    plugin = replace(column({"a": (1, 1)}), key="devices by device plugin")
    assert "by plugin" in [one.text for one in labels(matrix([plugin], ["a"], "m"))]


@pytest.mark.parametrize("columns", [[], [column({})]])
def test_nothing_at_all(columns: list[Column]) -> None:
    assert_sound(matrix(columns, [], "m"), "m")


def test_names_are_text() -> None:
    evil = "<b onload='x'>&"
    svg = matrix([column({evil: (1, 2)}, evil)], [evil], "m")
    assert_sound(svg, "m")
    assert evil in words(svg)


amounts = st.integers(0, 10**15)
names = st.text("abcdefghij-0123456789", min_size=1, max_size=63)


@given(
    st.lists(
        st.tuples(names, st.dictionaries(names, st.tuples(amounts, amounts), max_size=5)),
        max_size=7,
    ),
    st.sampled_from([1, 3, 9]),
)
@settings(max_examples=30, deadline=None)
def test_any_numbers_have_room(
    told: list[tuple[str, dict[str, tuple[int, int]]]], across: int
) -> None:
    columns = [column(cells, name) for name, cells in told]
    tenants = sorted({tenant for one in columns for tenant in one.cells})
    svg = matrix(columns, tenants, "m", across=across)
    assert_sound(svg, "m")
    assert svg == matrix(columns, tenants, "m", across=across)
