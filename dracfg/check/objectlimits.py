"""Objects that go over a limit of the API (OBJ009). The numbers are those of `kube.limits`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from dracfg.check.objectnames import CLAIM_KINDS, asks_of, claim_spec_of
from dracfg.check.places import profile_of, request_origin, span_of
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.kube.limits import Limits, limits
from dracfg.kube.names import LABEL_LENGTH, SUBDOMAIN_LENGTH
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Artifact, Origin

ANNOTATIONS_BYTES = 256 * 1024
"""Keys and values of all annotations of an object. Source: apimachinery
pkg/api/validation/objectmeta.go (TotalAnnotationSizeLimitB)."""

MOST_BYTES = 4
"""Of one character in UTF-8."""

_LONGEST_KEY = SUBDOMAIN_LENGTH + len("/") + LABEL_LENGTH

HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})

Place = Callable[..., Origin]
"""Where a finding would point, by steps below a place."""


@dataclass(frozen=True, slots=True)
class _Over:
    """What there is too much of: `found` of `unit`, where at most `most` are allowed."""

    what: str
    found: int
    most: int
    unit: str
    origin: Origin


def annotations_fit(held: Mapping[str, str]) -> bool:
    """Whether annotations stay below their limit by far, as nearly all do, if their keys can stand."""
    return MOST_BYTES * sum(map(len, held.values()), _LONGEST_KEY * len(held)) <= ANNOTATIONS_BYTES


def annotation_findings(catalog: Catalog, artifact: Artifact, minor: str) -> Iterable[Diagnostic]:
    """The limit on an object's annotations, where it goes over that."""
    return _findings(catalog, artifact, minor, _annotations(artifact))


def limit_findings(catalog: Catalog, artifact: Artifact, minor: str) -> Iterable[Diagnostic]:
    """Every limit of a minor that the spec of one object goes over."""
    kind = artifact.object["kind"]
    if kind in CLAIM_KINDS:
        return _findings(catalog, artifact, minor, _claim(catalog, artifact, limits(minor)))
    if kind == "DeviceClass":
        return _findings(catalog, artifact, minor, _class(artifact, limits(minor)))
    return ()


def _findings(
    catalog: Catalog, artifact: Artifact, minor: str, found: Iterable[_Over]
) -> Iterator[Diagnostic]:
    thing = artifact.object
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


def _annotations(artifact: Artifact) -> Iterator[_Over]:
    held: Mapping[str, str] = artifact.object["metadata"].get("annotations") or {}
    size = sum(len(text.encode()) for entry in held.items() for text in entry)
    if size > ANNOTATIONS_BYTES:
        what = "the set of annotations"
        yield _Over(what, size, ANNOTATIONS_BYTES, "bytes", artifact.origin)


def _class(artifact: Artifact, most: Limits) -> Iterator[_Over]:
    spec = artifact.object.get("spec") or {}
    policy = next((via for via in artifact.via if via.kind == "SharingPolicy"), artifact.origin)
    match = partial(artifact.origin.at, "match")
    selectors = spec.get("selectors") or ()
    if len(selectors) > most.selectors_per_class:
        bound = most.selectors_per_class
        yield _Over("the class", len(selectors), bound, "selectors", match())
    yield from _expressions(selectors, most, match)
    configs = spec.get("config") or ()
    if len(configs) > most.configs_per_class:
        bound = most.configs_per_class
        yield _Over("the class", len(configs), bound, "configs", policy.at("config"))
    for config in configs:
        yield from _parameters(config, most, partial(policy.at, "config"))


def _claim(catalog: Catalog, artifact: Artifact, most: Limits) -> Iterator[_Over]:
    devices = claim_spec_of(artifact.object).get("devices") or {}

    def own(*steps: str | int) -> Origin:
        found = profile_of(catalog, artifact.origin)
        return (artifact.origin if found is None else found[0]).at(*steps)

    def asked(name: str, *steps: str) -> Origin:
        found = profile_of(catalog, artifact.origin)
        return (artifact.origin if found is None else request_origin(*found, name)).at(*steps)

    for key, bound, step in (
        ("requests", most.requests_per_claim, "requests"),
        ("constraints", most.constraints_per_claim, "align"),
        ("config", most.configs_per_claim, "config"),
    ):
        number = len(devices.get(key) or ())
        if number > bound:
            unit = "configs" if key == "config" else key
            yield _Over("the claim", number, bound, unit, own(step))
    for request in devices.get("requests") or ():
        yield from _request(request, most, partial(asked, request["name"]))
    for constraint in devices.get("constraints") or ():
        step = "distinct" if "distinctAttribute" in constraint else "align"
        yield from _named(constraint, "a constraint", most, partial(own, step))
    for i, config in enumerate(devices.get("config") or ()):
        yield from _named(config, "a config", most, partial(own, "config", i))
        yield from _parameters(config, most, partial(own, "config", i))


def _request(request: Mapping[str, Any], most: Limits, asked: Place) -> Iterator[_Over]:
    what = f"request {request['name']}"
    number, bound = len(request.get("firstAvailable") or ()), most.alternatives_per_request
    if number > bound:
        yield _Over(what, number, bound, "alternatives", asked("anyOf"))
    for ask in asks_of(request):
        number, bound = len(ask.get("tolerations") or ()), most.tolerations_per_request
        if number > bound:
            yield _Over(what, number, bound, "tolerations", asked("tolerations"))
        selectors = ask.get("selectors") or ()
        number, bound = len(selectors), most.selectors_per_request
        if number > bound:
            yield _Over(what, number, bound, "selectors", asked())
        if selectors:
            yield from _expressions(selectors, most, asked)


def _named(entry: Mapping[str, Any], what: str, most: Limits, place: Place) -> Iterator[_Over]:
    number, bound = len(entry.get("requests") or ()), most.request_names_per_constraint
    if number > bound:
        yield _Over(what, number, bound, "request names", place())


def _expressions(selectors: Any, most: Limits, place: Place) -> Iterator[_Over]:
    for selector in selectors:
        size = len(((selector.get("cel") or {}).get("expression") or "").encode())
        bound = most.cel_expression_bytes
        if size > bound:
            yield _Over("a selector", size, bound, "bytes of CEL", place())


def _parameters(config: Mapping[str, Any], most: Limits, place: Place) -> Iterator[_Over]:
    opaque = config.get("opaque") or {}
    size, bound = json_bytes(opaque.get("parameters")), most.opaque_parameters_bytes
    if size > bound:
        what = f"the config for {opaque.get('driver')}"
        yield _Over(what, size, bound, "bytes of JSON", place("values"))
