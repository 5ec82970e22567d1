"""nonBlocking: whether a request fits whatever others hold, wherever it lies.

A claim for k devices of one node of d fails exactly where every node has at least d-k+1 devices
without room. Devices are filled independently of each other, so the question is whether what others
may hold covers that many devices with contents that refuse one more share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from dracfg.dataclass import dataclass
from dracfg.plan.proofs.patterns import blocking_contents
from dracfg.plan.proofs.settled import SettledTest, settled_test
from dracfg.plan.proofs.shapes import Claims, Counts, Group, Kind, Others, Pool
from dracfg.plan.proofs.simplex import maximise
from dracfg.plan.proofs.verdict import Budget, OutOfBudget, Proven, Refuted, Unknown

STATES = 200_000
_MOST_CONTENTS = 600


@dataclass(frozen=True, slots=True)
class NothingRefuses:
    """No content that others can form refuses the request on some group."""

    group: str


@dataclass(frozen=True, slots=True)
class Weights:
    """A weight for each kind of the others: each device without room carries at least the floor of
    its group, and all of the others together weigh less than that of the devices to fill.
    """

    kinds: tuple[Fraction, ...]
    floors: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Exhausted:
    """Every way to fill the devices was tried, or shown to weigh too much."""

    states: int


@dataclass(frozen=True, slots=True)
class NoPlace:
    """The request fits no empty node: too large, or more devices than any node has."""

    devices: int


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How others block the request: (group, content of one device, number of such devices)."""

    kinds: tuple[Kind, ...]
    rows: tuple[tuple[str, Counts, int], ...]


Certificate = NothingRefuses | SettledTest | Weights | Exhausted
Verdict = Proven[Certificate] | Refuted[NoPlace | Arrangement] | Unknown


def non_blocking(pool: Pool, request: Claims, others: Others, states: int = STATES) -> Verdict:
    """Whether one claim of the request fits whatever the others hold.

    `others` are all that may be held beside it, the same tenant's own shares included.
    """
    needed = devices_to_fill(pool, request)
    if not needed:
        return Refuted(NoPlace(request.devices))
    settled = settled_test(needed, request.kind, others)
    if settled is not None:
        return Proven(settled)
    budget = Budget(states)
    try:
        contents = {}
        for group in needed:
            found = blocking_contents(group, others.kinds, others.counts, request.kind, budget)
            if not found:
                return Proven(NothingRefuses(group.name))
            contents[group] = found
    except OutOfBudget:
        return _without_contents(needed, request.kind, others, budget)
    if sum(map(len, contents.values())) > _MOST_CONTENTS:
        return _without_contents(needed, request.kind, others, budget)
    weights = _separating(needed, contents, others)
    if weights is not None:
        return Proven(weights)
    try:
        filled = _fill(needed, contents, others, budget)
    except OutOfBudget:
        return Unknown(f"search stopped after {budget.most:,} states", budget.most)
    if filled is None:
        return Proven(Exhausted(budget.spent))
    return Refuted(Arrangement(others.kinds, filled))


def devices_to_fill(pool: Pool, request: Claims) -> dict[Group, int]:
    """How many devices of each group must have no room, for every node to refuse the request."""
    empty = ((), ())
    return {
        group: group.nodes * (group.per_node - request.devices + 1)
        for group in pool.taking(request.kind)
        if group.per_node >= request.devices and group.room(*empty, request.kind, 1)
    }


def _without_contents(
    needed: Mapping[Group, int], kind: Kind, others: Others, budget: Budget
) -> Verdict:
    """Where a device has too many contents to list: each full one is past its room in some key."""
    weights = room_weights(needed, kind, others)
    if _weigh(weights, others.counts) < sum(needed.values()):
        return Proven(Weights(weights, {group.name: Fraction(1) for group in needed}))
    filled = _filled_greedily(needed, kind, others)
    if filled is not None:
        return Refuted(Arrangement(others.kinds, filled))
    return Unknown("a device has too many contents to look at each", max(budget.spent, 1))


def _filled_greedily(
    needed: Mapping[Group, int], kind: Kind, others: Others
) -> tuple[tuple[str, Counts, int], ...] | None:
    """Devices filled one after the other, with the largest or the smallest shares first."""
    for order in (1, -1):
        left = list(others.counts)
        kinds = sorted(range(len(left)), key=lambda i: others.kinds[i].size, reverse=order > 0)
        rows: dict[tuple[str, Counts], int] = {}
        for group in (group for group, number in needed.items() for _ in range(number)):
            content = [0] * len(left)
            for i in kinds:
                while left[i] and not group.refuses(others.kinds, content, kind):
                    if not group.room(others.kinds, content, others.kinds[i], 1):
                        break
                    content[i] += 1
                    left[i] -= 1
            if not group.refuses(others.kinds, content, kind):
                break
            row = (group.name, tuple(content))
            rows[row] = rows.get(row, 0) + 1
        else:
            return tuple((name, content, number) for (name, content), number in rows.items())
    return None


def room_weights(needed: Mapping[Group, int], kind: Kind, others: Others) -> tuple[Fraction, ...]:
    """Weights under which every content without room weighs at least 1.

    Such a content is whole, or has all the shares that the device allows, or leaves less than the
    request's size in some key: those parts add up.
    """
    return tuple(max(_room_weight(group, kind, held) for group in needed) for held in others.kinds)


