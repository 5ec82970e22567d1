"""Whether a tree stands as its lock says: whatever differs is noticed, whatever its time stamps are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.emit import lock as locks
from dracfg.emit.apply import apply
from dracfg.emit.intact import intact
from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.listing import read
from dracfg.emit.lock import Lock, read_lock
from dracfg.emit.tree import UnitFiles, plan

A, B = "prod/guard/a.yaml", "prod/tenants/vision/retired/b.yaml"
LARGE = bytes(range(256)) * 1024
UNITS = [
    UnitFiles("prod/guard", {"a.yaml": b"a", "large.yaml": LARGE, "none.yaml": b""}),
    UnitFiles("prod/tenants/vision", {"retired/b.yaml": b"b"}),
]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    apply(plan(folder, UNITS))
    return folder


def digest_of_lock(out: Path) -> str:
    return hashlib.sha256((out / LOCK_NAME).read_bytes()).hexdigest()


def test_a_tree_stands_as_the_lock_of_a_digest_says(out: Path) -> None:
    assert intact(out, digest_of_lock(out))
    assert not intact(out, "0" * 64)


def rewrite(path: Path) -> None:
    """Other bytes, as many as before, and the time stamps that were."""
    status = path.stat()
    path.write_bytes(b"x")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def become_a_link(path: Path) -> None:
    aside = path.parents[3] / "aside"
    path.rename(aside)
    path.symlink_to(aside)


@pytest.mark.parametrize(
    "disturb",
    [
        lambda out: rewrite(out / A),
        lambda out: (out / A).unlink(),
        lambda out: (out / A).rename(out / "prod/guard/c.yaml"),
        lambda out: become_a_link(out / A),
        lambda out: ((out / B).unlink(), (out / B).mkdir()),
        lambda out: (out / "prod/own.txt").touch(),
        lambda out: (out / "prod/link").symlink_to("guard"),
        lambda out: os.mkfifo(out / "prod/pipe"),
        lambda out: (out / LOCK_NAME).unlink(),
        lambda out: (out / LOCK_NAME).write_bytes(b"{}"),
        lambda out: (out / LOCK_NAME).write_bytes(Lock({}).render()),
    ],
)
def test_whatever_differs_is_noticed(out: Path, disturb: Callable[[Path], object]) -> None:
    expected = digest_of_lock(out)
    disturb(out)
    assert not intact(out, expected)
    if (out / LOCK_NAME).exists():
        assert not intact(out, digest_of_lock(out))


def test_no_tree_is_not_intact(tmp_path: Path) -> None:
    assert not intact(tmp_path / "out", hashlib.sha256(b"").hexdigest())


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000])
def test_a_file_of_any_size_is_read_whole(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    assert read(tmp_path / "file") == content


def test_no_link_and_no_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    for name in ("link", ".", "missing"):
        with pytest.raises(OSError):
            read(tmp_path / name)


def test_a_lock_that_is_known_is_not_parsed_again(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = read_lock(out)
    with monkeypatch.context() as patch:
        patch.setattr(locks.json, "loads", lambda _text: pytest.fail("it was parsed"))
        assert read_lock(out, known) is known
        assert not plan(out, UNITS, known=known).stale
    apply(plan(out, UNITS[:1]))
    assert read_lock(out, known) == read_lock(out) != known


def test_a_known_lock_does_not_stand_for_one_that_is_gone(out: Path) -> None:
    known = read_lock(out)
    (out / LOCK_NAME).unlink()
    assert read_lock(out, known).fault == "the lock is missing"
    assert read_lock(out) == read_lock(out, read_lock(out))


def test_several_processes_notice_what_differs(tmp_path: Path) -> None:
    many = [UnitFiles(f"prod/tenants/t{n}", {"a.yaml": b"%d" % n}) for n in range(400)]
    apply(plan(tmp_path / "out", many))
    expected = digest_of_lock(tmp_path / "out")
    assert intact(tmp_path / "out", expected, jobs=3)
    rewrite(tmp_path / "out/prod/tenants/t399/a.yaml")
    assert not intact(tmp_path / "out", expected, jobs=3)
