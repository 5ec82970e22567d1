"""The least change after which a guarantee holds: nodes of its own, a size less, rounder sizes, fewer
shares for others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dracfg.dataclass import dataclass
from dracfg.plan.proofs.blocking import non_blocking
from dracfg.plan.proofs.shapes import Claims, Counts, Group, Kind, Others, Pool
from dracfg.plan.proofs.verdict import Proven

_STATES = 20_000
_MOST_PARTS = 64


@dataclass(frozen=True, slots=True)
class Dedicated:
    """So many nodes of a group for the tenant alone."""

    group: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Rounded:
    """Sizes by the kind's name, each the next smaller that divides a device without a rest."""

    sizes: tuple[tuple[str, Counts], ...]


@dataclass(frozen=True, slots=True)
class Mends:
    """Each alone is enough. `dropped` are kinds that nobody else may hold any more."""

    dedicated: Dedicated | None
    dropped: tuple[str, ...]
    rounded: Rounded | None


def mends(pool: Pool, request: Claims, own: Others, others: Others) -> Mends:
    """What would make a request never refused; `own` is the tenant's part of the others."""
    return Mends(
        _dedicated(pool, request, own),
        tuple(_droppable(pool, request, others)),
        _rounded(pool, request, others),
    )


def largest(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """The largest number in low..high for which something holds that more never helps."""
    if not holds(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def smallest(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """The smallest number in low..high for which something holds that more never harms."""
    found = largest(-high, -low, lambda number: holds(-number))
    return None if found is None else -found


def _is_proven(pool: Pool, request: Claims, others: Others) -> bool:
    return isinstance(non_blocking(pool, request, others, _STATES), Proven)


def _dedicated(pool: Pool, request: Claims, own: Others) -> Dedicated | None:
    best: Dedicated | None = None
    for group in pool.taking(request.kind):
        found = smallest(1, group.nodes, _alone_on(group, request, own))
        if found is not None and (best is None or found < best.nodes):
            best = Dedicated(group.name, found)
    return best


def _alone_on(group: Group, request: Claims, own: Others) -> Callable[[int], bool]:
    def holds(nodes: int) -> bool:
        return _is_proven(Pool((replace(group, nodes=nodes),)), request, own)

    return holds


def _droppable(pool: Pool, request: Claims, others: Others) -> Sequence[str]:
    return [
        kind.name
        for i, kind in enumerate(others.kinds)
        if others.counts[i]
        and kind != request.kind
        and _is_proven(
            pool, request, replace(others, counts=(*others.counts[:i], 0, *others.counts[i + 1 :]))
        )
    ]


def _rounded(pool: Pool, request: Claims, others: Others) -> Rounded | None:
    """Sizes lowered to the next C/n of the smallest device; None where that changes or mends nothing."""
    groups = pool.taking(request.kind)
    if not groups or request.kind.whole:
        return None
    capacity = min(group.capacity for group in groups)
    kinds = [replace(kind, size=_next_divisors(kind, capacity)) for kind in others.kinds]
    asked = replace(request.kind, size=_next_divisors(request.kind, capacity))
    changed = tuple(
        (new.name, new.size)
        for old, new in zip((request.kind, *others.kinds), (asked, *kinds), strict=True)
        if old.size != new.size
    )
    if not changed:
        return None
    rounder = replace(request, kind=asked)
    if not _is_proven(pool, rounder, Others(tuple(kinds), others.counts)):
        return None
    return Rounded(tuple(dict.fromkeys(changed)))


def _next_divisors(kind: Kind, capacity: Counts) -> Counts:
    if kind.whole:
        return kind.size
    return tuple(_next_divisor(size, most) for size, most in zip(kind.size, capacity, strict=True))


def _next_divisor(size: int, capacity: int) -> int:
    """The largest whole part of a capacity that is no more than the size; the size where none is."""
    if not 0 < size <= capacity:
        return size
    first = -(-capacity // size)
    for parts in range(first, first + _MOST_PARTS):
        if capacity % parts == 0:
            return capacity // parts
    return size
