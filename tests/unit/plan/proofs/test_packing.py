"""Packings: equal nodes are filled at once, and the check counts each of them."""

from dataclasses import replace

import pytest

from dracfg.plan.proofs.packing import Placement, is_packing, pack
from dracfg.plan.proofs.shapes import Claims, Group, Kind, Pool

SMALL, WHOLE = Kind("small", (10,)), Kind("whole", whole=True)
POOL = Pool((Group("cards", 1_000, 2, (40,)),), ("memory",))


def test_equal_nodes_take_one_placement_for_each_device() -> None:
    packing = pack(POOL, (Claims(SMALL, 7_999),))
    assert packing == (
        Placement(0, 0, 0, (0,), 4, 999),
        Placement(0, 0, 0, (1,), 4, 999),
        Placement(0, 0, 999, (0,), 4),
        Placement(0, 0, 999, (1,), 3),
    )
    assert is_packing(POOL, (Claims(SMALL, 7_999),), packing)


def test_what_is_left_of_a_node_is_filled_by_the_next_kind() -> None:
    demand = (Claims(WHOLE, 1_001), Claims(SMALL, 3_996))
    packing = pack(POOL, demand)
    assert packing is not None
    assert is_packing(POOL, demand, packing)
    assert pack(POOL, (Claims(WHOLE, 1_001), Claims(SMALL, 3_997))) is None


def test_claims_for_both_devices_of_a_node_leave_no_half_node() -> None:
    demand = (Claims(SMALL, 3_999, 2), Claims(SMALL, 2))
    packing = pack(POOL, demand)
    assert packing is not None
    assert is_packing(POOL, demand, packing)


@pytest.mark.parametrize(
    "wrong",
    [
        Placement(0, 0, 0, (0,), 4, 1_001),
        Placement(0, 0, 1, (0,), 4, 1_000),
        Placement(0, 0, 0, (0,), 5, 800),
        Placement(0, 0, 0, (0,), 4, 999),
        Placement(0, 0, 0, (0,), 4_000, 0),
        Placement(0, 0, -1, (0,), 4, 1_000),
    ],
)
def test_no_packing_beyond_its_nodes_and_devices(wrong: Placement) -> None:
    demand = (Claims(SMALL, 4_000),)
    assert is_packing(POOL, demand, (Placement(0, 0, 0, (0,), 4, 1_000),))
    assert not is_packing(POOL, demand, (wrong,))


def test_nodes_of_two_placements_add_up_on_a_device() -> None:
    half = Placement(0, 0, 0, (0,), 2, 1_000)
    assert is_packing(POOL, (Claims(SMALL, 4_000),), (half, half))
    assert not is_packing(POOL, (Claims(SMALL, 6_000),), (half, half, half))
    assert is_packing(POOL, (Claims(SMALL, 4_000),), (half, replace(half, devices=(1,))))


def test_each_of_its_nodes_is_a_place() -> None:
    placed = Placement(0, 2, 5, (0, 3), 4, 2)
    assert list(placed.places()) == [(2, 5, 0), (2, 5, 3), (2, 6, 0), (2, 6, 3)]
