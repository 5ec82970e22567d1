"""Seals are taken up only by the dracfg that kept them, whole, on the same start of the machine."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.cache import seals as kept_seals
from dracfg.cache.seals import KeptSeals
from dracfg.emit.seals import stamp_of

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="no other system tells its starts apart"
)
SEALS = {hashlib.sha256(b"%d" % number).digest() for number in range(9)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where seals were kept."""
    recall(tmp_path).keep(SEALS)
    return tmp_path / ".cache" / "dracfg" / "tree"


def recall(root: Path) -> KeptSeals:
    seals = KeptSeals.recall(root, "tree")
    assert seals is not None
    return seals


def test_what_is_kept_is_found_again(file: Path, tmp_path: Path) -> None:
    assert recall(tmp_path).kept == SEALS
    assert not KeptSeals(file.with_name("inputs"), b"").kept


def test_nothing_is_written_where_nothing_is_new(file: Path, tmp_path: Path) -> None:
    number = file.stat().st_ino
    recall(tmp_path).keep({*sorted(SEALS)[:3]})
    assert file.stat().st_ino == number
    recall(tmp_path).keep({*sorted(SEALS)[:3], b"!" * 32})
    assert recall(tmp_path).kept == {*sorted(SEALS)[:3], b"!" * 32}


def forge(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change what a file says and give it the digest of that."""
    body = change(path.read_bytes().partition(b"\n")[2])
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes()[:-32]),
        lambda path: path.write_bytes(path.read_bytes() + b"!" * 32),
        lambda path: path.write_bytes(path.read_bytes().replace(min(SEALS), b"!" * 32)),
        lambda path: forge(path, lambda body: body[10:]),
        lambda path: forge(path, lambda body: b"0" * 64 + body[64:]),
        lambda path: (path.unlink(), path.mkdir()),
    ],
)
def test_a_file_that_is_not_whole_is_as_good_as_none(
    spoil: Callable[[Path], object], file: Path, tmp_path: Path
) -> None:
    spoil(file)
    assert not recall(tmp_path).kept


def test_part_of_a_seal_is_none(file: Path, tmp_path: Path) -> None:
    forge(file, lambda body: body[:-1])
    assert len(recall(tmp_path).kept & SEALS) == len(SEALS) - 1


@pytest.mark.usefixtures("file")
def test_another_dracfg_takes_up_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_seals, "compiler", lambda: "0" * 64)
    assert not recall(tmp_path).kept


@pytest.mark.usefixtures("file")
def test_another_start_of_the_machine_takes_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "start").write_text("another\n")
    monkeypatch.setattr(kept_seals, "_START", tmp_path / "start")
    assert not recall(tmp_path).kept
    recall(tmp_path).keep(SEALS)
    assert recall(tmp_path).kept == SEALS
    monkeypatch.undo()
    assert not recall(tmp_path).kept


def test_a_system_that_does_not_tell_its_starts_has_no_seals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_seals, "_START", tmp_path / "missing")
    assert KeptSeals.recall(tmp_path, "tree") is None


@pytest.fixture
def known_mount(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever tests run, the file system below is one of the known."""
    monkeypatch.setattr(kept_seals, "_is_known", lambda _descriptor: True)


@pytest.mark.usefixtures("known_mount")
def test_a_moment_lies_between_what_was_written_before_and_after(
    file: Path, tmp_path: Path
) -> None:
    listed = sorted(file.parent.iterdir())
    moment = recall(tmp_path).moment
    if moment is None:
        pytest.skip("the file system makes no files without a name")
    before = stamp_of(file.stat())
    file.write_bytes(b"")
    after = stamp_of(file.stat())
    assert before[5] <= moment.nanoseconds <= after[5]
    assert moment.device == before[2]
    assert sorted(file.parent.iterdir()) == listed


@pytest.mark.usefixtures("known_mount", "file")
def test_a_moment_is_that_of_the_first_question(tmp_path: Path) -> None:
    seals = recall(tmp_path)
    assert seals.moment is seals.moment


@pytest.mark.usefixtures("file")
def test_no_moment_where_stamps_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_seals, "_KNOWN", frozenset())
    assert recall(tmp_path).moment is None


@pytest.mark.parametrize(("kind", "known"), [("ext4", True), ("nfs4", False), ("fuse.x", False)])
def test_the_mount_of_a_file_tells_its_kind(
    kind: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As proc_pid_fdinfo(5) and proc_pid_mountinfo(5) have it, one mount's number beginning another's."""
    (tmp_path / "7").write_text("pos:\t0\nflags:\t02\nmnt_id:\t27\nino:\t9\n")
    mounts = (
        "270 1 0:1 / /a rw - ext4 /dev/x rw\n"
        "22 27 0:2 / /proc rw shared:5 - ext4 /dev/x rw\n"
        f"27 1 254:0 / /with\\040blank rw,relatime shared:1 master:2 - {kind} /dev/y rw\n"
        "28 27 0:3 / /b rw - nfs4 z:/ rw\n"
    )
    (tmp_path / "mounts").write_text(mounts)
    monkeypatch.setattr(kept_seals, "_OPENED", tmp_path)
    monkeypatch.setattr(kept_seals, "_MOUNTS", tmp_path / "mounts")
    assert kept_seals._is_known(7) is known


def test_a_folder_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    seals = recall(tmp_path)
    assert (seals.moment, seals.kept) == (None, frozenset())


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("a file stands here")
    recall(tmp_path).keep(SEALS)
    assert not recall(tmp_path).kept
