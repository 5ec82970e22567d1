"""A file of workloads → its objects, and every place in them that runs containers.

Places are found by shape: a pod spec wherever it stands, and the templates of Argo Workflows, which
hold a container each and no pod spec. Knows neither catalog nor claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import yaml

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.plan.workloads import pod_specs
from dracfg.source.fields import mapping, maps, text
from dracfg.source.kubeyaml import LOADER
from dracfg.source.lineends import with_line_feeds
from dracfg.source.records import Record, RecordedObject, Steps, parse_record

BYTE_ORDER_MARK = "\ufeff"
TEMPLATED = "\ue000"
"""Stands for each character of a text that a template fills in."""
ARGO_GROUP = "argoproj.io"
_NO_OBJECTS = ("SRC015", "SRC017")
"""Files without a document, and documents that are no object: nothing to move, and no fault."""
_ARGO_CONTAINERS = ("container", "script")


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """A container and its place in the object.

    `runs_first`: it ends before the others start. A sidecar among the init containers does not.
    """

    name: str
    steps: Steps
    data: Mapping[str, Any]
    runs_first: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PodSite:
    """Where pods of an object are described.

    `steps` lead to the pod spec, or to the template of an Argo Workflow where `has_pod_spec` is
    False: such a template takes fields of a pod spec only as the text `podSpecPatch`.
    """

    thing: RecordedObject
    steps: Steps
    spec: Mapping[str, Any]
    containers: tuple[Container, ...]
    has_pod_spec: bool = True

    @property
    def kind(self) -> str:
        return str(self.thing.data["kind"])

    @property
    def namespace(self) -> str | None:
        """As the object says; None where it says none, or a template fills it in."""
        said = text(self.thing.data, "metadata", "namespace")
        return None if said is not None and TEMPLATED in said else said

    @property
    def name(self) -> str:
        """`Kind/name` of the object."""
        metadata = mapping(self.thing.data, "metadata")
        return f"{self.kind}/{text(metadata, 'name') or text(metadata, 'generateName') or '?'}"

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the pods: what stands beside their spec."""
        holder: Any = self.thing.data
        for step in self.steps[:-1] if self.has_pod_spec else self.steps:
            holder = holder[step]
        return mapping(holder, "metadata")


@dataclass(frozen=True)
class Manifest:
    """What a file holds. `text` has line feeds alone and no byte order mark."""

    path: str
    text: str
    record: Record
    faults: tuple[Diagnostic, ...]
    sites: tuple[PodSite, ...] = field(default=())

    @property
    def is_json(self) -> bool:
        """Whether it is read as JSON, which has no comments."""
        return self.text.lstrip()[:1] == "{"

    @property
    def is_sound(self) -> bool:
        return not any(fault.is_error for fault in self.faults)

    @cached_property
    def nodes(self) -> tuple[Any, ...]:
        """The node of each object of the record, with its marks. For YAML alone."""
        documents = yaml.compose_all(self.text, Loader=LOADER)
        return tuple(thing for node in documents if node is not None for thing in _objects(node))


def normal(raw: str) -> str:
    """A text as places count it: with line feeds alone, and without a byte order mark."""
    return with_line_feeds(raw.removeprefix(BYTE_ORDER_MARK))


def read_manifest(path: str, text: str) -> Manifest:
    """The manifest of a text with line feeds."""
    record, found = parse_record(path, text)
    faults = tuple(fault for fault in found if fault.code not in _NO_OBJECTS)
    sites = tuple(site for thing in record.objects for site in _sites(thing))
    return Manifest(path, text, record, faults, sites)


def _sites(thing: RecordedObject) -> Iterator[PodSite]:
    for spec, steps, _ in pod_specs(thing.data):
        yield PodSite(thing, steps, spec, tuple(_containers(spec, steps)))
    if str(thing.data.get("apiVersion")).startswith(f"{ARGO_GROUP}/"):
        yield from _argo_templates(thing, thing.data, ())


def _containers(spec: Mapping[str, Any], steps: Steps) -> Iterator[Container]:
    for number, data in enumerate(maps(spec, "initContainers")):
        first = text(data, "restartPolicy") != "Always"
        place = (*steps, "initContainers", number)
        yield Container(text(data, "name") or "", place, data, first)
    for number, data in enumerate(maps(spec, "containers")):
        yield Container(text(data, "name") or "", (*steps, "containers", number), data)


def _argo_templates(thing: RecordedObject, data: Any, steps: Steps) -> Iterator[PodSite]:
    """The templates of a Workflow, WorkflowTemplate or CronWorkflow that run a container."""
    if isinstance(data, list):
        for number, inner in enumerate(data):
            yield from _argo_templates(thing, inner, (*steps, number))
    if not isinstance(data, Mapping):
        return
    key = next((key for key in _ARGO_CONTAINERS if maps({"one": [data.get(key)]}, "one")), None)
    if key is not None and text(data, "name"):
        yield PodSite(thing, steps, data, tuple(_argo_containers(data, steps, key)), False)
        return
    for key, inner in data.items():
        if key not in ("metadata", "status"):
            yield from _argo_templates(thing, inner, (*steps, key))


def _argo_containers(data: Mapping[str, Any], steps: Steps, key: str) -> Iterator[Container]:
    for number, inner in enumerate(maps(data, "initContainers")):
        place = (*steps, "initContainers", number)
        yield Container(text(inner, "name") or "", place, inner, runs_first=True)
    yield Container("main", (*steps, key), mapping(data, key))
    for number, inner in enumerate(maps(data, "sidecars")):
        yield Container(text(inner, "name") or "", (*steps, "sidecars", number), inner)


def _objects(node: Any, in_list: bool = False) -> Iterator[Any]:
    """The objects of a document, lists opened as records open them."""
    keys = {key.value: value for key, value in node.value} if _is_map(node) else {}
    kind = keys["kind"].value if "kind" in keys else None
    items = keys.get("items")
    if isinstance(kind, str) and (kind == "List" or (kind.endswith("List") and items is not None)):
        for item in items.value if isinstance(items, yaml.SequenceNode) else ():
            yield from _objects(item, in_list=kind != "List")
    elif isinstance(kind, str) or (in_list and keys):
        yield node


def _is_map(node: Any) -> bool:
    return isinstance(node, yaml.MappingNode)
