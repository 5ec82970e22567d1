"""Scope and immutable fields of the kinds that dracfg writes or reads.

The facts lie in data/kinds.yaml. It may not know of versions or schemas: a kind keeps both
properties over all versions of its group.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

__all__ = ["Kind", "kind_of", "kinds"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind; `immutable` holds JSON pointers of fields that an update may not change."""

    group: str
    name: str
    namespaced: bool
    immutable: tuple[str, ...]


@cache
def kinds() -> Mapping[tuple[str, str], Kind]:
    """All known kinds by (group, name), the core group being ""."""
    return {
        (group, name): Kind(group, name, entry["namespaced"], tuple(entry.get("immutable", ())))
        for group, entries in read_data("dracfg.kube", "data/kinds.yaml")["kinds"].items()
        for name, entry in entries.items()
    }


def kind_of(api_version: str, name: str) -> Kind | None:
    """The kind of an object with this apiVersion, or None where dracfg does not know it."""
    return kinds().get((api_version.rpartition("/")[0], name))
