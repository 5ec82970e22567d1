"""A revision's files as git keeps them: nothing is checked out, nothing is written.

Paths are those below the folder that is asked about, which may lie deep in the git repository.
Links are followed within that folder, as they would be on disk.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from dracfg.dataclass import dataclass
from dracfg.source.blobs import find_blob, is_blob
from dracfg.source.git import GitFault, ObjectReader, prefix_of, resolve_commit, run_git
from dracfg.source.patterns import follow_ways, ways_of
from dracfg.source.tree import EntryKind, Target, TooLarge, TreeEntry

_KINDS: Mapping[str, EntryKind] = {"120000": "link", "160000": "other"}
_SUBMODULE = "160000"
_MOST_LINKS = 40
"""As many as Linux follows before it takes them for a circle."""
_LONGEST_LINK = 4096


class _Blob(NamedTuple):
    mode: str
    name: str


class Submodule(GitFault):
    """Files that belong to another repository, whose objects are not here."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is a submodule, and git keeps no files of it here; put its files into this "
            "repository, or compare two folders with --against"
        )


@dataclass(frozen=True)
class RevisionTree:
    """The files below `root` as they were in a commit. Methods raise GitFault beside OSError."""

    root: Path
    commit: str
    blobs: Mapping[str, _Blob] = field(repr=False)
    objects: ObjectReader = field(repr=False, compare=False)

    @cached_property
    def _folders(self) -> Mapping[str, Mapping[str, EntryKind]]:
        """What stands in each folder; the root is the empty path."""
        folders: dict[str, dict[str, EntryKind]] = {"": {}}
        for path, blob in self.blobs.items():
            above, _, name = path.rpartition("/")
            known = folders.get(above)
            if known is None:
                known = _add_folder(folders, above)
            known[name] = _KINDS.get(blob.mode, "file")
        return folders

    def entries(self, folder: str) -> Sequence[TreeEntry]:
        place = self._resolve(folder)
        if place not in self._folders:
            raise NotADirectoryError(errno.ENOTDIR, "not a folder")
        found = self._folders[place]
        for name in found:
            self._refuse_submodule(f"{place}/{name}" if place else name)
        return [TreeEntry(name, kind) for name, kind in sorted(found.items())]

    def target(self, path: str) -> Target:
        try:
            place = self._resolve(path)
        except _OutsideError:
            return "outside"
        except OSError:
            return "nowhere"
        return "folder" if place in self._folders else "file"

    def is_file(self, path: str) -> bool:
        try:
            return self._resolve(path) in self.blobs
        except OSError:
            return False

    def read(self, path: str, most: int) -> bytes:
        place = self._resolve(path)
        if place not in self.blobs:
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        name = self.blobs[place].name
        if (found := find_blob(f"{self.root}/{place}", name, most)) is not None:
            return found
        size, data = self.objects.read(name, most)
        if size > most:
            raise TooLarge(size)
        return data

    def has(self, path: str, data: bytes) -> bool:
        """Whether a file of these bytes is found there, links followed; its own bytes are not asked for."""
        try:
            blob = self.blobs.get(self._resolve(path))
        except OSError:
            return False
        return blob is not None and is_blob(data, blob.name)

    def matching(self, folder: str, patterns: Sequence[str]) -> Iterator[str]:
        try:
            place = self._resolve(folder)
        except OSError:
            return
        pending = [("", place, ways_of(patterns))]
        while pending:
            above, place, ways = pending.pop()
            for name, kind in self._folders.get(place, {}).items():
                if not (left := follow_ways(ways, name)):
                    continue
                if kind == "file":
                    if () in left:
                        yield f"{above}{name}"
                elif kind == "folder":
                    below = f"{place}/{name}" if place else name
                    pending.append((f"{above}{name}/", below, left))

    def day(self) -> date | None:
        said = run_git(self.root, "show", "-s", "--format=%cs", self.commit)
        return date.fromisoformat(said.decode().strip())

    def _resolve(self, path: str) -> str:
        """The path at the end of every link on the way. Raises OSError where it leads nowhere."""
        if (blob := self.blobs.get(path)) is not None and blob.mode not in _KINDS:
            return path
        pending = path.split("/")[::-1]
        here: list[str] = []
        followed = 0
        while pending:
            step = pending.pop()
            if step in ("", "."):
                continue
            if step == "..":
                if not here:
                    raise _OutsideError("leads out of the folder that the revision is read in")
                here.pop()
                continue
            place = "/".join((*here, step))
            self._refuse_submodule(place)
            blob = self.blobs.get(place)
            if blob is None and place not in self._folders:
                raise FileNotFoundError(errno.ENOENT, "no such file")
            if blob is None or blob.mode != "120000":
                if blob is not None and pending:
                    raise NotADirectoryError(errno.ENOTDIR, "not a folder")
                here.append(step)
                continue
            followed += 1
            if followed > _MOST_LINKS:
                raise OSError(errno.ELOOP, "too many links")
            _, data = self.objects.read(blob.name, _LONGEST_LINK)
            target = os.fsdecode(data)
            if target.startswith("/"):
                raise _OutsideError("leads out of the folder that the revision is read in")
            pending += target.split("/")[::-1]
        return "/".join(here)

    def _refuse_submodule(self, path: str) -> None:
        blob = self.blobs.get(path)
        if blob is not None and blob.mode == _SUBMODULE:
            raise Submodule(path)


def _add_folder(folders: dict[str, dict[str, EntryKind]], path: str) -> dict[str, EntryKind]:
    """A folder that was not known, and those above it."""
    above, _, name = path.rpartition("/")
    known = folders.get(above)
    if known is None:
        known = _add_folder(folders, above)
    known[name] = "folder"
    return folders.setdefault(path, {})


class _OutsideError(OSError):
    """A link leads to where the revision's files can't be had."""


def revision_tree(root: Path, revision: str, objects: ObjectReader) -> RevisionTree:
    """The files below `root` in a revision; none where the folder was not there.

    `objects` stays with the caller, who closes it when nothing is read any more. Raises GitFault.
    """
    commit = resolve_commit(root, revision)
    prefix = prefix_of(root)
    below = ("--", prefix) if prefix else ()
    listed = run_git(root, "ls-tree", "-r", "-z", "--full-tree", commit, *below)
    blobs: dict[str, _Blob] = {}
    for line in os.fsdecode(listed).split("\0"):
        facts, tab, path = line.partition("\t")
        if tab:
            mode, _, name = facts.split(" ")
            blobs[path.removeprefix(prefix)] = _Blob(mode, name)
    return RevisionTree(root, commit, blobs, objects)
