"""Which files of a repository still have the bytes of which a digest is known, told by their seals.

A link in a file's place is followed, as by whoever reads the file: what it leads to is what has the stamp.
"""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG

from dracfg.cache.seals import KeptSeals
from dracfg.emit.seals import Seals, seal_of, stamp_of
from dracfg.source.tree import TooLarge, read_all


class Inputs:
    """Files below a root, each of which is asked about at most once."""

    def __init__(self, root: Path, seals: Seals) -> None:
        self._root = str(root)
        self._seals = seals
        self._found: set[bytes] = set()

    @classmethod
    def recall(cls, root: Path) -> Inputs | None:
        """With the seals that the last runs left in a repository; None where seals mean nothing."""
        seals = KeptSeals.recall(root, "inputs")
        return None if seals is None else cls(root, seals)

    def digest(self, path: str, most: int, expected: str) -> str | None:
        """The SHA-256 of a file in hexadecimal, which is read unless it is sealed with the expected one.

        None where it isn't a regular file of at most `most` bytes, or can't be read.
        """
        place = f"{self._root}/{path}"
        said = (path, most, expected)
        try:
            if self._seals.kept:
                seal = seal_of(said, (stamp_of(os.stat(place)),))  # noqa: PTH116
                if seal in self._seals.kept:
                    self._found.add(seal)
                    return expected
            moment = self._seals.moment
            descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
            try:
                status = os.fstat(descriptor)
                if not S_ISREG(status.st_mode):
                    return None
                found = sha256(read_all(descriptor, most)).hexdigest()
            finally:
                os.close(descriptor)
        except (OSError, TooLarge):
            return None
        stamps = (stamp_of(status),)
        if found == expected and moment is not None and moment.settled(stamps):
            self._found.add(seal_of(said, stamps))
        return found

    def keep(self) -> None:
        """Keep the seals of all files that had the expected bytes; called when all were asked about."""
        self._seals.keep(self._found)
