"""Files that are new, in folders that are new: how their bytes come to the disk."""

import os
from collections.abc import Iterable
from pathlib import Path

from dracfg.emit.layout import prefixes

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def make_folders(folder: str, names: Iterable[str]) -> None:
    """Make `folder`, and in it those that files of these names lie in."""
    os.mkdir(folder)
    parents = {name.rpartition("/")[0] for name in names} - {""}
    for inner in sorted({prefix for parent in parents for prefix in prefixes(parent)}):
        os.mkdir(f"{folder}/{inner}")


def write_file(path: str | Path, content: bytes, *, durable: bool) -> None:
    """Write a file where none is; a `durable` one is on the disk when this returns."""
    descriptor = os.open(path, _CREATE, 0o644)
    try:
        written = os.write(descriptor, content)
        while written < len(content):
            written += os.write(descriptor, memoryview(content)[written:])
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
