"""Origins → places in the repository: where a finding about an emitted object points.

Knows the catalog's documents and no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter

from dracfg.diagnostics import Span
from dracfg.link.catalog import Catalog, Cluster, Policy, Pool, Tenant, Tier
from dracfg.link.driver import Driver
from dracfg.lower.artifact import Origin, origin_of
from dracfg.model import kinds
from dracfg.model.base import Spec
from dracfg.model.tenant import Profile
from dracfg.source import Map, Node, Scalar, Seq, follow

_Linked = Cluster | Driver | Policy | Pool | Tenant | Tier
_LINKED: Mapping[str, Callable[[Catalog], Mapping[str, _Linked]]] = {
    "Cluster": attrgetter("clusters"),
    "Driver": attrgetter("drivers"),
    "HardwareTier": attrgetter("tiers"),
    "NodePool": attrgetter("pools"),
    "SharingPolicy": attrgetter("policies"),
    "Tenant": attrgetter("tenants"),
}


def document_of(catalog: Catalog, kind: str, name: str) -> kinds.AnyDocument | None:
    """The linked document of that kind and name; None for one that is not part of the catalog."""
    if kind == "Rollout":
        return catalog.rollouts.get(name)
    of_kind = _LINKED.get(kind)
    linked = None if of_kind is None else of_kind(catalog).get(name)
    return None if linked is None else linked.document


def span_of(catalog: Catalog, origin: Origin) -> Span:
    """The place of what an object comes from.

    A scalar's own place. A map is shown at its name, else at its first key; a document or its
    spec at the document's name. The start of the file where the catalog has no such document.
    """
    document = document_of(catalog, origin.kind, origin.name)
    return Span(origin.path) if document is None else place(document, *origin.pointer)


def place(spec: Spec, *steps: str | int) -> Span:
    """Like `at`, but a map or a list is shown at one word rather than over all its lines."""
    steps = _existing(spec.read_from, steps)
    if isinstance(spec, kinds.AnyDocument) and steps in ((), ("spec",)):
        steps = ("metadata", "name")
    node, _ = follow(spec.read_from, steps)
    return _word(node)


def key_place(spec: Spec, *steps: str | int) -> Span:
    """The place of the key that the last step names, else that of the nearest thing that holds it."""
    _, key = follow(spec.read_from, steps)
    is_there = key is not None and _existing(spec.read_from, steps) == steps
    return key.span if key is not None and is_there else place(spec, *steps)


def profile_of(catalog: Catalog, origin: Origin) -> tuple[Origin, Profile] | None:
    """The profile that a template or a shared claim is made from, with its own origin."""
    document = document_of(catalog, origin.kind, origin.name)
    if not isinstance(document, kinds.Tenant):
        return None
    match origin.pointer:
        case ("spec", "profiles", int(i)):
            return origin, document.spec.profiles[i]
        case ("spec", "sharedClaims", int(i)):
            wanted = document.spec.shared_claims[i].profile
            for j, profile in enumerate(document.spec.profiles):
                if profile.name == wanted:
                    return origin_of(document, "spec", "profiles", j), profile
    return None


def request_origin(origin: Origin, profile: Profile, request: str) -> Origin:
    """The profile's request that a request of its claim comes from: itself, or one of its pairs."""
    for i, written in enumerate(profile.requests):
        stem, _, number = request.rpartition("-")
        if request == written.name or (stem == written.name and number.isdigit()):
            return origin.at("requests", i)
    return origin


def distinct_spans(
    catalog: Catalog, origins: Iterable[Origin], at_most: int
) -> Iterator[tuple[Origin, Span]]:
    """The first few places among the origins, each once."""
    seen: set[Span] = set()
    for origin in origins:
        span = span_of(catalog, origin)
        if span not in seen:
            seen.add(span)
            yield origin, span
        if len(seen) == at_most:
            return


def _existing(node: Node, steps: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """As much of the path as stands in the file."""
    for i, step in enumerate(steps):
        below, _ = follow(node, (step,))
        if below is node:
            return steps[:i]
        node = below
    return steps


def _word(node: Node) -> Span:
    if isinstance(node, Map) and node.entries:
        name = node.entries.get("name")
        if name is not None and isinstance(name.value, Scalar):
            return name.value.span
        return next(iter(node.entries.values())).key.span
    if isinstance(node, Seq) and node.items:
        return _word(node.items[0])
    return node.span
