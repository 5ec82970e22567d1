"""A kustomization → the patches to add to it; neither it nor what it leads to is edited.

Follows local files and folders. What stands elsewhere is named and not read.
Source of the fields: kubernetes-sigs/kustomize api/types/kustomization.go.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.migrate.decision import PodChange
from dracfg.migrate.manifest import normal, read_manifest
from dracfg.migrate.migration import decide_all
from dracfg.migrate.names import legacy_names
from dracfg.migrate.patches import merge_patches, object_patches, patches_text
from dracfg.migrate.result import FileResult
from dracfg.migrate.tenancy import Tenancy
from dracfg.source.fields import maps, text, value
from dracfg.source.kubeyaml import PlainComposer
from dracfg.source.reader import decode

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_RESOURCES = ("resources", "bases", "components")

Read = Callable[[str], bytes | None]
"""The bytes of a file; None where there is none."""


def migrate_kustomization(path: str, data: bytes, tenancy: Tenancy, read: Read) -> FileResult:
    """The `patches` that put claims into what a kustomization builds."""
    roots = _roots(path, data)
    if not roots:
        return FileResult(path, "unchanged", data, data)
    said = text(roots[0], "namespace")
    here = tenancy if said is None else replace(tenancy, namespace=said, forced=True)
    names = sorted({name for tier in tenancy.catalog.tiers.values() for name in legacy_names(tier)})
    listed: list[dict[str, Any]] = []
    changes: list[PodChange] = []
    findings: list[Diagnostic] = list(_unread_patches(path, roots[0], read, names))
    for file, partial in _files(path, roots[0], read, frozenset({path}), findings):
        found = read(file)
        raw = decode(found, file) if found is not None else None
        if not isinstance(raw, str):
            continue
        manifest = read_manifest(file, normal(raw))
        if not manifest.is_sound:
            findings += manifest.faults
            continue
        made, told = decide_all(manifest, here)
        findings += told
        changes += made
        listed += merge_patches(manifest, made) if partial else object_patches(manifest, made)
    if any(finding.is_error for finding in findings):
        return FileResult(path, "left", data, data, tuple(findings))
    if not changes:
        return FileResult(path, "unchanged", data, data, tuple(findings))
    last = diagnose(
        "ROL059",
        Span(path),
        "the file is not edited, it is a kustomization",
        help="add the patches that are printed behind those that it has",
    )
    patch = patches_text(listed)
    return FileResult(path, "patch", data, data, (*findings, last), tuple(changes), patch)


def _roots(path: str, data: bytes) -> list[Mapping[str, Any]]:
    raw = decode(data, path)
    found = PlainComposer(path, normal(raw)).run() if isinstance(raw, str) else []
    return [root for root in found if isinstance(root, dict)]


def _files(
    path: str, root: Mapping[str, Any], read: Read, seen: frozenset[str], findings: list[Diagnostic]
) -> Iterator[tuple[str, bool]]:
    """The manifests that a kustomization leads to, and whether each is but a part of an object."""
    folder = posixpath.dirname(path)
    for name in _named(root, _RESOURCES):
        place = posixpath.normpath(posixpath.join(folder, name))
        inner = next(
            (one for base in NAMES if read(one := posixpath.join(place, base)) is not None), None
        )
        if inner is not None and inner not in seen:
            for below in _roots(inner, read(inner) or b""):
                yield from _files(inner, below, read, seen | {inner}, findings)
        elif inner is None and read(place) is not None:
            yield place, False
        elif inner is None:
            findings.append(
                diagnose(
                    "ROL059",
                    Span(path),
                    f"{name} is not read, it is no file here",
                    help="build the kustomization, migrate that, and take the patch over",
                )
            )
    parts = [text(entry, "path") for entry in maps(root, "patches")]
    parts += [text(entry, "path") for entry in maps(root, "patchesJson6902")]
    for part in (*parts, *_named(root, ("patchesStrategicMerge",))):
        place = posixpath.normpath(posixpath.join(folder, part)) if part else ""
        if place and read(place) is not None:
            yield place, True


def _unread_patches(
    path: str, root: Mapping[str, Any], read: Read, names: Sequence[str]
) -> Iterator[Diagnostic]:
    """Patches that name a device and are no part of an object: JSON patches, and those written inline."""
    folder = posixpath.dirname(path)
    for key in ("patches", "patchesJson6902"):
        for number, entry in enumerate(maps(root, key)):
            file = text(entry, "path")
            held = read(posixpath.normpath(posixpath.join(folder, file))) if file else None
            body = text(entry, "patch") or (held or b"").decode("utf-8", "replace")
            merges = file is not None and read_manifest(file, normal(body)).sites
            found = [name for name in names if name in body.replace("~1", "/")]
            if found and not merges:
                yield diagnose(
                    "ROL059",
                    Span(path),
                    f"{key}[{number}] is not read, and sets {', '.join(found)}",
                    help="take the amount out of it, and name the claim there by hand",
                )


def _named(root: Mapping[str, Any], keys: Sequence[str]) -> Iterator[str]:
    for key in keys:
        listed = value(root, key)
        yield from (one for one in listed or () if isinstance(one, str))
