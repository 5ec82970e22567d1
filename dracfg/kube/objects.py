"""Judge Kubernetes objects against the API schemas of a minor.

The schemas lie in dracfg/kube/schemas, one bundle a minor (see the README there). They are strict:
an unknown field and a null are faults. It may not know of rules that a schema cannot say, such as
limits or immutable fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dracfg.dataclass import dataclass
from dracfg.kube.pointers import escape
from dracfg.packaged import packaged_text

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, Registry

__all__ = ["ObjectKey", "SchemaFault", "UnknownKind", "object_key", "schema_faults"]

BUNDLE_URI = "urn:dracfg:kube"


class ObjectKey(NamedTuple):
    """What makes an object one of its kind in a cluster; namespace is "" for cluster scope."""

    api_version: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """A place (JSON pointer, RFC 6901) where an object is not what the API schema says."""

    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class UnknownKind:
    """An object that could not be judged, because the bundle has no schema for it.

    reason: "not-served": a group of Kubernetes' own, but this minor has no such version or kind;
    "no-schema": a kind of Kubernetes that dracfg keeps no schema for; "foreign": any other group,
    such as that of a custom resource.
    """

    api_version: str
    kind: str
    minor: str
    reason: Literal["not-served", "no-schema", "foreign"]


def object_key(obj: Mapping[str, Any]) -> ObjectKey:
    """The identity of an object; parts that it does not have are ""."""
    metadata = obj.get("metadata") or {}
    return ObjectKey(
        obj.get("apiVersion") or "",
        obj.get("kind") or "",
        metadata.get("namespace") or "",
        metadata.get("name") or "",
    )


def schema_faults(obj: dict[str, Any], minor: str) -> tuple[SchemaFault, ...] | UnknownKind:
    """Where an object breaks the schema of its apiVersion and kind; empty where it holds.

    Faults come in the order of their pointers. Raises KeyError for a minor without a bundle.
    """
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    if not (isinstance(api_version, str) and api_version and isinstance(kind, str) and kind):
        return tuple(
            SchemaFault("", f"{name} must be a text that is not empty")
            for name, value in (("apiVersion", api_version), ("kind", kind))
            if not isinstance(value, str) or not value
        )
    validator = _validator(minor, api_version, kind)
    if isinstance(validator, UnknownKind):
        return validator
    try:
        if validator.is_valid(obj):
            return ()
        faults = [fault for error in validator.iter_errors(obj) for fault in _faults(error)]
    except (TypeError, ValueError) as error:
        return (SchemaFault("", f"holds a value that JSON does not have: {error}"),)
    return tuple(sorted(set(faults), key=lambda fault: (fault.pointer, fault.message)))


def _faults(error: Any) -> list[SchemaFault]:
    """The faults of one validation error, each at the field that has it."""
    pointer = "".join(f"/{escape(str(part))}" for part in error.instance_path)
    if error.kind.name == "additionalProperties":
        return [
            SchemaFault(f"{pointer}/{escape(name)}", "is no field of this type")
            for name in error.kind.as_dict()["unexpected"]
        ]
    if error.instance is None:
        return [SchemaFault(pointer, "must not be null; leave the field out instead")]
    return [SchemaFault(pointer, error.message)]


@cache
def _validator(minor: str, api_version: str, kind: str) -> Draft202012Validator | UnknownKind:
    """The compiled schema of one kind, or why there is none."""
    # Imported here: most commands start without judging an object.
    from jsonschema_rs import Draft202012Validator

    bundle = _bundle(minor)
    name = bundle["kinds"].get(api_version, {}).get(kind)
    if name is not None:
        reference = {"$ref": f"{BUNDLE_URI}#/$defs/{name}"}
        return Draft202012Validator(reference, registry=_registry(minor))
    if kind in bundle["served"].get(api_version, ()):
        return UnknownKind(api_version, kind, minor, "no-schema")
    own = {known.rpartition("/")[0] for known in bundle["served"]}
    return UnknownKind(
        api_version,
        kind,
        minor,
        "not-served" if api_version.rpartition("/")[0] in own else "foreign",
    )


@cache
def _registry(minor: str) -> Registry:
    """The definitions of a minor, handed to the validator library once for all kinds."""
    from jsonschema_rs import Draft202012, Registry

    return Registry([(BUNDLE_URI, {"$defs": _bundle(minor)["$defs"]})], draft=Draft202012)


@cache
def _bundle(minor: str) -> dict[str, Any]:
    text = packaged_text("dracfg.kube", f"schemas/{minor}.json")
    if text is None:
        raise KeyError(minor)
    bundle: dict[str, Any] = json.loads(text)
    return bundle
