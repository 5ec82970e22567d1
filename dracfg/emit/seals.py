"""Seals: digests of what was found somewhere together with the stamps that files had when it was found.

A stamp is what a file system tells of a file and can't leave as it was when the file changes: above all
the time of its last change (`st_ctime_ns`), which nobody sets, and its number. Who meets a seal again meets
what was found. That holds for stamps that were settled when it was looked; see `Moment.settled`.

Knows nothing of where seals are kept.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Collection, Iterable
from hashlib import sha256
from operator import attrgetter
from typing import Any, Protocol, cast

from dracfg.dataclass import dataclass

Stamp = tuple[int, int, int, int, int, int]
"""Mode, inode, device, size in bytes, and the times of the last write and change in nanoseconds."""

stamp_of = cast(
    "Callable[[os.stat_result], Stamp]",
    attrgetter("st_mode", "st_ino", "st_dev", "st_size", "st_mtime_ns", "st_ctime_ns"),
)

_PLAIN = 2
"""A form of `marshal` in which equal values are equal bytes, whoever else holds them."""
_SECOND = 1_000_000_000
_SLACK = _SECOND // 10
"""Ten times the longest tick of a kernel: stamps of one tick are the same."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a look at files began, by the clock of their file system."""

    device: int
    nanoseconds: int

    def settled(self, stamps: Iterable[Stamp]) -> bool:
        """Whether none of these files could change from now on and be stamped as it is.

        Each was changed before the look began, by more than the clock's tick, on the same file system; what
        changes later is stamped later. Where a stamp has whole seconds, clocks may be that coarse: such
        times come again when a clock is set back, others don't.
        """
        latest = self.nanoseconds - _SLACK
        return all(
            device == self.device and written < latest and changed < latest and changed % _SECOND
            for _, _, device, _, written, changed in stamps
        )


class Seals(Protocol):
    """Seals that were kept, and those that shall be."""

    @property
    def kept(self) -> Collection[bytes]:
        """Those that were kept: what has one of them was found, settled, by this dracfg."""

    @property
    def moment(self) -> Moment | None:
        """When this process's look began; asked before anything is looked at that will be sealed.

        None where no file system that is known for its stamps lies there.
        """

    def keep(self, seals: Collection[bytes]) -> None:
        """Keep these, and forget all others."""


def seal_of(found: Any, stamps: Collection[Stamp]) -> bytes:
    """The seal of what was found, given as plain data, and of the stamps of all that it was found in."""
    data: Any = (found, stamps)
    return sha256(marshal.dumps(data, _PLAIN)).digest()
