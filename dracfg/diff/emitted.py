"""What stands under `out/` on both sides, where it differs though the catalogs don't say why.

Both sides are compiled by one release of dracfg, so the work of another release, and edits by hand,
are only seen in the trees that were committed. The locks tell which files differ; no other is read.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping

from dracfg.diff.objects import ObjectDifference, PlacedObject, object_differences
from dracfg.emit.files import KUSTOMIZATION
from dracfg.emit.layout import LOCK_NAME, is_synced
from dracfg.kube.objects import ObjectKey, object_key
from dracfg.pipeline import OUT
from dracfg.source.records import read_record
from dracfg.source.tree import TooLarge, Tree

_MOST_BYTES = 256 * 1024 * 1024
_ENDINGS = (".yaml", ".yml")

Files = Mapping[str, tuple[str, str]]
"""Unit and digest of each emitted file, by its path below `out/`."""
Explained = Collection[tuple[str, ObjectKey]]
"""Cluster and identity of objects that differ because the catalogs do."""


def emitted_differences(
    before: Tree, after: Tree, explained: Explained
) -> Iterator[ObjectDifference]:
    """Objects that differ between the trees and not between what the catalogs lower to.

    Nothing where a side has no lock: then nothing is known of what was applied.
    """
    locks = _lock(before), _lock(after)
    if locks[0] == locks[1]:
        return
    old, new = map(_files, locks)
    if old is None or new is None:
        return
    changed = sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
    first, second = _objects(before, old, changed), _objects(after, new, changed)
    for one in object_differences(first, second):
        if (one.cluster, one.key) not in explained:
            yield one


def _lock(tree: Tree) -> bytes:
    """The lock of a tree; nothing where it has none that can be read."""
    try:
        return tree.read(f"{OUT}/{LOCK_NAME}", _MOST_BYTES)
    except (OSError, TooLarge):
        return b""


def _files(lock: bytes) -> Files | None:
    """The files that a lock names; None where it is none."""
    try:
        return {
            f"{unit}/{name}": (unit, digest)
            for unit, facts in json.loads(lock)["units"].items()
            for name, digest in facts["files"].items()
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _objects(
    tree: Tree, files: Files, wanted: Collection[str]
) -> dict[str, dict[ObjectKey, PlacedObject]]:
    """The objects of the synced files among those that are wanted, as far as they can be read."""
    found: dict[str, dict[ObjectKey, PlacedObject]] = {}
    for path in wanted:
        is_manifest = path.endswith(_ENDINGS) and not path.endswith(f"/{KUSTOMIZATION}")
        if path not in files or not is_manifest or not is_synced(path):
            continue
        record, _ = read_record(tree, f"{OUT}/{path}")
        for one in record.objects:
            place = found.setdefault(path.partition("/")[0], {})
            place[object_key(one.data)] = PlacedObject(files[path][0], one.data)
    return found
