"""Small repositories with their whole expected `out/` beside them, one a feature.

A change in an expected tree is reviewed as output. `--update-golden` writes them anew.
"""

import shutil
from pathlib import Path

import pytest

from dracfg.pipeline import compile_repository

HERE = Path(__file__).parent
REPOSITORIES = sorted(path.parent for path in HERE.glob("*/catalog"))


def tree(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("repository", REPOSITORIES, ids=lambda path: path.name)
def test_tree(repository: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    copy = tmp_path / "repository"
    shutil.copytree(repository, copy, ignore=shutil.ignore_patterns("out"))
    if (repository / "standing").is_dir():
        shutil.copytree(repository / "standing", copy / "out")
    done = compile_repository(copy)
    assert not [f for f in done.findings if f.is_error]
    if request.config.getoption("--update-golden"):
        shutil.rmtree(repository / "out", ignore_errors=True)
        shutil.copytree(copy / "out", repository / "out")
    assert tree(copy / "out") == tree(repository / "out")
    assert not compile_repository(copy, check=True).tree.stale, "a second compile changes the tree"


def test_there_are_repositories() -> None:
    assert REPOSITORIES
