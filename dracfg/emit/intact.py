"""Whether a tree is, byte for byte, what its lock says, with nothing else in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from dracfg.aside import share_out, worth
from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.listing import list_folder, read
from dracfg.emit.lock import Lock, digest, read_rendered
from dracfg.emit.seals import Seals


def intact(out: Path, expected: str, jobs: int = 1, seals: Seals | None = None) -> bool:
    """Whether the lock under `out` is one of which this is the digest, and every file is as it says."""
    lock = read_rendered(out, expected)
    return lock is not None and stands(out, lock, jobs, seals)


def stands(out: Path, lock: Lock, jobs: int = 1, seals: Seals | None = None) -> bool:
    """Whether the files under `out` are those that a lock names, as it says, and the lock itself.

    With more than one of `jobs` other processes look at some of them. Folders that have one of the
    `seals` are not read; those of a tree that stands are kept for the next look.
    """
    return _read_whole(out, lock, jobs) if seals is None else _looked_at(out, lock, jobs, seals)


def _read_whole(out: Path, lock: Lock, jobs: int) -> bool:
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


def _looked_at(out: Path, lock: Lock, jobs: int, seals: Seals) -> bool:
    from dracfg.emit.sealing import Ground, folders_of, seals_of

    folders = folders_of(lock)
    try:
        with _opened(out) as descriptor:
            look = partial(seals_of, Ground(str(out), descriptor, seals))
            found = share_out(look, folders, worth(len(folders), jobs))
    except OSError:
        return False
    if None in found:
        return False
    seals.keep({seal for seal in found if seal})
    return True


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
