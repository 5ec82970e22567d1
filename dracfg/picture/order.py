"""The order that people count names in."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"(\D+|(?=\d))(\d*)")


def natural(name: str) -> tuple[tuple[str, int], ...]:
    """A key by which gpu-2 comes before gpu-10."""
    return tuple((text, int(number or 0)) for text, number in _NUMBERS.findall(name))
