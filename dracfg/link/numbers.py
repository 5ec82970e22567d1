"""Devices or shares that a tenant is promised and let have, and how they are parted. Plain values."""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Numbers:
    """Devices, or shares of one size: what is promised and what quota lets through."""

    guaranteed: int
    limit: int

    def less(self, taken: Numbers) -> Numbers:
        """What is left; never below nothing."""
        return Numbers(max(0, self.guaranteed - taken.guaranteed), max(0, self.limit - taken.limit))

    def part(self, limit: int) -> Numbers:
        """So much of the limit, and of what is promised as much in proportion, rounded down."""
        most = min(limit, self.limit)
        return Numbers(self.guaranteed * most // self.limit if self.limit else 0, most)


NOTHING = Numbers(0, 0)

ByPart = Mapping[str, Numbers]
"""Numbers by the name of the part: a size, a partition, or empty for whole devices."""


def rest(everything: ByPart, taken: ByPart) -> dict[str, Numbers]:
    """What is left of each part."""
    return {part: numbers.less(taken.get(part, NOTHING)) for part, numbers in everything.items()}


def first(everything: ByPart, limit: int) -> dict[str, Numbers]:
    """Of the parts in their order, so many as the limit reaches for."""
    found = {}
    for part, numbers in everything.items():
        found[part] = numbers.part(limit)
        limit -= found[part].limit
    return found
