"""Roles of both sides whose rules grant more than before, or less.

Rules are compared by what they come to: a verb on a resource, or on one object of it by name. Roles that
come or go as a whole are told with what they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.check.places import span_of
from dracfg.check.rule import listed
from dracfg.diff.change import Change, change
from dracfg.diff.pair import Pair, Side
from dracfg.diff.words import few
from dracfg.lower.artifact import Artifact
from dracfg.lower.roles import RBAC_API

_MOST = 5

Place = tuple[str, str, str, str]
"""Unit without the number of its part, kind, namespace and name."""
Grant = tuple[str, str, str, str]
"""API group, resource or URL, object's name or empty, verb."""


def role_changes(pair: Pair) -> Iterator[Change]:
    """Every role that both sides emit, those that operators apply by hand among them."""
    old, new = _roles(pair, pair.base), _roles(pair, pair.head)
    for place in sorted(old.keys() & new.keys()):
        before, after = old[place].object["rules"], new[place].object["rules"]
        if before == after:
            continue
        was, now = frozenset(_grants(before)), frozenset(_grants(after))
        if now - was:
            yield _change(pair, "role-widened", place, new[place], now - was)
        if was - now:
            yield _change(pair, "role-narrowed", place, new[place], was - now)


def _roles(pair: Pair, side: Side) -> Mapping[Place, Artifact]:
    found = {}
    for unit in side.judgement.units:
        if pair.blocked(unit.path):
            continue
        stem, _, number = unit.path.rpartition(".")
        path = stem if number.isdecimal() else unit.path
        for artifact in unit.artifacts:
            thing = artifact.object
            if thing.get("apiVersion") == RBAC_API and thing["kind"] in ("Role", "ClusterRole"):
                metadata = thing["metadata"]
                where = f"{path}/{artifact.file}" if path.startswith("gitops/") else path
                place = where, thing["kind"], metadata.get("namespace", ""), metadata["name"]
                found[place] = artifact
    return found


def _grants(rules: Iterable[Mapping[str, Any]]) -> Iterator[Grant]:
    for rule in rules:
        names = rule.get("resourceNames") or [""]
        for verb in rule["verbs"]:
            yield from (("", url, "", verb) for url in rule.get("nonResourceURLs", ()))
            for group in rule.get("apiGroups", ()):
                for resource in rule.get("resources", ()):
                    yield from ((group, resource, name, verb) for name in names)


def _change(
    pair: Pair, kind: str, place: Place, artifact: Artifact, moved: frozenset[Grant]
) -> Change:
    path, what, namespace, name = place
    by_hand = path.startswith("gitops/")
    origin = artifact.origin
    return change(
        kind,
        f"{what} {name}",
        None if kind == "role-widened" else _words(moved),
        _words(moved) if kind == "role-widened" else None,
        cluster=origin.name if origin.kind == "Cluster" else path.partition("/")[0],
        namespaces=(namespace,) if namespace else (),
        span=span_of(pair.head.judgement.catalog, origin),
        details=(f"stands in {path}, which operators apply",) if by_hand else (),
    )


def _words(grants: frozenset[Grant]) -> str:
    """`get, list pods; create clusterqueues and cohorts (kueue.x-k8s.io); bind clusterroles a and b`."""
    verbs: dict[tuple[str, str], list[str]] = {}
    named: dict[tuple[str, str, str], list[str]] = {}
    for group, resource, name, verb in sorted(grants):
        if name:
            named.setdefault((group, resource, verb), []).append(name)
        else:
            verbs.setdefault((group, resource), []).append(verb)
    alike: dict[tuple[str, str], list[str]] = {}
    for (group, resource), said in verbs.items():
        alike.setdefault((", ".join(said), group), []).append(resource)
    whole = [
        f"{said} {listed(resources)}{f' ({group})' if group else ''}"
        for (said, group), resources in alike.items()
    ]
    single = [
        f"{verb} {resource}{f' ({group})' if group else ''} {few(names, _MOST)}"
        for (group, resource, verb), names in named.items()
    ]
    return "; ".join([*whole, *single])
