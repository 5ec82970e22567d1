"""What the files of tenants said, by their path and bytes, so that none is read that was understood before.

The bytes are kept too: what changed since is told from what it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dracfg.cache.entry import FOLDER
from dracfg.cache.pieces import Pieces
from dracfg.dataclass import dataclass
from dracfg.source.files import SourceFile
from dracfg.source.seen import key_of, key_with

_LENGTH = 4
"""Bytes that tell how long the text is which follows them."""


@dataclass(frozen=True, slots=True)
class KnownFiles:
    """Texts of files and what they say, by `source.seen.key_of`."""

    pieces: Pieces

    @classmethod
    def recall(cls, root: Path) -> KnownFiles:
        """The files that a repository's last runs understood; nothing where none are kept."""
        return cls(Pieces(root / FOLDER / "documents"))

    @property
    def kept(self) -> dict[str, bytes]:
        """What all of them say."""
        return {key: _parted(piece)[1] for key, piece in self.pieces.items()}

    def file(self, path: str, digest: str) -> SourceFile | None:
        """The file as it was when its bytes had this SHA-256; None where that is not known."""
        piece = self.pieces.get(key_with(path, digest))
        if piece is None:
            return None
        text, kept = _parted(piece)
        return SourceFile(path, text.decode("utf-8"), None, kept)

    def remember(self, files: Iterable[SourceFile]) -> None:
        """Keep what these files say; what is known of others may be forgotten."""
        said = {key_of(file.path, file.text.encode()): file for file in files if file.kept}
        fresh = {
            key: _joined(file.text.encode(), file.kept or b"")
            for key, file in said.items()
            if key not in self.pieces
        }
        self.pieces.keep(fresh, said)


def _joined(text: bytes, kept: bytes) -> bytes:
    return len(text).to_bytes(_LENGTH) + text + kept


def _parted(piece: bytes) -> tuple[bytes, bytes]:
    end = _LENGTH + int.from_bytes(piece[:_LENGTH])
    return piece[_LENGTH:end], piece[end:]
