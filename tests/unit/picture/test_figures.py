"""Amounts as people write them."""

import pytest

from dracfg.kube.quantity import Quantity
from dracfg.picture.figures import amount, parted, percent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("96", "96"),
        ("1200", "1,200"),
        ("100k", "100k"),
        ("25G", "25G"),
        ("3840Gi", "3,840Gi"),
        ("46068Mi", "46,068Mi"),
        ("0.5", "500m"),
        ("-8", "-8"),
        ("0", "0"),
    ],
)
def test_amounts(text: str, expected: str) -> None:
    found = Quantity.parse(text)
    assert amount(found.nano, found.format) == expected


def test_digits_after_a_point_stay_together() -> None:
    assert parted("0.123456 of 123456") == "0.123456 of 123,456"


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (0, 96, "0%"),
        (1, 1000, "<1%"),
        (80, 96, "83%"),
        (96, 96, "100%"),
        (9_999, 10_000, "99%"),
        (10_001, 10_000, "101%"),
        (5, 0, ""),
        (10**30, 1, f"{10**32:,}%"),
    ],
)
def test_shares(part: int, whole: int, expected: str) -> None:
    assert percent(part, whole) == expected
