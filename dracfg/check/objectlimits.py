"""Objects that go over a limit of the API (OBJ009). The numbers are those of `kube.limits`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
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


Place = Callable[[], Origin]
"""Where a finding would point; it is looked up only where there is one."""


@dataclass(frozen=True, slots=True)
class _Over:
    """What there is too much of: `found` of `unit`, where at most `most` are allowed."""

    what: str
    found: int
    most: int
    unit: str
    origin: Origin


def _over(what: str, found: int, most: int, unit: str, place: Place) -> tuple[_Over, ...]:
    return (_Over(what, found, most, unit, place()),) if found > most else ()


def limit_findings(catalog: Catalog, artifact: Artifact, minor: str) -> Iterator[Diagnostic]:
    """Every limit of a minor that one object goes over."""
    thing = artifact.object
    most = limits(minor)
    found = [*_annotations(artifact)]
    if thing["kind"] in CLAIM_KINDS:
        found += _claim(catalog, artifact, most)
    elif thing["kind"] == "DeviceClass":
        found += _class(artifact, most)
    for over in found:
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


def _annotations(artifact: Artifact) -> Iterable[_Over]:
    held: Mapping[str, str] = artifact.object["metadata"].get("annotations") or {}
    size = sum(len(key.encode()) + len(value.encode()) for key, value in held.items())
    what = "the set of annotations"
    return _over(what, size, ANNOTATIONS_BYTES, "bytes", lambda: artifact.origin)


def _class(artifact: Artifact, most: Limits) -> Iterator[_Over]:
    spec = artifact.object.get("spec") or {}
    policy = next((via for via in artifact.via if via.kind == "SharingPolicy"), artifact.origin)

    def match() -> Origin:
        return artifact.origin.at("match")

    selectors = spec.get("selectors") or ()
    yield from _over("the class", len(selectors), most.selectors_per_class, "selectors", match)
    yield from _expressions(selectors, most, match)
    configs = spec.get("config") or ()
    place = partial(policy.at, "config")
    yield from _over("the class", len(configs), most.configs_per_class, "configs", place)
    for config in configs:
        yield from _parameters(config, most, partial(policy.at, "config", "values"))


def _claim(catalog: Catalog, artifact: Artifact, most: Limits) -> Iterator[_Over]:
    devices = claim_spec_of(artifact.object).get("devices") or {}

    def own(*steps: str | int) -> Origin:
        found = profile_of(catalog, artifact.origin)
        return (artifact.origin if found is None else found[0]).at(*steps)

    def asked(name: str) -> Origin:
        found = profile_of(catalog, artifact.origin)
        return artifact.origin if found is None else request_origin(*found, name)

    for key, bound, unit, step in (
        ("requests", most.requests_per_claim, "requests", "requests"),
        ("constraints", most.constraints_per_claim, "constraints", "align"),
        ("config", most.configs_per_claim, "configs", "config"),
    ):
        number = len(devices.get(key) or ())
        yield from _over("the claim", number, bound, unit, partial(own, step))
    for request in devices.get("requests") or ():
        yield from _request(request, most, partial(asked, request["name"]))
    for constraint in devices.get("constraints") or ():
        step = "distinct" if "distinctAttribute" in constraint else "align"
        yield from _named(constraint, "a constraint", most, partial(own, step))
    for i, config in enumerate(devices.get("config") or ()):
        yield from _named(config, "a config", most, partial(own, "config", i))
        yield from _parameters(config, most, partial(own, "config", i, "values"))


def _request(request: Mapping[str, Any], most: Limits, asked: Place) -> Iterator[_Over]:
    name = f"request {request['name']}"
    number = len(request.get("firstAvailable") or ())
    bound = most.alternatives_per_request
    yield from _over(name, number, bound, "alternatives", lambda: asked().at("anyOf"))
    for ask in asks_of(request):
        number, bound = len(ask.get("tolerations") or ()), most.tolerations_per_request
        yield from _over(name, number, bound, "tolerations", lambda: asked().at("tolerations"))
        selectors = ask.get("selectors") or ()
        yield from _over(name, len(selectors), most.selectors_per_request, "selectors", asked)
        yield from _expressions(selectors, most, asked)


def _named(entry: Mapping[str, Any], what: str, most: Limits, place: Place) -> Iterable[_Over]:
    number = len(entry.get("requests") or ())
    return _over(what, number, most.request_names_per_constraint, "request names", place)


def _expressions(selectors: Any, most: Limits, place: Place) -> Iterator[_Over]:
    for selector in selectors:
        text = (selector.get("cel") or {}).get("expression") or ""
        size = len(text.encode())
        yield from _over("a selector", size, most.cel_expression_bytes, "bytes of CEL", place)


def _parameters(config: Mapping[str, Any], most: Limits, place: Place) -> Iterable[_Over]:
    opaque = config.get("opaque") or {}
    size = json_bytes(opaque.get("parameters"))
    what = f"the config for {opaque.get('driver')}"
    return _over(what, size, most.opaque_parameters_bytes, "bytes of JSON", place)
