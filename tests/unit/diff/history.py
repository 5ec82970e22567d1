"""A repository with a history in git, made from the files of a golden tree."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

GOLDEN = Path(__file__).parents[2] / "golden" / "slices"
PLATFORM, TEAMS = "catalog/platform.yaml", "tenants/teams.yaml"
_WHO = {
    f"GIT_{role}_{what}": "x@example.com"
    for role in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


def git(folder: Path, *arguments: str, day: str | None = None) -> str:
    """What git prints; `day` is that of a commit."""
    dates = {f"GIT_{role}_DATE": f"{day}T12:00:00Z" for role in ("AUTHOR", "COMMITTER") if day}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True, capture_output=True, text=True, env={**os.environ, **_WHO, **alone, **dates},
    )  # fmt: skip
    return done.stdout.strip()


@dataclass(frozen=True)
class History:
    """`root` holds catalog/ and tenants/ and lies in the work tree of a git repository."""

    root: Path

    def edit(self, path: str, *pairs: tuple[str, str]) -> None:
        text = self.read(path)
        for old, new in pairs:
            assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
            text = text.replace(old, new)
        self.write(path, text)

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def remove(self, path: str) -> None:
        place = self.root / path
        shutil.rmtree(place) if place.is_dir() else place.unlink()

    def commit(self, day: str = "2026-11-30") -> str:
        git(self.root, "add", "-A", ".")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "x", day=day)
        return git(self.root, "rev-parse", "HEAD")

    def branch(self, name: str) -> None:
        git(self.root, "checkout", "-q", "-B", name)


def begin(root: Path, below: str = "") -> History:
    """A repository with one commit on main; the golden files lie in the folder `below`."""
    place = root / below
    place.mkdir(parents=True, exist_ok=True)
    for folder in ("catalog", "tenants"):
        shutil.copytree(GOLDEN / folder, place / folder)
    git(root, "init", "-q", "-b", "main")
    history = History(place)
    history.commit()
    return history
