"""Whether a tree is, byte for byte, what its lock says, with nothing else in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from dracfg.aside import share_out, worth
from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.listing import list_folder, read
from dracfg.emit.lock import Lock, digest, read_rendered


def intact(out: Path, expected: str, jobs: int = 1) -> bool:
    """Whether the lock under `out` is one of which this is the digest, and every file is as it says."""
    lock = read_rendered(out, expected)
    return lock is not None and stands(out, lock, jobs)


def stands(out: Path, lock: Lock, jobs: int = 1) -> bool:
    """Whether the files under `out` are those that a lock names, as it says, and the lock itself.

    With more than one of `jobs` other processes read some of them.
    """
    wanted = {
        f"{unit}/{name}": of_file
        for unit, files in lock.units.items()
        for name, of_file in files.items()
    }
    try:
        listing = list_folder(out)
        if listing.others or listing.files != wanted.keys() | {LOCK_NAME}:
            return False
        return all(share_out(partial(_as_said, out), [*wanted.items()], worth(len(wanted), jobs)))
    except OSError:
        return False


def _as_said(out: Path, files: Iterable[tuple[str, str]]) -> list[bool]:
    """Whether each of some files, by its path below `out`, has the digest beside it."""
    root = str(out)
    return [digest(read(f"{root}/{path}")) == of_file for path, of_file in files]
