"""Figures of tiers that moved."""

from pathlib import Path

import pytest

from dracfg.diff.capacity import Figures, capacity_rows
from dracfg.kube.quantity import Quantity
from tests.unit.diff.pairs import POLICIES, POOLS, SEARCH, VISION, Case, Edit

_CARDS = tuple(f"card-40g-slices-{size}gi" for size in (10, 15, 20, 25, 5))


def _texts(figures: Figures | None) -> tuple[str, ...] | None:
    if figures is None:
        return None
    numbers = (
        figures.usable,
        figures.promiseable,
        figures.guaranteed,
        figures.limit,
        figures.spare,
    )
    return (*map(str, numbers), str(figures.overcommit))


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (
            (POOLS, "nodes: 4", "nodes: 5"),
            ("240Gi", "240Gi", "100Gi", "130Gi", "140Gi", "0.54x"),
        ),
        (
            (SEARCH, "limit: {5Gi: 8}", "limit: {5Gi: 7}"),
            ("240Gi", "240Gi", "100Gi", "125Gi", "140Gi", "0.52x"),
        ),
    ],
    ids=["a node more", "a lower limit"],
)
def test_a_row_has_both_sides(edit: Edit, told: tuple[str, ...], tmp_path: Path) -> None:
    rows = capacity_rows(Case("one", (edit,), base="proofs").pair(tmp_path))
    assert len(rows) == 1
    (row,) = rows
    assert (row.cluster, row.tier, row.key) == ("prod-east", "card-40g", "memory")
    assert row.classes == _CARDS
    assert _texts(row.after if edit[0] == SEARCH else row.before) == told


def test_another_size_is_no_other_market(tmp_path: Path) -> None:
    edit = (POLICIES, "sizes: [5Gi, 10Gi, 20Gi]", "sizes: [10Gi, 20Gi]")
    rows = capacity_rows(Case("sizes", (edit,)).pair(tmp_path))
    assert {row.key for row in rows} == {"memory", "cores"}
    assert all(row.before is not None and row.after is not None for row in rows)


def test_whole_devices_are_counted(tmp_path: Path) -> None:
    case = Case("more", ((VISION, "guaranteed: 24}", "guaranteed: 32}"),))
    assert [
        (row.tier, row.key, _texts(row.before), _texts(row.after))
        for row in capacity_rows(case.pair(tmp_path))
    ] == [
        (
            "cx7-400g",
            "devices",
            ("88", "88", "24", "24", "64", "0.27x"),
            ("88", "88", "32", "32", "56", "0.36x"),
        )
    ]


def test_another_owner_is_another_supply(tmp_path: Path) -> None:
    edit = (POOLS, "nic.example.com: dra}", "nic.example.com: devicePlugin}")
    rows = capacity_rows(Case("owner", (edit,)).pair(tmp_path))
    assert [(row.tier, row.before is None) for row in rows] == [
        ("cx7-400g", True),
        ("cx7-400g", False),
    ]


def test_nothing_moves_without_a_number(tmp_path: Path) -> None:
    edit = (VISION, "group: vision-eng", "group: vision-team")
    assert capacity_rows(Case("people", (edit,)).pair(tmp_path)) == ()


def test_too_much_is_below_zero() -> None:
    ten, twelve = Quantity.parse("10Gi"), Quantity.parse("12Gi")
    figures = Figures(ten, ten, twelve, twelve)
    assert str(figures.spare) == "-2Gi"
    assert figures.overcommit == "1.20x"
    assert Figures(Quantity(0), Quantity(0), ten, ten).overcommit is None
