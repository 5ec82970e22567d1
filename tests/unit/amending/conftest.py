"""A fleet that was compiled once, and copies of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.bench.fleet import fleet
from tests.unit.amending.runs import run


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fleet")
    fleet(24, 2, seed=7).write(root)
    assert run(root).written
    return root


@pytest.fixture
def root(compiled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(compiled, tmp_path / "fleet"))
