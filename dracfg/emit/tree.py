"""Compare the files that are wanted under out/ with those that stand there.

Reads the disk, writes nothing; `dracfg.emit.apply` carries a plan out. May not know what the files
hold, only whose they are: ours by the lock or by their mark, or somebody else's.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.emit.errors import TreeError, reason_of
from dracfg.emit.layout import LOCK_NAME, STAGE_NAME, is_synced, prefixes, stays_inside, unit_of
from dracfg.emit.listing import Listing, list_folder, read
from dracfg.emit.lock import NOTHING_KNOWN, Lock, LockReading, digest, read_lock, rebuild
from dracfg.emit.ownership import bears_mark

Status = Literal["new", "changed", "removed", "unchanged"]


@dataclass(frozen=True)
class UnitFiles:
    """The whole content of one unit's folder.

    `path` is relative to out/ (`prod-east/tenants/vision`), the names in `files` to the unit's
    folder (`retired/claim-templates.yaml`); both use `/`. Whoever sends it sends the digests along.
    """

    path: str
    files: Mapping[str, bytes]

    @classmethod
    def known(
        cls, path: str, files: Mapping[str, bytes], digests: Mapping[str, str]
    ) -> "UnitFiles":
        """A unit of files of which the digests are known."""
        unit = cls(path, files)
        unit.__dict__["digests"] = digests
        return unit

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """The digest of each file."""
        return {name: digest(content) for name, content in self.files.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return UnitFiles.known, (self.path, self.files, self.digests)


@dataclass(frozen=True, slots=True)
class UnitPlan:
    """What becomes of one unit; the names are sorted and relative to its folder.

    `files` is the wanted content of a unit that is new or changed, and empty for all others.
    """

    path: str
    status: Status
    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stray:
    """A file under out/ that dracfg neither wrote nor wants; it stays where it is.

    `synced` tells that it lies in a folder that an engine applies to a cluster.
    """

    path: str
    synced: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file is wanted at `path`, and what stands in its way is not ours to replace."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class TreePlan:
    """All that has to be done under `out`, and all that can't be.

    `standing` is the ownership found (read from the lock, or rebuilt because of `lock_fault`),
    `lock` the one to be, `lock_content` the bytes of the lock on disk, None where none stands.
    """

    out: Path
    units: tuple[UnitPlan, ...]
    strays: tuple[Stray, ...]
    conflicts: tuple[Conflict, ...]
    standing: Lock
    lock: Lock
    lock_content: bytes | None
    lock_fault: str | None

    @property
    def stale(self) -> bool:
        """Tell whether the tree or its lock differs from what is wanted."""
        changes = any(unit.status != "unchanged" for unit in self.units)
        return changes or self.lock.render() != self.lock_content


def plan(
    out: Path,
    units: Iterable[UnitFiles],
    *,
    scope: Callable[[str], bool] = lambda _path: True,
    known: LockReading = NOTHING_KNOWN,
) -> TreePlan:
    """Compare `units` with what stands under `out`, whose lock may be `known` from an earlier look.

    Units whose path `scope` refuses are neither looked at nor wanted: they stay as they are on disk
    and in the lock. A unit without files is not wanted. Raises TreeError where out/ can't be read,
    ValueError where the units can't all be folders of their own.
    """
    wanted = _by_path(unit for unit in units if unit.files and scope(unit.path))
    reading = read_lock(out, known)
    named = wanted.keys() | (reading.lock.units.keys() if reading.lock else ())

    def enter(folder: str) -> bool:
        return (folder not in named or scope(folder)) and STAGE_NAME.fullmatch(folder) is None

    listing = _list(out, enter)
    standing = reading.lock or rebuild(out, listing.files - {LOCK_NAME}, wanted.keys())
    named = wanted.keys() | standing.units.keys()
    first_run = reading.content is None and not standing.units and LOCK_NAME not in listing.others

    on_disk, foreign = _sort_out(listing, named, wanted, standing, scope)
    ways = _Ways.around(foreign, listing.others)
    plans: list[UnitPlan] = []
    conflicts: list[Conflict] = []
    chosen = {path for path in named if scope(path)}
    for path in sorted(chosen):
        files = wanted[path].files if path in wanted else {}
        owned = standing.units.get(path, {})
        plans.append(
            _compare(out, path, files, on_disk.get(path, set()), owned.keys(), ways, conflicts)
        )
    if LOCK_NAME in listing.others:
        conflicts.append(Conflict(LOCK_NAME, "a symbolic link or special file stands here"))
    digests = {path: wanted[path].digests if path in wanted else {} for path in chosen}
    met = {conflict.path for conflict in conflicts}
    return TreePlan(
        out=out,
        units=tuple(plans),
        strays=tuple(Stray(path, is_synced(path)) for path in sorted(foreign - met)),
        conflicts=tuple(dict.fromkeys(conflicts)),
        standing=standing,
        lock=standing.exchanged(digests),
        lock_content=reading.content,
        lock_fault=None if first_run else reading.fault,
    )


@dataclass(frozen=True, slots=True)
class _Ways:
    """What can't be moved out of the way of a wanted file, each as paths under out/."""

    foreign: frozenset[str]
    links: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def around(cls, foreign: frozenset[str], links: frozenset[str]) -> "_Ways":
        blocking = foreign | links
        folders = {folder for path in blocking for folder in prefixes(path)} - blocking
        return cls(foreign, links, frozenset(folders))

    def obstacle(self, path: str) -> Conflict | None:
        """Return what keeps a file from being created at `path`."""
        if not (self.links or self.foreign):
            return None
        for prefix in prefixes(path):
            if prefix in self.links:
                return Conflict(prefix, "a symbolic link or special file stands here")
            if prefix in self.foreign:
                return Conflict(prefix, "a file that dracfg did not write stands here")
        if path in self.folders:
            return Conflict(path, "a folder with files that dracfg did not write stands here")
        return None


