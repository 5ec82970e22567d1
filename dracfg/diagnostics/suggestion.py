"""Names near to a mistyped one. Knows nothing of what the names stand for."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most likely meant by `name`, or None where none is near.

    Near means: the same letters without case and separators, the same words in another order, or
    at most two edits apart (one, for names of three letters or fewer).
    """
    names = sorted(set(known))
    folded = _fold(name)
    for candidate in names:
        if _fold(candidate) == folded:
            return candidate
    words = sorted(_words(name))
    for candidate in names:
        if len(words) > 1 and sorted(_words(candidate)) == words:
            return candidate
    budget = 2 if len(name) > 3 else 1
    near = [
        (distance, candidate)
        for candidate in names
        if (distance := _edits(name, candidate)) <= budget
    ]
    if near:
        return min(near)[1]
    longer = [
        c
        for c in names
        if len(folded) >= 4 and (_fold(c).startswith(folded) or folded.startswith(_fold(c)))
    ]
    return longer[0] if len(longer) == 1 else None


def _fold(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _words(name: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in name.lower()).split()


def _edits(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two short names."""
    if abs(len(a) - len(b)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row, last = row, [i, *[0] * len(b)], before
        for j, y in enumerate(b, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[j] = min(row[j], last[j - 2] + 1)
    return row[-1]
