"""Units that are put together before it is known what stands, and what becomes of them."""

import errno
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from dracfg.emit import ahead
from dracfg.emit.ahead import FilesAhead, put_ahead, staging
from dracfg.emit.apply import apply
from dracfg.emit.errors import TreeError
from dracfg.emit.layout import LOCK_NAME, stage_name
from dracfg.emit.lock import read_lock
from dracfg.emit.ownership import HEADER
from dracfg.emit.stage import Stage
from dracfg.emit.tree import UnitFiles, plan

GUARD = UnitFiles("prod/guard", {"a.yaml": b"a", "deep/er/b.yaml": b"b"})
VISION = UnitFiles("prod/tenants/vision", {"a.yaml": b"v"})
UNITS = [GUARD, VISION]


def content(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.name != LOCK_NAME
    }


def flat(units: list[UnitFiles]) -> dict[str, bytes]:
    return {f"{unit.path}/{name}": data for unit in units for name, data in unit.files.items()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def stage(out: Path) -> Iterator[Stage]:
    with staging(out) as opened:
        assert opened is not None
        yield opened


def test_a_unit_ahead_is_the_unit(stage: Stage) -> None:
    put = put_ahead(stage, GUARD)
    assert isinstance(put.files, FilesAhead)
    assert dict(put.files) == GUARD.files
    assert put.digests == GUARD.digests
    with pytest.raises(KeyError):
        put.files["../a.yaml"]


def test_what_is_sent_has_no_content(stage: Stage) -> None:
    large = UnitFiles("prod/guard", {"a.yaml": b"a" * 100_000})
    sent = pickle.dumps(put_ahead(stage, large), pickle.HIGHEST_PROTOCOL)
    assert len(sent) < 1_000
    read = pickle.loads(sent)
    assert dict(read.files) == large.files
    assert read.digests == large.digests


def test_the_tree_is_the_one_of_units_that_are_not_ahead(out: Path, stage: Stage) -> None:
    tree = plan(out, [put_ahead(stage, unit) for unit in UNITS])
    applied = apply(tree, stage=stage)
    assert content(out) == flat(UNITS)
    assert set(applied.written) == flat(UNITS).keys()
    assert {path.name for path in out.iterdir()} == {LOCK_NAME, "prod"}
    assert not plan(out, UNITS).stale


def test_files_ahead_are_moved_and_not_written_again(out: Path, stage: Stage) -> None:
    put = [put_ahead(stage, unit) for unit in UNITS]
    nodes = {path.stat().st_ino for path in stage.folder.rglob("*.yaml")}
    apply(plan(out, put), stage=stage)
    assert {path.stat().st_ino for path in out.rglob("*.yaml")} == nodes


def test_what_came_into_a_unit_meanwhile_is_carried_along(out: Path, stage: Stage) -> None:
    tree = plan(out, [put_ahead(stage, unit) for unit in UNITS])
    own = out / GUARD.path / "deep/own.txt"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"mine")
    apply(tree, stage=stage)
    assert content(out) == {**flat(UNITS), f"{GUARD.path}/deep/own.txt": b"mine"}


def test_what_came_in_the_way_meanwhile_is_not_replaced(out: Path, stage: Stage) -> None:
    tree = plan(out, [put_ahead(stage, unit) for unit in UNITS])
    own = out / GUARD.path / "a.yaml"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"mine")
    with pytest.raises(TreeError, match="a file that dracfg did not write stands here"):
        apply(tree, stage=stage)
    assert content(out) == {f"{GUARD.path}/a.yaml": b"mine"}


def test_a_unit_that_stands_is_left_to_the_plan(out: Path, stage: Stage) -> None:
    standing = out / GUARD.path / "a.yaml"
    standing.parent.mkdir(parents=True)
    standing.write_bytes(f"{HEADER}old".encode())
    put = [put_ahead(stage, unit) for unit in UNITS]
    assert put[0] is GUARD
    apply(plan(out, put), stage=stage)
    assert content(out) == flat(UNITS)


def test_a_unit_without_files_is_left_as_it_is(stage: Stage) -> None:
    nothing = UnitFiles("prod/tenants/gone", {})
    assert put_ahead(stage, nothing) is nothing


def test_what_the_disk_refuses_is_left_to_the_plan(
    out: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(ahead, "write_file", full)
        put = [put_ahead(stage, unit) for unit in UNITS]
    assert put == UNITS
    assert all(one is unit for one, unit in zip(put, UNITS, strict=True))
    apply(plan(out, put), stage=stage)
    assert content(out) == flat(UNITS)


def test_a_portion_that_is_run_again_gives_the_unit_again(out: Path, stage: Stage) -> None:
    first, second = put_ahead(stage, GUARD), put_ahead(stage, GUARD)
    assert isinstance(first.files, FilesAhead)
    assert second is GUARD
    apply(plan(out, [second]), stage=stage)
    assert content(out) == flat([GUARD])


def test_nothing_is_left_where_nothing_was_written(out: Path) -> None:
    with staging(out) as stage:
        assert stage is not None
        put_ahead(stage, GUARD)
    assert not out.exists()


def test_nothing_is_left_after_a_fault(out: Path) -> None:
    out.mkdir()
    (out / "own.txt").write_bytes(b"mine")
    with pytest.raises(KeyboardInterrupt), staging(out) as stage:
        assert stage is not None
        put_ahead(stage, GUARD)
        raise KeyboardInterrupt
    assert [path.name for path in out.iterdir()] == ["own.txt"]


def test_there_is_no_stage_where_a_tree_stands(out: Path) -> None:
    apply(plan(out, UNITS))
    with staging(out) as stage:
        assert stage is None
    assert read_lock(out).lock is not None


def test_there_is_no_stage_where_a_dead_run_of_this_number_left_one(out: Path) -> None:
    """In containers every run may have the same number; what it left may be a folder on its way."""
    left = out / stage_name(os.getpid()) / "away/prod%2Fguard"
    left.mkdir(parents=True)
    with staging(out) as stage:
        assert stage is None
    assert left.is_dir()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_there_is_no_stage_where_nothing_may_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with staging(tmp_path / "out") as stage:
        assert stage is None


def test_there_is_no_stage_where_the_tree_is_no_folder(out: Path) -> None:
    out.write_bytes(b"")
    with staging(out) as stage:
        assert stage is None
    assert out.read_bytes() == b""
