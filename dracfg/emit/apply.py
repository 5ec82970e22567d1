"""Carry out a plan: the tree changes unit by unit, each from wholly old to wholly new.

Everything is prepared in a stage under out/ first, so that a full disk or a missing right shows
before anything has changed. While units are exchanged, the lock names the old files and the new
ones; whatever a kill leaves behind is therefore known as ours, and the next run mends it.
"""

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dracfg.dataclass import dataclass
from dracfg.emit import syscalls
from dracfg.emit.ahead import FilesAhead
from dracfg.emit.errors import TreeError, reason_of
from dracfg.emit.layout import LOCK_NAME, prefixes
from dracfg.emit.listing import list_folder, read
from dracfg.emit.lock import Lock
from dracfg.emit.ownership import bears_mark
from dracfg.emit.stage import Stage, clear, leftovers, turn
from dracfg.emit.tree import TreePlan, UnitPlan
from dracfg.emit.writing import make_folders, write_file

# Up to here each file is brought to the disk by itself; beyond, the file system as a whole.
_FEW_FILES = 64
# A folder that comes from a lower layer of an overlay, or is a mount, can't be moved as a whole.
_IMMOVABLE = {errno.EXDEV, errno.EBUSY}


@dataclass(frozen=True, slots=True)
class AppliedTree:
    """What a run did: paths under out/ of files written and removed, and of units touched."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


def apply(plan: TreePlan, *, patience: float = 5.0, stage: Stage | None = None) -> AppliedTree:
    """Make the tree what `plan` says; nothing at all is written where nothing is stale.

    Units that were put together ahead are taken from where they lie in `stage`. Raises TreeError where the
    plan holds conflicts, where another run holds the tree for longer than `patience` seconds or has
    changed it since it was planned, and where the operating system refuses. Each unit is then wholly
    old or wholly new.
    """
    if plan.conflicts:
        conflict = plan.conflicts[0]
        raise TreeError(str(plan.out / conflict.path), conflict.reason)
    with _explained(plan.out):
        if not plan.stale and not leftovers(plan.out):
            return AppliedTree()
        plan.out.mkdir(parents=True, exist_ok=True)
    units = [unit for unit in plan.units if unit.status != "unchanged"]
    with _explained(plan.out), turn(plan.out, patience):
        _check_lock(plan)
        clear(plan.out, but=stage)
        stage = stage or Stage(plan.out)
        try:
            stage.open()
            staged = _prepare(plan, units, stage)
            _write_lock(plan, _union(plan.standing, plan.lock), stage)
            for unit in units:
                with _explained(f"{plan.out}/{unit.path}"):
                    _install(plan, unit, stage, staged.get(unit.path))
            _write_lock(plan, plan.lock, stage)
        finally:
            stage.discard()
    return AppliedTree(
        written=_paths((unit, unit.created + unit.changed) for unit in units),
        removed=_paths((unit, unit.removed) for unit in units),
        units=tuple(unit.path for unit in units),
    )


@contextmanager
def _explained(path: str | Path) -> Iterator[None]:
    """Turn a refusal of the operating system into a TreeError about `path`."""
    try:
        yield
    except OSError as error:
        raise TreeError(str(path), reason_of(error)) from error


def _paths(units: Iterator[tuple[UnitPlan, tuple[str, ...]]]) -> tuple[str, ...]:
    return tuple(f"{unit.path}/{name}" for unit, names in units for name in names)


def _check_lock(plan: TreePlan) -> None:
    try:
        content = read(plan.out / LOCK_NAME)
    except FileNotFoundError:
        content = None
    if content != plan.lock_content:
        raise TreeError(str(plan.out), "another run changed the tree meanwhile; compile again")


def _union(old: Lock, new: Lock) -> Lock:
    """Return a lock with the files of both, with the digests of the new one: itself if it has all."""
    more = {
        path: {**files, **new.units.get(path, {})}
        for path, files in old.units.items()
        if not files.keys() <= new.units.get(path, {}).keys()
    }
    return new.exchanged(more) if more else new


def _write_lock(plan: TreePlan, lock: Lock, stage: Stage) -> None:
    target = plan.out / LOCK_NAME
    content = lock.render()
    with _explained(target):
        try:
            if read(target) == content:
                return
        except FileNotFoundError:
            pass
        fresh = stage.folder / LOCK_NAME
        write_file(fresh, content, durable=True)
        fresh.replace(target)


def _prepare(plan: TreePlan, units: list[UnitPlan], stage: Stage) -> dict[str, str]:
    """Put together the folders of all units that will have one; return them by the units' paths."""
    few = sum(len(unit.created) + len(unit.changed) for unit in units) <= _FEW_FILES
    durable = few and not any(isinstance(unit.files, FilesAhead) for unit in units)
    staged: dict[str, str] = {}
    _refuse_links(plan.out, units)
    for unit in units:
        with _explained(f"{plan.out}/{unit.path}"):
            folder = _build(plan, unit, stage.new(unit.path), durable=durable)
            if folder is not None:
                staged[unit.path] = folder
    if not durable:
        descriptor = os.open(stage.folder, os.O_RDONLY)
        try:
            syscalls.sync_file_system(descriptor)
        finally:
            os.close(descriptor)
    return staged