def _by_path(units: Iterable[UnitFiles]) -> dict[str, UnitFiles]:
    """Return the units under their paths, sure that each is a folder of its own."""
    wanted: dict[str, UnitFiles] = {}
    for unit in units:
        if unit.path in wanted:
            raise ValueError(f"the unit {unit.path} is given twice")
        wanted[unit.path] = unit
    # Most units have files of the same names.
    names = dict.fromkeys(name for unit in wanted.values() for name in unit.files)
    for path in (*wanted, *names):
        if not stays_inside(path) or STAGE_NAME.fullmatch(path.partition("/")[0]):
            raise ValueError(f"{path!r} is not a relative path of a unit or of a file in one")
    parents = {path.rpartition("/")[0] for path in wanted} - {""}
    outer = {prefix for parent in parents for prefix in prefixes(parent)}
    if taken := (outer | {LOCK_NAME}) & wanted.keys():
        raise ValueError(f"the unit {min(taken)} is the folder of other units, or the lock")
    return wanted


def _list(out: Path, enter: Callable[[str], bool]) -> Listing:
    try:
        return list_folder(out, enter)
    except OSError as error:
        raise TreeError(str(error.filename or out), reason_of(error)) from error


def _sort_out(
    listing: Listing,
    known: Iterable[str],
    wanted: Mapping[str, UnitFiles],
    standing: Lock,
    scope: Callable[[str], bool],
) -> tuple[dict[str, set[str]], frozenset[str]]:
    """Return the files of each unit in scope that are owned or wanted, and all that are neither."""
    known = frozenset(known)

    @cache
    def unit_in(folder: str) -> str | None:
        """The unit of all files in a folder; None where it is out of scope."""
        unit = unit_of(f"{folder}/file" if folder else "file", known)
        return None if unit and not scope(unit) else unit

    on_disk: dict[str, set[str]] = {}
    foreign: set[str] = set()
    for path in (listing.files | listing.others) - {LOCK_NAME}:
        unit = unit_in(path.rpartition("/")[0])
        if unit is None:
            continue
        name = path[len(unit) + 1 :]
        is_wanted = unit in wanted and name in wanted[unit].files
        is_owned = unit in standing.units and name in standing.units[unit]
        if path in listing.files and (is_wanted or is_owned):
            on_disk.setdefault(unit, set()).add(name)
        else:
            foreign.add(path)
    return on_disk, frozenset(foreign)


def _compare(
    out: Path,
    path: str,
    files: Mapping[str, bytes],
    on_disk: set[str],
    owned: Iterable[str],
    ways: _Ways,
    conflicts: list[Conflict],
) -> UnitPlan:
    """Compare one unit's files with those on disk; what can't be written goes to `conflicts`."""
    created: list[str] = []
    changed: list[str] = []
    unchanged: list[str] = []
    owned = frozenset(owned)
    for name in sorted(files):
        where = f"{path}/{name}"
        if name not in on_disk:
            if obstacle := ways.obstacle(where):
                conflicts.append(obstacle)
            else:
                created.append(name)
            continue
        try:
            content = read(f"{out}/{where}")
        except OSError as error:
            raise TreeError(str(out / where), reason_of(error)) from error
        if content == files[name]:
            unchanged.append(name)
        elif name in owned or bears_mark(name, content):
            changed.append(name)
        else:
            conflicts.append(Conflict(where, "a file that dracfg did not write stands here"))
    removed = sorted(on_disk - files.keys())
    status: Status = "unchanged"
    if not files:
        status = "removed"
    elif created and not (changed or unchanged or removed):
        status = "new"
    elif created or changed or removed:
        status = "changed"
    return UnitPlan(
        path=path,
        status=status,
        created=tuple(created),
        changed=tuple(changed),
        removed=tuple(removed),
        unchanged=tuple(unchanged),
        files=files if status in ("new", "changed") else {},
    )
