"""Changes of pods on plain objects: what an object is afterwards, and the JSON patch that leads there.

This is what an edit of the text is held to, and what is printed where the text is not edited.
Source of the patch: RFC 6902; kustomize reads it as `patches[].patch`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.kube.pointers import escape
from dracfg.migrate.decision import ContainerChange, Entry, PodChange
from dracfg.migrate.demand import SECTIONS
from dracfg.source.fields import mapping, text
from dracfg.source.kubeyaml import PlainComposer
from dracfg.source.records import Steps

POD_SPEC_PATCH = "podSpecPatch"


def entry_object(entry: Entry) -> dict[str, str]:
    return {"name": entry.name, "resourceClaimTemplateName": entry.template}


def own_patch(template: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the `podSpecPatch` of an Argo template says; None where it can't be known before it runs."""
    said = text(template, POD_SPEC_PATCH)
    if said is None:
        return {}
    roots = PlainComposer(POD_SPEC_PATCH, said).run() if "{{" not in said else []
    return roots[0] if len(roots) == 1 and isinstance(roots[0], dict) else None


def pod_spec_patch(change: PodChange) -> str:
    """The claims of an Argo template, as the text that its `podSpecPatch` takes."""
    said = own_patch(change.site.spec) or {}
    listed = [entry_object(entry) for entry in change.entries]
    claims = [*listed, *said.get("resourceClaims", [])]
    return json.dumps({**said, "resourceClaims": claims}, separators=(", ", ": "))


def rewritten(data: dict[str, Any], changes: Iterable[PodChange]) -> dict[str, Any]:
    """The object with its changes."""
    after: dict[str, Any] = _apart(data)
    for operation in operations(changes):
        _apply(after, operation)
    return after


def operations(changes: Iterable[PodChange]) -> Iterator[dict[str, Any]]:
    """The operations of a JSON patch, each with its `steps` in place of a path."""
    for change in changes:
        yield from _of_pod(change)
        for one in change.containers:
            yield from _of_container(one)


def json_patch(changes: Iterable[PodChange]) -> list[dict[str, Any]]:
    """The JSON patch of one object."""
    return [
        {
            "op": one["op"],
            "path": "".join(f"/{escape(str(step))}" for step in one["steps"]),
            **({"value": one["value"]} if "value" in one else {}),
        }
        for one in operations(changes)
    ]


def _of_pod(change: PodChange) -> Iterator[dict[str, Any]]:
    steps, site = change.site.steps, change.site
    if not change.entries:
        return
    if not site.has_pod_spec:
        yield {"op": "add", "steps": (*steps, POD_SPEC_PATCH), "value": pod_spec_patch(change)}
        return
    listed = [entry_object(entry) for entry in change.entries]
    yield from _added((*steps, "resourceClaims"), site.spec.get("resourceClaims"), listed)


def _of_container(change: ContainerChange) -> Iterator[dict[str, Any]]:
    data = change.container.data
    place = (*change.container.steps, "resources")
    for section in SECTIONS:
        said = mapping(data, "resources", section)
        gone = [name for name in change.removed if name in said]
        if gone and len(gone) == len(said):
            yield {"op": "remove", "steps": (*place, section)}
        else:
            for name in gone:
                yield {"op": "remove", "steps": (*place, section, name)}
    claims = mapping(data, "resources").get("claims")
    yield from _added((*place, "claims"), claims, [{"name": name} for name in change.claims])


def _added(steps: Steps, present: Any, listed: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """What adds items to the front of a list that may not be there."""
    if not isinstance(present, list):
        yield {"op": "add", "steps": steps, "value": listed}
        return
    for item in reversed(listed):
        yield {"op": "add", "steps": (*steps, 0), "value": item}


def _apart(value: Any) -> Any:
    """A copy in which nothing is shared: aliases of YAML lead to one value from many places."""
    if isinstance(value, dict):
        return {key: _apart(inner) for key, inner in value.items()}
    return [_apart(inner) for inner in value] if isinstance(value, list) else value


def _apply(data: Any, operation: dict[str, Any]) -> None:
    *way, last = operation["steps"]
    for step in way:
        data = data[step]
    if operation["op"] == "remove":
        del data[last]
    elif isinstance(data, list):
        data.insert(last, operation["value"])
    else:
        data[last] = operation["value"]
