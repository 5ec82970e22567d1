"""Inputs that are known by their seals: not read while they stand, and read again whatever changed."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.cache import inputs as inputs_module
from dracfg.cache.inputs import Inputs
from dracfg.cache.questions import AskedTree, Question, stand
from dracfg.cache.seals import KeptSeals
from dracfg.emit.seals import Moment
from dracfg.source.tree import DiskTree

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="there are no seals elsewhere"
)
MOST = 9
NAMES = ("a", "b", "link")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files, and a link to one; whatever stands when a look begins has settled."""
    folder = tmp_path / "repository"
    (folder / ".cache" / "dracfg").mkdir(parents=True)
    (folder / "a").write_text("aaa")
    (folder / "b").write_text("bbb")
    (folder / "c").write_text("ccc")
    (folder / "link").symlink_to("c")
    later = (folder / "c").stat()
    moment = Moment(later.st_dev, later.st_ctime_ns + 10**9)
    monkeypatch.setattr(KeptSeals, "moment", moment)
    return folder


def notes(root: Path) -> dict[Question, str]:
    tree = AskedTree(DiskTree(root))
    for name in NAMES:
        tree.read(name, MOST)
    return tree.notes


def recall(root: Path) -> Inputs:
    inputs = Inputs.recall(root)
    assert inputs is not None
    return inputs


def seal(root: Path) -> dict[Question, str]:
    """The answers about all files, which are sealed."""
    asked, inputs = notes(root), recall(root)
    assert stand(AskedTree(DiskTree(root)), asked.items(), inputs)
    inputs.keep()
    wait_for_a_tick(root)
    return asked


def wait_for_a_tick(root: Path) -> None:
    start = (root / "b").stat().st_ctime_ns
    while True:
        (root.parent / "now").touch()
        if (root.parent / "now").stat().st_ctime_ns > start:
            return
        time.sleep(0.0005)


def test_what_is_sealed_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = seal(root)
    monkeypatch.setattr(inputs_module, "read_all", lambda *_: pytest.fail("it was read"))
    monkeypatch.setattr(DiskTree, "read", lambda *_: pytest.fail("it was read"))
    tree = AskedTree(DiskTree(root))
    assert stand(tree, asked.items(), recall(root))
    assert tree.notes == asked


def rewrite(path: Path, text: str) -> None:
    """Other bytes, and the time of writing that was."""
    status = path.stat()
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_by_twin(root: Path) -> None:
    (root / "twin").write_text("!!!")
    status = (root / "b").stat()
    os.utime(root / "twin", ns=(status.st_atime_ns, status.st_mtime_ns))
    (root / "twin").replace(root / "b")


def lead_elsewhere(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("a")


@pytest.mark.parametrize(
    "change",
    [
        lambda root: rewrite(root / "b", "!!!"),
        lambda root: rewrite(root / "b", "b" * (MOST + 1)),
        lambda root: rewrite(root / "c", "!!!"),
        replace_by_twin,
        lead_elsewhere,
        lambda root: (root / "b").unlink(),
        lambda root: ((root / "b").unlink(), (root / "b").mkdir()),
        lambda root: ((root / "b").unlink(), (root / "b").symlink_to("a")),
    ],
)
def test_whatever_changes_is_met(change: Callable[[Path], object], root: Path) -> None:
    asked = seal(root)
    change(root)
    plain, tree = AskedTree(DiskTree(root)), AskedTree(DiskTree(root))
    assert not stand(plain, asked.items())
    assert not stand(tree, asked.items(), recall(root))
    assert tree.notes == plain.notes


def test_a_seal_is_of_one_digest_and_one_limit(root: Path) -> None:
    asked, inputs = seal(root), recall(root)
    digest = asked["read", "a", str(MOST)]
    assert inputs.digest("a", MOST, "0" * 64) == digest
    assert inputs.digest("a", 2, digest) is None
    assert inputs.digest("b", MOST, digest) == asked["read", "b", str(MOST)] != digest


def test_what_was_written_when_the_look_began_is_not_sealed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = (root / "b").stat()
    monkeypatch.setattr(KeptSeals, "moment", Moment(status.st_dev, status.st_ctime_ns))
    seal(root)
    assert not KeptSeals.recall(root, "inputs").kept


@pytest.mark.parametrize("make", [None, Path.mkdir, os.mkfifo])
def test_only_regular_files_have_digests(make: Callable[[Path], object] | None, root: Path) -> None:
    if make is not None:
        make(root / "x")
    assert recall(root).digest("x", MOST, hashlib.sha256(b"").hexdigest()) is None
