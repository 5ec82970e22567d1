"""Work that processes of their own do meanwhile: they know all that this one does, and send their results.

Knows nothing of what the work is.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
T = TypeVar("T")

FORKS = sys.platform.startswith("linux")
"""Elsewhere a process would get what it knows as bytes, which takes as long as the work."""

_A_PROCESS = 64
"""So many files are worth a process of their own."""

_MOST_BATCHES = 256
"""As many as one byte can tell apart."""


def processors() -> int:
    """How many processes can work at a time."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system tells which are this process's own
        return os.cpu_count() or 1


def worth(files: int, jobs: int) -> int:
    """How many processes it is worth to read some files by, this one among them; at most `jobs`."""
    return min(jobs, files // _A_PROCESS) or 1


def aside(work: Callable[[], T]) -> Callable[[], T]:
    """Begins `work` elsewhere; the function that comes back waits for its result.

    The result is pickled, and everything else that the work leaves behind is lost. Where processes
    don't fork, and where the other one ends early, the work is done here when its result is asked for:
    what is wrong with it shows then.
    """
    if not FORKS:
        return work
    receiver, wait_for_end = _begin(lambda sender: sender.send(work()))

    def result() -> T:
        try:
            found: T = receiver.recv()
        except EOFError:
            found = work()
        wait_for_end()
        return found

    return result


class Shared(Generic[Item, T]):
    """Items that other processes have begun to work on, in batches that whoever is free takes next.

    `work` gives a result an item. Where processes don't fork all of it is done here, when it is asked
    for, and so is what a process leaves undone that ends early.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Sequence[T]], items: Sequence[Item], jobs: int
    ) -> None:
        size = -(-len(items) // _MOST_BATCHES) or 1
        self._work = work
        self._starts = range(0, len(items), size)
        self._items = items
        self._opened = ExitStack()
        self._bodies: dict[Connection, int] = {}
        others = min(jobs, len(self._starts)) - 1 if FORKS else 0
        if others > 0:
            # Of a pipe, unlike a file, no two processes ever read the same byte.
            self._tokens, filled = os.pipe()
            self._opened.callback(os.close, self._tokens)
            os.write(filled, bytes(range(len(self._starts))))
            os.close(filled)
        for _ in range(others):
            self._start()

    def results(self) -> Iterator[tuple[int, Sequence[T]]]:
        """What each batch comes to, once it is known, and the position of its first item; only once."""
        left = set(range(len(self._starts)))
        with self._opened:
            for number, found in chain(self._met(), self._undone(left)):
                left.discard(number)
                yield self._starts[number], found

    def _met(self) -> Iterator[tuple[int, Sequence[T]]]:
        """Batches as they are done elsewhere, or here while none of those has come."""
        while self._bodies:
            yield from self._received(0)
            if token := os.read(self._tokens, 1):
                yield token[0], self._done(token[0])
            elif self._bodies:
                yield from self._received(None)

    def _received(self, patience: float | None) -> Iterator[tuple[int, Sequence[T]]]:
        from multiprocessing.connection import wait

        for receiver in cast("list[Connection]", wait([*self._bodies], patience)):
            try:
                number, start, length = receiver.recv()
            except EOFError:
                del self._bodies[receiver]
            else:
                yield number, pickle.loads(os.pread(self._bodies[receiver], length, start))

    def _undone(self, left: set[int]) -> Iterator[tuple[int, Sequence[T]]]:
        for number in sorted(left):
            yield number, self._done(number)

    def _done(self, number: int) -> Sequence[T]:
        start = self._starts[number]
        return self._work(self._items[start : start + self._starts.step])

    def _start(self) -> None:
        body = os.memfd_create("shared")  # a pipe would hold too little for who is long in coming
        self._opened.callback(os.close, body)
        receiver, wait_for_end = _begin(partial(self._serve, body))
        self._opened.callback(wait_for_end)
        self._bodies[receiver] = body

    def _serve(self, body: int, sender: Connection) -> None:
        """What another process does. It never waits for somebody to take its results."""
        start = 0
        while token := os.read(self._tokens, 1):
            found = pickle.dumps(self._done(token[0]), pickle.HIGHEST_PROTOCOL)
            os.pwrite(body, found, start)
            sender.send((token[0], start, len(found)))
            start += len(found)


def share_out(
    work: Callable[[Sequence[Item]], Sequence[T]], items: Sequence[Item], jobs: int
) -> list[T]:
    """The results of `work` for all items, in their order, by at most `jobs` processes."""
    found = sorted(Shared(work, items, jobs).results(), key=lambda batch: batch[0])
    return [result for _, batch in found for result in batch]


def _begin(work: Callable[[Connection], None]) -> tuple[Connection, Callable[[], None]]:
    """Begins `work` in a process that tells of it by a pipe; the function waits for its end."""
    from multiprocessing import get_context  # a run that is recalled does all of its work here

    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(work, sender, receiver), daemon=True)
    process.start()
    sender.close()
    return receiver, process.join


def _run(work: Callable[[Connection], None], sender: Connection, receiver: Connection) -> None:
    receiver.close()  # with an end of its own it would wait for ever for one that was killed
    try:
        work(sender)
    except BaseException:  # whoever asks for the result meets it again, and tells it once
        os._exit(1)
    sender.close()
