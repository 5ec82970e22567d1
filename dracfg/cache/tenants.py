"""What a run knew of tenants, so that the next one links only those that changed.

Names of tenants by the files that describe them, and their outlines. It holds for the run that left it:
who takes it up knows which files changed since.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import field

from dracfg.dataclass import dataclass
from dracfg.link.outlines import Outlines
from dracfg.source.plain import freeze, thaw

_MALFORMED = (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError, IndexError)


@dataclass(frozen=True, slots=True)
class KnownTenants:
    """`files` are names by path, of files that hold sound tenants and nothing else."""

    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outlines: Outlines = field(default_factory=Outlines)


def to_bytes(known: KnownTenants) -> bytes:
    """All of it, as a cache keeps it."""
    outlines = known.outlines
    return freeze(
        ({"files": {**known.files}, "names": outlines.names, "columns": {**outlines.columns}},)
    )


def from_bytes(data: bytes) -> KnownTenants | None:
    """What `to_bytes` was given; None for anything else."""
    try:
        (said,) = thaw(data)
        return KnownTenants(said["files"], Outlines(said["names"], said["columns"]))
    except _MALFORMED:
        return None
