"""What a request takes of a capacity, in the allocator's own arithmetic."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.allocate.devices import CapacityFact
from dracfg.allocate.structured.consumption import CapacityFailure, Demand, demand
from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import RequestPolicy

RANGE = {"default": "2", "validRange": {"min": "1", "max": "10", "step": "3"}}
VALUES = {"default": "2", "validValues": ["1", "2", "8"]}
FINE = {"default": "500m", "validRange": {"min": "500m", "max": "4", "step": "250m"}}


def taken(
    asked: str | None, policy: Mapping[str, object] | None, *, fractional: bool, errors: bool
) -> str | None:
    """The amount that is taken of a capacity of 16, `error`, or None where nothing fits."""
    fact = CapacityFact(Quantity.parse("16"), RequestPolicy.from_object(policy) if policy else None)
    requested = {} if asked is None else {"cores": Quantity.parse(asked)}
    found = demand(requested, {"cores": fact}, fractional=fractional, errors=errors)
    if isinstance(found, CapacityFailure):
        return "error"
    return None if found is None else str(found.amounts["cores"])


@pytest.mark.parametrize(
    ("asked", "policy", "amount"),
    [
        (None, None, "16"),
        (None, RANGE, "2"),
        ("3", None, "3"),
        ("500m", RANGE, "1"),
        ("2", RANGE, "4"),
        ("4", RANGE, "4"),
        ("9", RANGE, "10"),
        ("11", RANGE, None),
        ("3", VALUES, "8"),
        ("9", VALUES, None),
        ("600m", FINE, "750m"),
    ],
)
def test_amounts_are_rounded_up_to_what_the_policy_takes(
    asked: str | None, policy: Mapping[str, object] | None, amount: str | None
) -> None:
    assert taken(asked, policy, fractional=True, errors=True) == amount


def test_without_fractions_steps_are_counted_in_whole_units() -> None:
    # min, step and request each count as 1.
    assert taken("600m", FINE, fractional=False, errors=True) == "1"


def test_from_1_37_on_an_amount_beyond_64_bits_is_an_error() -> None:
    assert taken("1e30", RANGE, fractional=False, errors=True) == "error"
    # Before, 1e30 was read as 0, which is below min, and one step was added to min.
    assert taken("1e30", RANGE, fractional=False, errors=False) == "4"


def test_a_device_without_the_capacity_is_not_eligible() -> None:
    assert demand({"x": Quantity.of(1)}, {}, fractional=False, errors=True) is None


@given(st.integers(1, 50), st.integers(0, 20), st.integers(1, 9))
def test_a_rounded_amount_is_the_next_of_the_range(asked: int, least: int, step: int) -> None:
    policy = RequestPolicy.from_object({"validRange": {"min": str(least), "step": str(step)}})
    fact = CapacityFact(Quantity.of(1000), policy)
    found = demand({"c": Quantity.of(asked)}, {"c": fact}, fractional=False, errors=True)
    assert isinstance(found, Demand)
    amount = found.amounts["c"].value()
    assert amount >= max(asked, least)
    assert (amount - least) % step == 0
    assert amount == least or amount - step < asked


def test_a_demand_fits_beside_what_is_consumed() -> None:
    fact = CapacityFact(Quantity.of(10))
    found = demand({"c": Quantity.of(4)}, {"c": fact}, fractional=False, errors=True)
    assert isinstance(found, Demand)
    unit = Quantity.of(1).nano
    assert found.fits({"c": 6 * unit})
    assert not found.fits({"c": 3 * unit}, {"c": 4 * unit})
