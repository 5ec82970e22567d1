"""Whether a tree is, byte for byte, what its lock says, with nothing else in it."""

from __future__ import annotations

from pathlib import Path

from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.listing import list_folder, read
from dracfg.emit.lock import Lock, LockReading, digest, read_lock


def intact(out: Path) -> str | None:
    """The digest of the lock under `out` where every file is as it says; None where any differs,
    is missing, or is not in it.
    """
    reading = read_intact(out)
    return None if reading is None else reading.digest


def read_intact(out: Path) -> LockReading | None:
    """The lock itself, where `intact` gives its digest."""
    reading = read_lock(out)
    try:
        fine = reading.lock is not None and _stands(out, reading.lock)
    except OSError:
        return None
    return reading if fine else None


def _stands(out: Path, lock: Lock) -> bool:
    wanted = {
        f"{unit}/{name}": of_file
        for unit, files in lock.units.items()
        for name, of_file in files.items()
    }
    listing = list_folder(out)
    if listing.others or listing.files != {*wanted, LOCK_NAME}:
        return False
    return all(digest(read(f"{out}/{path}")) == of_file for path, of_file in wanted.items())
