"""Bytes that git keeps as blobs, told by their ids in files that lie on disk.

Most files of a revision stand in the work tree as they were, and to read one there takes a tenth of what git
takes to bring it. The id is worked out as git does, so a file that was changed is never mistaken for the
blob. Source: gitformat-pack(5), gitformat-loose(5).
"""

from __future__ import annotations

import hashlib
import os
import stat

from dracfg.source.tree import TooLarge, read_all

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""What became a pipe must not be waited for."""
_SHA1 = 40
"""Digits of an id of a repository that doesn't use SHA-256."""


def find_blob(path: str, name: str, most: int) -> bytes | None:
    """The bytes of the file at a path where they are those of the blob with this id, at most `most`."""
    data = read_regular(path, most)
    return data if data is not None and is_blob(data, name) else None


def read_regular(path: str, most: int) -> bytes | None:
    """The bytes of a regular file, at most `most`; None where they can't be had."""
    try:
        descriptor = os.open(path, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return read_all(descriptor, most)
        finally:
            os.close(descriptor)
    except (OSError, TooLarge):
        return None


def is_blob(data: bytes, name: str) -> bool:
    """Whether the blob with this id has these bytes."""
    made = hashlib.sha1 if len(name) == _SHA1 else hashlib.sha256
    head = b"blob %d\0" % len(data)
    return made(head + data, usedforsecurity=False).hexdigest() == name
