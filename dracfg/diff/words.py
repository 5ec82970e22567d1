"""Names and numbers in the sentences of changes. Knows nothing of what is compared."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 20
"""Workloads that a change lists; the others are counted."""


def bounded(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(the first names in their order, a detail that counts the others where there are more)."""
    listed = tuple(sorted(dict.fromkeys(names)))
    more = len(listed) - MOST
    return listed[:MOST], (f"and {more:,} more workloads",) if more > 0 else ()


def few(names: Iterable[str], most: int = 8) -> str:
    """Names in a sentence: `a, b, c and 4 more`."""
    listed = list(dict.fromkeys(names))
    if len(listed) <= most:
        return ", ".join(listed)
    return f"{', '.join(listed[:most])} and {len(listed) - most:,} more"


def plural(number: int, what: str) -> str:
    """`1 device`, `1,200 devices`, `3 classes`."""
    ending = "" if number == 1 else "es" if what.endswith("s") else "s"
    return f"{number:,} {what}{ending}"
