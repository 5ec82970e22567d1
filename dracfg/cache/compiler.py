"""Which dracfg this is: its files, its Python and what is installed beside it.

Names, sizes and times of change are enough here: files of an installation are not edited while it
keeps their times. A cache that another installation wrote has another name, and is not looked at.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dracfg import __version__

_PACKAGE = Path(__file__).parents[1]


@cache
def compiler() -> str:
    """A digest that changes with the code, the facts that are shipped, and the installed packages.

    What changes while a process runs is not what runs in it.
    """
    installed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    facts = [__version__, sys.version, *sorted(_stamps(_PACKAGE))]
    facts += [_stamp(folder) for folder in sorted(installed)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def release() -> str:
    """The same for the same code and facts, wherever they are installed: `1.0.0 (3f2a…)`."""
    found = hashlib.sha256(f"{sys.version_info.major}.{sys.version_info.minor}".encode())
    for path in sorted(path for path in _PACKAGE.rglob("*") if path.suffix not in (".pyc", ".pyo")):
        if path.is_file():
            found.update(b"\0%s\0" % path.relative_to(_PACKAGE).as_posix().encode())
            found.update(path.read_bytes())
    return f"{__version__} ({found.hexdigest()[:12]})"


def _stamps(package: Path) -> Iterator[str]:
    pending = [str(package)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    pending += [] if entry.name == "__pycache__" else [entry.path]
                else:
                    state = entry.stat()
                    yield f"{entry.path} {state.st_size} {state.st_mtime_ns}"


def _stamp(folder: str) -> str:
    try:
        return f"{folder} {Path(folder).stat().st_mtime_ns}"
    except OSError:
        return folder
