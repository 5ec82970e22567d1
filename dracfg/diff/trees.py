"""Two trees that dracfg compiled, compared by their objects; the catalogs they came from are not asked.

Files of the same bytes are not read twice. Knows the layout of `out/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span
from dracfg.diff.change import Change, change
from dracfg.diff.objects import (
    ClusterObjects,
    ObjectDifference,
    PlacedObject,
    impact_of,
    object_differences,
)
from dracfg.emit.files import KUSTOMIZATION
from dracfg.emit.layout import LOCK_NAME, is_synced, unit_of
from dracfg.emit.listing import list_folder
from dracfg.kube.objects import ObjectKey, object_key
from dracfg.source.records import read_record

_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class TreeObjects:
    """The objects of a tree with the places that they stand at, and what could not be read."""

    objects: ClusterObjects
    spans: dict[tuple[str, ObjectKey], Span]
    faults: tuple[Diagnostic, ...]


def is_tree(folder: Path) -> bool:
    """Whether a folder is a tree that dracfg compiled: its lock says so, or the guards in it."""
    return (folder / LOCK_NAME).is_file() or any(folder.glob("*/guard"))


def read_objects(out: Path) -> TreeObjects:
    """The objects of every synced unit under `out`."""
    objects: dict[str, dict[ObjectKey, PlacedObject]] = {}
    spans: dict[tuple[str, ObjectKey], Span] = {}
    faults: list[Diagnostic] = []
    for path in sorted(list_folder(out).files):
        unit = unit_of(path, ())
        is_manifest = path.endswith(_ENDINGS) and not path.endswith(f"/{KUSTOMIZATION}")
        if not (unit and is_manifest and is_synced(path)):
            continue
        record, found = read_record(out.parent, f"{out.name}/{path}")
        faults += found
        cluster = path.partition("/")[0]
        for one in record.objects:
            key = object_key(one.data)
            objects.setdefault(cluster, {})[key] = PlacedObject(unit, one.data)
            spans[cluster, key] = one.span()
    return TreeObjects(objects, spans, tuple(faults))


def tree_changes(before: TreeObjects, after: TreeObjects) -> Iterator[Change]:
    """A change for each object whose meaning differs."""
    for one in object_differences(before.objects, after.objects):
        place = (one.cluster, one.key)
        span = after.spans.get(place) or before.spans.get(place)
        yield object_change(one, span)


def object_change(one: ObjectDifference, span: Span | None) -> Change:
    """An object that came, went or differs, as a change of its own."""
    impact, flags = impact_of(one.key.kind, one.how)
    return change(
        f"object-{one.how}",
        one.name,
        "there" if one.how == "removed" else None,
        "there" if one.how == "added" else None,
        impact=impact,
        flags=flags,
        cluster=None if one.cluster == "gitops" else one.cluster,
        tenant=one.tenant,
        namespaces=[one.key.namespace] if one.key.namespace else (),
        span=span,
        gone=one.how == "removed",
        details=[str(field) for field in one.fields()],
    )
