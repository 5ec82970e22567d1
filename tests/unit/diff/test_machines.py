"""The state machines of the data file."""

import pytest

from dracfg.diff.machines import in_turn, machine, transition_data

NAMES = ("tenant", "pool", "direction", "holder")


@pytest.mark.parametrize("name", NAMES)
def test_every_state_that_is_named_is_one(name: str) -> None:
    states = machine(name)
    for following in states.steps.values():
        assert set(following) <= states.steps.keys()
    assert states.reasons.keys() <= states.steps.keys()


@pytest.mark.parametrize("name", NAMES)
def test_from_every_state_a_way_leads_to_every_other(name: str) -> None:
    states = machine(name)
    for before in states.steps:
        for after in states.steps:
            way = states.way(before, after)
            assert (before == after) or way[-1] == after
            for first, second in zip((before, *way), way, strict=False):
                assert states.allows(first, second)


@pytest.mark.parametrize(
    ("before", "after", "way"),
    [
        ("active", "removed", ("frozen", "draining", "removed")),
        ("removed", "active", ("active",)),
        ("active", "active", ()),
    ],
)
def test_the_shortest_way(before: str, after: str, way: tuple[str, ...]) -> None:
    assert machine("tenant").way(before, after) == way


def test_no_way_where_a_state_is_unknown() -> None:
    assert machine("tenant").way("active", "gone") == ()
    assert not machine("tenant").allows("active", "gone")


def test_the_reasons_of_a_way() -> None:
    assert machine("pool").why(("frozen", "draining", "disabled")).count(";") == 1
    assert machine("direction").why(("halted",)) == ""


def test_words() -> None:
    assert in_turn(("frozen", "draining", "removed")) == "frozen, then draining, then removed"


def test_states_are_those_of_the_language() -> None:
    from typing import get_args

    from dracfg.model.pool import PoolState
    from dracfg.model.rollout import Direction
    from dracfg.model.tenant import TenantState

    assert set(machine("tenant").steps) == set(get_args(TenantState))
    assert set(machine("pool").steps) == set(get_args(PoolState))
    assert set(machine("direction").steps) == set(get_args(Direction))
    assert transition_data()["direction"]["moves"].keys() == set(get_args(Direction))
    assert set(transition_data()["owner"]["states"]) <= set(get_args(PoolState)) - {"open"}
