"""Markets of two sides that have tenants in common are those that each side has by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given

from dracfg.diff.counterparts import linked_otherwise
from dracfg.diff.markets import Markets, Place, markets_by_place
from dracfg.diff.proofs import is_same
from dracfg.link.catalog import Catalog
from dracfg.plan.assurance import assured
from dracfg.plan.promises import Holding
from tests.unit.link.test_carried import EDITS, FEW, linked

CARDS, TWINS = ("east", "card", "dra"), ("east", "twin", "dra")
WEST = ("west", "card", "dra")


@pytest.mark.parametrize("edit", EDITS)
def test_they_are_those_of_each_side(edit: str) -> None:
    """Either way: the edit is made, or taken back."""
    hold([], [edit])
    hold([edit], [])


@given(FEW, FEW)
def test_they_are_those_of_any_two_sides(before: set[str], after: set[str]) -> None:
    hold(before, after)


def hold(before: Iterable[str], after: Iterable[str]) -> None:
    base = linked(before).catalog
    old, new = markets_by_place(base, linked(after, since=base).catalog)
    first, second = linked(before).catalog, linked(after).catalog
    assert figures(base, old) == figures(first, markets_by_place(first, first)[1])
    assert figures(base, new) == figures(second, markets_by_place(second, second)[1])


def figures(catalog: Catalog, markets: Markets) -> Any:
    """All that markets hold, in their order, and what becomes of their proofs."""
    return {
        place: [
            (
                [numbers(holding) for holding in market.holdings],
                market.exempt,
                [*market.foreign.items()],
                market.supply.pool,
                market.supply.restored,
                [*market.supply.classes],
                [
                    (numbers(one.holding), one.question, one.devices, one.reclaimed, one.verdict)
                    for one in assured(catalog, market)
                ],
            )
            for market in listed
        ]
        for place, listed in markets.items()
    }


def numbers(holding: Holding) -> tuple[object, ...]:
    return (
        holding.tenant.name,
        holding.grant.name,
        holding.part.name,
        holding.kind,
        holding.guaranteed,
        holding.limit,
        holding.claims,
        holding.is_combined,
        holding.given_back,
        holding.is_left,
    )


@pytest.mark.parametrize(
    ("edit", "moved"),
    [
        ("a comment", set()),
        ("the giver has more", {CARDS, TWINS}),
        ("the giver is not found on east", {CARDS, TWINS}),
        ("the other has more", {TWINS, CARDS}),
        ("the other is in one place", {TWINS, CARDS}),
        ("the other asks for two", {CARDS}),
        ("the watcher leaves", set()),
    ],
)
def test_a_tenant_moves_those_alone_that_it_has_a_part_in(edit: str, moved: set[Place]) -> None:
    """Or that its claims may land in: nothing tells devices of `card` from those of `twin`."""
    base = linked([]).catalog
    old, new = (
        {place: figures(base, {place: listed}) for place, listed in side.items()}
        for side in markets_by_place(base, linked([edit], since=base).catalog)
    )
    assert {place for place in old if old[place] != new[place]} == moved
    assert {CARDS, TWINS, WEST} == old.keys()


def test_what_stays_is_not_made_out_again() -> None:
    base = linked([]).catalog
    head = linked(["the other has more"], since=base).catalog
    old, new = markets_by_place(base, head)
    assert linked_otherwise(base, head) == {"other"}
    for place in (CARDS, TWINS, WEST):
        first, second = (
            {
                id(one)
                for market in side[place]
                for one in market.holdings
                if one.tenant.name != "other"
            }
            for side in (old, new)
        )
        assert first == second


@pytest.mark.parametrize("edit", EDITS)
def test_proofs_are_held_against_each_other_wherever_a_market_differs(edit: str) -> None:
    """Also where only claims of another tier may land on the same devices."""
    before = linked([]).catalog
    done = linked([edit], since=before)
    if done.catalog.poisoned:
        return
    old, new = markets_by_place(before, done.catalog)
    for place in old.keys() & new.keys():
        first, second = (
            [
                (
                    [numbers(holding) for holding in market.holdings],
                    market.exempt,
                    dict(market.foreign),
                    market.supply.pool,
                )
                for market in side[place]
            ]
            for side in (old, new)
        )
        if first != second:
            assert not is_same(before, done.catalog, old[place], new[place])
