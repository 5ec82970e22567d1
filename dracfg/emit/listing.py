"""What stands in a folder on disk, by name and kind.

Symbolic links are named and never followed, and no file is opened but the one `read` is given.
"""

import os
from collections.abc import Callable
from pathlib import Path

from dracfg.dataclass import dataclass

# Without O_NONBLOCK a named pipe in a file's place would hold the run for good.
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Listing:
    """Paths relative to the folder, with `/`: regular files, and links, sockets and the like."""

    files: frozenset[str]
    others: frozenset[str]


def list_folder(folder: str | Path, enter: Callable[[str], bool] = lambda _path: True) -> Listing:
    """List `folder` with all its sub-folders that `enter` admits; a missing folder is empty.

    Raises OSError where a folder can't be read.
    """
    files: list[str] = []
    others: list[str] = []
    root = os.fspath(folder)
    pending = [""] if os.path.isdir(root) else []
    while pending:
        inner = pending.pop()
        with os.scandir(f"{root}/{inner}" if inner else root) as entries:
            for entry in entries:
                path = f"{inner}/{entry.name}" if inner else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if enter(path):
                        pending.append(path)
                elif entry.is_file(follow_symlinks=False):
                    files.append(path)
                else:
                    others.append(path)
    return Listing(frozenset(files), frozenset(others))


def read(path: str | Path) -> bytes:
    """Return the bytes of a regular file; a symbolic link in its place is an OSError."""
    descriptor = os.open(path, _READ)
    try:
        return _bytes_of(descriptor)
    finally:
        os.close(descriptor)


def read_stamped(name: str, folder: int) -> tuple[os.stat_result, bytes]:
    """Return the state of a file in an open folder, as it was before its bytes were read, and these.

    Raises OSError as `read` does.
    """
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        return os.fstat(descriptor), _bytes_of(descriptor)
    finally:
        os.close(descriptor)


def _bytes_of(descriptor: int) -> bytes:
    # Nearly all have but one piece; that nothing follows is told by none but another read.
    first = os.read(descriptor, _PIECE)
    if not (piece := os.read(descriptor, _PIECE)):
        return first
    pieces = [first]
    while piece:
        pieces.append(piece)
        piece = os.read(descriptor, _PIECE)
    return b"".join(pieces)
