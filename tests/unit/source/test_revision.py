"""The day of a commit."""

import os
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from dracfg.source.revision import head_date


def git(folder: Path, *arguments: str, **environment: str) -> None:
    who = {
        f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True, capture_output=True, env={**os.environ, **who, **environment},
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_committers_day_counts(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert head_date(tmp_path) is None
    days = {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-03-04T23:30:00Z"}
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x", **days)
    assert head_date(tmp_path) == date(2026, 3, 4)
    (tmp_path / "deep").mkdir()
    assert head_date(tmp_path / "deep") == date(2026, 3, 4)


def test_no_repository_no_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert head_date(tmp_path) is None
    assert head_date(tmp_path / "nowhere") is None


def test_no_git_no_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert head_date(tmp_path) is None
