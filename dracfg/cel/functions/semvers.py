"""The semver library, version 1 (kubernetes/apiserver: pkg/cel/library/semverlib.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dracfg.cel.semver import Semver

__all__ = ["GLOBALS", "MEMBERS"]


def semver(text: str, normalise: bool = False) -> Semver:
    """The version; an error where the text is none."""
    return Semver.normalise(text) if normalise else Semver.parse(text)


def is_semver(text: str, normalise: bool = False) -> bool:
    """Whether `semver` with the same arguments succeeds."""
    try:
        semver(text, normalise)
    except ValueError:
        return False
    return True


def _version(value: Any) -> Semver:
    if isinstance(value, Semver):
        return value
    raise ValueError(f"no such overload: {type(value).__name__} is not a version")


GLOBALS: Mapping[str, Callable[..., Any]] = {"semver": semver, "isSemver": is_semver}
MEMBERS: Mapping[str, Callable[..., Any]] = {
    "major": lambda version: _version(version).major,
    "minor": lambda version: _version(version).minor,
    "patch": lambda version: _version(version).patch,
}
