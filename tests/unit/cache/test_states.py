"""What a run wrote the next one knows as objects: the same as if it had read them."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from dracfg.cache.states import KnownStates
from dracfg.cli.main import invoke
from dracfg.source import statefiles
from dracfg.source.seen import Seen, StateRead
from dracfg.source.standing import is_state_file, read_standing

GOLDEN = Path(__file__).parents[2] / "golden"


def files_of(out: Path) -> dict[str, bytes]:
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository that was compiled, once more after a profile has changed: one template is retired."""
    assert invoke(["init", "--ci", "none", str(tmp_path)]) == 0
    assert invoke(["compile", "-q", "-C", str(tmp_path)]) == 0
    change(tmp_path, "name: train-x1", "name: train-one")
    assert invoke(["compile", "-q", "-C", str(tmp_path)]) == 0
    return tmp_path


def change(root: Path, old: str, new: str) -> None:
    path = next(p for p in sorted((root / "tenants").glob("*.yaml")) if old in p.read_text("utf-8"))
    path.write_text(path.read_text("utf-8").replace(old, new, 1), encoding="utf-8")


def test_the_objects_are_those_that_the_files_hold(repository: Path) -> None:
    out = repository / "out"
    read, unread = read_standing(out)
    known = KnownStates.recall(repository).pieces
    assert unread == read.faults() == ()
    assert any("/retired/" in path for path in read.files)
    for path, objects in read.files.items():
        assert json.loads(known[hashlib.sha256((out / path).read_bytes()).hexdigest()]) == [
            *objects
        ]


def test_nothing_is_read_again_and_the_tree_is_the_same(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    for root in (repository, shutil.copytree(repository, other, dirs_exist_ok=True)):
        change(root, "name: train-one", "name: train-uno")
    assert invoke(["compile", "-q", "-C", str(other), "--no-cache"]) == 0

    def refuse(shown: str, _data: bytes) -> None:
        raise AssertionError(f"{shown} was read")

    monkeypatch.setattr(statefiles, "_objects", refuse)
    assert invoke(["compile", "-q", "-C", str(repository)]) == 0
    assert files_of(repository / "out") == files_of(other / "out")


def test_what_stands_as_it_is_made_again_is_not_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stood = files_of(repository / "out")
    objects = statefiles._objects
    read: list[str] = []

    def note(shown: str, data: bytes) -> StateRead:
        read.append(shown)
        return objects(shown, data)

    monkeypatch.setattr(statefiles, "_objects", note)
    for command in ("check", "compile"):
        read.clear()
        assert invoke([command, "-q", "--no-cache", "-C", str(repository)]) == 0
        # Retired is what stands retired, so that is asked for before anything is made of it.
        assert read
        assert not [path for path in read if "/tenants/" in path and "/retired/" not in path]
    assert files_of(repository / "out") == stood


def test_an_edited_file_is_read_as_it_stands(repository: Path) -> None:
    out = repository / "out"
    path = next(p for p in out.rglob("claim-templates.yaml") if "count: 4" in p.read_text("utf-8"))
    path.write_text(path.read_text("utf-8").replace("count: 4", "count: 7"), encoding="utf-8")
    known, _ = read_standing(out, seen=Seen(recorded=KnownStates.recall(repository).pieces))
    read, _ = read_standing(out)
    assert known == read


@pytest.mark.parametrize("spoil", ["cut", "edited", "gone", "another dracfg"])
def test_an_entry_that_can_not_be_trusted_is_not(
    repository: Path, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository / ".cache" / "dracfg" / "states"
    content = path.read_bytes()
    match spoil:
        case "cut":
            path.write_bytes(content[:-9])
        case "edited":
            path.write_bytes(content.replace(b'{"compiler"', b'{"Compiler"', 1))
        case "gone":
            path.unlink()
        case _:
            monkeypatch.setattr("dracfg.cache.pieces.compiler", lambda: "another")
    assert KnownStates.recall(repository).pieces == {}


@pytest.mark.parametrize(
    ("path", "is_state"),
    [
        ("east/tenants/vision/claim-templates.yaml", True),
        ("east/tenants/vision.2/retired/claims.yaml", True),
        ("east/guard.3/namespaces.yaml", True),
        ("east/guard/quotas.yaml", False),
        ("east/tenants/vision/deeper/claims.yaml", False),
        ("gitops/flux/east/claims.yaml", False),
    ],
)
def test_which_files_are_state(path: str, is_state: bool) -> None:
    assert is_state_file(path) == is_state
