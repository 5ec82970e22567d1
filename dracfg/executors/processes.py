"""Portions run by processes of this machine, which end with this one.

Where processes fork they know the work and all portions as this one does; only an index goes there and
a result comes back. Each has a pipe of its own: `ProcessPoolExecutor` shares one between all, and waits
for ever when a process is killed while it sends a result that is larger than a pipe holds.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess
from traceback import format_exception
from typing import Generic, TypeVar

from dracfg.aside import FORKS
from dracfg.dataclass import dataclass
from dracfg.executors.errors import sendable

T = TypeVar("T")
R = TypeVar("R")


class _LostProcess(Exception):
    """The process that ran a portion ended before it had sent the whole result."""


@dataclass(slots=True)
class _Worker:
    """A process, and the future of the portion that it runs, if it runs one."""

    process: BaseProcess
    pipe: Connection
    future: Future[bytes] | None = None


class Processes(Generic[T, R]):
    """A pool (see `ordered.Pool`) of at most `jobs` processes, each with one portion at a time.

    No thread is needed: whoever waits for a result hears all processes meanwhile, and hands out
    what is next. A process that is lost is replaced. Results wait as they were sent, unread.
    """

    def __init__(self, work: Callable[[T], R], portions: Sequence[T], jobs: int) -> None:
        self.width = min(jobs, len(portions))
        self._work = work
        self._portions = portions
        self._context: ForkContext | SpawnContext = (
            get_context("fork") if FORKS else get_context("spawn")
        )
        self._workers: list[_Worker] = []
        self._next: deque[tuple[int, Future[bytes]]] = deque()

    def submit(self, index: int, *, again: bool = False) -> Future[bytes]:
        future: Future[bytes] = Future()
        if again:
            self._next.appendleft((index, future))
        else:
            self._next.append((index, future))
        self._hand_out()
        return future

    def result(self, future: Future[bytes]) -> R:
        while not future.done():
            self._hear()
            self._hand_out()
        fine, value = pickle.loads(future.result())
        if not fine:
            raise value
        result: R = value
        return result

    def attend(self) -> None:
        self._hear(patience=0)
        self._hand_out()

    def lost_runs(self, error: BaseException) -> int:
        return int(isinstance(error, _LostProcess))

    def close(self) -> None:
        while self._next:
            self._next.pop()[1].cancel()
        for worker in self._workers:
            worker.process.kill()
            if worker.future is not None:
                worker.future.cancel()
        while self._workers:
            self._bury(self._workers[-1])

    def _hand_out(self) -> None:
        while self._next:
            worker = next((one for one in self._workers if one.future is None), None)
            if worker is None:
                if len(self._workers) == self.width:
                    return
                worker = self._start()
            index, worker.future = self._next.popleft()
            try:
                worker.pipe.send(index)
            except OSError:  # it ended while it had nothing to do
                self._lose(worker)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        inherited = [ours, *(worker.pipe for worker in self._workers)] if FORKS else []
        process = self._context.Process(
            target=_serve, args=(self._work, self._portions, theirs, inherited), daemon=True
        )
        process.start()
        theirs.close()  # so that this pipe ends with the process
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _hear(self, patience: float | None = None) -> None:
        """Waits until a process sends, or ends, for at most so many seconds."""
        busy = [worker for worker in self._workers if worker.future is not None]
        ready = wait([worker.pipe for worker in busy], patience)
        for worker in busy:
            if worker.pipe not in ready:
                continue
            try:
                sent = worker.pipe.recv_bytes()
            except (EOFError, OSError):
                self._lose(worker)
            else:
                future, worker.future = worker.future, None
                if future is not None:
                    future.set_result(sent)

    def _lose(self, worker: _Worker) -> None:
        future, worker.future = worker.future, None
        worker.process.kill()  # it may live on without its end of the pipe
        self._bury(worker)
        if future is not None:
            future.set_exception(_LostProcess(_end_of(worker.process)))

    def _bury(self, worker: _Worker) -> None:
        worker.process.join()
        worker.pipe.close()
        self._workers.remove(worker)


def _end_of(process: BaseProcess) -> str:
    code = process.exitcode or 0
    end = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
    return f"the process {process.pid} {end}"


def _serve(
    work: Callable[[T], R],
    portions: Sequence[T],
    pipe: Connection,
    inherited: Sequence[Connection],
) -> None:
    """What a process does: portions by their index, until whoever started it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it, with no word of its own
    for other in inherited:
        other.close()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if sys.implementation.name == "cpython":
        gc.freeze()  # to walk what was inherited would copy it, page by page
    while True:
        try:
            index = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send_bytes(_run(work, portions[index]))


def _run(work: Callable[[T], R], portion: T) -> bytes:
    try:
        return pickle.dumps((True, work(portion)), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:  # whoever asked for the result raises it
        sent = sendable(error)
        sent.add_note(f"In another process:\n{''.join(format_exception(error))}")
        return pickle.dumps((False, sent), pickle.HIGHEST_PROTOCOL)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
