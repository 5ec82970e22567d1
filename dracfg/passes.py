"""The passes from YAML to a tree, by name and in order, and what holds while they run.

Knows nothing of what a pass does.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Literal, TypeVar

from dracfg.dataclass import dataclass

Pass = Literal["read", "parse", "index", "expand", "build", "check", "validate", "emit"]
PIPELINE: tuple[Pass, ...] = (
    "read",
    "parse",
    "index",
    "expand",
    "build",
    "check",
    "validate",
    "emit",
)
_T = TypeVar("_T")


@dataclass(slots=True)
class Timings:
    """Seconds by pass, of this run only; never part of a result. `current` is the pass at work."""

    seconds: dict[Pass, float] = field(default_factory=dict)
    current: Pass | None = None

    def measure(self, name: Pass, work: Callable[[], _T]) -> _T:
        self.current = name
        start = time.perf_counter()
        try:
            return work()
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def timings_table(timings: Mapping[Pass, float]) -> str:
    """One line a pass, in the order of the pipeline."""
    rows = [f"  {name:<10}{timings[name] * 1000:>9.1f} ms" for name in PIPELINE if name in timings]
    return "\n".join(rows)


@contextmanager
def keeping_all() -> Iterator[None]:
    """Looks for no garbage meanwhile: what passes make lives to the end of the run, and to walk all
    of it again and again takes time that grows with its square. Nor is it walked once that is over:
    from then on it counts as old.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if sys.implementation.name == "cpython":
                # What thaws joins the oldest generation without being looked at.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
