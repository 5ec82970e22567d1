"""A unit too large for an engine → parts of it, in which groups of objects keep their places.

A group's part follows from its name and from the number of parts, which doubles when one is full, and never
falls below what stands. So who comes or goes moves nobody else: what an engine takes from one part to
another may be missing for a while. Knows neither clusters nor tenants.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count

from dracfg.lower.artifact import Artifact, Unit
from dracfg.source.standing import Standing

MAX_OBJECTS = 900
"""Objects of one synced unit. `kubectl kustomize` needs a second for 1,000 and minutes for 12,000."""

_MOST_PARTS = 1024
"""Of one unit: no cluster carries as many objects. Where so many folders stand, somebody else made them."""


def divided(
    path: str,
    fixed: Sequence[Artifact],
    groups: Mapping[str, Sequence[Artifact]],
    standing: Standing,
) -> tuple[Unit, ...]:
    """Units of at most MAX_OBJECTS: `path` with what is fixed, `path.2` …; a group is never torn apart.

    A part for which there is nothing is left out.
    """
    first, *more = shares(groups, len(fixed), least=standing.last_part(path))
    parts = ((*fixed, *first), *more)
    return tuple(Unit(part_path(path, i), part) for i, part in enumerate(parts) if part)


def shares(
    groups: Mapping[str, Sequence[Artifact]], fixed: int = 0, least: int = 1
) -> tuple[tuple[Artifact, ...], ...]:
    """What of the groups each part holds, in their order; the first holds `fixed` objects beside them.

    They are at least so many as stand already: a fleet that shrinks moves nobody.
    """
    number = _number(fixed, groups, least)
    if number == 1:
        return (tuple(chain.from_iterable(groups.values())),)
    parts: list[list[Artifact]] = [[] for _ in range(number)]
    for name, group in groups.items():
        parts[_place(name) % len(parts)] += group
    return tuple(map(tuple, parts))


def settled(
    groups: Mapping[str, Sequence[Artifact]], places: Mapping[str, int], first: int
) -> dict[int, tuple[Artifact, ...]]:
    """What of the groups each part holds, by its number, counted from 1; for what must never move.

    A group stays in the part that `places` names. Another goes to the first part with room for it: the
    very first holds `first` objects of groups, all others MAX_OBJECTS.
    """
    numbers = {name: places[name] for name in groups if name in places}
    sizes: Counter[int] = Counter()
    for name, number in numbers.items():
        sizes[number] += len(groups[name])
    held: dict[int, list[Artifact]] = {}
    for name, group in groups.items():
        if name not in numbers:
            numbers[name] = _with_room(sizes, len(group), first)
            sizes[numbers[name]] += len(group)
        held.setdefault(numbers[name], []).extend(group)
    return {number: tuple(held[number]) for number in sorted(held)}


def _with_room(sizes: Counter[int], size: int, first: int) -> int:
    """The first part that can hold so many objects more, or the first that holds none."""
    if sizes[1] + size <= first:
        return 1
    return next(i for i in count(2) if not sizes[i] or sizes[i] + size <= MAX_OBJECTS)


def part_path(path: str, i: int) -> str:
    """The path of a unit's part, counted from 0."""
    return path if i == 0 else f"{path}.{i + 1}"


def is_part(path: str, unit: str) -> bool:
    """Whether a path is that of a unit, or of one of its parts."""
    stem, dot, number = path.rpartition(".")
    return path == unit or (bool(dot) and stem == unit and number.isdecimal())


def _number(fixed: int, groups: Mapping[str, Sequence[Artifact]], least: int) -> int:
    """How many parts are needed: the least power of two with which none is too large, or none holds two."""
    if least <= 1 and fixed + sum(map(len, groups.values())) <= MAX_OBJECTS:
        return 1
    placed = [(_place(name), len(group)) for name, group in groups.items() if group]
    number = 1
    while number < _MOST_PARTS and (number < least or _is_crowded(number, fixed, placed)):
        number *= 2
    return number


def _is_crowded(number: int, fixed: int, placed: Iterable[tuple[int, int]]) -> bool:
    """Whether a part is too large, though it would be smaller with more of them."""
    sizes, members = [0] * number, [0] * number
    sizes[0], members[0] = fixed, 1 if fixed else 0
    for place, size in placed:
        sizes[place % number] += size
        members[place % number] += 1
    return any(size > MAX_OBJECTS and count > 1 for size, count in zip(sizes, members, strict=True))


def _place(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
