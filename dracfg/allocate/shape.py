"""Whether a recorded object has the shape of its version: fields and types, no values.

The shapes are the schemas of dracfg.kube.objects. Knows no meaning of any field, and of kinds only
the ResourceSlice.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

from dracfg.allocate.faults import Faults
from dracfg.kube.features import feature_matrix
from dracfg.kube.objects import SchemaFault, UnknownKind, schema_faults

GROUP = "resource.k8s.io"
VERSIONS = ("v1", "v1beta2", "v1beta1")
KIND = "ResourceSlice"

UNKNOWN_FIELD = "is no field of this type"
"""The message of a fault that the API server mends itself: it drops the field."""
_FLAT = frozenset({"attributes", "capacity", "consumesCounters", "taints"})


class Shaped(NamedTuple):
    """A spec whose types hold, but in the `broken` devices (by number); unknown fields are gone."""

    version: str
    spec: Mapping[str, Any]
    broken: frozenset[int]


def judge_shape(data: Mapping[str, Any], minor: str | None, faults: Faults) -> Shaped | None:
    """The spec of a slice as far as its shape holds; None where it can't be read at all.

    Without a minor, a field is known if any supported minor has it.
    """
    version = _version(data.get("apiVersion"), faults)
    spec = data.get("spec")
    if version is None or not _has_shape_of(version, spec, faults):
        return None
    broken: set[int] = set()
    unknown: list[tuple[str, ...]] = []
    readable = True
    for fault in _slice_faults(data["apiVersion"], spec, minor):
        steps = pointer_steps(fault.pointer)
        where = ".".join(steps)
        if fault.message == UNKNOWN_FIELD:
            faults.add("INV004", steps, f"{where} {fault.message}", key=True)
            unknown.append(steps[1:])
            continue
        faults.add("INV005", steps, f"{where or 'the slice'}: {fault.message}", key=True)
        if len(steps) > 2 and steps[:2] == ("spec", "devices"):
            broken.add(int(steps[2]))
        else:
            readable = False
    if not readable or not isinstance(spec, dict):
        return None
    return Shaped(version, without(spec, unknown), frozenset(broken))


def _version(api_version: Any, faults: Faults) -> str | None:
    group, _, version = str(api_version).rpartition("/")
    if group == GROUP and version in VERSIONS:
        return version
    faults.add(
        "INV002",
        ("apiVersion",),
        f"a ResourceSlice of {api_version} is not read",
        found=str(api_version),
        expected=" or ".join(f"{GROUP}/{known}" for known in VERSIONS),
        help="record it again: `kubectl get resourceslices.v1.resource.k8s.io -o yaml`",
    )
    return None


def _has_shape_of(version: str, spec: Any, faults: Faults) -> bool:
    """Whether devices are written as the version has it; one finding for the whole slice."""
    devices = spec.get("devices") if isinstance(spec, dict) else None
    for number, device in enumerate(devices if isinstance(devices, list) else ()):
        if not isinstance(device, dict):
            continue
        wrong = next((name for name in device if name in _FLAT), None)
        if version != "v1beta1":
            wrong = "basic" if "basic" in device else None
        if wrong is not None:
            other = "v1beta1" if wrong == "basic" else "v1 and v1beta2"
            faults.add(
                "INV003",
                ("spec", "devices", number, wrong),
                f"apiVersion says {version}, the devices have the shape of {other}",
                key=True,
                label=f"{version} has no {wrong} here",
                help="record the slice again in one version, or correct its apiVersion",
            )
            return False
    return True


def _slice_faults(api_version: str, spec: Any, minor: str | None) -> tuple[SchemaFault, ...]:
    """Where the spec of a slice breaks the schema, see `shape_faults`."""
    pool = spec.get("pool") if isinstance(spec, dict) else None
    if isinstance(pool, dict):
        # The API server takes a missing generation for 0, and so do drivers that never count.
        spec = {**spec, "pool": {"generation": 0, **pool}}
    return shape_faults({"apiVersion": api_version, "kind": KIND, "spec": spec}, minor)


def shape_faults(judged: dict[str, Any], minor: str | None) -> tuple[SchemaFault, ...]:
    """Where an object breaks the schema; without a minor, where it breaks that of every one."""
    newest, *older = [minor] if minor else reversed(feature_matrix().minors)
    faults = _faults_in(judged, newest)
    for known in older:
        if not faults:
            break
        places = [fault.pointer for fault in _faults_in(judged, known)]
        faults = tuple(
            fault for fault in faults if any(_overlap(fault.pointer, place) for place in places)
        )
    return faults


def _faults_in(judged: dict[str, Any], minor: str) -> tuple[SchemaFault, ...]:
    found = schema_faults(judged, minor)
    if isinstance(found, UnknownKind):
        message = f"Kubernetes {minor} does not serve {found.api_version}"
        return (SchemaFault("/apiVersion", message),)
    return found


def _overlap(one: str, other: str) -> bool:
    """Whether two pointers name one value, or one of them a part of the other."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def pointer_steps(pointer: str) -> tuple[str, ...]:
    """The steps of a JSON pointer (RFC 6901)."""
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def without(spec: dict[str, Any], unknown: list[tuple[str, ...]]) -> dict[str, Any]:
    """A part of an object without unknown fields, as the API server keeps it."""
    if not unknown:
        return spec
    kept = copy.deepcopy(spec)
    for *steps, last in unknown:
        owner: Any = kept
        for step in steps:
            owner = owner[int(step)] if isinstance(owner, list) else owner[step]
        owner.pop(last, None)
    return kept
