"""One file of the cache: it opens with the digest of what follows, and is whole or not there.

It is written beside and moved into place, so that two runs at once, or one that is killed, leave no half.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FOLDER = Path(".cache") / "dracfg"
"""Below the repository's root."""


def read_entry(path: Path, most: int | None = None) -> bytes | None:
    """What an entry holds; None where it is not there, too large, cut short or edited."""
    try:
        if most is not None and path.stat().st_size > most:
            return None
        digest, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return body if digest == hashlib.sha256(body).hexdigest().encode() else None


def write_entry(path: Path, body: bytes) -> None:
    """Keep an entry. A folder that can't be written is no fault: the next run works it out again."""
    with suppress(OSError):
        put_entry(path, body)


def put_entry(path: Path, body: bytes) -> None:
    """Keep an entry that somebody relies on. Raises OSError, and the old one stands."""
    put_file(path, (hashlib.sha256(body).hexdigest().encode() + b"\n", body))


def put_file(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file of the cache from its parts, whole or not at all. Raises OSError."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        (fresh.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        with fresh.open("wb") as file:
            file.writelines(parts)
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise
