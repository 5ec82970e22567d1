"""Comparison members that quantities and versions share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dracfg.cel.semver import Semver
from dracfg.kube.quantity import Quantity

__all__ = ["GLOBALS", "MEMBERS"]


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1; both sides are quantities or both are versions."""
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return (left > right) - (left < right)
    if isinstance(left, Semver) and isinstance(right, Semver):
        return (left > right) - (left < right)
    raise ValueError(f"no such overload: {type(left).__name__} and {type(right).__name__}")


GLOBALS: Mapping[str, Callable[..., Any]] = {}
MEMBERS: Mapping[str, Callable[..., Any]] = {
    "compareTo": compare,
    "isGreaterThan": lambda left, right: compare(left, right) > 0,
    "isLessThan": lambda left, right: compare(left, right) < 0,
}
