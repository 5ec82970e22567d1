"""What a command imports before it works: a budget of modules, as seconds depend on the machine."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dracfg.cli.main import invoke

ROOT = Path(__file__).parents[3]
HEAVY = {
    "cel_expr_python",
    "celpy",
    "dracfg.pipeline",
    "jinja2",
    "jsonschema",
    "kubernetes",
    "pydantic",
}
"""What no command needs that only tells of a run that was."""
RARE = {
    "celpy",
    "click.testing",
    "dracfg.audit",
    "dracfg.check.lints.trees",
    "jinja2",
    "jsonschema",
    "kubernetes",
    "multiprocessing",
}
"""What a small repository without raw CEL does not need, though some other run does."""


def imported(*arguments: str) -> set[str]:
    """The modules that a whole process of dracfg imports."""
    command = [sys.executable, "-X", "importtime", "-m", "dracfg", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines} - {"imported package"}


@pytest.fixture(scope="module")
def bare() -> int:
    """Modules of an interpreter that does nothing."""
    command = [sys.executable, "-X", "importtime", "-c", "pass"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stderr.count("import time:") - 1


def test_help(bare: int) -> None:
    found = imported("--help")
    assert len(found) - bare <= 82
    assert not found & (HEAVY | {"yaml"})


def test_a_compile_that_is_recalled(bare: int, tmp_path: Path) -> None:
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    arguments = ("compile", "-q", "-C", str(tmp_path))
    assert invoke(arguments) == 0
    found = imported(*arguments)
    assert len(found) - bare <= 166
    assert not found & (HEAVY | {"multiprocessing", "yaml"})


def test_a_compile_from_nothing(bare: int, tmp_path: Path) -> None:
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    found = imported("compile", "-q", "-C", str(tmp_path))
    assert len(found) - bare <= 720
    assert not found & RARE
