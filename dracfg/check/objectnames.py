"""Names in emitted objects: those that Kubernetes would refuse (OBJ001), names that leave no room
for what tools put before them (OBJ015), and requests of one claim that are named alike (OBJ016).

Knows no schema and no limit other than those on names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dracfg.check.places import document_of, key_place, profile_of, request_origin, span_of
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.kube.names import (
    LABEL_LENGTH,
    check_device_class_name,
    check_dns_label,
    check_dns_subdomain,
    check_extended_resource_name,
    check_fully_qualified_attribute,
    check_label_key,
    check_label_value,
    check_qualified_name,
)
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Artifact, K8sObject, Origin

NAME_BUDGET = 52
"""Virtual clusters and controllers rename what they copy; 11 characters are left for them."""

CLAIM_KINDS = ("ResourceClaim", "ResourceClaimTemplate")

SPEC_KINDS = (*CLAIM_KINDS, "DeviceClass")
"""Kinds whose specs hold names and go by limits."""

Check = Callable[[str], str | None]


def check_path_segment(text: str) -> str | None:
    """The name of an RBAC object. Source: apimachinery pkg/api/validation/path/name.go."""
    if text in (".", "..") or not text or "/" in text or "%" in text:
        return "must not be empty, '.' or '..', nor hold '/' or '%'"
    return None


def _check_flux_name(text: str) -> str | None:
    """Flux writes the name of a Kustomization into a label of all that it applies."""
    return check_label_value(text) or check_dns_subdomain(text)


_CHECKS: Mapping[tuple[str, str], Check] = {
    ("resource.k8s.io", "DeviceClass"): check_device_class_name,
    ("", "Namespace"): check_dns_label,
    ("kustomize.toolkit.fluxcd.io", "Kustomization"): _check_flux_name,
    **{
        ("rbac.authorization.k8s.io", kind): check_path_segment
        for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    },
}


@lru_cache(maxsize=16384)
def name_fits(api_version: str, kind: str, name: str) -> bool:
    """Whether an object's own name can stand and leaves room, as nearly all names do."""
    crowded = kind in CLAIM_KINDS and len(name) > NAME_BUDGET
    return not crowded and _check_of(api_version, kind)(name) is None


def keys_fit(labels: tuple[str, ...], annotations: tuple[str, ...]) -> bool:
    """Whether these keys of labels and annotations can stand."""
    return not any(map(check_label_key, labels)) and not any(map(_check_annotation, annotations))


def values_fit(labels: Mapping[str, str]) -> bool:
    """Whether the values of labels can stand."""
    return not any(map(check_label_value, labels.values()))


def name_findings(catalog: Catalog, artifact: Artifact) -> Iterator[Diagnostic]:
    """Every name in the metadata of one object that can't stand or leaves no room.

    There is none where `name_fits`, `keys_fit` and `values_fit` hold.
    """
    thing = artifact.object
    name, kind = thing["metadata"]["name"], thing["kind"]
    reason = _check_of(thing["apiVersion"], kind)(name)
    if reason is not None:
        yield _own_name(catalog, artifact, reason)
    elif kind in CLAIM_KINDS and len(name) > NAME_BUDGET:
        yield diagnose(
            "OBJ015",
            span_of(catalog, artifact.origin),
            f"{kind} {name} has a name of {len(name)} characters; "
            f"virtual clusters and other tools that prefix names need it at {NAME_BUDGET} at most",
            found=str(len(name)),
            expected=f"at most {NAME_BUDGET}",
            help="shorten the name that it is made of: the tier, the policy, the tenant or the profile",
        )
    yield from _keys(catalog, artifact, thing["metadata"])


def _check_of(api_version: str, kind: str) -> Check:
    return _CHECKS.get((api_version.rpartition("/")[0], kind), check_dns_subdomain)


def spec_name_findings(catalog: Catalog, artifact: Artifact) -> Iterator[Diagnostic]:
    """Every name in the spec of one object that can't stand."""
    kind = artifact.object["kind"]
    if kind in CLAIM_KINDS:
        yield from _claim(catalog, artifact)
    elif kind == "DeviceClass":
        yield from _extended_name(catalog, artifact)


def claim_spec_of(thing: K8sObject) -> Mapping[str, Any]:
    """The ResourceClaimSpec of a claim or of a template."""
    spec: Mapping[str, Any] = thing.get("spec") or {}
    return spec.get("spec") or {} if thing["kind"] == "ResourceClaimTemplate" else spec


