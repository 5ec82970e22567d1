"""Semantic versions as Kubernetes' CEL library reads them.

Semantic Versioning 2.0.0 (semver.org) with the limits of the Go library that Kubernetes uses
(blang/semver v4): numbers fit 64 bits. Build metadata is dropped: it takes no part in order or
equality, and CEL has no way to print a version.
"""

from __future__ import annotations

import re
from functools import total_ordering

from dracfg.dataclass import dataclass

__all__ = ["Semver"]

NUMBER = r"0|[1-9][0-9]*"
IDENTIFIER = rf"(?:{NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
SEMVER = re.compile(
    rf"({NUMBER})\.({NUMBER})\.({NUMBER})"
    rf"(?:-({IDENTIFIER}(?:\.{IDENTIFIER})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
LARGEST = 2**64 - 1


@total_ordering
@dataclass(frozen=True, slots=True)
class Semver:
    """A version; `prerelease` holds its identifiers, () for a release."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Semver:
        """Read the strict form; raises ValueError."""
        match = SEMVER.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a semantic version")
        numbers = [int(match[group]) for group in (1, 2, 3)]
        prerelease = tuple(match[4].split(".")) if match[4] else ()
        if max(numbers + [int(part) for part in prerelease if part.isdigit()]) > LARGEST:
            raise ValueError(f"{text!r} has a number beyond 64 bits")
        return cls(numbers[0], numbers[1], numbers[2], prerelease)

    @classmethod
    def normalise(cls, text: str) -> Semver:
        """Read the loose form of `semver(text, true)`; raises ValueError.

        One leading "v" goes, missing minor and patch numbers are 0, leading zeros go. A short
        version takes no prerelease and no build metadata.
        """
        parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
        if len(parts) < 3:
            if any(mark in parts[-1] for mark in "+-"):
                raise ValueError(f"{text!r} is short and has prerelease or build metadata")
            parts += ["0"] * (3 - len(parts))
        return cls.parse(".".join(parts))

    def __lt__(self, other: Semver) -> bool:
        return self._rank() < other._rank()

    def __str__(self) -> str:
        tail = f"-{'.'.join(self.prerelease)}" if self.prerelease else ""
        return f"{self.major}.{self.minor}.{self.patch}{tail}"

    def _rank(self) -> tuple[object, ...]:
        """Sorts a prerelease before its release, numbers before words, short before long."""
        identifiers = tuple(
            (0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.prerelease
        )
        return (self.major, self.minor, self.patch, not self.prerelease, identifiers)


def _without_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1].isdigit() and stripped.isascii() else f"0{stripped}"
