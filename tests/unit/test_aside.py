"""Work elsewhere comes to the same as work here, whatever becomes of the process."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dracfg import aside
from dracfg.pipeline import judge
from dracfg.terms import Means

ROOT = Path(__file__).parents[2]


def test_the_result_comes_back_and_nothing_else() -> None:
    seen: list[int] = []

    def work() -> int:
        seen.append(1)
        return os.getpid()

    result = aside.aside(work)
    assert (result() != os.getpid()) == aside.FORKS
    assert (seen == []) == aside.FORKS


def test_work_whose_process_ends_early_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "_run", lambda *_: os._exit(9))
    assert aside.aside(os.getpid)() == os.getpid()


def test_an_error_shows_where_the_result_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise LookupError("nothing there")

    result = aside.aside(work)
    with pytest.raises(LookupError, match="nothing there"):
        result()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.skipif(not aside.FORKS, reason="needs processes that fork")
def test_nobody_is_left_where_who_asked_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "pid"

    def work() -> bytes:
        told.write_text(str(os.getpid()))
        return bytes(10_000_000)  # more than a pipe holds

    asker = os.fork()
    if not asker:
        aside.aside(work)
        time.sleep(60)
        os._exit(0)
    assert _comes(lambda: told.exists() and told.read_text() != "")
    os.kill(asker, signal.SIGKILL)
    os.waitpid(asker, 0)
    assert _comes(lambda: _is_gone(int(told.read_text())))


def _comes(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold, waited for a good while."""
    for _ in range(600):
        if holds():
            return True
        time.sleep(0.05)
    return False


def _is_gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_where_processes_do_not_fork_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "FORKS", False)
    assert aside.aside(os.getpid)() == os.getpid()


@pytest.mark.parametrize(
    "root", [ROOT, ROOT / "tests" / "golden" / "metadata"], ids=lambda r: r.name
)
def test_a_judgement_is_the_same_with_rules_beside(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = judge(root)
    monkeypatch.setattr(aside, "_A_PROCESS", 1)
    beside = judge(root, by=Means(jobs=2))
    assert alone.findings == beside.findings
    assert [unit.path for unit in alone.units] == [unit.path for unit in beside.units]
    assert alone.verdict == beside.verdict


def test_no_process_is_begun_for_little(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_work: object) -> tuple[object, object]:
        pytest.fail("a process was begun")

    monkeypatch.setattr(aside, "_begin", refuse)
    assert judge(ROOT, by=Means(jobs=2)).units


def doubled(part: Sequence[int]) -> list[int]:
    return [2 * one for one in part]


@pytest.mark.parametrize("jobs", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("number", [0, 1, 2, 7])
def test_what_is_shared_out_comes_back_in_order(jobs: int, number: int) -> None:
    assert aside.share_out(doubled, range(number), jobs) == doubled(range(number))


def test_a_share_whose_process_ends_early_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "_run", lambda *_: os._exit(9))
    assert aside.share_out(doubled, range(7), 3) == doubled(range(7))


def test_what_a_share_raises_is_raised_here() -> None:
    def refuse(part: Sequence[int]) -> list[int]:
        return [1 // (one - 5) for one in part]

    with pytest.raises(ZeroDivisionError):
        aside.share_out(refuse, range(7), 2)
