"""The documents of a repository: read, understood, and remembered for the next run.

Files of tenants are many and alike, so they are understood side by side, and what each says is kept;
what stands in `catalog/` is read as it is, since nearly every finding points into it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from dracfg.aside import share_out
from dracfg.model.kept import keep
from dracfg.source import ROOTS, Sources
from dracfg.source.reader import Gathered, gather, understand_files
from dracfg.source.seen import Seen, key_of
from dracfg.source.tree import Tree

_KEPT = "tenants/"
_SHARED_OUT = 64
"""So many files are worth a process of their own."""


def read(tree: Tree, seen: Seen, jobs: int = 1, left_out: Container[str] = ()) -> Sources:
    """All documents of a repository; `seen` keeps what the files of tenants say.

    Files that are `left_out` are listed, and not read.
    """
    gathered = gather(tree, ROOTS, left_out)
    _keep_all(gathered, seen, jobs)
    return understand_files(gathered, seen)


def _keep_all(gathered: Gathered, seen: Seen, jobs: int) -> None:
    """What files say that nobody has seen yet; those with a fault are left to be read."""
    unread: list[tuple[str, bytes]] = []
    for path, data in gathered.files:
        if not path.startswith(_KEPT) or (path, data) in seen.files:
            continue
        kept = seen.kept.get(key_of(path, data)) if seen.kept else None
        if kept is None:
            unread.append((path, data))
        else:
            seen.add(path, data, kept)
    many = min(jobs, len(unread) // _SHARED_OUT) or 1
    for (path, data), found in zip(unread, share_out(_kept, unread, many), strict=True):
        if found is not None:
            seen.add(path, data, found)


def _kept(files: Sequence[tuple[str, bytes]]) -> list[bytes | None]:
    return [keep(path, data) for path, data in files]