def asks_of(request: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """What a request asks for: itself, or each of its alternatives."""
    exactly = request.get("exactly")
    return (exactly,) if exactly is not None else tuple(request.get("firstAvailable") or ())


def _own_name(catalog: Catalog, artifact: Artifact, reason: str) -> Diagnostic:
    name, kind = artifact.object["metadata"]["name"], artifact.object["kind"]
    excess = len(name) - LABEL_LENGTH
    parts = _class_parts(catalog, artifact) if kind == "DeviceClass" else ()
    names = " or ".join(f"{o.kind} {o.name} ({len(o.name)} characters)" for o in parts)
    help_ = None
    if names:
        by = f" by {excess}" if excess > 0 else ""
        help_ = f"a class is named <tier>-<policy>-<size>; shorten{by} {names}"
    return diagnose(
        "OBJ001",
        span_of(catalog, artifact.origin),
        f"{kind} {name}: the name {reason}",
        related=[Related(span_of(catalog, part), "part of the name") for part in parts[1:]],
        found=name,
        help=help_,
    )


def _class_parts(catalog: Catalog, artifact: Artifact) -> tuple[Origin, ...]:
    """The documents whose names make up the name of a class."""
    found = (artifact.origin, *artifact.via)
    named = (o for o in found if o.kind in ("HardwareTier", "SharingPolicy"))
    return tuple(o for o in named if document_of(catalog, o.kind, o.name) is not None)


def _check_annotation(key: str) -> str | None:
    return check_qualified_name(key.lower())


def _keys(
    catalog: Catalog, artifact: Artifact, metadata: Mapping[str, Any]
) -> Iterator[Diagnostic]:
    what = _called(artifact)
    for key, value in (metadata.get("labels") or {}).items():
        for part, text, reason in (
            ("key", key, check_label_key(key)),
            ("value", value, check_label_value(value)),
        ):
            if reason is not None:
                yield diagnose(
                    "OBJ001",
                    _label_span(catalog, artifact, key),
                    f"{what}: the label {part} {text} can't stand: {reason}",
                    found=text,
                )
    for key in metadata.get("annotations") or {}:
        reason = _check_annotation(key)
        if reason is not None:
            yield diagnose(
                "OBJ001",
                span_of(catalog, artifact.origin),
                f"{what}: the annotation {key} can't stand: {reason}",
                found=key,
            )


def _label_span(catalog: Catalog, artifact: Artifact, key: str) -> Span:
    """A Namespace's label where the tenant wrote it, any other at the object's origin."""
    origin = artifact.origin
    document = document_of(catalog, origin.kind, origin.name)
    if artifact.object["kind"] == "Namespace" and document is not None:
        return key_place(document, *origin.pointer, "labels", key)
    return span_of(catalog, origin)


def _claim(catalog: Catalog, artifact: Artifact) -> Iterator[Diagnostic]:
    devices = claim_spec_of(artifact.object).get("devices") or {}
    requests = devices.get("requests") or ()
    if artifact.object["kind"] == "ResourceClaimTemplate":
        yield from _keys(catalog, artifact, artifact.object["spec"].get("metadata") or {})
    for request in requests:
        for found, message in _unfit(request):
            span = span_of(catalog, _request(catalog, artifact, request["name"]))
            yield diagnose("OBJ001", span, f"{_called(artifact)}: {message}", found=found)
    if has_namesakes(artifact.object):
        yield from _alike(catalog, artifact, [request["name"] for request in requests])
    for constraint in devices.get("constraints") or ():
        attribute = constraint.get("matchAttribute") or constraint.get("distinctAttribute") or ""
        reason = check_fully_qualified_attribute(attribute)
        if reason is not None:
            yield diagnose(
                "OBJ001",
                span_of(catalog, artifact.origin),
                f"{_called(artifact)}: the attribute {attribute} of a constraint can't stand: {reason}",
                found=attribute,
            )


def has_namesakes(thing: K8sObject) -> bool:
    """Whether two requests of a claim have one name, which only its profile says whether to blame."""
    devices = claim_spec_of(thing).get("devices") or {}
    names = [request["name"] for request in devices.get("requests") or ()]
    return len(set(names)) < len(names)


def _alike(catalog: Catalog, artifact: Artifact, names: Sequence[str]) -> Iterator[Diagnostic]:
    """Requests that only lowering named alike; what is written twice is found in the profile."""
    found = profile_of(catalog, artifact.origin)
    written = Counter(request.name for request in found[1].requests) if found else Counter[str]()
    for name, count in Counter(names).items():
        if count > 1 and written[name] < 2:
            yield diagnose(
                "OBJ016",
                span_of(catalog, _request(catalog, artifact, name)),
                f"{_called(artifact)}: two requests are named {name}",
                found=name,
                help="rename one; an aligned request x with a count becomes x-0, x-1 …",
            )


def _unfit(request: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(name or key, message) of each in one request that can't stand."""
    asks = asks_of(request)
    for name in (request["name"], *(ask["name"] for ask in asks if "name" in ask)):
        reason = check_dns_label(name)
        if reason is not None:
            yield name, f"the request name {name} {reason}"
    keys = {t["key"]: None for ask in asks for t in ask.get("tolerations") or () if "key" in t}
    for key in keys:
        reason = check_label_key(key)
        if reason is not None:
            yield key, f"the toleration key {key} can't stand: {reason}"


def _extended_name(catalog: Catalog, artifact: Artifact) -> Iterator[Diagnostic]:
    name = (artifact.object.get("spec") or {}).get("extendedResourceName")
    reason = None if name is None else check_extended_resource_name(name)
    if reason is not None:
        yield diagnose(
            "OBJ001",
            span_of(catalog, artifact.origin.at("legacyResource")),
            f"DeviceClass {artifact.object['metadata']['name']}: "
            f"the extended resource name {name} {reason}",
            found=name,
        )


def _called(artifact: Artifact) -> str:
    return f"{artifact.object['kind']} {artifact.object['metadata']['name']}"


def _request(catalog: Catalog, artifact: Artifact, name: str) -> Origin:
    found = profile_of(catalog, artifact.origin)
    return artifact.origin if found is None else request_origin(*found, name)
