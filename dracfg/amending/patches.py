"""What some tenants came to before and come to now → the files that differ for it.

A unit of a tenant is taken as it is now. A file that tenants share is not made anew: the document of
each object that differs is exchanged in the file that stands. Knows no catalog.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from dracfg.building import Rendered, states_of
from dracfg.dataclass import dataclass
from dracfg.emit.files import KUSTOMIZATION
from dracfg.emit.lock import Lock, digest
from dracfg.emit.ownership import HEADER
from dracfg.emit.tree import UnitFiles
from dracfg.emit.yaml import dump
from dracfg.lower.artifact import K8sObject, Unit
from dracfg.lower.rights import TENANT
from dracfg.scope import tenant_of

_BETWEEN = "---\n"
_BORDER = re.compile(r"^---\n", re.MULTILINE)
_PART = re.compile(r"(?:\.[0-9]+)?")


class NoPatch(Exception):
    """What stands is not what was expected, or more differs than can be exchanged."""


@dataclass(frozen=True, slots=True)
class Emission:
    """Units by path, and their files."""

    units: Mapping[str, Unit]
    files: Mapping[str, UnitFiles]

    @classmethod
    def of(cls, units: Iterable[Unit], rendered: Rendered) -> Emission:
        return cls(
            {unit.path: unit for unit in units}, {files.path: files for files in rendered.files}
        )


@dataclass(frozen=True, slots=True)
class Tree:
    """The tree that stands: its lock, the objects of each unit counted, and its files.

    `known` has objects of files as JSON, by the hexadecimal digest of the file.
    """

    lock: Lock
    sizes: Mapping[str, int]
    known: Mapping[str, bytes]
    read: Callable[[str], bytes]


@dataclass(slots=True)
class Patch:
    """Units that differ, with all of their files; one that goes has none.

    `sizes` counts their objects, `states` has objects as JSON of the files that the next run reads.
    """

    units: dict[str, UnitFiles] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    states: dict[str, bytes] = field(default_factory=dict)


def patch(before: Emission, now: Emission, tree: Tree, only: Collection[str]) -> Patch:
    """What has to be written so that `now` stands where `before` stood. Raises NoPatch.

    Both are what tenants of `only` come to: an object that isn't marked as one of theirs may hold
    what others need.
    """
    made = Patch()
    for path in sorted({*before.files, *now.files}):
        old, new = before.files.get(path), now.files.get(path)
        if tenant_of(path.partition("/")[2]):
            _require_standing(path, old, tree.lock)
            if old != new:
                made.units[path] = new or UnitFiles(path, {})
                made.sizes[path] = len(now.units[path].artifacts) if new else 0
                made.states |= states_of(now.units[path]) if new else {}
        elif old is None or new is None:
            raise NoPatch(f"{path} came or went")
        else:
            for name in sorted({*old.files, *new.files}):
                if old.files.get(name) == new.files.get(name):
                    continue
                if _owner(name) in only:
                    _replace(before.units[path], now.units[path], name, old, new, tree, made)
                elif name in old.files and name in new.files:
                    _exchange(before.units[path], now.units[path], name, tree, only, made)
                else:
                    raise NoPatch(f"{path}/{name} came or went")
    return made


def _require_standing(path: str, files: UnitFiles | None, lock: Lock) -> None:
    expected = {} if files is None else {n: digest(data) for n, data in files.files.items()}
    if lock.units.get(path, {}) != expected:
        raise NoPatch(f"{path} does not stand as it was")


def _owner(name: str) -> str:
    """The tenant whose own a file of a shared unit is; empty for those that tenants share."""
    match name.split("/"):
        case ["tenants", tenant, *_, _]:
            return tenant
        case _:
            return ""


def _replace(
    before: Unit,
    now: Unit,
    name: str,
    old: UnitFiles,
    new: UnitFiles,
    tree: Tree,
    made: Patch,
) -> None:
    """A tenant's own file in a unit that holds such files of all tenants."""
    path = before.path
    expected = digest(old.files[name]) if name in old.files else None
    if tree.lock.units.get(path, {}).get(name) != expected:
        raise NoPatch(f"{path}/{name} does not stand as it was")
    files = dict(made.units[path].files if path in made.units else _files(path, tree))
    files.pop(name, None)
    if name in new.files:
        files[name] = new.files[name]
    made.units[path] = UnitFiles(path, files)
    more = sum(one.file == name for one in now.artifacts)
    less = sum(one.file == name for one in before.artifacts)
    made.sizes[path] = made.sizes.get(path, tree.sizes[path]) + more - less


