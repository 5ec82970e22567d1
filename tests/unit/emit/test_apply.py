"""The application of a plan: what is written, what is left alone, what a failure leaves behind."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dracfg.emit import syscalls
from dracfg.emit.apply import AppliedTree, apply
from dracfg.emit.errors import TreeError
from dracfg.emit.layout import LOCK_NAME, stage_name
from dracfg.emit.lock import read_lock
from dracfg.emit.tree import UnitFiles, plan

GUARD, PLATFORM, VISION = "prod/guard", "prod/platform", "prod/tenants/vision"
OLD = [
    UnitFiles(GUARD, {"a.yaml": b"old a", "b.yaml": b"old b"}),
    UnitFiles(PLATFORM, {"same.yaml": b"same"}),
    UnitFiles(VISION, {"a.yaml": b"old", "retired/r.yaml": b"old"}),
    UnitFiles("prod/tenants/gone", {"a.yaml": b"old", "deep/er/x.yaml": b"old"}),
    UnitFiles("west/guard", {"a.yaml": b"old"}),
]
NEW = [
    UnitFiles(GUARD, {"a.yaml": b"new a", "b.yaml": b"old b", "sub/c.yaml": b"new c"}),
    UnitFiles(PLATFORM, {"same.yaml": b"same"}),
    UnitFiles(VISION, {"a.yaml": b"new"}),
    UnitFiles("north/guard", {"a.yaml": b"new"}),
]
FOREIGN = {f"{GUARD}/own.txt": b"mine", f"{VISION}/mine/x": b"mine", "west/guard/own": b"mine"}


def no_exchange(_left: Path, _right: Path) -> None:
    raise OSError(errno.ENOSYS, "no such call")


def immovable(_left: Path, _right: Path) -> None:
    raise OSError(errno.EXDEV, "a lower layer")


def content(out: Path) -> dict[str, bytes]:
    """Return all files under out/ but the lock and stages."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.name != LOCK_NAME and ".dracfg-stage" not in str(path)
    }


def stamps(out: Path) -> dict[str, tuple[int, int]]:
    found = {str(path): path.stat() for path in [out, *out.rglob("*")]}
    return {path: (status.st_ino, status.st_mtime_ns) for path, status in found.items()}


def flat(units: list[UnitFiles]) -> dict[str, bytes]:
    return {f"{unit.path}/{name}": data for unit in units for name, data in unit.files.items()}


def locked(out: Path) -> set[str]:
    lock = read_lock(out).lock
    return {f"{path}/{name}" for path, files in lock.units.items() for name in files}


def add_foreign(out: Path) -> None:
    for path, data in FOREIGN.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(data)


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    apply(plan(folder, OLD))
    return folder


def test_a_first_write_makes_the_whole_tree(tmp_path):
    out = tmp_path / "deep/out"
    applied = apply(plan(out, OLD))
    assert content(out) == flat(OLD)
    assert locked(out) == flat(OLD).keys()
    assert set(applied.written) == flat(OLD).keys()
    assert applied.units == tuple(sorted(unit.path for unit in OLD))
    assert sorted(path.name for path in out.iterdir()) == [LOCK_NAME, "prod", "west"]


def test_nothing_is_touched_where_nothing_is_stale(out):
    before = stamps(out)
    assert apply(plan(out, OLD)) == AppliedTree()
    assert stamps(out) == before


@pytest.mark.parametrize("exchange", [syscalls.exchange, no_exchange])
def test_units_change_as_a_whole_and_foreign_files_stay(out, monkeypatch, exchange):
    monkeypatch.setattr(syscalls, "exchange", exchange)
    add_foreign(out)
    applied = apply(plan(out, NEW))
    assert content(out) == flat(NEW) | FOREIGN
    assert locked(out) == flat(NEW).keys()
    assert set(applied.written) == {
        f"{GUARD}/a.yaml",
        f"{GUARD}/sub/c.yaml",
        f"{VISION}/a.yaml",
        "north/guard/a.yaml",
    }
    assert set(applied.removed) == {
        f"{VISION}/retired/r.yaml",
        "prod/tenants/gone/a.yaml",
        "prod/tenants/gone/deep/er/x.yaml",
        "west/guard/a.yaml",
    }
    assert not plan(out, NEW).stale


def test_a_folder_that_cannot_be_moved_is_changed_file_by_file(out, monkeypatch):
    add_foreign(out)
    rename = os.rename

    def rename_new_only(source, target):
        if stage_name(os.getpid()) not in str(source):
            raise OSError(errno.EXDEV, "a lower layer")
        rename(source, target)

    monkeypatch.setattr(syscalls, "exchange", immovable)
    monkeypatch.setattr(os, "rename", rename_new_only)
    apply(plan(out, NEW))
    assert content(out) == flat(NEW) | FOREIGN
    assert locked(out) == flat(NEW).keys()
    assert not (out / "prod/tenants/gone").exists()
    assert not (out / VISION / "retired").exists()


