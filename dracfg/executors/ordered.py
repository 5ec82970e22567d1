"""Portions in flight, a bounded number at a time, and their results in order, each taken once.

Knows of futures, and neither of what kind they are nor of who makes them come true.
"""

from __future__ import annotations

import reprlib
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Protocol, TypeVar

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
    an error tells, 0 where the work raised it. `close` ends whatever runs, and may be called twice.
    """

    @property
    def width(self) -> int: ...

    def submit(self, index: int, *, again: bool = False) -> Any: ...

    def result(self, future: Any) -> R_co: ...

    def lost_runs(self, error: BaseException) -> int: ...

    def close(self) -> None: ...


def in_order(pool: Pool[R], portions: Sequence[object]) -> Iterator[R]:
    """The results, in the order of the portions; the first ones are begun at once."""
    upcoming = iter(range(len(portions)))
    begun: deque[tuple[int, Any]] = deque()

    def begin() -> None:
        for index in islice(upcoming, AHEAD * pool.width - len(begun)):
            begun.append((index, pool.submit(index)))

    def results() -> Iterator[R]:
        while begun:
            result = _settle(pool, *begun.popleft(), portions)
            begin()
            yield result
        pool.close()

    begin()
    return results()


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
