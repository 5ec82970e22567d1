"""Many pieces of bytes by their keys, kept in a file; those that are wanted are read alone.

A key names one piece for ever, as digests of what it was made of do: a piece is never out of date, only
not wanted any more. So a run that adds few keeps them in a smaller file beside the first.

A file opens with the digest of its table, a line of JSON with keys and lengths; pieces follow without a
gap, each of them behind its own digest.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from dracfg.cache.compiler import compiler
from dracfg.cache.entry import put_file
from dracfg.dataclass import dataclass

_DIGEST = 32
"""Bytes of a SHA-256."""
_HEXADECIMAL = 64
_FEW = 8
"""One in so many pieces may lie in the second file, and so many times as many as are wanted may lie in
the first, before all are written anew."""


@dataclass(frozen=True, slots=True)
class _File:
    """What one file holds: where in `data` each piece begins, behind its digest, and where it ends."""

    data: bytes | mmap.mmap
    places: Mapping[str, tuple[int, int]]


_NOTHING = _File(b"", {})


class Pieces(Mapping[str, bytes]):
    """The pieces at a path that this dracfg wrote; one that was edited is not there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = (_read(path), _read(_second(path)))
        self._damaged = False

    def __getitem__(self, key: str) -> bytes:
        for file in self._files:
            if (place := file.places.get(key)) is not None:
                start, end = place
                piece = file.data[start:end]
                if hashlib.sha256(piece).digest() == file.data[start - _DIGEST : start]:
                    return piece
                self._damaged = True
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for key in self._known() if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return any(file.places for file in self._files)

    def keep(self, fresh: Mapping[str, bytes], stay: Collection[str] = ()) -> None:
        """Keep `fresh`, and those that were kept under the keys of `stay`; others may be forgotten.

        A folder that can't be written is no fault: the next run works it out again.
        """
        first, second = (file.places for file in self._files)
        wanted = fresh.keys() | (self._known().keys() & set(stay))
        later = (wanted - first.keys()) & (fresh.keys() | second.keys())
        if self._damaged or len(later) * _FEW > len(first) or len(first) > len(wanted) * _FEW:
            self._write(self._path, fresh, wanted)
            with suppress(OSError):
                _second(self._path).unlink(missing_ok=True)
        elif not later <= second.keys():
            self._write(_second(self._path), fresh, later)

    def _write(self, path: Path, fresh: Mapping[str, bytes], wanted: Collection[str]) -> None:
        pieces: dict[str, bytes] = {}
        for key in wanted:
            piece = fresh[key] if key in fresh else self.get(key)
            if piece is not None:
                pieces[key] = piece
        _write(path, pieces)

    def _known(self) -> dict[str, tuple[int, int]]:
        first, second = self._files
        return {**first.places, **second.places}


def _write(path: Path, pieces: Mapping[str, bytes]) -> None:
    """One file with these pieces."""
    lengths = [[key, len(piece)] for key, piece in pieces.items()]
    table = json.dumps({"compiler": compiler(), "pieces": lengths}, separators=(",", ":"))
    head = table.encode() + b"\n"
    parts = [hashlib.sha256(head).hexdigest().encode() + b"\n", head]
    for piece in pieces.values():
        parts += (hashlib.sha256(piece).digest(), piece)
    with suppress(OSError):
        put_file(path, parts)


def _second(path: Path) -> Path:
    return path.with_name(f"{path.name}.more")


def _read(path: Path) -> _File:
    """A file that is whole and this dracfg's, without a look at its pieces."""
    try:
        with path.open("rb") as file:
            digest = file.readline(_HEXADECIMAL + 1).rstrip(b"\n")
            head = file.readline()
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return _NOTHING
    if digest != hashlib.sha256(head).hexdigest().encode():
        return _NOTHING
    table = json.loads(head)
    if table["compiler"] != compiler():
        return _NOTHING
    places: dict[str, tuple[int, int]] = {}
    end = len(digest) + 1 + len(head)
    for key, length in table["pieces"]:
        start = end + _DIGEST
        end = start + length
        places[key] = start, end
    return _File(data, places) if end == len(data) else _NOTHING
