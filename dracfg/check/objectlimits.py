"""Objects that go over a limit of the API (OBJ009). The numbers are those of `kube.limits`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dracfg.check.objectnames import CLAIM_KINDS, asks_of, claim_spec_of
from dracfg.check.places import profile_of, request_origin, span_of
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.kube.limits import Limits, limits
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Artifact, Origin

ANNOTATIONS_BYTES = 256 * 1024
"""Keys and values of all annotations of an object. Source: apimachinery
pkg/api/validation/objectmeta.go (TotalAnnotationSizeLimitB)."""

HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class _Over:
    """What there is too much of: `found` of `unit`, where at most `most` are allowed."""

    what: str
    found: int
    most: int
    unit: str
    origin: Origin


def limit_findings(catalog: Catalog, artifact: Artifact, minor: str) -> Iterator[Diagnostic]:
    """Every limit of a minor that one object goes over."""
    thing = artifact.object
    most = limits(minor)
    checks = [*_annotations(artifact)]
    if thing["kind"] in CLAIM_KINDS:
        checks += _claim(catalog, artifact, most)
    elif thing["kind"] == "DeviceClass":
        checks += _class(artifact, most)
    for over in checks:
        if over.found > over.most:
            yield diagnose(
                "OBJ009",
                span_of(catalog, over.origin),
                f"{thing['kind']} {thing['metadata']['name']}: {over.what} "
                f"{'have' if over.what.endswith('s') else 'has'} {over.found:,} {over.unit}; "
                f"Kubernetes {minor} takes at most {over.most:,}",
                found=f"{over.found:,}",
                expected=f"at most {over.most:,}",
            )


def json_bytes(value: Any) -> int:
    """The size of a value as the API server gets it: Go's JSON without blanks, which escapes HTML."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)
    return len(text.translate(HTML).encode())


def _annotations(artifact: Artifact) -> Iterator[_Over]:
    held: Mapping[str, str] = artifact.object["metadata"].get("annotations") or {}
    size = sum(len(key.encode()) + len(value.encode()) for key, value in held.items())
    yield _Over("the set of annotations", size, ANNOTATIONS_BYTES, "bytes", artifact.origin)


def _class(artifact: Artifact, most: Limits) -> Iterator[_Over]:
    spec = artifact.object.get("spec") or {}
    match = artifact.origin.at("match")
    policy = next((via for via in artifact.via if via.kind == "SharingPolicy"), artifact.origin)
    selectors = spec.get("selectors") or ()
    yield _Over("the class", len(selectors), most.selectors_per_class, "selectors", match)
    yield from _expressions(selectors, most, match)
    configs = spec.get("config") or ()
    yield _Over("the class", len(configs), most.configs_per_class, "configs", policy.at("config"))
    for config in configs:
        yield _parameters(config, most, policy.at("config", "values"))


def _claim(catalog: Catalog, artifact: Artifact, most: Limits) -> Iterator[_Over]:
    devices = claim_spec_of(artifact.object).get("devices") or {}
    found = profile_of(catalog, artifact.origin)
    own = artifact.origin if found is None else found[0]
    requests = devices.get("requests") or ()
    constraints = devices.get("constraints") or ()
    configs = devices.get("config") or ()
    yield _Over("the claim", len(requests), most.requests_per_claim, "requests", own.at("requests"))
    yield _Over(
        "the claim", len(constraints), most.constraints_per_claim, "constraints", own.at("align")
    )
    yield _Over("the claim", len(configs), most.configs_per_claim, "configs", own.at("config"))
    for request in requests:
        place = own if found is None else request_origin(*found, request["name"])
        yield from _request(request, most, place)
    for constraint in constraints:
        steps = "distinct" if "distinctAttribute" in constraint else "align"
        yield _named(constraint, "a constraint", most, own.at(steps))
    for i, config in enumerate(configs):
        yield _named(config, "a config", most, own.at("config", i))
        yield _parameters(config, most, own.at("config", i, "values"))


def _request(request: Mapping[str, Any], most: Limits, place: Origin) -> Iterator[_Over]:
    name = f"request {request['name']}"
    alternatives = request.get("firstAvailable") or ()
    yield _Over(
        name, len(alternatives), most.alternatives_per_request, "alternatives", place.at("anyOf")
    )
    for ask in asks_of(request):
        tolerations = ask.get("tolerations") or ()
        selectors = ask.get("selectors") or ()
        yield _Over(
            name,
            len(tolerations),
            most.tolerations_per_request,
            "tolerations",
            place.at("tolerations"),
        )
        yield _Over(name, len(selectors), most.selectors_per_request, "selectors", place)
        yield from _expressions(selectors, most, place)


def _named(entry: Mapping[str, Any], what: str, most: Limits, place: Origin) -> _Over:
    names = entry.get("requests") or ()
    return _Over(what, len(names), most.request_names_per_constraint, "request names", place)


def _expressions(selectors: Any, most: Limits, place: Origin) -> Iterator[_Over]:
    for selector in selectors:
        text = (selector.get("cel") or {}).get("expression") or ""
        size = len(text.encode())
        yield _Over("a selector", size, most.cel_expression_bytes, "bytes of CEL", place)


def _parameters(config: Mapping[str, Any], most: Limits, place: Origin) -> _Over:
    opaque = config.get("opaque") or {}
    size = json_bytes(opaque.get("parameters"))
    what = f"the config for {opaque.get('driver')}"
    return _Over(what, size, most.opaque_parameters_bytes, "bytes of JSON", place)