def _refuse_links(out: Path, units: Iterable[UnitPlan]) -> None:
    """Raise TreeError where a symbolic link is in the place of a unit, or of a folder above one."""
    for folder in sorted({prefix for unit in units for prefix in prefixes(unit.path)}):
        path = f"{out}/{folder}"
        if os.path.islink(path):
            raise TreeError(path, "a symbolic link stands here")


def _build(plan: TreePlan, unit: UnitPlan, folder: str, *, durable: bool) -> str | None:
    """Write a unit's whole folder as it is to be; return it, None where it would hold nothing.

    What was put together ahead is taken as it is, if nothing stands now. Else what stands and is not
    ours is taken along, as found now and not as planned: a folder that a killed run had moved is back
    by now.
    """
    live = f"{plan.out}/{unit.path}"
    if isinstance(unit.files, FilesAhead) and not os.path.lexists(live):
        return unit.files.folder
    owned = plan.standing.units.get(unit.path, {})
    standing = list_folder(live)
    rewritten = {*unit.created, *unit.changed}
    kept: set[str] = set()
    for name in sorted(standing.files | standing.others):
        if name in unit.files and name not in unit.unchanged:
            if name in standing.others or not (
                name in owned or _is_replaceable(f"{live}/{name}", unit.files[name])
            ):
                raise TreeError(f"{live}/{name}", "a file that dracfg did not write stands here")
        elif name in unit.unchanged or name not in owned or name in standing.others:
            kept.add(name)
    fresh = [name for name in unit.files if name in rewritten or name not in kept]
    if not (fresh or kept):
        return None
    make_folders(folder, (*kept, *fresh))
    for name in sorted(kept):
        _carry(f"{live}/{name}", f"{folder}/{name}")
    for name in fresh:
        write_file(f"{folder}/{name}", unit.files[name], durable=durable)
    return folder


def _is_replaceable(path: str, content: bytes) -> bool:
    standing = read(path)
    return standing == content or bears_mark(os.path.basename(path), standing)


def _carry(source: str, target: str) -> None:
    """Give a file or link a second name in the stage; the first goes with its folder."""
    try:
        os.link(source, target, follow_symlinks=False)
    except (OSError, NotImplementedError):
        if not (os.path.islink(source) or os.path.isfile(source)):
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def _install(plan: TreePlan, unit: UnitPlan, stage: Stage, folder: str | None) -> None:
    """Let a unit's prepared folder stand in the tree, or none if nothing of it stays."""
    live = f"{plan.out}/{unit.path}"
    try:
        if folder is not None:
            stage.put(unit.path, folder)
        elif os.path.lexists(live):
            stage.drop(unit.path)
    except OSError as error:
        if error.errno not in _IMMOVABLE:
            raise
        _install_files(plan, unit, Path(folder or stage.new(unit.path)), Path(live))
    if folder is None:
        _remove_empty(Path(live), plan.out)


def _install_files(plan: TreePlan, unit: UnitPlan, folder: Path, live: Path) -> None:
    """Do the same file by file, where the folder itself can't be moved."""
    for name in plan.standing.units.get(unit.path, {}):
        path = live / name
        if name not in unit.files and path.is_file() and not path.is_symlink():
            path.unlink()
            _remove_empty(path.parent, plan.out)
    for name in unit.files:
        (live / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).replace(live / name)


def _remove_empty(folder: Path, out: Path) -> None:
    """Remove `folder` and those above it, up to out/, as far as nothing is in them."""
    while folder != out:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            return
        folder = folder.parent
