"""Programs of a control plane as child processes: each with its log, none outliving the tests.

Knows nothing of Kubernetes.
"""

from __future__ import annotations

import ctypes
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

LOG_LINES = 25
"""How much of a log a failure shows."""

_SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


class Ended(Exception):
    """A program ended by itself; the message has the end of its log."""


class Program:
    """One child process, its output in `<folder>/<name>.log`."""

    def __init__(self, folder: Path, command: Sequence[str | Path]) -> None:
        self.name = Path(command[0]).name
        self.log = folder / f"{self.name}.log"
        self.command = tuple(str(part) for part in command)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def code(self) -> int | None:
        """The exit code, None while it runs."""
        return self._process.poll()

    def tail(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-LOG_LINES:])

    def check(self) -> None:
        """Raises Ended where the program is gone."""
        if (code := self.code()) is not None:
            raise Ended(f"{self.name} ended with {code}:\n{self.tail()}")

    def wait(self, seconds: float) -> int | None:
        """The exit code once it ended, None where it still runs after so many seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, seconds: float = 10) -> None:
        """Asks it to end, and ends it where it does not listen."""
        if self.code() is None:
            self._process.terminate()
            if self.wait(seconds) is None:
                self.kill()

    def pause(self) -> None:
        """It keeps its connections and does nothing, until `resume`."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends it as a crash would."""
        self._process.kill()
        self._process.wait()


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nothing listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def wait_for(look: Callable[[], T | None], what: str, seconds: float = 30, pause: float = 0.1) -> T:
    """What `look` returns as soon as that is true; TimeoutError, naming `what`, where it never is."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds} s, last seen {found!r}")
        time.sleep(pause)


def _die_with_parent() -> None:
    """In the child: it is killed when the test run is, however that ends."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
