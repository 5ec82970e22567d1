"""Where a repository's files are had from: a folder on disk, or a revision kept by git.

What is read goes through a Tree, so that both are judged alike. Knows names, links and bytes;
nothing of what stands in a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import date
from operator import attrgetter
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from dracfg.dataclass import dataclass
from dracfg.source.patterns import follow_ways, ways_of
from dracfg.source.revision import head_date

EntryKind = Literal["file", "folder", "link", "other"]
Target = Literal["file", "folder", "nowhere", "outside"]

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class TreeEntry(NamedTuple):
    """What a folder holds under a name; a link is named, whatever it leads to."""

    name: str
    kind: EntryKind


class TooLarge(Exception):
    """A file has more bytes than its reader takes; `size` is how many it has."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size:,} bytes")
        self.size = size


class Tree(Protocol):
    """A repository's files by paths relative to its root, with `/`. Methods raise OSError."""

    @property
    def root(self) -> Path:
        """The folder that the files belong to, also where they are not read from it."""

    def entries(self, folder: str) -> Sequence[TreeEntry]:
        """What stands in a folder, by name; FileNotFoundError where there is none."""

    def target(self, path: str) -> Target:
        """What a symbolic link leads to at last; `outside` are files beyond the root."""

    def is_file(self, path: str) -> bool:
        """Whether a regular file is found there, links followed."""

    def read(self, path: str, most: int) -> bytes:
        """The bytes of a file, links followed. Raises TooLarge where it has more than `most`."""

    def matching(self, folder: str, patterns: Sequence[str]) -> Iterator[str]:
        """Regular files, no links, whose path below `folder` fits one of `source.patterns`."""

    def day(self) -> date | None:
        """The day that the files are as old as, None where nothing tells it."""


@dataclass(frozen=True, slots=True)
class DiskTree:
    """A folder as it is."""

    root: Path

    def entries(self, folder: str) -> Sequence[TreeEntry]:
        with os.scandir(self.root / folder) as found:
            listed = sorted(found, key=attrgetter("name"))
        return [TreeEntry(entry.name, _kind(entry)) for entry in listed]

    def target(self, path: str) -> Target:
        try:
            target = (self.root / path).resolve(strict=True)
        except (OSError, RuntimeError):
            return "nowhere"
        if target.is_dir():
            return "folder"
        return "file" if target.is_relative_to(self.root.resolve()) else "outside"

    def is_file(self, path: str) -> bool:
        return (self.root / path).is_file()

    def read(self, path: str, most: int) -> bytes:
        # Of each file of a fleet: a Path would take as long as the rest, and so would a file object.
        descriptor = os.open(os.path.join(self.root, path), _READ)  # noqa: PTH118
        try:
            return read_all(descriptor, most)
        finally:
            os.close(descriptor)

    def matching(self, folder: str, patterns: Sequence[str]) -> Iterator[str]:
        pending = [("", f"{self.root}/{folder}", ways_of(patterns))]
        while pending:
            above, place, ways = pending.pop()
            try:
                listed = os.scandir(place)
            except OSError:  # no folder, or one that is closed to us
                continue
            with listed:
                for entry in listed:
                    if not (left := follow_ways(ways, entry.name)):
                        continue
                    kind = _kind(entry)
                    if kind == "file":
                        if () in left:
                            yield f"{above}{entry.name}"
                    elif kind in ("folder", "link"):
                        pending.append((f"{above}{entry.name}/", entry.path, left))

    def day(self) -> date | None:
        return head_date(self.root)


def read_all(descriptor: int, most: int) -> bytes:
    """The bytes of an open file. Raises TooLarge where there are more than `most`, and OSError."""
    size = os.fstat(descriptor).st_size
    data = os.read(descriptor, min(size, most) + 1)
    # Mostly that was all: a file is rarely longer or shorter than it was said to be.
    while len(data) not in (size, most + 1):
        if not (more := os.read(descriptor, most + 1 - len(data))):
            break
        data += more
    if len(data) > most:
        raise TooLarge(max(size, len(data)))
    return data


def tree_of(place: Path | Tree) -> Tree:
    """A folder's path as a tree; a tree as it is."""
    return DiskTree(place) if isinstance(place, Path) else place


def from_root(root: Path, path: Path) -> str:
    """A path that a person gave, as it is below `root`; one that is not below it as a whole."""
    above, whole = root.resolve(), path.resolve()
    return (whole.relative_to(above) if whole.is_relative_to(above) else whole).as_posix()


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir() else "other"
