"""Whether a tree is, byte for byte, what its lock says, with nothing else in it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.listing import list_folder, read
from dracfg.emit.lock import digest, read_lock


def intact(out: Path) -> str | None:
    """The digest of the lock under `out` where every file is as it says; None where any differs,
    is missing, or is not in it.
    """
    reading = read_lock(out)
    if reading.content is None or reading.lock is None:
        return None
    wanted = {
        f"{unit}/{name}": of_file
        for unit, files in reading.lock.units.items()
        for name, of_file in files.items()
    }
    try:
        listing = list_folder(out)
        if listing.others or listing.files != {*wanted, LOCK_NAME}:
            return None
        for path, of_file in wanted.items():
            if digest(read(f"{out}/{path}")) != of_file:
                return None
    except OSError:
        return None
    return hashlib.sha256(reading.content).hexdigest()
