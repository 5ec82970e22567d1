"""How many claims of each profile a namespace can hold, and what of a guarantee they can reach.

A claim is charged in every class it names, so a profile with alternatives is bounded by each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dracfg.plan.proofs.simplex import maximise


def reachable(limits: Mapping[str, int], charged: Sequence[Mapping[str, int]], name: str) -> int:
    """The most devices of a class that claims of these profiles hold together in a namespace."""
    using = [one for one in charged if one.get(name)]
    if not using:
        return 0
    if all(len(one) == 1 for one in using):
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
