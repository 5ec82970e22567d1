"""Makes a differing case small: takes parts away as long as the two allocators still differ."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from tests.oracle.draw import Object

Path = tuple[str | int, ...]
_KEPT = frozenset(
    {
        *("minor", "node", "apiVersion", "kind", "metadata", "pool", "opaque", "status"),
        *("allocationMode", "count", "operator"),
    }
)
"""Fields that stay: what every object has, and what the API server would put back."""
_NEVER_EMPTY = frozenset({"claims", "ints", "bools", "strings", "versions", "validValues"})


def shrink(case: Object, differs: Callable[[Object], bool]) -> Object:
    """A part of the case from which nothing can be taken; `differs` holds for it as well.

    `differs` must be False for what is no case at all.
    """
    smaller = True
    while smaller:
        smaller = False
        for path in sorted(_paths(case), key=len):
            candidate = _without(case, path)
            if candidate is not None and differs(candidate):
                case, smaller = candidate, True
    return case


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Everything that may be taken away: fields and items, the later ones first."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in _KEPT:
                continue
            if name not in _NEVER_EMPTY:
                yield (*path, name)
            yield from _paths(inner, (*path, name))
    elif isinstance(value, list):
        removable = len(value) > 1 or (path and path[-1] not in _NEVER_EMPTY)
        for number in range(len(value) - 1, -1, -1):
            if removable:
                yield (*path, number)
            yield from _paths(value[number], (*path, number))


def _without(case: Object, path: Path) -> Object | None:
    """The case without what stands at a path; None where nothing stands there any more."""
    found = copy.deepcopy(case)
    owner: Any = found
    *steps, last = path
    try:
        for step in steps:
            owner = owner[step]
        if len(path) == 1:
            owner[last] = []
        else:
            del owner[last]
    except (KeyError, IndexError, TypeError):
        return None
    return None if found == case else found
