"""The documents of a repository: read, understood, and remembered for the next run.

Files of tenants are many and alike, so they are understood side by side, and what each says is kept;
what stands in `catalog/` is read as it is, since nearly every finding points into it. Reading can begin
before models are imported, which takes as long as some thousand files.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from dracfg.aside import Shared, worth
from dracfg.dataclass import dataclass
from dracfg.source import ROOTS, Sources
from dracfg.source.plain import freeze
from dracfg.source.reader import Gathered, gather, understand_files, understand_plainly
from dracfg.source.seen import Seen, key_of
from dracfg.source.tree import Tree

_KEPT = "tenants/"
_File = tuple[str, bytes]
"""A path and bytes."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The files of a repository, and those of them that nobody has seen yet, which are being read."""

    gathered: Gathered
    unread: tuple[_File, ...]
    kept: Shared[_File, bytes | None]


def begin(tree: Tree, seen: Seen, jobs: int = 1, left_out: Container[str] = ()) -> Begun:
    """Begins to read all documents of a repository, with what the files of tenants said before.

    Files that are `left_out` are listed, and not read.
    """
    gathered = gather(tree, ROOTS, left_out)
    unread: list[_File] = []
    for path, data in gathered.files:
        if not path.startswith(_KEPT) or (path, data) in seen.files:
            continue
        kept = seen.kept.get(key_of(path, data)) if seen.kept else None
        if kept is None:
            unread.append((path, data))
        else:
            seen.add(path, data, kept)
    many = worth(len(unread), jobs)
    return Begun(gathered, tuple(unread), Shared(_kept, unread, many))


def read(
    tree: Tree,
    seen: Seen,
    jobs: int = 1,
    begun: Begun | None = None,
    left_out: Container[str] = (),
) -> Sources:
    """All documents of a repository, where reading has `begun` or not; `seen` keeps what tenants' files say.

    While others read, models are made here of what has come from them.
    """
    from dracfg.model.kept import parse_files

    begun = begun or begin(tree, seen, jobs, left_out)
    for first, batch in begun.kept.results():
        read_now = begun.unread[first : first + len(batch)]
        for (path, data), found in zip(read_now, batch, strict=True):
            if found is not None:  # those with a fault are left to be read below
                seen.add(path, data, found)
        if jobs > 1:
            known = (seen.files.get(file, (None, ()))[0] for file in read_now)
            parse_files([file for file in known if file is not None], seen)
    return understand_files(begun.gathered, seen)


def _kept(files: Sequence[_File]) -> list[bytes | None]:
    return [keep(path, data) for path, data in files]


def keep(path: str, data: bytes) -> bytes | None:
    """The data of a file, None where reading it left a finding, or finds one in whatever it may say."""
    plain = understand_plainly(path, data)
    if plain is None:
        from dracfg.model.kept import composed

        plain = composed(path, data)
    return None if plain is None else freeze(plain)
