"""How many claims of each profile a namespace can hold, and what of a guarantee they can reach.

A claim is charged in every class it names, so a profile with alternatives is bounded by each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dracfg.plan.proofs.simplex import maximise


def reached(limits: Mapping[str, int], charged: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    """The most devices of each class that claims of these profiles hold together in a namespace."""
    using: dict[str, list[Mapping[str, int]]] = {}
    for one in charged:
        for name in one:
            using.setdefault(name, []).append(one)
    return {name: _most(limits, named, name) for name, named in using.items()}


def _most(limits: Mapping[str, int], using: Sequence[Mapping[str, int]], name: str) -> int:
    if max(map(len, using)) == 1:
        return _most_filled(limits.get(name, 0), {one[name] for one in using})
    keys = sorted({key for one in using for key in one})
    optimum = maximise(
        [[one.get(key, 0) for key in keys] for one in using],
        [one[name] for one in using],
        [limits.get(key, 0) for key in keys],
    )
    return int(optimum.value) if optimum is not None else limits.get(name, 0)


def _most_filled(limit: int, sizes: set[int]) -> int:
    """The largest sum of sizes that a limit lets through."""
    if 1 in sizes:
        return limit
    sums = [True, *([False] * limit)]
    for total in range(1, limit + 1):
        sums[total] = any(size <= total and sums[total - size] for size in sizes)
    return max(total for total, reached in enumerate(sums) if reached)
