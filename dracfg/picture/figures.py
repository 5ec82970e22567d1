"""Amounts, shares and counts as people write them, the same in every picture."""

from __future__ import annotations

import re
from fractions import Fraction

from dracfg.kube.quantity import Format, Quantity

_COUNTED = 100_000
"""Whole numbers below are written out; 25G of a bandwidth is not."""
_DIGITS = re.compile(r"(?<![\d.])\d{4,}")


def amount(nano: int, notation: Format) -> str:
    """Billionths of a unit in the notation of the catalog, with thousands apart: `3,840Gi`, `96`."""
    found = Quantity(nano, notation)
    if notation == "DecimalSI" and found.is_whole() and abs(found.value()) < _COUNTED:
        return f"{found.value():,}"
    return parted(str(found))


def parted(text: str) -> str:
    """Thousands apart in every whole number of a text."""
    return _DIGITS.sub(lambda found: f"{int(found[0]):,}", text)


def percent(part: int, whole: int) -> str:
    """`83%`; `<1%` for what is little but not nothing, empty where there is no whole."""
    if whole <= 0:
        return ""
    share = Fraction(part * 100, whole)
    if 0 < share < 1:
        return "<1%"
    rounded = round(share)
    if rounded == 100 and share != 100:
        return "99%" if share < 100 else "101%"
    return f"{rounded:,}%"
