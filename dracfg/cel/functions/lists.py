"""Kubernetes' list functions (kubernetes/apiserver: pkg/cel/library/lists.go) and DRA's `includes`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

__all__ = ["GLOBALS", "MEMBERS", "equal"]

# resourceapi.ResourceSliceMaxAttributeValuesPerDevice (kubernetes/api: resource/v1/types.go)
LONGEST_INCLUDES = 48
NUMBERS = (int, float)


def equal(left: Any, right: Any) -> bool:
    """CEL equality: numbers compare across types, values of different types differ."""
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool) and left == right
    if isinstance(left, NUMBERS) and isinstance(right, NUMBERS):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return type(left) is type(right) and bool(left == right)


def is_sorted(values: Sequence[Any]) -> bool:
    """Whether no value is smaller than the one before it."""
    return all(not after < before for before, after in pairwise(values))


def total(values: Sequence[Any]) -> Any:
    """The sum; 0 of the element type for an empty list."""
    if values and isinstance(values[0], datetime.timedelta):
        return sum(values, datetime.timedelta())
    return sum(values)


def smallest(values: Sequence[Any]) -> Any:
    """The least value; an error for an empty list."""
    if not values:
        raise ValueError("min called on empty list")
    return min(values)


def largest(values: Sequence[Any]) -> Any:
    """The greatest value; an error for an empty list."""
    if not values:
        raise ValueError("max called on empty list")
    return max(values)


def index_of(values: Sequence[Any], item: Any) -> int:
    """Where the item stands first, -1 where it does not."""
    return next((index for index, value in enumerate(values) if equal(value, item)), -1)


def last_index_of(values: Sequence[Any], item: Any) -> int:
    """Where the item stands last, -1 where it does not."""
    found = index_of(values[::-1], item)
    return len(values) - 1 - found if found >= 0 else -1


def includes(target: Any, item: Any) -> bool:
    """Whether a list holds the item, or a scalar equals it.

    DRA stops with an error after 48 values that did not match (KEP-5491).
    """
    if not isinstance(target, list):
        return equal(target, item)
    if any(equal(value, item) for value in target[:LONGEST_INCLUDES]):
        return True
    if len(target) > LONGEST_INCLUDES:
        raise ValueError(
            f"'includes' function cannot be applied to lists longer than {LONGEST_INCLUDES} values"
        )
    return False


GLOBALS: Mapping[str, Callable[..., Any]] = {}
MEMBERS: Mapping[str, Callable[..., Any]] = {
    "isSorted": is_sorted,
    "sum": total,
    "min": smallest,
    "max": largest,
    "indexOf": index_of,
    "lastIndexOf": last_index_of,
    "includes": includes,
}
