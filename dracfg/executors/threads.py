"""Portions run by threads of this process.

Of use where an interpreter runs threads side by side (CPython without its lock, from 3.13 on), or
where the work waits; elsewhere they take turns, and it takes as long as one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Threads(Generic[T, R]):
    """A pool (see `ordered.Pool`) of `jobs` threads; none of them is ever lost."""

    def __init__(self, work: Callable[[T], R], portions: Sequence[T], jobs: int) -> None:
        self.width = min(jobs, len(portions))
        self._work = work
        self._portions = portions
        self._threads = ThreadPoolExecutor(self.width)

    def submit(self, index: int, *, again: bool = False) -> Future[R]:
        del again
        return self._threads.submit(self._work, self._portions[index])

    def result(self, future: Future[R]) -> R:
        return future.result()

    def lost_runs(self, error: BaseException) -> int:
        del error
        return 0

    def attend(self) -> None:
        """Threads take what is next by themselves."""

    def close(self) -> None:
        """Nothing more begins; what runs can't be ended, and is waited for."""
        self._threads.shutdown(wait=True, cancel_futures=True)
