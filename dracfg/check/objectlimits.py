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

MOST_BYTES = 4
"""Of one character in UTF-8."""

HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


Place = Callable[..., Origin]
"""Where a finding would point, by steps below a place; it is looked up only where there is one."""


@dataclass(frozen=True, slots=True)
class _Over:
    """What there is too much of: `found` of `unit`, where at most `most` are allowed."""

    what: str
    found: int
    most: int
    unit: str
    origin: Origin


def _over(
    what: str, found: int, most: int, unit: str, place: Place, *steps: str | int
) -> tuple[_Over, ...]:
    return (_Over(what, found, most, unit, place(*steps)),) if found > most else ()


def annotation_findings(catalog: Catalog, artifact: Artifact, minor: str) -> Iterable[Diagnostic]:
    """The limit on an object's annotations, where it goes over that."""
    found = _annotations(artifact)
    return _findings(catalog, artifact, minor, found) if found else ()


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


def _annotations(artifact: Artifact) -> tuple[_Over, ...]:
    held: Mapping[str, str] = artifact.object["metadata"].get("annotations") or {}
    if MOST_BYTES * (sum(map(len, held)) + sum(map(len, held.values()))) <= ANNOTATIONS_BYTES:
        return ()
    size = sum(len(key.encode()) + len(value.encode()) for key, value in held.items())
    what = "the set of annotations"
    return _over(what, size, ANNOTATIONS_BYTES, "bytes", artifact.origin.at)


def _class(artifact: Artifact, most: Limits) -> Iterator[_Over]:
    spec = artifact.object.get("spec") or {}
    policy = next((via for via in artifact.via if via.kind == "SharingPolicy"), artifact.origin)

    match = partial(artifact.origin.at, "match")
    selectors = spec.get("selectors") or ()
    yield from _over("the class", len(selectors), most.selectors_per_class, "selectors", match)
    yield from _expressions(selectors, most, match)
    configs = spec.get("config") or ()
    number, bound = len(configs), most.configs_per_class
    yield from _over("the class", number, bound, "configs", policy.at, "config")
    for config in configs:
        yield from _parameters(config, most, policy.at, "config", "values")


def _claim(catalog: Catalog, artifact: Artifact, most: Limits) -> Iterator[_Over]:
    devices = claim_spec_of(artifact.object).get("devices") or {}

    def own(*steps: str | int) -> Origin:
        found = profile_of(catalog, artifact.origin)
        return (artifact.origin if found is None else found[0]).at(*steps)

    def asked(name: str, *steps: str) -> Origin:
        found = profile_of(catalog, artifact.origin)
        return (artifact.origin if found is None else request_origin(*found, name)).at(*steps)

    requests, constraints, configs = (
        devices.get(key) or () for key in ("requests", "constraints", "config")
    )
    for held, bound, unit, step in (
        (requests, most.requests_per_claim, "requests", "requests"),
        (constraints, most.constraints_per_claim, "constraints", "align"),
        (configs, most.configs_per_claim, "configs", "config"),
    ):
        yield from _over("the claim", len(held), bound, unit, own, step)
    for request in requests:
        yield from _request(request, most, asked)
    for constraint in constraints:
        step = "distinct" if "distinctAttribute" in constraint else "align"
        yield from _named(constraint, "a constraint", most, own, step)
    for i, config in enumerate(configs):
        yield from _named(config, "a config", most, own, "config", i)
        yield from _parameters(config, most, own, "config", i, "values")


def _request(request: Mapping[str, Any], most: Limits, asked: Place) -> Iterator[_Over]:
    name = request["name"]
    what = f"request {name}"
    number, bound = len(request.get("firstAvailable") or ()), most.alternatives_per_request
    yield from _over(what, number, bound, "alternatives", asked, name, "anyOf")
    for ask in asks_of(request):
        number, bound = len(ask.get("tolerations") or ()), most.tolerations_per_request
        yield from _over(what, number, bound, "tolerations", asked, name, "tolerations")
        selectors = ask.get("selectors") or ()
        number, bound = len(selectors), most.selectors_per_request
        yield from _over(what, number, bound, "selectors", asked, name)
        yield from _expressions(selectors, most, asked, name)


def _named(
    entry: Mapping[str, Any], what: str, most: Limits, place: Place, *steps: str | int
) -> tuple[_Over, ...]:
    number, bound = len(entry.get("requests") or ()), most.request_names_per_constraint
    return _over(what, number, bound, "request names", place, *steps)


def _expressions(selectors: Any, most: Limits, place: Place, *steps: str) -> Iterator[_Over]:
    for selector in selectors:
        text = (selector.get("cel") or {}).get("expression") or ""
        size, bound = len(text.encode()), most.cel_expression_bytes
        yield from _over("a selector", size, bound, "bytes of CEL", place, *steps)


def _parameters(
    config: Mapping[str, Any], most: Limits, place: Place, *steps: str | int
) -> tuple[_Over, ...]:
    opaque = config.get("opaque") or {}
    size = json_bytes(opaque.get("parameters"))
    what = f"the config for {opaque.get('driver')}"
    return _over(what, size, most.opaque_parameters_bytes, "bytes of JSON", place, *steps)
