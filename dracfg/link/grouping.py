"""Things by what they have in common, so that a look-up does not walk all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)


def grouped(
    things: Iterable[_T], keys: Callable[[_T], Iterable[_K]]
) -> Mapping[_K, tuple[_T, ...]]:
    """The things under each of their keys, in their order."""
    found: dict[_K, list[_T]] = {}
    for thing in things:
        for key in keys(thing):
            found.setdefault(key, []).append(thing)
    return {key: tuple(listed) for key, listed in found.items()}


def grouped_by(things: Iterable[_T], key: Callable[[_T], _K]) -> Mapping[_K, tuple[_T, ...]]:
    """The things under the one key that each of them has, in their order."""
    found: dict[_K, list[_T]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return {key: tuple(listed) for key, listed in found.items()}
