"""Changes of pods as patches, for what is not edited: as kustomize and kubectl read them.

Sources: RFC 6902 for JSON patches; kubernetes-sigs/kustomize api/types/patch.go for `patches`; merge keys
of kubernetes/api core/v1 (containers, init containers, claims and resourceClaims go by `name`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml

from dracfg.migrate.decision import PodChange
from dracfg.migrate.demand import SECTIONS
from dracfg.migrate.manifest import Manifest
from dracfg.migrate.rewriting import POD_SPEC_PATCH, entry_object, json_patch, pod_spec_patch
from dracfg.source.fields import mapping, text
from dracfg.source.records import RecordedObject, Steps

_HEAD = ("apiVersion", "kind")


class _Block(str):
    """Text that is written as a block."""


class _Dumper(yaml.SafeDumper):
    """Writes blocks as blocks."""


def _represent_block(dumper: yaml.SafeDumper, value: _Block) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style="|")


_Dumper.add_representer(_Block, _represent_block)


def object_patches(manifest: Manifest, changes: Sequence[PodChange]) -> list[dict[str, Any]]:
    """A JSON patch with its target for each object that changes."""
    listed = []
    for thing in manifest.record.objects:
        own = [change for change in changes if change.site.thing is thing]
        if own:
            lines = "".join(f"- {json.dumps(one)}\n" for one in json_patch(own))
            listed.append({"target": _target(thing.data), "patch": _Block(lines)})
    return listed


def merge_patches(manifest: Manifest, changes: Sequence[PodChange]) -> list[dict[str, Any]]:
    """A strategic merge patch for each object that changes, where a file holds but a part of it."""
    listed = []
    for thing in manifest.record.objects:
        own = [change for change in changes if change.site.thing is thing]
        if own:
            body = _dumped(_merged(thing, own))
            listed.append({"target": _target(thing.data), "patch": _Block(body)})
    return listed


def patches_text(listed: Sequence[dict[str, Any]]) -> str:
    """The entries of `patches` of a kustomization."""
    return _dumped({"patches": list(listed)})


def _merged(thing: RecordedObject, changes: Sequence[PodChange]) -> dict[str, Any]:
    """The object with its head, and below it what changes alone."""
    merged = {key: thing.data[key] for key in _HEAD if key in thing.data}
    merged["metadata"] = {"name": text(thing.data, "metadata", "name")}
    for change in changes:
        spec = _below(merged, thing.data, change.site.steps)
        if change.site.has_pod_spec:
            spec["resourceClaims"] = [entry_object(entry) for entry in change.entries]
        else:
            spec[POD_SPEC_PATCH] = pod_spec_patch(change)
        for one in change.containers:
            container = _below(merged, thing.data, one.container.steps)
            gone = {
                section: names
                for section in SECTIONS
                if (
                    names := dict.fromkeys(
                        name
                        for name in one.removed
                        if name in mapping(one.container.data, "resources", section)
                    )
                )
            }
            container["resources"] = {**gone, "claims": [{"name": name} for name in one.claims]}
    return merged


def _below(merged: dict[str, Any], data: Any, steps: Steps) -> dict[str, Any]:
    """The map at the end of a path, made on the way; items of lists go by their name."""
    place: Any = merged
    for step, following in zip(steps, (*steps[1:], ""), strict=True):
        data = data[step]
        if isinstance(step, str):
            place = place.setdefault(step, [] if isinstance(following, int) else {})
            continue
        name = data.get("name")
        found = next((one for one in place if one.get("name") == name), None)
        if found is None:
            found = {"name": name}
            place.append(found)
        place = found
    assert isinstance(place, dict)
    return place


def _target(data: dict[str, Any]) -> dict[str, str]:
    group, _, version = str(data.get("apiVersion")).rpartition("/")
    said = {
        "group": group,
        "version": version,
        "kind": str(data["kind"]),
        "name": text(data, "metadata", "name") or "",
        "namespace": text(data, "metadata", "namespace") or "",
    }
    return {key: value for key, value in said.items() if value}


def _dumped(data: dict[str, Any]) -> str:
    dumped: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=1000, allow_unicode=True)
    return dumped
