"""Objects of the standing tree by the digest of their file, so that no YAML is read that was just written.

What a run writes it knows as objects; the next one asks for them by the bytes that it finds. So a file that
somebody edited, or took from another revision, is read as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from dracfg.cache.entry import FOLDER
from dracfg.cache.pieces import read_pieces, write_pieces
from dracfg.emit.lock import Lock

_SIGN = "sha256:"


@dataclass(frozen=True, slots=True)
class States:
    """The states that a repository's last run left."""

    root: Path

    def recall(self) -> dict[str, bytes]:
        """Objects as a list in JSON, by the hexadecimal digest of their file; empty where nothing is kept."""
        return read_pieces(self._path)

    def remember(
        self,
        states: Mapping[str, bytes],
        lock: Lock,
        before: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        """Keep objects of files by the path below `out/`, and `before` those that stand as they did.

        `lock` has the files' digests.
        """
        kept: dict[str, bytes] = {}
        for unit, digests in lock.units.items():
            for name, digest in digests.items():
                key = digest.removeprefix(_SIGN)
                state = states.get(f"{unit}/{name}", before.get(key))
                if state is not None:
                    kept[key] = state
        write_pieces(self._path, kept)

    @property
    def _path(self) -> Path:
        return self.root / FOLDER / "states"
