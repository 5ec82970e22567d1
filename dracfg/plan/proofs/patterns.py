"""Contents of single devices: the least that refuse a share, and the most that one can carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dracfg.plan.proofs.shapes import Counts, Group, Kind
from dracfg.plan.proofs.verdict import Budget


def blocking_contents(
    group: Group, kinds: Sequence[Kind], counts: Sequence[int], kind: Kind, budget: Budget
) -> tuple[Counts, ...]:
    """Every content that refuses one more share and would take it with any of its own shares gone.

    Contents draw on `counts`. A whole request is refused by a share of any size. The empty content
    is among them only where the request fits no device.
    """
    found: list[Counts] = []
    content = [0] * len(kinds)
    bounded = kind.whole or group.shares is not None
    matters = [bounded or held.whole or any(held.size) for held in kinds]

    def extend(start: int) -> None:
        budget.spend()
        if group.refuses(kinds, content, kind):
            if _is_least(group, kinds, content, kind):
                found.append(tuple(content))
            return
        for i in range(start, len(kinds)):
            if matters[i] and group.room(kinds, content, kinds[i], counts[i] - content[i]):
                content[i] += 1
                extend(i)
                content[i] -= 1

    extend(0)
    return tuple(found)


def _is_least(group: Group, kinds: Sequence[Kind], content: list[int], kind: Kind) -> bool:
    for i, count in enumerate(content):
        if count:
            content[i] -= 1
            refused = group.refuses(kinds, content, kind)
            content[i] += 1
            if refused:
                return False
    return True


def full_contents(
    group: Group, kinds: Sequence[Kind], counts: Sequence[int], budget: Budget
) -> tuple[Counts, ...]:
    """Every content to which no share of `counts` can be added."""
    return tuple(_full(group, kinds, counts, budget))


def _full(
    group: Group, kinds: Sequence[Kind], counts: Sequence[int], budget: Budget
) -> Iterator[Counts]:
    content = [0] * len(kinds)

    def more(i: int) -> int:
        return group.room(kinds, content, kinds[i], counts[i] - content[i])

    def extend(i: int) -> Iterator[Counts]:
        budget.spend()
        if i == len(kinds):
            if not any(more(j) for j in range(len(kinds))):
                yield tuple(content)
            return
        for number in range(more(i), -1, -1):
            content[i] = number
            yield from extend(i + 1)
        content[i] = 0

    return extend(0)
