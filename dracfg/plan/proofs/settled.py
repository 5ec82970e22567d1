"""The test for equal devices whose shares take of one key: sound, and quick for any number of devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dracfg.dataclass import dataclass
from dracfg.plan.proofs.shapes import Group, Kind, Others


@dataclass(frozen=True, slots=True)
class SettledTest:
    """The test for equal devices of one capacity, with the numbers that it compared.

    `overfull` is the smallest total of sizes that leaves less than the request's size.
    """

    devices: int
    overfull: int
    shares: int | None
    smallest: int
    others_amount: int
    others_number: int


def settled_test(needed: Mapping[Group, int], kind: Kind, others: Others) -> SettledTest | None:
    """The numbers by which equal devices can't all be filled, where shares take of one key alone.

    No a in 0..N has a·u + (N-a)·shares·smallest ≤ amount of the others and a + (N-a)·shares ≤
    number of the others, with u the smallest total of sizes above capacity less the request.
    """
    if kind.whole or any(held.whole for held in others.kinds):
        return None
    (group, *more) = needed
    alike = all((g.capacity, g.shares) == (group.capacity, group.shares) for g in more)
    held_kinds = [k for k, n in zip(others.kinds, others.counts, strict=True) if n]
    used = [i for i in range(len(group.capacity)) if any(k.size[i] for k in (kind, *held_kinds))]
    if len(used) != 1 or not alike:
        return None
    key = used[0]
    capacity, shares = group.capacity[key], group.shares.most if group.shares else None
    held = [(k.size[key], n) for k, n in zip(others.kinds, others.counts, strict=True) if n]
    amount, number = sum(size * n for size, n in held), sum(n for _, n in held)
    sizes = sorted({size for size, _ in held if size})
    devices = sum(needed.values())
    overfull = _smallest_above(sizes, capacity - kind.size[key])
    smallest = min((size for size, _ in held), default=0)
    for filled in range(devices + 1):
        if filled and overfull is None:
            continue
        if filled < devices and shares is None:
            continue
        rest = (devices - filled) * (shares or 0)
        if filled * (overfull or 0) + rest * smallest <= amount and filled + rest <= number:
            return None
    return SettledTest(devices, overfull or 0, shares, smallest, amount, number)


def _smallest_above(sizes: Sequence[int], bound: int) -> int | None:
    """The smallest sum of sizes, each taken any number of times, that exceeds a bound ≥ 0."""
    if not sizes:
        return None
    reached, frontier, best = {0}, [0], bound + max(sizes)
    while frontier:
        total = frontier.pop()
        for size in sizes:
            larger = total + size
            if larger > bound:
                best = min(best, larger)
                break
            if larger not in reached:
                reached.add(larger)
                frontier.append(larger)
    return best
