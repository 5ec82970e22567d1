"""What a terminal sees of work that lasts, and that nothing else sees any."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dracfg.cli import progress as told
from dracfg.cli.progress import progress
from dracfg.passes import PIPELINE, Timings


class Terminal:
    """A stderr that is a terminal; `seen` is what was written to it."""

    def __init__(self) -> None:
        self.master, self.slave = pty.openpty()
        self.stream = os.fdopen(self.slave, "w", closefd=False)

    def seen(self) -> bytes:
        seen = b""
        while select.select([self.master], [], [], 0.2)[0]:
            seen += os.read(self.master, 65536)
        return seen


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = Terminal()
    monkeypatch.setattr(told, "sys", SimpleNamespace(stderr=made.stream))
    monkeypatch.setattr(told, "_AFTER", 0.01)
    monkeypatch.setattr(told, "_EVERY", 0.01)
    for name in ("CI", "TERM"):
        monkeypatch.delenv(name, raising=False)
    return made


def work(clock: Timings, *, quiet: bool = False) -> None:
    """Works long enough for the timer to come many times."""
    with progress(clock, quiet=quiet):
        clock.measure("check", lambda: time.sleep(0.2))


def test_a_terminal(terminal: Terminal) -> None:
    work(Timings())
    seen = terminal.seen()
    assert seen == b"\r\x1b[Kchecking rules\r\x1b[K"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_work_that_does_not_last(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "_AFTER", 60.0)
    with progress(Timings(), quiet=False):
        pass
    assert terminal.seen() == b""


def test_quiet(terminal: Terminal) -> None:
    work(Timings(), quiet=True)
    assert terminal.seen() == b""


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("TERM", "dumb")])
def test_where_lines_stay(
    name: str, value: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    work(Timings())
    assert terminal.seen() == b""


def test_a_fault_takes_the_line_away(terminal: Terminal) -> None:
    clock = Timings()

    def fail() -> None:
        time.sleep(0.2)
        raise ValueError

    with pytest.raises(ValueError), progress(clock, quiet=False):
        clock.measure("emit", fail)
    assert terminal.seen().endswith(b"\r\x1b[K")


def test_every_pass_has_words() -> None:
    assert tuple(told._WORDS) == PIPELINE


def test_what_is_no_terminal(tmp_path: Path) -> None:
    script = (
        "from dracfg.cli import progress as told\nfrom dracfg.passes import Timings\nimport time\n"
        "told._AFTER = told._EVERY = 0.01\n"
        "with told.progress(Timings(), quiet=False): time.sleep(0.1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, cwd=tmp_path, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")
