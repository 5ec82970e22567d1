"""Portions, and whole compiles, on a real Dask cluster of processes, of which one is killed midway.

Scheduler and workers are started here by Dask's own programs, on the loopback interface, and ended again.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dracfg.cache.compiler import compiler
from dracfg.executors import cluster as clusters
from dracfg.executors.errors import LostPortion, OtherVersion, Unreachable
from dracfg.executors.executor import open_executor
from dracfg.executors.spec import ExecutorSpec, parse_executor
from tests.bench.fleet import fleet

ROOT = Path(__file__).parents[2]
SIZE = 300_000

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="Dask is not installed: pip install 'dracfg[dask]'",
)


@dataclass(slots=True)
class Cluster:
    """A scheduler, and the processes of its workers by the order in which they were started."""

    folder: Path
    address: str = ""
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def spec(self) -> ExecutorSpec:
        return parse_executor(f"dask://{self.address}")

    def start(self) -> None:
        told = self.folder / "scheduler.json"
        self.scheduler = self._run("scheduler", "--port", "0", "--scheduler-file", str(told))
        assert comes(lambda: told.exists() and told.read_text().endswith("}"))
        self.address = json.loads(told.read_text())["address"].removeprefix("tcp://")

    def add(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        """One more worker, once the scheduler knows it; it is not replaced when it ends."""
        from distributed import Client

        kept = {"--nanny", "--no-nanny"} & {*options}
        options = options if kept else ("--no-nanny", *options)
        worker = self._run(
            "worker", f"tcp://{self.address}", "--nthreads", "1",
            "--local-directory", str(self.folder), *options, **environment,
        )  # fmt: skip
        self.workers.append(worker)
        with Client(f"tcp://{self.address}", set_as_default=False) as client:
            client.wait_for_workers(len(self.living), timeout=60)
        return worker

    @property
    def living(self) -> list[subprocess.Popen[bytes]]:
        return [worker for worker in self.workers if worker.poll() is None]

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):  # a nanny must still find its scheduler
            if process is not None:
                if "--nanny" in process.args:  # type: ignore[operator]
                    process.terminate()  # it ends the worker that it minds
                else:
                    process.kill()
                process.wait()

    def _run(self, program: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{program}-{len(self.workers)}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{program}",
                 "--host", "127.0.0.1", "--no-dashboard", *options],
                cwd=self.folder,
                env={
                    **os.environ,
                    "PYTHONPATH": str(ROOT),
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "DASK_CONFIG": str(self.folder),
                    **environment,
                },
                stdout=log,
                stderr=log,
            )  # fmt: skip


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    try:
        made.start()
        yield made
    finally:
        made.end()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def comes(holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold, waited for a good while."""
    for _ in range(1200):
        if holds():
            return True
        time.sleep(0.05)
    return False


# -- the work, which workers import from here ------------------------------------------------------


