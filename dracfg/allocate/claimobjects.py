"""Recorded ResourceClaims, ResourceClaimTemplates and DeviceClasses → claims and classes.

Reads the versions that a cluster serves: v1 and v1beta2, and v1beta1, whose requests have no
`exactly`. Unknown fields are found and passed over, as the API server drops them; an object that
can't be read is left out, and a finding says why. Nothing in a record raises.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, TypeAlias, TypeVar

from dracfg.allocate.claimcontent import ContentReader
from dracfg.allocate.claims import Claim, ClaimSpec, DeviceClass
from dracfg.allocate.devices import Origin
from dracfg.allocate.faults import Faults
from dracfg.allocate.shape import (
    GROUP,
    UNKNOWN_FIELD,
    VERSIONS,
    pointer_steps,
    shape_faults,
    without,
)
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, diagnose, sort_key
from dracfg.kube.features import feature_matrix
from dracfg.kube.limits import limits
from dracfg.source.records import Record, RecordedObject, parse_record

CLAIM, TEMPLATE, CLASS = "ResourceClaim", "ResourceClaimTemplate", "DeviceClass"
KINDS = (CLAIM, TEMPLATE, CLASS)

_T = TypeVar("_T")
Read: TypeAlias = tuple[_T | None, tuple[Diagnostic, ...]]
"""An object, None where it can't be read, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ClaimTemplate:
    """A ResourceClaimTemplate: the spec, labels and annotations of the claims made from it."""

    namespace: str
    name: str
    spec: ClaimSpec
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def claim(self, name: str, uid: str = "") -> Claim:
        """The claim of that name that the resource-claim controller would make of it."""
        return Claim(
            self.namespace,
            name,
            self.spec,
            uid,
            labels=self.labels,
            annotations=self.annotations,
            origin=self.origin,
        )


@dataclass(frozen=True, slots=True)
class ClaimObjects:
    """What a dump holds of the three kinds, each object once, in the order of the dump."""

    claims: tuple[Claim, ...] = ()
    templates: tuple[ClaimTemplate, ...] = ()
    classes: tuple[DeviceClass, ...] = ()


def read_claims(
    records: Iterable[Record], minor: str | None = None, *, namespace: str = "default"
) -> tuple[ClaimObjects, tuple[Diagnostic, ...]]:
    """The claims, templates and classes of whole dumps; other kinds are passed over.

    `minor` is that of the cluster, None where it is not known; `namespace` is that of objects that
    name none. Of two objects of one kind and name
    the one that was recorded last holds. Raises KeyError for a minor that is not supported.
    """
    faults: list[Diagnostic] = []
    claims: dict[str, Claim] = {}
    templates: dict[str, ClaimTemplate] = {}
    classes: dict[str, DeviceClass] = {}
    last: dict[tuple[str, str], RecordedObject] = {}
    for item in (item for record in records for item in record.objects):
        kind = item.data["kind"]
        if kind not in KINDS or _group_version(item)[0] != GROUP:
            continue
        metadata = _metadata(item)
        name = metadata.name
        if kind != CLASS:
            name = f"{metadata.namespace or namespace}/{name}"
        earlier = last.get((kind, name))
        if earlier is not None and earlier.data != item.data:
            faults.append(_twice(kind, name, earlier, item))
        last[kind, name] = item
        if kind == CLAIM:
            found = _keep(claims, name, read_claim(item, minor, namespace))
        elif kind == TEMPLATE:
            found = _keep(templates, name, read_template(item, minor, namespace))
        else:
            found = _keep(classes, name, read_class(item, minor))
        faults += found
    objects = ClaimObjects(
        tuple(claims.values()), tuple(templates.values()), tuple(classes.values())
    )
    return objects, tuple(sorted(dict.fromkeys(faults), key=sort_key))


def read_claim(
    recorded: RecordedObject, minor: str | None, namespace: str = "default"
) -> Read[Claim]:
    """The ResourceClaim with what is allocated to it, or None where it can't be read."""

    def build(reader: ContentReader, data: Mapping[str, Any]) -> Claim:
        metadata, status = _metadata(recorded), data.get("status", {})
        allocation = status.get("allocation")
        return Claim(
            metadata.namespace or namespace,
            metadata.name,
            reader.spec(data.get("spec", {}).get("devices", {}), ("spec", "devices")),
            metadata.uid,
            None if allocation is None else reader.allocation(allocation, ("status", "allocation")),
            reader.consumers(status.get("reservedFor", ())),
            metadata.deleting,
            metadata.labels,
            metadata.annotations,
            Origin(recorded),
        )

    return _read(recorded, CLAIM, minor, build)


