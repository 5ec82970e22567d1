"""A fleet under git, and what people change in it: an edit of one tenant, and of a share of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import yaml

from tests.bench.fleet import Document, dumped

_IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
_PLAIN = ("-c", "core.autocrlf=false", "-c", "gc.auto=0", "-c", "commit.gpgsign=false")


def commit(root: Path) -> None:
    """Put everything below `root`, the tree of output with it, into a first commit."""
    _git(root, "init", "-q", "-b", "main")
    _git(root, "add", "--all")
    _git(root, *_IDENTITY, "commit", "-q", "-m", "the fleet")


def packed(root: Path) -> int:
    """The bytes of a repository's objects, once it has packed them as a forge does."""
    _git(root, "repack", "-a", "-d", "-q")
    counted = _git(root, "count-objects", "-v")
    (kibibytes,) = (
        line.split()[1] for line in counted.splitlines() if line.startswith("size-pack")
    )
    return int(kibibytes) * 1024


def _git(root: Path, *arguments: str) -> str:
    command = ["git", *_PLAIN, "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def change_one(root: Path) -> None:
    """Another group may use what the tenant in the middle has: its role bindings change."""
    paths = _paths(root)
    _edit(paths[len(paths) // 2], _rename_group)


def change_share(root: Path, percent: int) -> None:
    """Change tenants that lie evenly over the fleet, in turn in each way."""
    for number, path in enumerate(_paths(root)[:: max(1, 100 // percent)]):
        _edit(path, CHANGES[number % len(CHANGES)])


def _paths(root: Path) -> list[Path]:
    return sorted((root / "tenants").rglob("*.yaml"))


def _edit(path: Path, change: Callable[[Document], None]) -> None:
    document: Document = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(document["spec"])
    path.write_text(dumped([document]), encoding="utf-8")


def _rename_group(spec: Document) -> None:
    use = spec["access"]["use"][0]
    use["group"] = f"{use['group']}ineers"


def _add_profile(spec: Document) -> None:
    """A profile more, with the requests of the first: a template in each namespace."""
    requests = [dict(request) for request in spec["profiles"][0]["requests"]]
    spec["profiles"].append({"name": "added", "requests": requests})


def _freeze(spec: Document) -> None:
    """A tenant that makes no new claims."""
    spec["state"] = "frozen"


CHANGES = (_rename_group, _add_profile, _freeze)
