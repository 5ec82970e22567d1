"""Parts of a compile in shards, one file a shard, below `.cache/dracfg/shards`.

They are carried from one machine to another, so that any of them may lie in a folder of its own, be
cut short, or be there twice. Knows nothing of what a part holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dracfg.cache.entry import FOLDER, put_entry, read_entry
from dracfg.dataclass import dataclass

PARTS = FOLDER / "shards"
"""Below the repository's root."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that lie in a repository."""

    root: Path

    def keep(self, name: str, body: bytes) -> Path:
        """Keep a part, in place of one of its name; the path below the root. Raises OSError."""
        put_entry(self.root / self.path(name), body)
        return self.path(name)

    def drop(self, name: str) -> None:
        """Have no part of that name. Raises OSError."""
        (self.root / self.path(name)).unlink(missing_ok=True)

    def found(self) -> Iterator[tuple[Path, bytes | None]]:
        """The path of each part below the root, and what it holds: None where it is not whole."""
        for path in sorted((self.root / PARTS).rglob("*.json")):
            yield path.relative_to(self.root), read_entry(path)

    def path(self, name: str) -> Path:
        """Where the part of a name lies, below the root."""
        return PARTS / f"{name}.json"
