"""Units that are put together as they are made, before it is known what stands.

Where nothing stands every file has to be written anyhow. Then whoever makes a unit writes it, another
process too, into the stage of the run: no content has to be sent, and none is kept in memory. What turns
out not to be wanted goes with the stage.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from dracfg.emit.layout import LOCK_NAME
from dracfg.emit.listing import read
from dracfg.emit.stage import Stage
from dracfg.emit.tree import UnitFiles
from dracfg.emit.writing import make_folders, write_file

MANY_UNITS = 64
"""More units than these are worth it: a tree with files ahead is brought to the disk as a whole, and that
takes as long as other programs have written much.
"""


class FilesAhead(Mapping[str, bytes]):
    """The files of a unit that stand in `folder`, whole; one is read when it is asked for."""

    def __init__(self, folder: str, names: tuple[str, ...]) -> None:
        self.folder = folder
        self._names = names

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        return read(f"{self.folder}/{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@contextmanager
def staging(out: Path) -> Iterator[Stage | None]:
    """A stage that files can be put into ahead; None where something stands under `out`, or none can be made.

    In the end nothing is left of it, nor of `out` if nothing else is there.
    """
    stage = Stage(out)
    was_there = out.exists()
    if os.path.lexists(out / LOCK_NAME) or os.path.lexists(stage.folder):
        yield None
        return
    try:
        stage.folder.mkdir(parents=True)
    except OSError:  # whoever writes the tree meets it again, and tells it
        yield None
        return
    try:
        yield stage
    finally:
        stage.discard()
        if not was_there:
            with suppress(OSError):
                out.rmdir()


def put_ahead(stage: Stage, unit: UnitFiles) -> UnitFiles:
    """The unit, its files written in a folder of this process's own; as it is where that can't be done."""
    if not unit.files or os.path.lexists(f"{stage.out}/{unit.path}"):
        return unit
    folder = stage.ahead(unit.path)
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        make_folders(folder, unit.files)
        for name, content in unit.files.items():
            write_file(f"{folder}/{name}", content, durable=False)
    except OSError:  # whoever writes the tree meets it again, and tells it
        return unit
    return UnitFiles.known(unit.path, FilesAhead(folder, tuple(unit.files)), unit.digests)
