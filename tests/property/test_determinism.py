"""The same catalog and tenants give the same bytes, whatever the machine, the order or the workers."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dracfg.pipeline import compile_repository

ROOT = Path(__file__).parents[2]
ORIGIN = b"dracfg.dev/origin:"
BESIDE = """
from dracfg import aside
from dracfg.cli.main import run

aside._A_PROCESS = 1
run()
"""
"""`dracfg`, to which every file is worth a process."""


def copy_inputs(target: Path) -> Path:
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, target / folder)
    return target


def tree(root: Path, *, origins: bool = True) -> dict[str, bytes]:
    found = {}
    for path in sorted((root / "out").rglob("*")):
        if path.is_file() and path.name != "dracfg.lock.json":
            lines = path.read_bytes().splitlines(keepends=True)
            kept = lines if origins else [line for line in lines if ORIGIN not in line]
            found[path.relative_to(root).as_posix()] = b"".join(kept)
    return found


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copy_inputs(tmp_path_factory.mktemp("expected"))
    assert not compile_repository(root).has_errors
    return root


@pytest.mark.parametrize(("seed", "jobs", "place"), [("0", "1", "C"), ("1", "2", "C.UTF-8")])
def test_hash_seed_locale_and_workers(
    tmp_path: Path, expected: Path, seed: str, jobs: str, place: str
) -> None:
    root = copy_inputs(tmp_path)
    environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": place, "TZ": "Asia/Tokyo"}
    options = ["compile", "--jobs", jobs, "-C", str(root)]
    command = [sys.executable, "-c", BESIDE, *options]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert tree(root) == tree(expected)


@pytest.mark.parametrize("seed", range(5))
def test_files_renamed_and_documents_shuffled(tmp_path: Path, expected: Path, seed: int) -> None:
    root = copy_inputs(tmp_path)
    dice = random.Random(seed)
    for folder in ("catalog", "tenants"):
        texts = [
            document
            for path in sorted((root / folder).rglob("*.yaml"))
            if "inventory" not in path.parts
            for document in split(path.read_text(encoding="utf-8"))
        ]
        for path in sorted((root / folder).rglob("*.yaml")):
            if "inventory" not in path.parts:
                path.unlink()
        dice.shuffle(texts)
        for i, text in enumerate(texts):
            target = root / folder / f"z{dice.randrange(3)}" / f"{i}.yaml"
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")
    assert not compile_repository(root).has_errors
    assert tree(root, origins=False) == tree(expected, origins=False)


def split(text: str) -> list[str]:
    """The documents of a file, comments before the first one dropped."""
    parts = ("\n" + text).split("\n---")
    return [part + "\n" for part in parts if "apiVersion:" in part]


def test_second_compile_changes_nothing(tmp_path: Path) -> None:
    root = copy_inputs(tmp_path)
    compile_repository(root)
    before = {path: path.stat().st_mtime_ns for path in (root / "out").rglob("*") if path.is_file()}
    done = compile_repository(root)
    assert done.applied is not None
    assert not any(unit.status != "unchanged" for unit in done.tree.units)
    assert before == {
        path: path.stat().st_mtime_ns for path in (root / "out").rglob("*") if path.is_file()
    }
