"""Labels and annotations that tools act on, and where none of them may stand (OBJ012).

Template metadata is copied to each claim; a claim with an engine's tracking mark looks like a
stray object and gets pruned under its pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from dracfg.check.places import key_place, span_of
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog, Tenant
from dracfg.lower.artifact import Artifact
from dracfg.packaged import read_data

OWN_DOMAIN = "dracfg.dev"


def reserved_namespace_labels(tenant: Tenant) -> Iterator[Diagnostic]:
    """Labels of the tenant's namespaces that are not the tenant's to set."""
    document = tenant.document
    for i, namespace in enumerate(document.spec.namespaces):
        for key in namespace.labels:
            reason = _owner(key)
            if reason is not None:
                yield diagnose(
                    "OBJ012",
                    key_place(document, "spec", "namespaces", i, "labels", key),
                    f"the label {key} of namespace {namespace.name} is not for tenants: {reason}",
                    found=key,
                    help="remove it",
                )


def reserved_object_keys(catalog: Catalog, artifact: Artifact) -> Sequence[Diagnostic]:
    """Marks by which an engine tracks objects, on an emitted object."""
    # Labels of a Namespace are the tenant's, and judged where they are written.
    if artifact.object["kind"] == "Namespace":
        return ()
    return [
        diagnose(
            "OBJ012",
            span_of(catalog, artifact.origin),
            f"{_name(artifact)} would carry {key}, by which {_tracking()[key]} tracks its own objects",
            found=key,
            help="this is a fault of dracfg; please report it with this document",
        )
        for key in tracking_keys(_keys(artifact.object["metadata"]))
    ]


def reserved_claim_keys(catalog: Catalog, artifact: Artifact) -> Iterator[Diagnostic]:
    """Marks by which an engine tracks objects, on claims made from an emitted template."""
    spec = artifact.object.get("spec")
    if artifact.object["kind"] != "ResourceClaimTemplate" or not isinstance(spec, dict):
        return
    for key in engines_keys(_keys(spec.get("metadata") or {})):
        yield diagnose(
            "OBJ012",
            span_of(catalog, artifact.origin),
            f"{_name(artifact)} would copy {key} to its claims, and an engine would prune them",
            found=key,
            help="this is a fault of dracfg; please report it with this document",
        )


def tracking_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Those of the keys by which an engine tracks objects."""
    return tuple(filter(_tracking().__contains__, keys))


def engines_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Those of the keys by which some engine would take a claim for its own."""
    engines = tuple(_data()["engines"])
    return tuple(key for key in keys if key in _tracking() or key.startswith(engines))


def _owner(key: str) -> str | None:
    """Why a tenant may not label its namespaces so."""
    domain = key.rpartition("/")[0]
    if domain == OWN_DOMAIN or domain.endswith(f".{OWN_DOMAIN}"):
        return "dracfg writes a namespace's rights under that domain"
    if key in _tracking():
        return f"{_tracking()[key]} tracks its own objects by it, and may prune the namespace"
    reason: str | None = _data()["namespace"].get(key)
    return reason


def _name(artifact: Artifact) -> str:
    return f"{artifact.object['kind']} {artifact.object['metadata']['name']}"


def _keys(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    return (*(metadata.get("labels") or ()), *(metadata.get("annotations") or ()))


def _tracking() -> Mapping[str, str]:
    tracking: Mapping[str, str] = _data()["tracking"]
    return tracking


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_data("dracfg.check", "data/reserved-keys.yaml")
    return data
