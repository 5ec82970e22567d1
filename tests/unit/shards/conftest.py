"""A small fleet of five clusters, and what it takes to compile it in shards."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from dracfg.executors.executor import open_executor
from dracfg.executors.spec import parse_executor
from dracfg.pipeline import Compiled, compile_repository
from dracfg.shards import compiling
from dracfg.shards.compiling import CompiledShard, compile_shard
from dracfg.shards.shard import Shard
from tests.bench.fleet import fleet

Run = Callable[..., CompiledShard]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Compiled]:
    """The fleet as one compile leaves it, and what that told."""
    root = tmp_path_factory.mktemp("whole")
    fleet(10, 5).write(root)
    return root, compile_repository(root)


@pytest.fixture
def repository(tmp_path: Path, compiled: tuple[Path, Compiled]) -> Path:
    """The fleet before anything of it was compiled."""
    for folder in ("catalog", "tenants"):
        shutil.copytree(compiled[0] / folder, tmp_path / "repository" / folder)
    return tmp_path / "repository"


@pytest.fixture(autouse=True)
def release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "release", lambda: "1.0.0 (this one)")


@pytest.fixture
def run() -> Run:
    """Compiles one shard here."""

    def compiled_shard(root: Path, index: int, count: int) -> CompiledShard:
        with open_executor(parse_executor("process"), 1) as executor:
            return compile_shard(root, Shard(index, count), executor)

    return compiled_shard


@pytest.fixture
def run_all(run: Run) -> Callable[..., None]:
    """Compiles shards in the order given, all of `count` unless they are named."""

    def compiled_shards(root: Path, count: int, order: Iterable[int] | None = None) -> None:
        for index in order or range(1, count + 1):
            assert run(root, index, count).part is not None

    return compiled_shards
