"""What a program costs: wall time, processor time and peak memory, of one process and its children.

Wall time on a shared machine says little alone; what is published are ratios of one run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of wall and processor time, and the peak of resident memory in MiB."""

    wall: float
    cpu: float
    peak: float


def run(command: Sequence[str | Path], *, most: int = 0) -> Cost:
    """Run a program to its end; an exit code above `most` is a RuntimeError with what it wrote."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if not 0 <= child.returncode <= most:
        tail = said.decode(errors="replace")[-2000:]
        raise RuntimeError(f"{command[0]} ended with {child.returncode}: {tail}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, _mebibytes(usage.ru_maxrss))


def call(work: Callable[[], object]) -> Cost:
    """The cost of a function of this process; its peak is that of the process so far."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    work()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, _mebibytes(after.ru_maxrss))


def _mebibytes(most: int) -> float:
    """Linux counts kibibytes, macOS bytes."""
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)
