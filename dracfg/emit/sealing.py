"""Folders of a tree, each held against what a lock says of it: by its seal, or else by its names and bytes.

A folder's own stamp tells that no name in it came, went or stands for another thing. So each is sealed with
the names of its sub-folders and with its files, and is as the lock says when it has that seal again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from stat import S_ISREG
from typing import NamedTuple

from dracfg.dataclass import dataclass
from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.listing import list_folder, read_stamped
from dracfg.emit.lock import Lock, digest
from dracfg.emit.seals import Seals, seal_of, stamp_of

_ROOT = "."
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


class Folder(NamedTuple):
    """A folder below `out/`, or that itself: digests of its files and names of its sub-folders.

    The lock is none of these files: it has no digest in itself.
    """

    path: str
    files: Mapping[str, str]
    folders: list[str]


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a tree stands: its path, an open descriptor of it, and what was sealed before."""

    path: str
    descriptor: int
    seals: Seals


def folders_of(lock: Lock) -> list[Folder]:
    """All folders that hold a file of a lock, however far below."""
    files: dict[str, dict[str, str]] = {}
    for unit, listed in lock.units.items():
        if "/" not in "".join(listed):  # as in nearly all units
            files.setdefault(unit, {}).update(listed)
            continue
        for path, of_file in listed.items():
            inner, _, name = path.rpartition("/")
            files.setdefault(f"{unit}/{inner}" if inner else unit, {})[name] = of_file
    below: dict[str, list[str]] = {_ROOT: []}
    for path, listed in files.items():
        _add(below, path if listed else _ROOT)
    return [Folder(path, files.get(path, {}), folders) for path, folders in below.items()]


def _add(below: dict[str, list[str]], path: str) -> None:
    """Name a folder in the one above it, and that in its own, as far as they are not."""
    named: list[tuple[str, str]] = []
    while path not in below:
        below[path] = []
        above, _, name = path.rpartition("/")
        path = above or _ROOT
        named.append((path, name))
    for path, name in named:
        below[path].append(name)


def seals_of(ground: Ground, folders: Iterable[Folder]) -> list[bytes | None]:
    """The seal of each folder that is as it should be, empty where it can't have one; None for others.

    Raises OSError where something can't be read.
    """
    return [_known_seal(ground, folder) or _new_seal(ground, folder) for folder in folders]


def _known_seal(ground: Ground, folder: Folder) -> bytes | None:
    if not ground.seals.kept:
        return None
    path, root, status = folder.path, ground.descriptor, os.lstat
    try:
        stamps = [stamp_of(status(path, dir_fd=root))]
        stamps += [stamp_of(status(f"{path}/{name}", dir_fd=root)) for name in folder.files]
    except OSError:
        return None
    seal = seal_of((*folder,), stamps)
    return seal if seal in ground.seals.kept else None


def _new_seal(ground: Ground, folder: Folder) -> bytes | None:
    """The seal of what is read. Its stamps are those of the very descriptors that were read from."""
    moment = ground.seals.moment
    descriptor = os.open(folder.path, _FOLDER, dir_fd=ground.descriptor)
    try:
        stamps = [stamp_of(os.fstat(descriptor))]
        more = _more_folders(descriptor, folder)
        if more is None:
            return None
        for name, of_file in folder.files.items():
            status, content = read_stamped(name, descriptor)
            if digest(content) != of_file or not S_ISREG(status.st_mode):
                return None
            stamps.append(stamp_of(status))
    finally:
        os.close(descriptor)
    if any(map(_has_files, (f"{ground.path}/{folder.path}/{name}" for name in more))):
        return None
    # What comes into a folder that the lock doesn't know would leave this one's stamp as it is.
    if more or moment is None or not moment.settled(stamps):
        return b""
    return seal_of((*folder,), stamps)


def _more_folders(descriptor: int, folder: Folder) -> list[str] | None:
    """Folders that the lock doesn't know; None where anything else differs from what it says.

    That files are files and folders folders shows when they are opened as such, as all of them are.
    """
    own = (LOCK_NAME,) if folder.path == _ROOT else ()
    if {*os.listdir(descriptor)} == {*folder.files, *folder.folders, *own}:
        return []
    wanted = dict.fromkeys((*folder.files, *own), False) | dict.fromkeys(folder.folders, True)
    more: list[str] = []
    with os.scandir(descriptor) as entries:
        for entry in entries:
            is_folder = wanted.pop(entry.name, None)
            if entry.is_dir(follow_symlinks=False):
                if is_folder is None:
                    more.append(entry.name)
                elif not is_folder:
                    return None
            elif is_folder is not False or not entry.is_file(follow_symlinks=False):
                return None
    return None if wanted else more


def _has_files(folder: str) -> bool:
    listing = list_folder(folder)
    return bool(listing.files or listing.others)
