"""What Kueue's objects look like in one of its versions, and what it can't count.

Knows no cluster and no class.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data


@dataclass(frozen=True, slots=True)
class KueueFacts:
    """One release. `refused` says by the field of a claim's spec what Kueue refuses, in words."""

    version: str
    api: str
    configuration: str
    cohort_field: str
    when_can_borrow: str
    refused: Mapping[str, str]


def kueue_facts(version: str | None) -> KueueFacts | None:
    """The facts of "0.18" or "0.18.2"; None without Kueue and for a minor that was not read.

    A version without a patch is taken for the first release of its minor.
    """
    if version is None:
        return None
    found = _document()["versions"].get(".".join(version.split(".")[:2]))
    if found is None:
        return None
    return KueueFacts(
        version,
        found["api"],
        found["configuration"],
        found["cohortField"],
        found["whenCanBorrow"],
        {
            field: entry["what"]
            for field, entry in _document()["refused"].items()
            if "until" not in entry or number(version) < number(entry["until"])
        },
    )


def most_mappings() -> int:
    """How many logical resources Kueue's Configuration can name."""
    most: int = _document()["mappings"]
    return most


def ignored_prefixes() -> tuple[str, ...]:
    """Prefixes of resources that a queue of devices doesn't count."""
    return tuple(_document()["ignored"])


def restart_command() -> str:
    """What makes Kueue read its Configuration anew."""
    command: str = _document()["restart"]
    return command


def number(version: str) -> tuple[int, ...]:
    """A version that can be compared: (0, 18, 0) for 0.18."""
    parts = [int(part) for part in version.split(".")]
    return (*parts, *(0,) * (3 - len(parts)))


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = read_data("dracfg.lower", "data/kueue.yaml")
    return document
