"""Work that a process of its own does meanwhile: it knows all that this one does, and sends its result.

Knows nothing of what the work is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
T = TypeVar("T")

FORKS = sys.platform.startswith("linux")
"""Elsewhere a process would get what it knows as bytes, which takes as long as the work."""


def processors() -> int:
    """How many processes can work at a time."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system tells which are this process's own
        return os.cpu_count() or 1


def aside(work: Callable[[], T]) -> Callable[[], T]:
    """Begins `work` elsewhere; the function that comes back waits for its result.

    The result is pickled, and everything else that the work leaves behind is lost. Where processes
    don't fork, and where the other one ends early, the work is done here when its result is asked for:
    what is wrong with it shows then.
    """
    if not FORKS:
        return work
    from multiprocessing import get_context  # a run that is recalled does all of its work here

    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(work, sender, receiver), daemon=True)
    process.start()
    sender.close()

    def result() -> T:
        try:
            found: T = receiver.recv()
        except EOFError:
            found = work()
        process.join()
        return found

    return result


def share_out(
    work: Callable[[Sequence[Item]], Sequence[T]], items: Sequence[Item], jobs: int
) -> list[T]:
    """The results of `work` for all items, in their order, by at most `jobs` processes.

    `work` gives a result an item. Neighbours are dealt out in turn, since what is large often
    stands together.
    """
    parts = [items[first::jobs] for first in range(jobs) if items[first::jobs]]
    if len(parts) < 2:
        return list(work(items))
    others = [aside(partial(work, part)) for part in parts[1:]]
    dealt: list[T | None] = [None] * len(items)
    dealt[::jobs] = work(parts[0])
    for first, other in enumerate(others, 1):
        dealt[first::jobs] = other()
    return cast("list[T]", dealt)


def _send(work: Callable[[], object], sender: Connection, receiver: Connection) -> None:
    receiver.close()  # with an end of its own it would wait for ever for one that was killed
    try:
        sender.send(work())
    except BaseException:  # whoever asks for the result meets it again, and tells it once
        os._exit(1)
    sender.close()