def test_a_unit_that_does_not_change_is_not_touched(out):
    before = stamps(out / PLATFORM)
    apply(plan(out, NEW))
    assert stamps(out / PLATFORM) == before


def test_an_unchanged_file_of_a_changed_unit_stays_the_same_file(out):
    before = (out / GUARD / "b.yaml").stat()
    apply(plan(out, NEW))
    after = (out / GUARD / "b.yaml").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_is_taken_along_where_no_hard_link_can_be_made(out, monkeypatch):
    def refuse(*_names, **_options):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    add_foreign(out)
    (out / GUARD / "link").symlink_to("own.txt")
    apply(plan(out, NEW))
    assert content(out) == flat(NEW) | FOREIGN | {f"{GUARD}/link": b"mine"}
    assert (out / GUARD / "link").readlink() == Path("own.txt")


def test_empty_folders_go_with_their_last_file(out):
    apply(plan(out, []))
    assert [path.name for path in out.iterdir()] == [LOCK_NAME]


def test_a_unit_whose_files_somebody_deleted_leaves_the_lock(out):
    (out / "west/guard/a.yaml").unlink()
    (out / "west/guard").rmdir()
    apply(plan(out, [unit for unit in OLD if unit.path != "west/guard"]))
    assert "west/guard/a.yaml" not in locked(out)


def test_many_files_are_written_as_well(tmp_path):
    units = [UnitFiles(f"c/tenants/t{number}", {"a.yaml": b"x"}) for number in range(100)]
    apply(plan(tmp_path, units))
    assert content(tmp_path) == flat(units)


def test_files_have_mode_0644_within_the_umask(tmp_path):
    mask = os.umask(0o027)
    try:
        apply(plan(tmp_path, OLD))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / GUARD / "a.yaml").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / GUARD).stat().st_mode) == 0o750


def test_a_tree_that_changed_since_it_was_planned_is_left_alone(out):
    first, second = plan(out, NEW), plan(out, [])
    apply(first)
    with pytest.raises(TreeError, match="another run changed the tree"):
        apply(second)
    assert content(out) == flat(NEW)


def test_a_foreign_file_that_came_after_the_plan_is_not_overwritten(out):
    planned = plan(out, NEW)
    (out / GUARD / "sub").mkdir()
    (out / GUARD / "sub/c.yaml").write_bytes(b"mine")
    with pytest.raises(TreeError, match="a file that dracfg did not write"):
        apply(planned)
    assert content(out) == flat(OLD) | {f"{GUARD}/sub/c.yaml": b"mine"}


def test_a_second_run_waits_and_then_says_what_for(out):
    descriptor = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(TreeError, match="another run of dracfg is writing here"):
            apply(plan(out, NEW), patience=0)
    finally:
        os.close(descriptor)
    assert content(out) == flat(OLD)
    apply(plan(out, NEW), patience=0)
    assert content(out) == flat(NEW)


def test_a_run_that_waits_in_vain_names_the_one_that_holds_the_tree(out):
    holder = out / stage_name(os.getppid())
    (holder / "new").mkdir(parents=True)
    os.utime(holder, (time.time() - 90, time.time() - 90))
    descriptor = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        told = rf"another run of dracfg \(process {os.getppid()}, for (90|91|92) s now\)"
        with pytest.raises(TreeError, match=told):
            apply(plan(out, NEW), patience=0)
    finally:
        os.close(descriptor)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes to read-only folders")
def test_a_read_only_folder_is_told(out):
    out.chmod(0o555)
    try:
        with pytest.raises(TreeError, match="permission denied"):
            apply(plan(out, NEW))
    finally:
        out.chmod(0o755)
    assert content(out) == flat(OLD)


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        ("open", errno.EROFS, "the file system is read-only"),
        ("mkdir", errno.EACCES, "permission denied"),
        ("fsync", errno.ENOSPC, "no space is left on the disk"),
        ("rename", errno.EIO, "the disk reports"),
        ("replace", errno.EDQUOT, "the disk quota is used up"),
    ],
)
def test_a_refusal_of_the_system_is_told_and_leaves_each_unit_whole(
    out, monkeypatch, call, code, words
):
    planned = plan(out, NEW)
    original = getattr(os, call)

    def refuse(path, *arguments, **options):
        if call == "open" and not arguments[0] & os.O_CREAT:
            return original(path, *arguments, **options)
        raise OSError(code, os.strerror(code), path)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(TreeError, match=words) as caught:
            apply(planned)
    assert caught.value.path.startswith(str(out))
    assert stage_name(os.getpid()) not in caught.value.path
    assert_whole(out, {})
    assert not list(out.glob(".dracfg-stage-*"))
    apply(plan(out, NEW))
    assert content(out) == flat(NEW)