def read_template(
    recorded: RecordedObject, minor: str | None, namespace: str = "default"
) -> Read[ClaimTemplate]:
    """The ResourceClaimTemplate, or None where it can't be read."""

    def build(reader: ContentReader, data: Mapping[str, Any]) -> ClaimTemplate:
        metadata, spec = _metadata(recorded), data.get("spec", {})
        inner, devices = spec.get("metadata", {}), spec.get("spec", {}).get("devices", {})
        return ClaimTemplate(
            metadata.namespace or namespace,
            metadata.name,
            reader.spec(devices, ("spec", "spec", "devices")),
            _texts(inner, "labels"),
            _texts(inner, "annotations"),
            Origin(recorded),
        )

    return _read(recorded, TEMPLATE, minor, build)


def read_class(recorded: RecordedObject, minor: str | None) -> Read[DeviceClass]:
    """The DeviceClass, or None where it can't be read."""

    def build(reader: ContentReader, data: Mapping[str, Any]) -> DeviceClass:
        spec = data.get("spec", {})
        return DeviceClass(
            _metadata(recorded).name,
            reader.selectors(spec.get("selectors", ()), ("spec", "selectors")),
            reader.configs(spec.get("config", ()), ("spec", "config")),
            spec.get("extendedResourceName"),
            Origin(recorded),
        )

    return _read(recorded, CLASS, minor, build)


def in_memory(objects: Iterable[Mapping[str, Any]], name: str = "memory") -> Record:
    """Objects that were made, not read, as a record; `name` stands where a file's would."""
    items = json.dumps({"kind": "List", "items": list(objects)}, default=str)
    record, _ = parse_record(name, items)
    return record


def _read(
    recorded: RecordedObject,
    kind: str,
    minor: str | None,
    build: Callable[[ContentReader, Mapping[str, Any]], _T],
) -> Read[_T]:
    faults = Faults(recorded)
    data = _shaped(recorded, kind, minor, faults)
    if data is None:
        return None, tuple(faults.found)
    before = len(faults.found)
    flat = data["apiVersion"] == f"{GROUP}/v1beta1"
    known = limits(minor or feature_matrix().minors[-1])
    made = build(ContentReader(flat, known, faults), data)
    return (made if len(faults.found) == before else None), tuple(faults.found)


def _shaped(
    recorded: RecordedObject, kind: str, minor: str | None, faults: Faults
) -> dict[str, Any] | None:
    """The object without unknown fields; None where its shape does not hold."""
    data = recorded.data
    api_version = data.get("apiVersion")
    group, version = _group_version(recorded)
    if group != GROUP or version not in VERSIONS:
        faults.add(
            "INV030",
            ("apiVersion",),
            f"a {data['kind']} of {api_version} is not read",
            found=str(api_version),
            expected=" or ".join(f"{GROUP}/{known}" for known in VERSIONS),
            help=f"record it again: `kubectl get {kind.lower()}s.v1.{GROUP} -A -o yaml`",
        )
        return None
    if not _metadata(recorded).name:
        faults.add("INV034", ("metadata",), f"a {kind} must have a name")
        return None
    judged: dict[str, Any] = {
        name: data[name] for name in ("apiVersion", "kind", "spec", "status") if name in data
    }
    unknown: list[tuple[str, ...]] = []
    readable = True
    for fault in shape_faults(judged, minor):
        steps = pointer_steps(fault.pointer)
        where = ".".join(steps) or f"the {kind}"
        if fault.message == UNKNOWN_FIELD:
            faults.add("INV031", steps, f"{where} {fault.message}", key=True)
            unknown.append(steps)
        else:
            faults.add("INV032", steps, f"{where}: {fault.message}", key=True)
            readable = False
    return without(judged, unknown) if readable else None


def _group_version(item: RecordedObject) -> tuple[str, str]:
    group, _, version = str(item.data.get("apiVersion")).rpartition("/")
    return group, version


@dataclass(frozen=True, slots=True)
class _Metadata:
    name: str
    namespace: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    deleting: bool


def _metadata(item: RecordedObject) -> _Metadata:
    """The parts of the metadata that claims have a use for; what is not text counts as missing."""
    metadata = item.data.get("metadata")
    held = metadata if isinstance(metadata, dict) else {}
    name, namespace, uid = (
        held[key] if isinstance(held.get(key), str) else "" for key in ("name", "namespace", "uid")
    )
    return _Metadata(
        name,
        namespace,
        uid,
        _texts(held, "labels"),
        _texts(held, "annotations"),
        "deletionTimestamp" in held,
    )


def _texts(owner: Mapping[str, Any], key: str) -> dict[str, str]:
    values = owner.get(key)
    if not isinstance(values, dict):
        return {}
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _keep(kept: dict[str, _T], name: str, read: Read[_T]) -> tuple[Diagnostic, ...]:
    """Puts what was read under its name, in the place of an earlier one; returns the findings."""
    made, found = read
    kept.pop(name, None)
    if made is not None:
        kept[name] = made
    return found


def _twice(kind: str, name: str, one: RecordedObject, other: RecordedObject) -> Diagnostic:
    return diagnose(
        "INV035",
        other.span("metadata", "name"),
        f"two different {kind}s are named {name}; the last one is taken",
        related=[Related(one.span("metadata", "name"), "the other one")],
        help="keep what was recorded last",
    )
