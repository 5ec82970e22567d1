"""Portions come back in order and once each, whatever becomes of those who run them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import active_children
from multiprocessing.connection import Connection, wait
from pathlib import Path

import pytest

from dracfg.aside import FORKS
from dracfg.executors import processes
from dracfg.executors.errors import LostPortion, Unsendable
from dracfg.executors.executor import Begun, open_executor
from dracfg.executors.ordered import AHEAD
from dracfg.executors.spec import ExecutorSpec, parse_executor

PROCESS, THREAD = ExecutorSpec("process"), ExecutorSpec("thread")
LOCAL = pytest.mark.parametrize("spec", [PROCESS, THREAD], ids=str)
forking = pytest.mark.skipif(not FORKS, reason="needs processes that fork")


# -- what a person names ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("process", PROCESS),
        ("thread", THREAD),
        ("dask://127.0.0.1:8786", ExecutorSpec("dask", "127.0.0.1:8786")),
        ("dask://scheduler.example.com:1", ExecutorSpec("dask", "scheduler.example.com:1")),
        ("dask://[::1]:8786", ExecutorSpec("dask", "[::1]:8786")),
        ("dask://localhost:8786/", ExecutorSpec("dask", "localhost:8786")),
    ],
)
def test_a_text_names_an_executor(text: str, spec: ExecutorSpec) -> None:
    assert parse_executor(text) == spec
    assert parse_executor(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is no executor"),
        ("Process", "'Process' is no executor"),
        ("processes", "'processes' is no executor"),
        ("process://4", "'process://4' is no executor"),
        ("tcp://127.0.0.1:8786", "'tcp://127.0.0.1:8786' is no executor"),
        ("dask", "'dask' is no executor"),
        ("dask://", "names no host"),
        ("dask://:8786", "names no host"),
        ("dask://127.0.0.1", "names no port"),
        ("dask://127.0.0.1:", "names no port"),
        ("dask://127.0.0.1:0", "names no port"),
        ("dask://127.0.0.1:scheduler", "is no executor"),
        ("dask://127.0.0.1:65536", "is no executor"),
        ("dask://[::1:8786", "is no executor"),
        ("dask://me@127.0.0.1:8786", "more than a host and a port"),
        ("dask://127.0.0.1:8786/status", "more than a host and a port"),
        ("dask://127.0.0.1:8786?x=1", "more than a host and a port"),
    ],
)
def test_other_texts_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"process, thread or dask://HOST:PORT$") as refused:
        parse_executor(text)
    assert reason in str(refused.value)


# -- order -----------------------------------------------------------------------------------------


def ran(folder: Path) -> Counter[int]:
    """How often each portion was begun, by the notes that `noted` leaves."""
    return Counter(int(path.name.partition("-")[0]) for path in folder.iterdir())


def noted(folder: Path, portion: int) -> None:
    (folder / f"{portion}-{os.getpid()}-{time.monotonic_ns()}").touch()


@LOCAL
@pytest.mark.parametrize("jobs", [1, 2, 3, 50])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 40])
def test_results_come_in_order_and_once(
    spec: ExecutorSpec, jobs: int, count: int, tmp_path: Path
) -> None:
    def work(portion: int) -> tuple[int, bytes]:
        noted(tmp_path, portion)
        return portion, bytes([portion]) * (100_000 if portion % 3 else 1)

    with open_executor(spec, jobs) as executor:
        found = list(executor.begin(work, range(count)).results)
    assert [portion for portion, _ in found] == list(range(count))
    assert all(set(body) == {portion} for portion, body in found)
    assert ran(tmp_path) == Counter(range(count))


@LOCAL
@pytest.mark.parametrize("weight", [None, 0, 127, 128])
def test_for_little_nothing_is_begun(spec: ExecutorSpec, weight: int | None) -> None:
    def place(_portion: int) -> tuple[int, int]:
        return os.getpid(), threading.get_ident()

    with open_executor(spec, 2) as executor:
        found = set(executor.begin(place, range(8), weight).results)
    here = (os.getpid(), threading.get_ident())
    assert (found == {here}) is (weight in (0, 127))


@LOCAL
def test_the_first_may_be_the_last_to_end(spec: ExecutorSpec, tmp_path: Path) -> None:
    def work(portion: int) -> int:
        if portion == 0:
            assert _comes(lambda: (tmp_path / "2").exists())
        (tmp_path / str(portion)).touch()
        return portion

    with open_executor(spec, 2) as executor:
        assert list(executor.begin(work, range(4)).results) == [0, 1, 2, 3]


@LOCAL
def test_one_executor_does_one_work_after_another(spec: ExecutorSpec) -> None:
    with open_executor(spec, 2) as executor:
        assert list(executor.begin(str, range(3)).results) == ["0", "1", "2"]
        assert list(executor.begin(abs, [-4, -5]).results) == [4, 5]
    assert not active_children()


@LOCAL
def test_two_works_at_once_do_not_meet(spec: ExecutorSpec) -> None:
    with open_executor(spec, 2) as executor:
        pairs = zip(
            executor.begin(str, range(9)).results,
            executor.begin(abs, range(0, -9, -1)).results,
            strict=True,
        )
        assert list(pairs) == [(str(n), n) for n in range(9)]


@forking
def test_processes_know_what_this_one_knows() -> None:
    """Neither the work nor the portions could be sent."""
    held = threading.Lock()
    portions = [lambda: held.locked(), lambda: not held.locked()]

    with held, open_executor(PROCESS, 2) as executor:
        found = list(executor.begin(lambda ask: (ask(), os.getpid()), portions).results)
    assert [answer for answer, _ in found] == [True, False]
    assert os.getpid() not in {process for _, process in found}


def test_processes_that_are_spawned_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "FORKS", False)
    with open_executor(PROCESS, 2) as executor:
        assert list(executor.begin(abs, [-1, -2, -3]).results) == [1, 2, 3]
    assert not active_children()


@LOCAL
def test_one_job_and_one_portion_are_done_here(spec: ExecutorSpec) -> None:
    here = (os.getpid(), threading.get_ident())

    def place(_portion: int) -> tuple[int, int]:
        return os.getpid(), threading.get_ident()

    with open_executor(spec, 1) as executor:
        assert set(executor.begin(place, range(3)).results) == {here}
    with open_executor(spec, 4) as executor:
        assert list(executor.begin(place, [0]).results) == [here]
        assert here not in set(executor.begin(place, range(3)).results)


@LOCAL
def test_no_more_is_begun_than_may_wait(spec: ExecutorSpec, tmp_path: Path) -> None:
    def work(portion: int) -> int:
        noted(tmp_path, portion)
        return portion

    with open_executor(spec, 2) as executor:
        results = executor.begin(work, range(100)).results
        taken = [next(results) for _ in range(5)]
        begun = len(ran(tmp_path))
    assert taken == [0, 1, 2, 3, 4]
    assert begun <= len(taken) + AHEAD * 2
    assert len(ran(tmp_path)) <= len(taken) + AHEAD * 2, "more was begun after the end"
    assert not active_children()


def attended(begun: Begun[int], folder: Path) -> int:
    """Has those attended who run the portions; how many of these were begun by now."""
    assert begun.attend is not None
    begun.attend()
    return len(ran(folder))


@LOCAL
def test_who_is_attended_goes_on_while_nobody_takes_results(
    spec: ExecutorSpec, tmp_path: Path
) -> None:
    def work(portion: int) -> int:
        noted(tmp_path, portion)
        return portion

    with open_executor(spec, 2) as executor:
        begun = executor.begin(work, range(30))
        assert _comes(lambda: attended(begun, tmp_path) == 30)
        assert list(begun.results) == list(range(30))
    assert ran(tmp_path) == Counter(range(30))


@forking
def test_to_attend_replaces_a_process_that_was_lost(tmp_path: Path) -> None:
    def work(portion: int) -> int:
        noted(tmp_path, portion)
        if portion == 1 and ran(tmp_path)[1] == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return portion

    with open_executor(PROCESS, 2) as executor:
        begun = executor.begin(work, range(6))
        assert _comes(lambda: attended(begun, tmp_path) == 6)
        assert list(begun.results) == list(range(6))
    assert ran(tmp_path) == Counter(range(6)) + Counter({1: 1})
    assert not active_children()


@LOCAL
def test_what_runs_here_needs_nobody_to_attend(spec: ExecutorSpec) -> None:
    with open_executor(spec, 1) as executor:
        assert executor.begin(abs, [-1, -2]).attend is None
    with open_executor(spec, 2) as executor:
        assert executor.begin(abs, [-1]).attend is None
        assert executor.begin(abs, []).attend is None


# -- what goes wrong -------------------------------------------------------------------------------


class Refused(Exception):
    """An error as the work may have one, which is not made from its message alone."""

    def __init__(self, place: str, line: int) -> None:
        super().__init__(place, line)
        self.line = line


class Awkward(Exception):
    """An error that can't be read where it is sent to."""

    def __init__(self, place: str, line: int) -> None:
        super().__init__(f"{place}:{line}")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """As errors have it, unless a package has taught Python another way, as Dask's does."""
        return type(self), self.args