def _exchange(
    before: Unit, now: Unit, name: str, tree: Tree, only: Collection[str], made: Patch
) -> None:
    """The documents of one file that differ, in whichever part of the unit holds them."""
    if name == KUSTOMIZATION or name in {*before.texts, *now.texts}:
        raise NoPatch(f"{before.path}/{name} is no list of objects")
    for was, is_now in _differing(before, now, name, only):
        part, documents, position = _holder(before.path, name, was, tree, made)
        documents[position] = dump(is_now)
        files = made.units[part].files if part in made.units else _files(part, tree)
        text = f"{HEADER}{_BETWEEN.join(documents)}"
        made.units[part] = UnitFiles(part, {**files, name: text.encode()})
        made.sizes.setdefault(part, tree.sizes[part])
        _exchange_state(f"{part}/{name}", is_now, files[name], tree, made)


def _differing(
    before: Unit, now: Unit, name: str, only: Collection[str]
) -> Iterator[tuple[K8sObject, K8sObject]]:
    """Objects of one file that differ, as they were and as they are."""
    old = [one.object for one in before.artifacts if one.file == name]
    new = [one.object for one in now.artifacts if one.file == name]
    if len(old) != len(new):
        raise NoPatch(f"objects of {before.path}/{name} came or went")
    for was, is_now in zip(old, new, strict=True):
        if was == is_now:
            continue
        if _tenant(was) not in only or _tenant(is_now) not in only:
            raise NoPatch(f"an object of {before.path}/{name} differs that is no tenant's")
        if _identity(was) != _identity(is_now):
            raise NoPatch(f"objects of {before.path}/{name} came or went")
        yield was, is_now


def _tenant(thing: K8sObject) -> str | None:
    """Whose object it is, by its marks; what isn't of Kubernetes has none."""
    metadata = thing.get("metadata", {})
    marks = (metadata.get(key, {}).get(TENANT) for key in ("labels", "annotations"))
    return next((mark for mark in marks if mark is not None), None)


def _holder(
    path: str, name: str, thing: K8sObject, tree: Tree, made: Patch
) -> tuple[str, list[str], int]:
    """The part of a unit (`guard`, `guard.2` …) whose file has an object, its documents, and which it is."""
    wanted = dump(thing)
    found: list[tuple[str, list[str], int]] = []
    for part, files in tree.lock.units.items():
        if name in files and part.startswith(path) and _PART.fullmatch(part[len(path) :]):
            data = (
                made.units[part].files[name] if part in made.units else tree.read(f"{part}/{name}")
            )
            documents = _BORDER.split(data.decode("utf-8").removeprefix(HEADER))
            found += [(part, documents, i) for i, one in enumerate(documents) if one == wanted]
    if len(found) != 1:
        raise NoPatch(f"{path}/{name} does not stand as it was")
    return found[0]


def _files(part: str, tree: Tree) -> dict[str, bytes]:
    return {name: tree.read(f"{part}/{name}") for name in tree.lock.units[part]}


def _exchange_state(path: str, thing: K8sObject, standing: bytes, tree: Tree, made: Patch) -> None:
    """Keeps the objects of a file at hand, where they were."""
    known = made.states.get(path) or tree.known.get(hashlib.sha256(standing).hexdigest())
    if known is not None:
        objects = [
            thing if _identity(one) == _identity(thing) else one for one in json.loads(known)
        ]
        made.states[path] = json.dumps(objects, separators=(",", ":")).encode()


def _identity(thing: Mapping[str, Any]) -> tuple[str, str, str, str]:
    metadata = thing["metadata"]
    return thing["apiVersion"], thing["kind"], metadata.get("namespace", ""), metadata["name"]
