"""Whether a tree is, byte for byte, what its lock says, with nothing else in it."""

from __future__ import annotations

from pathlib import Path

from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.listing import list_folder, read
from dracfg.emit.lock import Lock, digest, read_rendered


def intact(out: Path, expected: str) -> bool:
    """Whether the lock under `out` is one of which this is the digest, and every file is as it says."""
    lock = read_rendered(out, expected)
    return lock is not None and stands(out, lock)


def stands(out: Path, lock: Lock) -> bool:
    """Whether the files under `out` are those that a lock names, as it says, and the lock itself."""
    wanted = {
        f"{unit}/{name}": of_file
        for unit, files in lock.units.items()
        for name, of_file in files.items()
    }
    try:
        listing = list_folder(out)
        if listing.others or listing.files != wanted.keys() | {LOCK_NAME}:
            return False
        return all(digest(read(f"{out}/{path}")) == of_file for path, of_file in wanted.items())
    except OSError:
        return False
