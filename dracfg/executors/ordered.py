"""Portions in flight, a bounded number at a time, and their results in order, each taken once.

Knows of futures, and neither of what kind they are nor of who makes them come true.
"""

from __future__ import annotations

import reprlib
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from dracfg.executors.errors import LostPortion

R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")

AHEAD = 2
"""Portions begun and not yet taken, for each one that is run at a time."""
RERUNS = 3
"""How often a portion is run again when whoever ran it was lost."""


class Pool(Protocol[R_co]):
    """Who runs the portions of one work, which it knows by their index.

    `width` is how many it runs at a time. `submit` begins one, before all others where it is run
    `again`. `result` waits for it and raises what it raised. `lost_runs` counts the runs whose loss
    an error tells, 0 where the work raised it. `attend` sees that whoever is free goes on, and waits for
    nothing. `close` ends whatever runs, and may be called twice.
    """

    @property
    def width(self) -> int: ...

    def submit(self, index: int, *, again: bool = False) -> Any: ...

    def result(self, future: Any) -> R_co: ...

    def lost_runs(self, error: BaseException) -> int: ...

    def attend(self) -> None: ...

    def close(self) -> None: ...


class Ordered(Generic[R]):
    """Portions in flight; the first ones are begun at once, others as results are taken."""

    def __init__(self, pool: Pool[R], portions: Sequence[object]) -> None:
        self._pool = pool
        self._portions = portions
        self._upcoming = iter(range(len(portions)))
        self._begun: deque[tuple[int, Any]] = deque()
        self._begin(AHEAD * pool.width)

    def results(self) -> Iterator[R]:
        """The results, in the order of the portions; each may be taken once."""
        while self._begun:
            result = _settle(self._pool, *self._begun.popleft(), self._portions)
            self._begin(AHEAD * self._pool.width - len(self._begun))
            yield result
        self._pool.close()

    def attend(self) -> None:
        """Keeps those busy who run portions, without waiting for any; results are left to be taken."""
        self._pool.attend()
        undone = sum(1 for _, future in self._begun if not future.done())
        self._begin(AHEAD * self._pool.width - undone)

    def _begin(self, count: int) -> None:
        for index in islice(self._upcoming, max(count, 0)):
            self._begun.append((index, self._pool.submit(index)))


def _settle(pool: Pool[R], index: int, future: Any, portions: Sequence[object]) -> R:
    """The result of one portion, run again where it was lost."""
    runs = 0
    while True:
        try:
            return pool.result(future)
        except BaseException as error:  # the pool alone can tell whose fault it is
            lost = pool.lost_runs(error)
            if not lost:
                raise
            runs += lost
            if runs > RERUNS:
                shown = reprlib.repr(portions[index])
                raise LostPortion(index, len(portions), shown, runs, str(error)) from error
        future = pool.submit(index, again=True)
