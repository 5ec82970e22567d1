"""What is being worked at, on the terminal, once it lasts.

One line on stderr that is taken away again. A timer of the process tells it, as a thread would have
to be minded by whatever forks; where there is no such timer, nothing is told.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dracfg.passes import Timings

_AFTER = 1.0
"""Seconds that pass in silence."""
_EVERY = 0.25
_WORDS = {
    "read": "reading files",
    "parse": "parsing documents",
    "index": "indexing names",
    "expand": "linking documents",
    "build": "building clusters",
    "check": "checking rules",
    "validate": "validating objects",
    "emit": "writing the tree",
}
_ERASE = "\r\x1b[K"


@contextmanager
def progress(clock: Timings, *, quiet: bool) -> Iterator[None]:
    """Tells of the passes that `clock` measures for as long as the body runs."""
    if quiet or not _can_tell():
        yield
        return
    from shutil import get_terminal_size

    fd = sys.stderr.fileno()
    told = ""

    def tell(_signal: int, _frame: FrameType | None) -> None:
        nonlocal told
        line = _line(clock)[: get_terminal_size().columns - 1]
        if line != told:
            told = line
            # Not through sys.stderr, which the code that was interrupted may be in the midst of.
            os.write(fd, f"{_ERASE}{line}".encode())

    before = signal.signal(signal.SIGALRM, tell)
    signal.setitimer(signal.ITIMER_REAL, _AFTER, _EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if told:
            os.write(fd, _ERASE.encode())


def _can_tell() -> bool:
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and sys.stderr.isatty()
        and os.environ.get("TERM") != "dumb"
        and not os.environ.get("CI")
    )


def _line(clock: Timings) -> str:
    return "working" if clock.current is None else _WORDS[clock.current]