def noted(notes: Path, portion: int) -> int:
    """Notes that a portion was begun, and by whom; how often it has been by now."""
    (notes / f"{portion}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return runs(notes)[portion]


def runs(notes: Path) -> Counter[int]:
    return Counter(int(path.name.partition("-")[0]) for path in notes.iterdir())


def runners(notes: Path, portion: int) -> list[int]:
    return [int(path.name.split("-")[1]) for path in notes.glob(f"{portion}-*")]


def stalled_once(notes: Path, victim: int, portion: int) -> bytes:
    """The first run of one portion never ends."""
    if noted(notes, portion) == 1 and portion == victim:
        threading.Event().wait()
    return bytes([portion]) * SIZE


def deadly(notes: Path, portion: int) -> int:
    noted(notes, portion)
    if portion == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return portion


def refused(notes: Path, error: Exception, portion: int) -> int:
    noted(notes, portion)
    if portion == 1:
        raise error
    return portion


def probed() -> str:
    return os.environ.get("PROBED", "same")


# -- portions --------------------------------------------------------------------------------------


def test_results_come_in_order_and_once(cluster: Cluster, notes: Path) -> None:
    cluster.add()
    cluster.add()
    with open_executor(cluster.spec, 1, probe=compiler) as executor:
        assert executor.width == 2
        assert executor.beside == 1
        work = functools.partial(stalled_once, notes, -1)
        assert list(executor.begin(work, range(20)).results) == [
            bytes([n]) * SIZE for n in range(20)
        ]
        assert runs(notes) == Counter(range(20))
        held = threading.get_ident()  # what can't be imported is sent as it is
        assert (
            list(executor.begin(lambda portion: portion + held, [1, 1]).results) == [held + 1] * 2
        )
        assert list(executor.begin(abs, []).results) == []


def test_a_worker_that_is_killed_midway_loses_nothing(cluster: Cluster, notes: Path) -> None:
    cluster.add()
    cluster.add()
    with open_executor(cluster.spec, 1) as executor:
        results = executor.begin(functools.partial(stalled_once, notes, 2), range(20)).results
        assert comes(lambda: bool(runners(notes, 2)))
        (victim,) = runners(notes, 2)
        assert victim in [worker.pid for worker in cluster.workers]
        os.kill(victim, signal.SIGKILL)
        assert list(results) == [bytes([n]) * SIZE for n in range(20)]
    assert runs(notes)[2] == 2
    assert victim not in runners(notes, 19)
    # Nothing was done again but what the lost worker had not handed over.
    again = {portion for portion, count in runs(notes).items() if count > 1}
    assert again <= {n for n in range(20) if victim in runners(notes, n)}


def test_the_last_worker_that_knew_the_work_is_killed(cluster: Cluster, notes: Path) -> None:
    first = cluster.add()
    with open_executor(cluster.spec, 1) as executor:
        results = executor.begin(functools.partial(stalled_once, notes, 0), range(6)).results
        assert comes(lambda: bool(runners(notes, 0)))
        first.kill()
        first.wait()
        cluster.add()
        assert list(results) == [bytes([n]) * SIZE for n in range(6)]
    assert runs(notes) == Counter(range(6)) + Counter({0: 1})


def test_a_portion_that_kills_each_worker_is_named(cluster: Cluster, notes: Path) -> None:
    cluster.add("--nanny")
    with open_executor(cluster.spec, 1) as executor:
        results = executor.begin(functools.partial(deadly, notes), range(4)).results
        with pytest.raises(LostPortion, match=r"^portion 2 of 4, 1, was lost in each of 4 runs"):
            list(results)
    assert runs(notes)[1] == 4


@pytest.mark.parametrize("error", [LookupError("no"), TimeoutError("late"), OtherVersion(*"abc")])
def test_an_error_of_the_work_is_raised_as_it_is(
    error: Exception, cluster: Cluster, notes: Path
) -> None:
    cluster.add()
    with open_executor(cluster.spec, 1) as executor:
        results = executor.begin(functools.partial(refused, notes, error), range(3)).results
        assert next(results) == 0
        with pytest.raises(type(error)) as met:
            next(results)
    assert met.value.args == error.args
    assert runs(notes)[1] == 1


def test_without_any_worker_left_it_ends(
    cluster: Cluster, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_LOOKS", 1)
    monkeypatch.setattr(clusters, "_CONNECTS_WITHIN", 1)
    worker = cluster.add()
    with open_executor(cluster.spec, 1) as executor:
        results = executor.begin(functools.partial(stalled_once, notes, 0), range(3)).results
        assert comes(lambda: bool(runners(notes, 0)))
        worker.kill()
        worker.wait()
        with pytest.raises(Unreachable, match=f"^dask://{cluster.address}: .*worker"):
            next(results)
    with (
        pytest.raises(Unreachable, match=r"has no worker$"),
        open_executor(cluster.spec, 1),
    ):
        pass


def test_without_its_scheduler_it_ends(
    cluster: Cluster, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_CONNECTS_WITHIN", 1)
    cluster.add()
    with open_executor(cluster.spec, 1) as executor:
        results = executor.begin(functools.partial(stalled_once, notes, 0), range(3)).results
        assert comes(lambda: bool(runners(notes, 0)))
        assert cluster.scheduler is not None
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        with pytest.raises(Unreachable, match="connection was lost"):
            next(results)
    with pytest.raises(Unreachable, match=cluster.address), open_executor(cluster.spec, 1):
        pass


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["", "http"])
def test_who_listens_may_be_no_scheduler(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_CONNECTS_WITHIN", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        spec = ExecutorSpec("dask", f"127.0.0.1:{server.getsockname()[1]}")

        def answer() -> None:
            with server.accept()[0] as caller:
                caller.sendall(said)
                while caller.recv(1024):
                    pass

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(Unreachable, match=spec.address), open_executor(spec, 1):
            pass


# -- workers of another version --------------------------------------------------------------------


def test_a_worker_of_another_version_gets_nothing(cluster: Cluster) -> None:
    cluster.add()
    cluster.add(PROBED="other")
    with (
        pytest.raises(OtherVersion, match=r"has another version: other, and here same$") as met,
        open_executor(cluster.spec, 1, probe=probed),
    ):
        pass
    assert met.value.worker.startswith("tcp://127.0.0.1:")
    with open_executor(cluster.spec, 1) as executor:
        assert executor.width == 2


def test_a_worker_without_the_probe_gets_nothing(cluster: Cluster) -> None:
    preload = cluster.folder / "without.py"
    preload.write_text('import sys\nsys.modules["dracfg.cache.compiler"] = None\n')
    cluster.add("--preload", str(preload))
    with (
        pytest.raises(OtherVersion, match=r"dracfg\.cache\.compiler"),
        open_executor(cluster.spec, 1, probe=compiler),
    ):
        pass


def test_a_worker_of_another_version_that_comes_later_does_nothing(
    cluster: Cluster, notes: Path
) -> None:
    first = cluster.add()
    with open_executor(cluster.spec, 1, probe=probed) as executor:
        results = executor.begin(functools.partial(stalled_once, notes, 0), range(3)).results
        assert comes(lambda: bool(runners(notes, 0)))
        cluster.add(PROBED="other")
        first.kill()
        first.wait()
        with pytest.raises(OtherVersion, match=r"has another version: other, and here same$"):
            next(results)
    assert {n for portion in range(3) for n in runners(notes, portion)} == {first.pid}


# -- whole compiles --------------------------------------------------------------------------------

ENDS_ITSELF = """
import os, signal
from distributed import WorkerPlugin

class EndsItself(WorkerPlugin):
    def transition(self, key, start, finish, **told):
        if str(key).startswith("_run-") and finish == "{state}":
            os.kill(os.getpid(), signal.SIGKILL)

async def dask_setup(worker):
    await worker.plugin_add(EndsItself())
"""


def example(root: Path) -> None:
    for folder in ("catalog", "tenants", "out"):
        shutil.copytree(ROOT / folder, root / folder)


def small_fleet(root: Path) -> None:
    fleet(40, 4).write(root)


def tree(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def compiled(root: Path, *options: str) -> dict[str, bytes]:
    # A process of its own, as the threads of Dask's client would be minded by who forks after it.
    done = subprocess.run(
        [sys.executable, "-m", "dracfg", "compile", "-q", "-C", str(root), "--no-cache",
         "--today", "2026-11-30", *options],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return tree(root / "out")


@pytest.mark.parametrize("write", [example, small_fleet], ids=lambda write: write.__name__)
@pytest.mark.parametrize("state", ["executing", "memory"])
def test_a_compile_whose_worker_is_killed_midway_gives_the_same_bytes(
    write: Callable[[Path], None], state: str, cluster: Cluster, tmp_path: Path
) -> None:
    """One worker ends as it begins its first portion, or as soon as it has done it."""
    alone, spread = tmp_path / "alone", tmp_path / "spread"
    write(alone)
    write(spread)
    preload = cluster.folder / "ends.py"
    preload.write_text(ENDS_ITSELF.format(state=state))
    lasting = cluster.add()
    mortal = cluster.add("--preload", str(preload))

    wanted = compiled(alone, "--jobs", "1")
    found = compiled(spread, "--executor", str(cluster.spec))

    assert mortal.wait(timeout=60) == -signal.SIGKILL, "no portion came to the worker"
    assert lasting.poll() is None
    assert found.keys() == wanted.keys()
    assert [path for path, content in wanted.items() if found[path] != content] == []
