"""Seals of the last look at files, so that the next look costs their stamps and not their bytes.

They hold for one start of one machine: after a crash a disk may have a file's new bytes and its old stamp.
Where a system doesn't tell its starts apart, as only Linux does, there are none, nor are there on file
systems whose stamps come late from elsewhere, or mean something else.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

from dracfg.cache.compiler import compiler
from dracfg.cache.entry import FOLDER, read_entry, write_entry
from dracfg.emit.seals import Moment

_DIGEST = 32
"""Bytes of a seal."""
_START = Path("/proc/sys/kernel/random/boot_id")
_OPENED = Path("/proc/self/fdinfo")
_MOUNTS = Path("/proc/self/mountinfo")
_KNOWN = frozenset({b"btrfs", b"ext4", b"tmpfs", b"xfs"})
"""Local file systems that stamp every write when it is made, by the kernel's clock."""


class KeptSeals:
    """The seals of a repository under a name: `emit.seals.Seals` in a file."""

    def __init__(self, path: Path, head: bytes) -> None:
        self._path = path
        self._head = head

    @classmethod
    def recall(cls, root: Path, name: str) -> KeptSeals | None:
        """Those that are kept under a name; None where seals mean nothing."""
        try:
            start = _START.read_bytes()
        except OSError:
            return None
        return cls(root / FOLDER / name, compiler().encode() + b" " + start.strip() + b"\n")

    @cached_property
    def kept(self) -> frozenset[bytes]:
        """Those that were kept, if the file is whole, this dracfg's, and of this start of the machine."""
        body = read_entry(self._path)
        if body is None or not body.startswith(self._head):
            return frozenset()
        start, end = len(self._head), len(body)
        return frozenset([body[at : at + _DIGEST] for at in range(start, end, _DIGEST)])

    @cached_property
    def moment(self) -> Moment | None:
        """The stamp of a file without a name, which is made for it where the seals lie."""
        try:
            descriptor = os.open(self._path.parent, os.O_TMPFILE | os.O_WRONLY, 0o600)
        except OSError:
            return None
        try:
            made = os.fstat(descriptor)
            return Moment(made.st_dev, made.st_ctime_ns) if _is_known(descriptor) else None
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def keep(self, seals: Collection[bytes]) -> None:
        """Keep these, and forget all others. A folder that can't be written is no fault."""
        if not self.kept.issuperset(seals):
            write_entry(self._path, self._head + b"".join(seals))


def _is_known(descriptor: int) -> bool:
    """Whether an open file lies on a file system whose stamps can be believed."""
    facts = (_OPENED / str(descriptor)).read_bytes().split()
    mount = facts[facts.index(b"mnt_id:") + 1] if b"mnt_id:" in facts else b""
    for line in _MOUNTS.read_bytes().splitlines():
        if line.startswith(mount + b" "):
            return line.partition(b" - ")[2].split(b" ")[0] in _KNOWN
    return False
