"""The folder under out/ where a run prepares its changes, and the turn that a run has at the tree.

    .dracfg-stage-<pid>/new/     whole folders of units, as they are to be
                        away/    folders that stood, while their successors move in
                        gone/    folders of removed units
                        ahead-<pid>/  the same as new/, by whoever made the units

`away` is the only one that matters after a kill: its folders go back to where they stood.
"""

import errno
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from dracfg.emit import syscalls
from dracfg.emit.errors import TreeError
from dracfg.emit.layout import STAGE_NAME, stage_name

try:
    import fcntl
except ImportError:  # Windows has no flock: two runs at once are then the user's to prevent.
    fcntl = None  # type: ignore[assignment]

_POLL_SECONDS = 0.05
# What stands there is no folder, or one that isn't empty.
_STANDS = {errno.EEXIST, errno.ENOTDIR, errno.ENOTEMPTY}
# EPERM is what older container runtimes answer for a call that they don't know.
_NO_EXCHANGE = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}


class Stage:
    """One run's folder under `out`; `open` makes it, `discard` leaves nothing of it."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / stage_name(os.getpid())

    def open(self) -> None:
        for part in ("new", "away", "gone"):
            (self.folder / part).mkdir(parents=True)

    def new(self, unit: str) -> str:
        """Return the folder in which a unit is put together."""
        return f"{self.folder}/new/{_flat(unit)}"

    def ahead(self, unit: str) -> str:
        """Return the folder in which this process may put a unit together before the plan is made.

        Another process has another one: who is killed at it leaves nothing in the way.
        """
        return f"{self.folder}/ahead-{os.getpid()}/{_flat(unit)}"

    def put(self, unit: str, new: str) -> None:
        """Set the folder `new` of `unit` in the place of the one that stands, if one does."""
        live = f"{self.out}/{unit}"
        try:
            os.rename(new, live)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(live), exist_ok=True)
            os.rename(new, live)
            return
        except OSError as error:
            if error.errno not in _STANDS:
                raise
        else:
            return
        try:
            syscalls.exchange(new, live)
        except OSError as error:
            if error.errno not in _NO_EXCHANGE:
                raise
            os.rename(live, f"{self.folder}/away/{_flat(unit)}")
            os.rename(new, live)

    def drop(self, unit: str) -> None:
        """Take the folder of `unit` out of the tree."""
        os.rename(f"{self.out}/{unit}", f"{self.folder}/gone/{_flat(unit)}")

    def discard(self) -> None:
        _discard(self.out, self.folder)


def _flat(unit: str) -> str:
    """Return the path of a unit as one name, which `unquote` turns back."""
    return unit.replace("%", "%25").replace("/", "%2F")


def leftovers(out: Path) -> list[Path]:
    """Return the stages of runs that ended without clearing them; those of living ones stay."""
    if not out.is_dir():
        return []
    found = ((entry, STAGE_NAME.fullmatch(entry.name)) for entry in out.iterdir())
    return sorted(entry for entry, name in found if name and not _is_other_run(int(name[1])))


def clear(out: Path, but: Stage | None = None) -> None:
    """Undo what dead runs left, all `but` this one's: folders on their way go back, the rest is deleted."""
    for folder in leftovers(out):
        if but is None or folder != but.folder:
            _discard(out, folder)


@contextmanager
def turn(out: Path, patience: float) -> Iterator[None]:
    """Hold `out` against other runs; TreeError if one still holds it after `patience` seconds."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(out, os.O_RDONLY)
    try:
        _wait(descriptor, out, time.monotonic() + patience)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, out: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise TreeError(str(out), f"another run of dracfg {_owner(out)}") from None
            time.sleep(_POLL_SECONDS)
        except OSError:
            return  # Some network file systems lock no folders: then nothing is there to wait for.
        else:
            return


def _owner(out: Path) -> str:
    """Which run holds the tree and since when, as far as its stage tells."""
    for entry in out.iterdir():
        name = STAGE_NAME.fullmatch(entry.name)
        if name and _is_other_run(int(name[1])):
            try:
                age = max(time.time() - entry.stat().st_mtime, 0)
            except OSError:  # it has ended meanwhile
                break
            return f"(process {name[1]}, for {age:.0f} s now) is writing here"
    return "is writing here"


def _is_other_run(pid: int) -> bool:
    if pid == os.getpid():
        return False
    if sys.platform == "win32":  # There, os.kill with 0 ends the process.
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _discard(out: Path, stage: Path) -> None:
    """Put back what `away` holds, then delete the stage; what resists is left for the next run."""
    if stage.is_symlink() or not stage.is_dir():
        return
    away = stage / "away"
    for folder in sorted(away.iterdir()) if away.is_dir() else ():
        live = out / unquote(folder.name)
        if not os.path.lexists(live):
            live.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(live)
    shutil.rmtree(stage, ignore_errors=True)
