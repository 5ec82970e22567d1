"""What a compile made, in the numbers for which engines, API servers and forges have limits.

Counts by the text: an emitted file holds one object a document, with its kind at the start of a line.
Reading a large fleet as YAML would take longer than to compile it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.bench.objects import LOADER, UNIT_FILE, UNSYNCED

LOCK = "dracfg.lock.json"
POLICIES = (
    "MutatingAdmissionPolicy",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingWebhookConfiguration",
)
"""Kinds of which the API server asks each for every request that it matches."""

_KIND = re.compile(r"^kind: \"?(\w+)\"?$", re.MULTILINE)
_END = re.compile(r"^---$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Unit:
    """A folder that an engine applies as a whole; `fan_out` says that it holds the engine's objects."""

    path: str
    kinds: Mapping[str, int]
    bytes: int
    fan_out: bool

    @property
    def objects(self) -> int:
        return sum(self.kinds.values())

    @property
    def owner(self) -> str:
        """The cluster that the unit is for."""
        parts = self.path.split("/")
        return parts[2].partition(".")[0] if self.fan_out else parts[0]


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree of output. Bytes of objects are those of compact JSON, the form that etcd gets."""

    files: int
    bytes: int
    lock_bytes: int
    widest: tuple[str, int]
    units: tuple[Unit, ...]
    largest_object: tuple[str, int]
    largest_fan_out_object: tuple[str, int]

    @property
    def objects(self) -> int:
        """Those that are synced to clusters."""
        return sum(unit.objects for unit in self.units if not unit.fan_out)

    def largest_unit(self, *, fan_out: bool) -> Unit | None:
        """Of the units of clusters, or of those that hold the engines' objects."""
        units = [unit for unit in self.units if unit.fan_out == fan_out]
        return max(units, key=lambda unit: unit.objects, default=None)

    def of_clusters(self, *kinds: str) -> dict[str, int]:
        """How many objects of these kinds, of any where none are named, are synced to each cluster."""
        return self._counted(kinds, fan_out=False)

    def fan_out(self, kind: str) -> dict[str, int]:
        """How many of an engine's objects each cluster has; without those that have none."""
        return self._counted((kind,), fan_out=True)

    def _counted(self, kinds: tuple[str, ...], *, fan_out: bool) -> dict[str, int]:
        found: Counter[str] = Counter()
        for unit in self.units:
            if unit.fan_out == fan_out:
                number = sum(unit.kinds.get(kind, 0) for kind in kinds) if kinds else unit.objects
                if number or not fan_out:
                    found[unit.owner] += number
        return dict(found)


def tree_of(out: Path) -> Tree:
    """Count what lies below `out`."""
    files = size = 0
    widest = ("", 0)
    for folder, folders, names in os.walk(out):
        width = len(folders) + len(names)
        if width > widest[1]:
            widest = (_name(Path(folder), out), width)
        files += len(names)
        size += sum(Path(folder, name).stat().st_size for name in names)
    lock = out / LOCK
    units = []
    largest, largest_fan_out = ("", ""), ("", "")
    for marker in sorted(out.rglob(UNIT_FILE)):
        path = _name(marker.parent, out)
        if path.split("/")[1] in UNSYNCED:
            continue
        fan_out = path.startswith("gitops/")
        kinds: Counter[str] = Counter()
        held = 0
        for kind, text in _objects(marker.parent):
            kinds[kind] += 1
            held += len(text)
            if fan_out:
                largest_fan_out = max(largest_fan_out, (path, text), key=_length)
            else:
                largest = max(largest, (path, text), key=_length)
        units.append(Unit(path, dict(kinds), held, fan_out))
    return Tree(
        files,
        size,
        lock.stat().st_size if lock.is_file() else 0,
        widest,
        tuple(units),
        _as_stored(*largest),
        _as_stored(*largest_fan_out),
    )


def _objects(unit: Path) -> Iterator[tuple[str, str]]:
    """(kind, text) of each object of a unit."""
    for path in sorted(unit.rglob("*.yaml")):
        if path.name != UNIT_FILE:
            for text in _END.split(path.read_text(encoding="utf-8")):
                if kind := _KIND.search(text):
                    yield kind[1], text


def _length(held: tuple[str, str]) -> int:
    return len(held[1])


def _as_stored(path: str, text: str) -> tuple[str, int]:
    """(path and kind, bytes as compact JSON) of an object."""
    if not text:
        return "", 0
    thing = yaml.load(text, LOADER)
    stored = json.dumps(thing, separators=(",", ":"), ensure_ascii=False).encode()
    return f"{path}: {thing['kind']} {thing['metadata']['name']}", len(stored)


def _name(path: Path, out: Path) -> str:
    return path.relative_to(out).as_posix()
