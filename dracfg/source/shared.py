"""Which files two trees have in common: each of them is read once, and of a revision that is none at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dracfg.source.blobs import read_regular
from dracfg.source.reader import MAX_BYTES
from dracfg.source.revisiontree import RevisionTree
from dracfg.source.tree import DiskTree, TooLarge, Tree


def shared_files(one: Tree, other: Tree, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Of some paths those at which both trees have a file of the same bytes, with these. Raises GitFault."""
    first, second = (other, one) if isinstance(one, RevisionTree) else (one, other)
    for path in paths:
        data = _bytes(first, path)
        if data is not None and _has(second, path, data):
            yield path, data


def _has(tree: Tree, path: str, data: bytes) -> bool:
    return tree.has(path, data) if isinstance(tree, RevisionTree) else _bytes(tree, path) == data


def _bytes(tree: Tree, path: str) -> bytes | None:
    """The bytes of a regular file; None where there is none, or it is too large."""
    if isinstance(tree, DiskTree):
        return read_regular(f"{tree.root}/{path}", MAX_BYTES)
    try:
        return tree.read(path, MAX_BYTES) if tree.is_file(path) else None
    except (OSError, TooLarge):
        return None