@LOCAL
@pytest.mark.parametrize("error", [Refused("here", 3), LookupError("no"), SystemExit(3)], ids=repr)
def test_an_error_of_the_work_is_raised_as_it_is(
    spec: ExecutorSpec, error: BaseException, tmp_path: Path
) -> None:
    def work(portion: int) -> int:
        noted(tmp_path, portion)
        if portion == 1:
            raise error
        return portion

    with open_executor(spec, 2) as executor:
        results = executor.begin(work, range(20)).results
        assert next(results) == 0
        with pytest.raises(type(error)) as met:
            list(results)
    assert met.value.args == error.args
    assert vars(met.value).get("line") == vars(error).get("line")
    assert ran(tmp_path)[1] == 1
    assert not active_children()


def test_an_error_that_cannot_be_sent_is_told() -> None:
    def work(portion: int) -> int:
        raise Awkward("here", portion)

    with (
        open_executor(PROCESS, 2) as executor,
        pytest.raises(Unsendable) as met,
    ):
        list(executor.begin(work, range(3)).results)
    assert str(met.value) == "Awkward: here:0"
    assert any("in work" in note for note in met.value.__notes__), "where it was raised is lost"


def test_a_result_that_cannot_be_sent_is_told() -> None:
    with open_executor(PROCESS, 2) as executor, pytest.raises(TypeError, match="pickle"):
        list(executor.begin(lambda _: threading.Lock(), range(3)).results)


