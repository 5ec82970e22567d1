"""Request-policy arithmetic of shareable devices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import RequestPolicy, ValidRange, consumed


def q(text: str) -> Quantity:
    return Quantity.parse(text)


GIB5 = RequestPolicy.from_object(
    {"default": "5Gi", "validRange": {"min": "5Gi", "step": "5Gi", "max": "75Gi"}}
)
OFFSET = RequestPolicy.from_object({"default": "2", "validRange": {"min": "2", "step": "3"}})
RANGE = RequestPolicy.from_object({"default": "10", "validRange": {"min": "10", "max": "20"}})
VALUES = RequestPolicy.from_object({"default": "1Gi", "validValues": ["1Gi", "4Gi", "16Gi"]})


@pytest.mark.parametrize(
    ("requested", "policy", "value", "expected"),
    [
        (None, None, "80Gi", "80Gi"),
        (None, RequestPolicy(), "80Gi", "80Gi"),
        (None, GIB5, "80Gi", "5Gi"),
        ("7", None, "10", "7"),
        ("0", None, "10", "0"),
        ("11", None, "10", None),
        ("11", RequestPolicy(), "10", None),
        ("40Gi", GIB5, "80Gi", "40Gi"),
        ("40961Mi", GIB5, "80Gi", "45Gi"),
        ("1", GIB5, "80Gi", "5Gi"),
        ("0", GIB5, "80Gi", "5Gi"),
        ("75Gi", GIB5, "80Gi", "75Gi"),
        ("76Gi", GIB5, "80Gi", None),
        ("40Gi", GIB5, "39Gi", None),
        ("1", OFFSET, "10", "2"),
        ("2", OFFSET, "10", "2"),
        ("3", OFFSET, "10", "5"),
        ("5", OFFSET, "10", "5"),
        ("6", OFFSET, "10", "8"),
        ("9", OFFSET, "10", None),
        ("9", OFFSET, "11", "11"),
        ("1999", OFFSET, "9k", "2000"),
        ("9", RANGE, "30", "10"),
        ("10500m", RANGE, "30", "10500m"),
        ("20", RANGE, "30", "20"),
        ("21", RANGE, "30", None),
        ("1", VALUES, "16Gi", "1Gi"),
        ("2Gi", VALUES, "16Gi", "4Gi"),
        ("16Gi", VALUES, "16Gi", "16Gi"),
        ("17Gi", VALUES, "20Gi", None),
        ("5Gi", VALUES, "8Gi", None),
    ],
)
def test_consumed(
    requested: str | None, policy: RequestPolicy | None, value: str, expected: str | None
) -> None:
    amount = consumed(None if requested is None else q(requested), policy, q(value))
    assert (None if amount is None else str(amount)) == expected


def test_fractional_ranges_need_their_gate() -> None:
    policy = RequestPolicy.from_object({"validRange": {"min": "500m", "step": "250m"}})
    # In whole units min and step both count as 1.
    assert consumed(q("600m"), policy, q("4")) == q("1")
    assert consumed(q("600m"), policy, q("4"), fractional_range=True) == q("750m")
    assert consumed(q("3"), OFFSET, q("10"), fractional_range=True) == q("5")


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({"validRange": {"min": "1", "step": "0"}}, "step must be positive"),
        ({"validRange": {"min": "1", "step": "-1"}}, "step must be positive"),
        ({"validRange": {"min": "-1"}}, "min must not be negative"),
        ({"validRange": {"min": "2", "max": "1"}}, "max 1 is below min 2"),
        ({"validRange": {"max": "1"}}, "validRange needs min"),
        ({"validRange": {"min": "1"}, "validValues": ["1"]}, "must not both be set"),
        ({"default": "1 Gi"}, "did you mean 1Gi"),
    ],
)
def test_policies_that_cannot_hold(policy: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        RequestPolicy.from_object(policy)


@given(
    asked=st.integers(0, 200),
    least=st.integers(0, 50),
    step=st.integers(1, 20),
    value=st.integers(0, 300),
)
def test_steps_are_the_next_one_up(asked: int, least: int, step: int, value: int) -> None:
    policy = RequestPolicy(
        valid_range=ValidRange(Quantity.of(least), step=Quantity.of(step)),
    )
    ladder = range(least, least + 201 * step, step)
    wanted = next(rung for rung in ladder if rung >= asked)
    amount = consumed(Quantity.of(asked), policy, Quantity.of(value))
    assert amount == (Quantity.of(wanted) if wanted <= value else None)
