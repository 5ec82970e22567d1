"""Objects of the standing tree by the digest of their file, so that no YAML is read that was just written.

What a run writes it knows as objects; the next one asks for them by the bytes that it finds. So a file that
somebody edited, or took from another revision, is read as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dracfg.cache.entry import FOLDER
from dracfg.cache.pieces import Pieces
from dracfg.dataclass import dataclass
from dracfg.emit.layout import unit_of
from dracfg.emit.lock import Lock

_START = len("sha256:")
"""Where the digits of a digest begin in a lock."""


@dataclass(frozen=True, slots=True)
class KnownStates:
    """Objects as a list in JSON, by the hexadecimal digest of the file that held them."""

    pieces: Pieces

    @classmethod
    def recall(cls, root: Path) -> KnownStates:
        """The states that a repository's last runs left; nothing where none are kept."""
        return cls(Pieces(root / FOLDER / "states"))

    def remember(self, made: Mapping[str, bytes], lock: Lock) -> None:
        """Keep objects of files by the path below `out/`, and of the known ones those that stand.

        `lock` has the files' digests.
        """
        fresh: dict[str, bytes] = {}
        for path, state in made.items():
            unit = unit_of(path, lock.units)
            if (digest := lock.units.get(unit, {}).get(path[len(unit) + 1 :])) is not None:
                fresh[digest[_START:]] = state
        listed = lock.units.values()
        self.pieces.keep(fresh, {digest[_START:] for files in listed for digest in files.values()})