@forking
@pytest.mark.parametrize("victim", [0, 3, 8])
def test_a_process_that_is_killed_is_replaced(victim: int, tmp_path: Path) -> None:
    def work(portion: int) -> bytes:
        noted(tmp_path, portion)
        if portion == victim and ran(tmp_path)[victim] == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return bytes([portion]) * 200_000

    with open_executor(PROCESS, 2) as executor:
        found = list(executor.begin(work, range(9)).results)
    assert found == [bytes([portion]) * 200_000 for portion in range(9)]
    assert ran(tmp_path) == Counter(range(9)) + Counter({victim: 1})
    assert not active_children()


@forking
def test_a_process_that_is_killed_while_it_sends_is_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Half of a result is on its way: nobody waits for the other half, nor takes it for a whole."""
    killed: list[int] = []

    def hear_once_and_kill(pipes: list[Connection], patience: float | None) -> list[object]:
        ready: list[object] = list(wait(pipes, patience))
        for child in () if killed else active_children():
            child.kill()
            child.join()
            killed.append(child.pid or 0)
        return ready

    def work(portion: int) -> bytes:
        noted(tmp_path, portion)
        return bytes([portion]) * 50_000_000

    monkeypatch.setattr(processes, "wait", hear_once_and_kill)
    with open_executor(PROCESS, 2) as executor:
        found = list(executor.begin(work, range(4)).results)
    assert len(killed) == 2
    assert [(set(body), len(body)) for body in found] == [({n}, 50_000_000) for n in range(4)]
    assert ran(tmp_path)[0] + ran(tmp_path)[1] > 2
    assert ran(tmp_path)[2] == ran(tmp_path)[3] == 1
    assert not active_children()


@forking
def test_a_portion_that_kills_each_time_is_named(tmp_path: Path) -> None:
    def work(portion: str) -> str:
        noted(tmp_path, len(portion))
        if portion == "ccc":
            os.kill(os.getpid(), signal.SIGKILL)
        return portion

    with open_executor(PROCESS, 2) as executor:
        results = executor.begin(work, ["a", "bb", "ccc", "dddd", "eeeee"]).results
        assert [next(results), next(results)] == ["a", "bb"]
        with pytest.raises(LostPortion) as lost:
            next(results)
    assert (lost.value.index, lost.value.count, lost.value.runs) == (2, 5, 4)
    assert "portion 3 of 5, 'ccc', was lost in each of 4 runs" in str(lost.value)
    assert "was ended by signal 9" in str(lost.value)
    assert ran(tmp_path)[3] == 4
    assert max(ran(tmp_path)[n] for n in (1, 2, 4, 5)) == 1
    assert not active_children()


@forking
def test_a_process_killed_while_it_rests_costs_nothing(tmp_path: Path) -> None:
    def work(portion: int) -> int:
        noted(tmp_path, portion)
        return portion

    with open_executor(PROCESS, 2) as executor:
        results = executor.begin(work, range(12)).results
        assert next(results) == 0
        for child in active_children():
            os.kill(child.pid or 0, signal.SIGKILL)
            child.join()
        assert list(results) == list(range(1, 12))
    assert set(ran(tmp_path)) == set(range(12))


@forking
def test_nothing_is_left_behind_where_results_are_not_taken(tmp_path: Path) -> None:
    def work(portion: int) -> int:
        noted(tmp_path, portion)
        while portion == 1:
            signal.pause()
        return portion

    with open_executor(PROCESS, 2) as executor, pytest.raises(RuntimeError, match="enough"):
        assert next(executor.begin(work, range(9)).results) == 0
        raise RuntimeError("enough")
    assert not active_children()


# -- whoever asked is interrupted, or killed ---------------------------------------------------------

ASKER = """
import os, signal, sys
from pathlib import Path
from dracfg.executors.executor import Begun, open_executor
from dracfg.executors.spec import ExecutorSpec

