"""What the files of tenants said, by their path and bytes, so that none is read that was understood before.

The bytes are kept too: what changed since is told from what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    def kept(self) -> Mapping[str, bytes]:
        """What all of them say, each looked up when it is asked for."""
        return _Said(self.pieces)

    def file(self, path: str, digest: str) -> SourceFile | None:
        """The file as it was when its bytes had this SHA-256; None where that is not known."""
        piece = self.pieces.get(key_with(path, digest))
        if piece is None:
            return None
        text, kept = _parted(piece)
        return SourceFile(path, text.decode("utf-8"), None, kept)

    def remember(self, files: Iterable[SourceFile], others: Iterable[str] = ()) -> None:
        """Keep what these files say, and `others` by their keys; what is known besides may be forgotten."""
        said = {key_of(file.path, file.text.encode()): file for file in files if file.kept}
        fresh = {
            key: _joined(file.text.encode(), file.kept or b"")
            for key, file in said.items()
            if key not in self.pieces
        }
        self.pieces.keep(fresh, {*said, *others})


class _Said(Mapping[str, bytes]):
    """The data in each of the pieces."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces

    def __getitem__(self, key: str) -> bytes:
        return _parted(self._pieces[key])[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)

    def __bool__(self) -> bool:
        return bool(self._pieces)


def _joined(text: bytes, kept: bytes) -> bytes:
    return len(text).to_bytes(_LENGTH) + text + kept


def _parted(piece: bytes) -> tuple[bytes, bytes]:
    end = _LENGTH + int.from_bytes(piece[:_LENGTH])
    return piece[_LENGTH:end], piece[end:]