def _room_weight(group: Group, kind: Kind, held: Kind) -> Fraction:
    if held.whole or kind.whole:
        return Fraction(1)
    weight = Fraction(1, group.shares.most) if group.shares is not None else Fraction(0)
    for capacity, size, amount in zip(group.capacity, kind.size, held.size, strict=True):
        if size:
            weight += Fraction(amount, capacity - size + 1)
    return weight


def weights_hold(
    pool: Pool, request: Claims, others: Others, weights: Weights, budget: Budget
) -> bool:
    """Checks a certificate from the beginning: every refusing content, then the sum."""
    needed = devices_to_fill(pool, request)
    for group in needed:
        for content in blocking_contents(group, others.kinds, others.counts, request.kind, budget):
            if _weigh(weights.kinds, content) < weights.floors[group.name]:
                return False
    least = sum((weights.floors[group.name] * n for group, n in needed.items()), Fraction(0))
    is_positive = min(weights.kinds, default=Fraction(0)) >= 0
    return is_positive and _weigh(weights.kinds, others.counts) < least


def is_blocked(pool: Pool, request: Claims, others: Others, arrangement: Arrangement) -> bool:
    """Checks a counter-example: bounds of the others and of devices kept, and no node with room."""
    used = [0] * len(others.kinds)
    full: dict[str, int] = {}
    by_name = {group.name: group for group in pool.groups}
    for name, content, number in arrangement.rows:
        group = by_name[name]
        if not group.holds(others.kinds, content):
            return False
        if not group.refuses(others.kinds, content, request.kind):
            return False
        full[name] = full.get(name, 0) + number
        used = [have + number * count for have, count in zip(used, content, strict=True)]
    needed = devices_to_fill(pool, request)
    return all(a <= b for a, b in zip(used, others.counts, strict=True)) and all(
        number <= full.get(group.name, 0) <= group.devices for group, number in needed.items()
    )


def _weigh(weights: Sequence[Fraction], content: Sequence[int]) -> Fraction:
    return sum((w * n for w, n in zip(weights, content, strict=True)), Fraction(0))


def _separating(
    needed: Mapping[Group, int], contents: Mapping[Group, tuple[Counts, ...]], others: Others
) -> Weights | None:
    """Weights that rule out filling all devices, where even fractions of contents can't do it."""
    groups = tuple(needed)
    columns = [
        [int(group is other) for other in groups] + list(content)
        for group in groups
        for content in contents[group]
    ]
    bounds = [needed[group] for group in groups] + list(others.counts)
    optimum = maximise(columns, [1] * len(columns), bounds)
    if optimum is None or optimum.value >= sum(needed.values()):
        return None
    floors = {group.name: 1 - optimum.prices[i] for i, group in enumerate(groups)}
    return Weights(optimum.prices[len(groups) :], floors)


def _fill(
    needed: Mapping[Group, int],
    contents: Mapping[Group, tuple[Counts, ...]],
    others: Others,
    budget: Budget,
) -> tuple[tuple[str, Counts, int], ...] | None:
    """A cover of all devices by refusing contents, or None where there is none."""
    steps = [
        (group, content)
        for group in sorted(needed, key=lambda group: len(contents[group]))
        for content in sorted(contents[group], key=lambda c: _scarcity(c, others.counts))
    ]
    last = {group: i for i, (group, _) in enumerate(steps)}
    dead: set[tuple[int, int, Counts]] = set()
    floors = _least_shares(steps)

    def extend(i: int, missing: int, left: Counts) -> Iterator[tuple[str, Counts, int]] | None:
        """Fills the rest from step i on; `missing` devices of that step's group are open."""
        if i == len(steps):
            return iter(())
        group, content = steps[i]
        if missing == 0:
            following = last[group] + 1
            if following == len(steps):
                return iter(())
            return extend(following, needed[steps[following][0]], left)
        state = (i, missing, left)
        if state in dead:
            return None
        budget.spend()
        if floors[i] * missing > sum(left):
            dead.add(state)
            return None
        most = min(
            (have // want for have, want in zip(left, content, strict=True) if want),
            default=missing,
        )
        most = min(most, missing)
        for number in [most] if last[group] == i else range(most, -1, -1):
            if last[group] == i and number < missing:
                break
            rest = tuple(a - number * b for a, b in zip(left, content, strict=True))
            found = extend(i + 1 if number < missing else i, missing - number, rest)
            if found is not None:
                rows = [(group.name, content, number)] if number else []
                return iter([*rows, *found])
        dead.add(state)
        return None

    found = extend(0, needed[steps[0][0]], others.counts)
    return None if found is None else tuple(found)


def _scarcity(content: Counts, counts: Counts) -> Fraction:
    """How much of what there is a content uses up; frugal ones are tried first."""
    used = (Fraction(want, have) for want, have in zip(content, counts, strict=True) if want)
    return sum(used, Fraction(0))


def _least_shares(steps: Sequence[tuple[Group, Counts]]) -> list[int]:
    """From each step on, the fewest shares of a content of the same group."""
    floors = [0] * len(steps)
    for i in range(len(steps) - 1, -1, -1):
        group, content = steps[i]
        floors[i] = sum(content)
        if i + 1 < len(steps) and steps[i + 1][0] is group:
            floors[i] = min(floors[i], floors[i + 1])
    return floors
