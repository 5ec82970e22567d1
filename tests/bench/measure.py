"""What a program costs: wall time, processor time and peak memory, of one process and its children.

Wall time on a shared machine says little alone; what is published are ratios of one run.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

LAUNCH = Path(__file__).with_name("launch.py")


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of wall and processor time, and the peak of resident memory in MiB; 0 is unknown.

    With several processes the time is that of all, the peak that of the greatest.
    """

    wall: float
    cpu: float
    peak: float


def run(
    command: Sequence[str | Path],
    *,
    most: int = 0,
    environment: Mapping[str, str] | None = None,
    output: Path | None = None,
) -> Cost:
    """Run a program to its end; `environment` is added to this one's, output is dropped or kept.

    An exit code above `most` is a RuntimeError with what it wrote.
    """
    launched = subprocess.run(
        [sys.executable, "-I", "-S", LAUNCH, output or os.devnull, *map(str, command)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **(environment or {})},
        check=True,
    )
    found = json.loads(launched.stdout)
    if not 0 <= found["code"] <= most:
        tail = launched.stderr.decode(errors="replace")[-2000:]
        raise RuntimeError(f"{command[0]} ended with {found['code']}: {tail}")
    return Cost(found["wall"], found["cpu"], found["peak"])


def by_turns(works: Sequence[Callable[[], Cost]], turns: int) -> list[Cost]:
    """The median costs of some works that are done one after the other, so many times.

    A machine that is shared is faster in one minute than in another, for all of them alike then.
    """
    found = [[work() for work in works] for _ in range(turns)]
    return [
        Cost(
            median(cost.wall for cost in costs),
            median(cost.cpu for cost in costs),
            max(cost.peak for cost in costs),
        )
        for costs in zip(*found, strict=True)
    ]


def call(work: Callable[[], object]) -> Cost:
    """The cost of a function of this process; its peak would be that of all before it, and is 0."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    work()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, 0)