def assert_whole(out: Path, foreign: dict[str, bytes], *, may_be_away: bool = False) -> None:
    """Each unit is as before or as after, and what is not ours is with it."""
    found = content(out)
    old, new = flat(OLD) | foreign, flat(NEW) | foreign
    for unit in {unit.path for unit in OLD + NEW}:
        sides = [
            {path: data for path, data in side.items() if path.startswith(f"{unit}/")}
            for side in (found, old, new)
        ]
        absent = may_be_away and not (out / unit).exists()
        assert sides[0] in sides[1:] or absent, f"{unit} is neither old nor new"


CALLS = ["open", "mkdir", "rename", "replace", "link", "unlink", "rmdir", "fsync"]


def apply_and_die(out: Path, step: int, *, can_exchange: bool) -> bool:
    """Apply NEW in a process of its own that is gone at its `step`-th call; tell whether it was."""
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9), "the run failed by itself"
        return code == 9
    left = step

    def counted(function):
        def call(*arguments, **options):
            nonlocal left
            left -= 1
            if left < 0:
                os._exit(9)
            return function(*arguments, **options)

        return call

    try:
        for name in CALLS:
            setattr(os, name, counted(getattr(os, name)))
        syscalls.exchange = counted(syscalls.exchange if can_exchange else no_exchange)
        apply(plan(out, NEW))
    except BaseException:
        os._exit(1)
    os._exit(0)


@pytest.mark.parametrize("wanted", [NEW, OLD], ids=["again", "reverted"])
@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_kill_at_any_moment_leaves_each_unit_whole_and_the_next_run_mends(
    tmp_path, can_exchange, wanted
):
    step, died = 0, True
    while died:
        out = tmp_path / str(step)
        apply(plan(out, OLD))
        add_foreign(out)
        died = apply_and_die(out, step, can_exchange=can_exchange)
        assert_whole(out, FOREIGN, may_be_away=not can_exchange)
        planned = plan(out, wanted)
        assert planned.lock_fault is None
        assert planned.conflicts == ()
        apply(planned)
        assert content(out) == flat(wanted) | FOREIGN
        assert locked(out) == flat(wanted).keys()
        assert not list(out.glob(".dracfg-stage-*"))
        step += 1
    assert step > 50


def test_a_stage_of_a_dead_run_is_cleared_and_all_else_stays(out):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, living = out / stage_name(ended.pid), out / stage_name(os.getppid())
    for folder in (dead, living, out / ".dracfg-stage-x", out / ".dracfg-stage-7b"):
        (folder / "new").mkdir(parents=True)
    planned = plan(out, OLD)
    assert not planned.stale
    apply(planned)
    assert not dead.exists()
    assert living.exists()
    assert (out / ".dracfg-stage-x").exists()
    assert (out / ".dracfg-stage-7b").exists()


def test_a_link_that_is_named_like_a_stage_is_not_followed(out, tmp_path):
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside/file").touch()
    (out / stage_name(2**22 + 1)).symlink_to(tmp_path / "aside")
    apply(plan(out, NEW))
    assert (tmp_path / "aside/file").exists()


def test_files_are_whole_where_the_system_writes_less_than_it_is_given(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    units = [
        UnitFiles("c/guard", {"a.yaml": bytes(range(100)), "b.yaml": b"", "c.yaml": b"1234567"})
    ]
    apply(plan(tmp_path / "out", units))
    assert content(tmp_path / "out") == flat(units)


def test_files_of_units_may_lie_deep_and_units_may_have_any_name(tmp_path):
    units = [
        UnitFiles("c%2Fd/guard", {"a/b/c/d.yaml": b"1", "a/x.yaml": b"2", "a/b/y.yaml": b"3"}),
        UnitFiles("c/d/guard", {"ü %/e.yaml": b"4"}),
    ]
    apply(plan(tmp_path, units))
    assert content(tmp_path) == flat(units)
    newer = [UnitFiles(unit.path, {**unit.files, "new.yaml": b"5"}) for unit in units]
    apply(plan(tmp_path, newer))
    assert content(tmp_path) == flat(newer)


def test_a_link_that_came_in_a_folders_place_after_the_plan_is_not_followed(out, tmp_path):
    planned = plan(out, NEW)
    (out / "prod/tenants").rename(tmp_path / "aside")
    (out / "prod/tenants").symlink_to(tmp_path / "aside")
    before = stamps(tmp_path / "aside")
    with pytest.raises(TreeError, match=r"prod/tenants: a symbolic link stands here"):
        apply(planned)
    assert stamps(tmp_path / "aside") == before
