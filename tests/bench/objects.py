"""Emitted objects as other tools are given them: one by one, and grouped by their shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]
Steps = tuple[str | int, ...]
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
UNSYNCED = {"nodes", "control-plane", "metadata", "monitoring"}
UNIT_FILE = "kustomization.yaml"


def objects_of(out: Path) -> dict[str, list[Object]]:
    """What is synced to each cluster, as it stands below `out`."""
    found: dict[str, list[Object]] = {}
    for path in synced_files(out):
        found.setdefault(path.relative_to(out).parts[0], []).extend(read(path))
    return found


def synced_files(out: Path) -> Iterator[Path]:
    """The files of objects that are synced to clusters, by path."""
    for path in sorted(out.glob("*/**/*.yaml")):
        cluster, layer, *_ = path.relative_to(out).parts
        if cluster != "gitops" and layer not in UNSYNCED and path.name != UNIT_FILE:
            yield path


def read(path: Path) -> list[Object]:
    with path.open(encoding="utf-8") as file:
        return [thing for thing in yaml.load_all(file, Loader=LOADER) if thing]


@dataclass(frozen=True, slots=True)
class Shape:
    """Objects that are alike but for the leaves at `differing`; a row holds those of one object."""

    example: Object
    differing: tuple[Steps, ...]
    rows: tuple[tuple[Any, ...], ...]

    def with_leaves(self, leaves: Sequence[Any]) -> Object:
        """The object that has these leaves where the shape's objects differ."""
        made: Object = _replaced(self.example, dict(zip(self.differing, leaves, strict=True)), ())
        return made


def shapes(objects: Sequence[Object]) -> list[Shape]:
    """The objects by their shape, in the order in which shapes come first."""
    groups: dict[tuple[str, str], list[dict[Steps, Any]]] = {}
    examples: dict[tuple[str, str], Object] = {}
    for thing in objects:
        key = (thing["kind"], _outline(thing))
        examples.setdefault(key, thing)
        groups.setdefault(key, []).append(dict(_leaves(thing)))
    found = []
    for key, alike in groups.items():
        differing = tuple(
            steps for steps in alike[0] if len({str(leaves[steps]) for leaves in alike}) > 1
        )
        rows = tuple(tuple(leaves[steps] for steps in differing) for leaves in alike)
        found.append(Shape(examples[key], differing, rows))
    return found


def _outline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_outline(below)}" for key, below in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_outline, value)) + "]"
    return type(value).__name__


def _leaves(value: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    if isinstance(value, dict | list):
        below = value.items() if isinstance(value, dict) else enumerate(value)
        for step, part in below:
            yield from _leaves(part, (*steps, step))
    else:
        yield steps, value


def _replaced(value: Any, leaves: Mapping[Steps, Any], steps: Steps) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(part, leaves, (*steps, key)) for key, part in value.items()}
    if isinstance(value, list):
        return [_replaced(part, leaves, (*steps, i)) for i, part in enumerate(value)]
    return leaves.get(steps, value)
