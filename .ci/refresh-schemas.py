#!/usr/bin/env python3
"""Rebuild dracfg/kube/schemas/<minor>.json from the PyPI package kubernetes-validate.

The package carries the OpenAPI definitions of each Kubernetes release as JSON Schemas. This script
keeps the kinds that dracfg writes or reads with everything they refer to, and leaves out prose and
server-side hints, so that the bundles are small and say only what an object may look like.

    pip install kubernetes-validate==1.37.0
    python .ci/refresh-schemas.py

Every difference from the upstream schema is made here, and only here:

- descriptions, defaults and `x-kubernetes-*` hints go;
- "null" goes from every type: the API server reads null as "not set", a manifest of ours has none;
- free-form objects (opaque driver parameters) may hold any JSON value except null;
- `format: int32` and `int64` become bounds, other formats go;
- a choice between plain types (a quantity: string or number) becomes one `type` list;
- apiVersion and kind lose their enum, for the bundle is looked up by them.
"""

from __future__ import annotations

import json
import sys
from importlib import metadata, resources
from pathlib import Path
from typing import Any

PACKAGE = "kubernetes-validate"
VERSION = "1.37.0"
MINORS = ("1.34", "1.35", "1.36", "1.37")
TARGET = Path(__file__).resolve().parent.parent / "dracfg" / "kube" / "schemas"

# Group, versions, kinds; a version that a minor does not have is passed over.
KEPT: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "resource.k8s.io",
        ("v1", "v1beta2", "v1beta1", "v1alpha3"),
        (
            "DeviceClass",
            "DeviceTaintRule",
            "ResourceClaim",
            "ResourceClaimTemplate",
            "ResourcePoolStatusRequest",
            "ResourceSlice",
        ),
    ),
    (
        "",
        ("v1",),
        (
            "ConfigMap",
            "LimitRange",
            "Namespace",
            "Node",
            "Pod",
            "PodTemplate",
            "ResourceQuota",
            "ServiceAccount",
        ),
    ),
    ("apps", ("v1",), ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
    ("batch", ("v1",), ("CronJob", "Job")),
    (
        "rbac.authorization.k8s.io",
        ("v1",),
        ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    ),
    (
        "admissionregistration.k8s.io",
        ("v1", "v1beta1"),
        (
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ),
    ),
    ("scheduling.k8s.io", ("v1",), ("PriorityClass",)),
)
KINDS = {
    (group, version, kind)
    for group, versions, kinds in KEPT
    for version in versions
    for kind in kinds
}

BOUNDS = {
    "int32": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"minimum": -(2**63), "maximum": 2**63 - 1},
}
FREE_FORM = "dracfg.FreeForm"
FREE_FORM_VALUE: dict[str, Any] = {
    "type": ["array", "boolean", "number", "object", "string"],
    "items": {"$ref": f"#/$defs/{FREE_FORM}"},
    "additionalProperties": {"$ref": f"#/$defs/{FREE_FORM}"},
}
OPEN_DEFINITIONS = (
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
    "io.k8s.apimachinery.pkg.runtime.RawExtension",
)
SCHEMA_MAPS = ("properties", "$defs")
SCHEMA_LISTS = ("oneOf", "anyOf", "allOf")


def reduce(schema: dict[str, Any]) -> dict[str, Any]:
    """One schema without prose and nulls, its references made local to the bundle."""
    if "$ref" in schema:
        return {"$ref": "#/$defs/" + schema["$ref"].rpartition("/")[2]}
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in SCHEMA_MAPS:
            kept[key] = {name: reduce(part) for name, part in value.items()}
        elif key in SCHEMA_LISTS:
            parts = [reduce(part) for part in value]
            if all(set(part) == {"type"} for part in parts):
                kept["type"] = [part["type"] for part in parts]
            else:
                kept[key] = parts
        elif key in ("items", "additionalProperties", "not") and isinstance(value, dict):
            kept[key] = reduce(value)
        elif key == "type" and isinstance(value, list):
            types = [name for name in value if name != "null"]
            kept[key] = types[0] if len(types) == 1 else types
        elif key == "enum":
            kept[key] = [name for name in value if name is not None]
        elif key == "format":
            kept.update(BOUNDS.get(value, {}))
        elif key not in ("description", "default") and not key.startswith("x-kubernetes-"):
            kept[key] = value
    return kept


def references(schema: Any) -> set[str]:
    """Names of the definitions that a reduced schema refers to, at any depth."""
    if isinstance(schema, dict):
        found = set().union(*(references(value) for value in schema.values()), set())
        target = schema.get("$ref")
        return found | {target.rpartition("/")[2]} if isinstance(target, str) else found
    if isinstance(schema, list):
        return set().union(*(references(value) for value in schema), set())
    return set()


def bundle(upstream: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The schemas of one minor.

    `kinds` names the root definition of each kind by apiVersion, `$defs` holds all definitions,
    `served` lists every kind that the minor knows, whether the bundle has its schema or not.
    """
    roots: dict[str, dict[str, str]] = {}
    served: dict[str, list[str]] = {}
    for name, schema in upstream.items():
        for identity in schema.get("x-kubernetes-group-version-kind", ()):
            group, version, kind = identity["group"], identity["version"], identity["kind"]
            api_version = f"{group}/{version}".lstrip("/")
            if "metadata" in schema["properties"] and "items" not in schema["properties"]:
                served.setdefault(api_version, []).append(kind)
            if (group, version, kind) in KINDS:
                roots.setdefault(api_version, {})[kind] = name
    definitions: dict[str, Any] = {}
    waiting = [name for kinds in roots.values() for name in kinds.values()]
    while waiting:
        name = waiting.pop()
        if name in definitions:
            continue
        if name == FREE_FORM:
            definitions[name] = FREE_FORM_VALUE
        elif name in OPEN_DEFINITIONS:
            definitions[name] = {
                "type": "object",
                "additionalProperties": {"$ref": f"#/$defs/{FREE_FORM}"},
            }
        else:
            definitions[name] = reduce(upstream[name])
        waiting.extend(references(definitions[name]))
    for kinds in roots.values():
        for name in kinds.values():
            for key in ("apiVersion", "kind"):
                definitions[name]["properties"][key] = {"type": "string"}
    names = {api_version: sorted(kinds) for api_version, kinds in served.items()}
    return {"kinds": roots, "served": names, "$defs": definitions}


def main() -> int:
    """Write one bundle a minor; return 1 when another version of the source is installed."""
    installed = metadata.version(PACKAGE)
    if installed != VERSION:
        print(f"{PACKAGE} {VERSION} is needed, {installed} is installed", file=sys.stderr)
        return 1
    source = resources.files("kubernetes_validate") / "kubernetes-json-schema"
    for minor in MINORS:
        folder = source / f"v{minor}.0-local-strict"
        upstream = json.loads((folder / "_definitions.json").read_text("utf-8"))["$defs"]
        text = json.dumps(bundle(upstream), sort_keys=True, separators=(",", ":"))
        (TARGET / f"{minor}.json").write_text(text + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
