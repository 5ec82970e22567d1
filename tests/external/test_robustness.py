"""Compiles that are killed, starved and disturbed: each unit stays wholly old or wholly new.

Runs are forks of this process, so that a kill meets a compile and not the start of Python.
`DRACFG_KILLS` says how many are killed.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

import pytest

from dracfg import building
from dracfg.cli.main import invoke
from dracfg.emit.layout import LOCK_NAME, unit_of
from dracfg.emit.lock import read_lock
from dracfg.pipeline import compile_repository
from tests.bench.fleet import fleet

KILLS = int(os.environ.get("DRACFG_KILLS", "12"))
TENANTS = 30
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")

Files = Mapping[str, str]


def files_of(out: Path) -> dict[str, str]:
    """Path below `out` -> digest, of all but the lock and what a run keeps for itself."""
    return {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != LOCK_NAME and ".dracfg-stage-" not in str(path)
    }


def by_unit(files: Files, units: Collection[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {unit: {} for unit in units}
    for path, digest in files.items():
        unit = unit_of(path, units)
        assert unit is not None, f"{path} is of no unit"
        found[unit][path] = digest
    return found


def assert_whole(out: Path, first: Path, second: Path) -> None:
    """Each unit of a tree as in the one or as in the other."""
    lock = read_lock(second / "out").lock
    assert lock is not None
    found, old, new = (
        by_unit(files_of(one), lock.units) for one in (out, first / "out", second / "out")
    )
    for unit in lock.units:
        assert found[unit] in (old[unit], new[unit]), f"{unit} is neither old nor new"


def change_all(root: Path, word: str) -> None:
    """Another group may use what each tenant has, so that every tenant's unit changes."""
    for path in sorted((root / "tenants").rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        changed = text.replace("-eng\n", f"-{word}\n")
        path.write_text(changed, encoding="utf-8")


def in_a_fork(work: Callable[[], int]) -> int:
    """The id of a process that does the work and ends with its result."""
    child = os.fork()
    if child:
        return child
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os._exit(work())
    finally:
        os._exit(70)


def compiling(root: Path) -> Callable[[], int]:
    return lambda: invoke(["compile", "-q", "-C", str(root), "--no-cache"])


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two compiled repositories of the same tenants, which differ in every tenant's unit."""
    first, second = (tmp_path_factory.mktemp("states") / name for name in ("first", "second"))
    fleet(TENANTS, 2).write(first)
    shutil.copytree(first, second)
    change_all(second, "later")
    for root in (first, second):
        done = compile_repository(root)
        assert not done.has_errors
    return first, second


@pytest.fixture
def repository(states: tuple[Path, Path], tmp_path: Path) -> Path:
    """The tree of the first state with the inputs of the second."""
    first, second = states
    root = tmp_path / "repository"
    shutil.copytree(second, root, ignore=shutil.ignore_patterns("out"))
    shutil.copytree(first / "out", root / "out")
    return root


def kill_at_random(root: Path, before: Callable[[int], object], after: Callable[[], None]) -> None:
    """Kills KILLS compiles of `root`, each at any moment of it; then lets one come to its end.

    `before` is called with the number of the try, `after` when a run has ended in whichever way.
    """
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    start = time.monotonic()
    assert ended(in_a_fork(compiling(root))) == 0
    whole = time.monotonic() - start
    killed = tries = 0
    try:
        while killed < KILLS:
            assert tries < 5 * KILLS, "runs end before they are killed"
            before(tries)
            tries += 1
            child = in_a_fork(compiling(root))
            time.sleep(chance.uniform(0, whole))
            os.kill(child, signal.SIGKILL)
            if ended(child) == -signal.SIGKILL:
                killed += 1
            else:  # the machine has become faster than it was when it was timed
                whole *= 0.9
            after()
        assert ended(in_a_fork(compiling(root))) == 0
        after()
        assert not list((root / "out").glob(".dracfg-stage-*"))
    except AssertionError as failed:
        failed.add_note(f"seed {seed}")
        raise


def test_kills_at_random_moments(states: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = states
    root = tmp_path / "repository"
    shutil.copytree(second, root, ignore=shutil.ignore_patterns("out"))
    shutil.copytree(first / "out", root / "out")
    source = first

    def other_tenants(tries: int) -> None:
        nonlocal source
        source = states[tries % 2]
        shutil.rmtree(root / "tenants")
        shutil.copytree(source / "tenants", root / "tenants")

    kill_at_random(root, other_tenants, lambda: assert_whole(root / "out", first, second))
    assert files_of(root / "out") == files_of(source / "out")


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever makes units of a new tree writes them, however few they are."""
    monkeypatch.setattr(building, "MANY_UNITS", 0)


@pytest.mark.usefixtures("ahead")
def test_kills_while_there_is_no_tree_yet(states: tuple[Path, Path], tmp_path: Path) -> None:
    lock = read_lock(states[0] / "out").lock
    assert lock is not None
    units = by_unit(files_of(states[0] / "out"), lock.units)
    root = tmp_path / "repository"
    shutil.copytree(states[0], root, ignore=shutil.ignore_patterns("out"))

    def no_tree(_tries: int) -> None:
        if (root / "out" / LOCK_NAME).exists():
            shutil.rmtree(root / "out")

    def assert_none_or_whole() -> None:
        for unit, files in by_unit(files_of(root / "out"), lock.units).items():
            assert files in ({}, units[unit]), f"{unit} is in part there"

    kill_at_random(root, no_tree, assert_none_or_whole)
    assert files_of(root / "out") == files_of(states[0] / "out")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a file system of the given size; skipped where that is not allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if shutil.which("mount") is None:
            pytest.skip("no mount here")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
        return folder

    yield mount
    subprocess.run(["umount", str(folder)], capture_output=True, check=False)


def test_a_full_disk(
    repository: Path, states: tuple[Path, Path], small_disk: Callable[[str], Path],
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    root = small_disk("size=64m") / "repository"
    shutil.copytree(repository, root)
    before = files_of(root / "out")
    left = os.statvfs(root)
    filler = root.parent / "filler"
    filler.write_bytes(bytes(left.f_bavail * left.f_frsize - 100 * 1024))
    assert invoke(["compile", "-q", "-C", str(root), "--no-cache"]) == 3
    assert "no space is left on the disk; the old tree stands" in capfd.readouterr().err
    assert files_of(root / "out") == before
    filler.unlink()
    assert invoke(["compile", "-q", "-C", str(root), "--no-cache"]) == 0
    assert files_of(root / "out") == files_of(states[1] / "out")


@pytest.mark.usefixtures("ahead")
def test_a_full_disk_while_there_is_no_tree_yet(
    states: tuple[Path, Path], small_disk: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    root = small_disk("size=64m") / "repository"
    shutil.copytree(states[0], root, ignore=shutil.ignore_patterns("out"))
    left = os.statvfs(root)
    filler = root.parent / "filler"
    filler.write_bytes(bytes(left.f_bavail * left.f_frsize - 100 * 1024))
    assert invoke(["compile", "-q", "-C", str(root), "--no-cache"]) == 3
    assert "no space is left on the disk" in capfd.readouterr().err
    assert files_of(root / "out") == {}
    filler.unlink()
    assert invoke(["compile", "-q", "-C", str(root), "--no-cache"]) == 0
    assert files_of(root / "out") == files_of(states[0] / "out")


def test_a_read_only_tree(
    repository: Path, small_disk: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    root = small_disk("size=200m") / "repository"
    shutil.copytree(repository, root)
    subprocess.run(["mount", "-o", "remount,ro", str(root.parent)], check=True)
    before = files_of(root / "out")
    assert invoke(["compile", "-q", "-C", str(root)]) == 3
    assert "the file system is read-only; the old tree stands" in capfd.readouterr().err
    assert files_of(root / "out") == before


def test_two_compiles_at_once(repository: Path, states: tuple[Path, Path]) -> None:
    """Both end: one has its turn after the other, or says whom it waited for; the tree is whole."""
    children = [in_a_fork(compiling(repository)) for _ in range(2)]
    codes = [ended(child) for child in children]
    assert 0 in codes
    assert set(codes) <= {0, 3}
    assert files_of(repository / "out") == files_of(states[1] / "out")


@pytest.mark.parametrize("moment", [0, 4_000_000_000], ids=["1970", "2096"])
def test_clocks_that_jump(repository: Path, states: tuple[Path, Path], moment: int) -> None:
    """No time stamp is believed: with the cache, an edit from any time is seen."""
    assert invoke(["compile", "-q", "-C", str(repository)]) == 0
    shutil.rmtree(repository / "tenants")
    shutil.copytree(states[0] / "tenants", repository / "tenants")
    for path in repository.rglob("*"):
        os.utime(path, (moment, moment))
    assert invoke(["compile", "-q", "-C", str(repository)]) == 0
    assert files_of(repository / "out") == files_of(states[0] / "out")


def test_inputs_that_change_meanwhile(repository: Path, states: tuple[Path, Path]) -> None:
    """Each file is read once, so any mixture compiles; once they rest, the next run is right."""
    first, second = states
    names = [p.relative_to(first) for p in sorted((first / "tenants").rglob("*.yaml"))]
    stop, changed = threading.Event(), 0

    def disturb() -> None:
        nonlocal changed
        while not stop.is_set():
            for name in names:
                source = (first, second)[changed % 2]
                beside = repository / name.with_suffix(".next")
                beside.write_bytes((source / name).read_bytes())
                beside.replace(repository / name)
                changed += 1

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, "-m", "dracfg", "compile", "-q", "-C", str(repository)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert_whole(repository / "out", first, second)
    finally:
        stop.set()
        thread.join()
    assert changed > 1_000
    for name in names:
        (repository / name).write_bytes((second / name).read_bytes())
    for beside in (repository / "tenants").rglob("*.next"):
        beside.unlink()
    assert invoke(["compile", "-q", "-C", str(repository)]) == 0
    assert files_of(repository / "out") == files_of(second / "out")