# A shell that starts something in the background has it ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[1])

def work(portion):
    (folder / f"{portion}-{os.getpid()}").touch()
    while portion == 0:
        signal.pause()

with open_executor(ExecutorSpec("process"), 2) as executor:
    list(executor.begin(work, range(6)).results)
"""


@forking
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=lambda how: how.name)
def test_nobody_works_on_where_who_asked_ends(how: signal.Signals, tmp_path: Path) -> None:
    asker = subprocess.Popen(
        [sys.executable, "-c", ASKER, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        # One of the two is at work, the other has done all that may wait.
        assert _comes(lambda: len(list(tmp_path.iterdir())) == 4)
        children = {int(path.name.partition("-")[2]) for path in tmp_path.iterdir()}
        assert len(children) == 2
        # Ctrl-C at a terminal goes to the whole group.
        os.killpg(asker.pid, how) if how == signal.SIGINT else asker.kill()
        _, told = asker.communicate(timeout=60)
    finally:
        asker.kill()
    assert _comes(lambda: all(map(_is_gone, children)))
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == ["0", "1", "2", "3"]
    assert told.count("Traceback") == (how == signal.SIGINT), told


def _comes(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold, waited for a good while."""
    for _ in range(1200):
        if holds():
            return True
        time.sleep(0.025)
    return False


def _is_gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@LOCAL
def test_as_many_processes_may_work_beside_it_as_it_has_jobs(spec: ExecutorSpec) -> None:
    with open_executor(spec, 3) as executor:
        assert executor.beside == 3
