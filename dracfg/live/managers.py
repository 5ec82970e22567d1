"""Who manages a field of a live object, from `metadata.managedFields`.

The form of a set of fields is that of FieldsV1: `f:<name>`, `k:<keys of a list's item>`,
`v:<value>`, `i:<index>` (sigs.k8s.io/structured-merge-diff@v6:fieldpath/serialize-pe.go).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.live.fieldpaths import Steps
from dracfg.packaged import read_data


@dataclass(frozen=True, slots=True)
class Manager:
    """Who wrote a field, and how: `kubectl-edit` by Update, an engine by Apply."""

    name: str
    operation: str


def managers_of(live: Mapping[str, Any], steps: Steps) -> tuple[Manager, ...]:
    """Those who manage a field, or a map or list as a whole that it is in; the latest writer first."""
    found: dict[Manager, tuple[int, str]] = {}
    for entry in _entries(live):
        depth = _depth(entry.get("fieldsV1"), live, steps)
        if depth:
            manager = Manager(str(entry.get("manager", "")), str(entry.get("operation", "")))
            place = (depth, str(entry.get("time", "")))
            found[manager] = max(place, found.get(manager, (0, "")))
    if not found:
        return ()
    deepest = max(depth for depth, _ in found.values())
    listed = [(time, manager) for manager, (depth, time) in found.items() if depth == deepest]
    listed.sort(key=lambda pair: (pair[0], pair[1].name), reverse=True)
    return tuple(manager for _, manager in listed)


@cache
def engine_managers(engine: str) -> frozenset[str]:
    """The names under which an engine applies; see data/managers.yaml."""
    return frozenset(read_data("dracfg.live", "data/managers.yaml")["engines"][engine])


def _entries(live: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = live["metadata"].get("managedFields")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and not entry.get("subresource"):
            yield entry


def _depth(fields: Any, live: Any, steps: Steps) -> int:
    """How many steps of the path a set of fields goes along, all of them where it holds the field.

    A set that ends on the way with nothing below holds what is below as a whole; one that goes
    elsewhere does not hold it.
    """
    value = live
    for passed, step in enumerate(steps):
        if not isinstance(fields, dict):
            return 0
        if passed and not fields.keys() - {"."}:
            return passed
        below = _below(fields, value, step)
        if below is None:
            return 0
        fields = below
        value = _child(value, step)
    return len(steps)


def _below(fields: dict[str, Any], value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return fields.get(f"f:{step}")
    item = _child(value, step)
    for key, below in fields.items():
        kind, _, text = key.partition(":")
        if kind == "i" and text == str(step):
            return below
        if kind not in ("k", "v"):
            continue
        try:
            wanted = json.loads(text)
        except ValueError:
            continue
        if kind == "v" and wanted == item:
            return below
        is_item = isinstance(item, dict) and isinstance(wanted, dict)
        if kind == "k" and is_item and wanted.items() <= item.items():
            return below
    return None


def _child(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None
