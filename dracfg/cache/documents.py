"""What the files of tenants said, by their path and bytes, so that none is read that was understood before.

The bytes are kept too: what changed since is told from what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dracfg.cache.entry import FOLDER
from dracfg.cache.pieces import read_pieces, write_pieces
from dracfg.source.files import SourceFile
from dracfg.source.seen import key_of, key_with

_LENGTH = 4
"""Bytes that tell how long the text is which follows them."""


@dataclass(frozen=True, slots=True)
class KnownFiles:
    """Texts of files, and what they say, by `source.seen.key_of`."""

    texts: Mapping[str, bytes]
    kept: Mapping[str, bytes]

    def file(self, path: str, digest: str) -> SourceFile | None:
        """The file as it was when its bytes had this SHA-256; None where that is not known."""
        key = key_with(path, digest)
        if key not in self.texts:
            return None
        return SourceFile(path, self.texts[key].decode("utf-8"), None, self.kept[key])


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents that a repository's last run understood."""

    root: Path

    def recall(self) -> KnownFiles:
        """What the last run read; nothing where that is not kept."""
        texts: dict[str, bytes] = {}
        kept: dict[str, bytes] = {}
        for key, piece in read_pieces(self._path).items():
            end = _LENGTH + int.from_bytes(piece[:_LENGTH])
            texts[key], kept[key] = piece[_LENGTH:end], piece[end:]
        return KnownFiles(texts, kept)

    def remember(self, files: Iterable[SourceFile]) -> None:
        """Keep what these files say, and nothing of others."""
        known = [(file.path, file.text.encode(), file.kept) for file in files if file.kept]
        pieces = {
            key_of(path, text): len(text).to_bytes(_LENGTH) + text + kept
            for path, text, kept in known
        }
        write_pieces(self._path, pieces)

    @property
    def _path(self) -> Path:
        return self.root / FOLDER / "documents"
