"""Patterns of paths, followed part by part: one walk of a tree tells what fits any of many.

In a pattern `*` holds for as much as there is within one part of a path; a part `{one,other}` is any of
these names, however many there are, and `{one,other}.*` any of them before its last dot. Knows no files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Way = tuple[Callable[[str], object], ...]
"""What the parts of a path that are still to come must be; none where the path ends."""


def ways_of(patterns: Iterable[str]) -> list[Way]:
    """The way of each pattern, from the folder on that it begins in."""
    return [tuple(map(_test, pattern.split("/"))) for pattern in patterns]


def follow_ways(ways: Iterable[Way], name: str) -> list[Way]:
    """What is left of the ways that go on, or end, at a name."""
    return [way[1:] for way in ways if way and way[0](name)]


def _test(part: str) -> Callable[[str], object]:
    if part.startswith("{"):
        listed, _, rest = part[1:].partition("}")
        names = frozenset(filter(None, listed.split(",")))
        return (lambda name: name.rpartition(".")[0] in names) if rest else names.__contains__
    if "*" not in part:
        return part.__eq__
    return re.compile(".*".join(map(re.escape, part.split("*"))), re.DOTALL).fullmatch
