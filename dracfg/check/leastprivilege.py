"""TEN050-053: no role that dracfg emits grants more than a reviewer would list by hand.

Judges roles as they are written, wherever they are written. What a holder may never have stands in
data/privileges.yaml. Whatever is found here is a fault of dracfg.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from dracfg.check.places import span_of
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog
from dracfg.lower.access import plural
from dracfg.lower.artifact import Artifact, K8sObject, Unit
from dracfg.lower.roles import (
    APPLIER,
    DRIVER,
    RBAC_GROUP,
    FixedRole,
    Rule,
    applier_verbs,
    driver_role,
    fixed_roles,
)
from dracfg.packaged import read_data

_REPORT = "this is a fault of dracfg; please report it with this document"
_ROLES = ("ClusterRole", "Role")
_BIND = {"verbs": ["bind"], "apiGroups": [RBAC_GROUP], "resources": ["clusterroles"]}


def check_roles(catalog: Catalog, units: Sequence[Unit]) -> tuple[Diagnostic, ...]:
    """Findings on every ClusterRole and Role of all units, snippets included: TEN050-053."""
    found: dict[Diagnostic, None] = {}
    roles = [one for unit in units for one in unit.artifacts if one.object.get("kind") in _ROLES]
    for artifact in roles:
        for code, message in role_faults(artifact.object, _given(artifact, units)):
            place = span_of(catalog, artifact.origin)
            found[diagnose(code, place, message, help=_REPORT)] = None
    return tuple(found)


def role_faults(role: K8sObject, applied: Sequence[K8sObject] = ()) -> Iterator[tuple[str, str]]:
    """(code, message) of each fault of a role.

    `applied` are the objects that the applier writes; only its role depends on them.
    """
    name: str = role["metadata"]["name"]
    rules: list[Rule] = role["rules"]
    yield from _wildcards(name, rules)
    yield from _escalation(name, rules)
    if name == APPLIER:
        yield from _applier(name, rules, applied)
        return
    known = _known(name)
    if known is None or list(known.rules) != rules:
        yield "TEN053", f"the role {name} is not what the fixed list says"
    if known is not None and known.holder in _facts()["limited"]:
        yield from _limiting(name, rules)


def _known(name: str) -> FixedRole | None:
    if name.startswith(DRIVER):
        return driver_role(name.removeprefix(DRIVER))
    return fixed_roles().get(name)


def _given(artifact: Artifact, units: Iterable[Unit]) -> tuple[K8sObject, ...]:
    """What the applier of the artifact's cluster writes; nothing for other roles."""
    if artifact.object["metadata"]["name"] != APPLIER:
        return ()
    return tuple(
        other.object
        for unit in units
        if unit.synced and unit.path.startswith(f"{artifact.origin.name}/")
        for other in unit.artifacts
    )


def _wildcards(name: str, rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    for rule in rules:
        for field in ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"):
            if any("*" in word for word in rule.get(field, ())):
                yield "TEN050", f"the role {name} has a wildcard in {field}"


def _escalation(name: str, rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    for rule in rules:
        for verb in set(rule["verbs"]).intersection(_facts()["escalating"]):
            named = {key: words for key, words in rule.items() if key != "resourceNames"}
            if not (name == APPLIER and named == _BIND and rule.get("resourceNames")):
                yield "TEN051", f"the role {name} may {verb}"


def _limiting(name: str, rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    limiting: Mapping[str, list[str]] = _facts()["limiting"]
    for rule in rules:
        if not set(rule["verbs"]) - {"get", "list", "watch"}:
            continue
        for group in rule["apiGroups"]:
            kept = limiting.get(group, [])
            for resource in rule["resources"]:
                if resource in kept or "*" in kept or resource.endswith("/status"):
                    what = f"{resource}.{group}" if group else resource
                    yield "TEN052", f"the role {name} may write {what}, which limits tenants"


def _applier(
    name: str, rules: Sequence[Rule], applied: Sequence[K8sObject]
) -> Iterator[tuple[str, str]]:
    """It holds the verbs of an applier on what is applied, what the roles among that grant, no more."""
    roles = {
        thing["metadata"]["name"]: thing["rules"] for thing in applied if thing["kind"] in _ROLES
    }
    allowed = {
        (verb, version.rpartition("/")[0], plural(kind))
        for version, kind in {(thing["apiVersion"], thing["kind"]) for thing in applied}
        for verb in applier_verbs()
    }
    for granted in roles.values():
        allowed |= _grants(rule for rule in granted if "resourceNames" not in rule)
    held = _grants(rule for rule in rules if "resourceNames" not in rule)
    for verb, group, resource in sorted(held - allowed):
        yield "TEN053", f"the role {name} may {verb} {resource} of {group or 'core'}, for nothing"
    bound = {
        one for rule in rules if "bind" in rule["verbs"] for one in rule.get("resourceNames", ())
    }
    if bound != roles.keys():
        yield (
            "TEN053",
            f"the role {name} may bind {', '.join(sorted(bound ^ roles.keys()))} wrongly",
        )


def _grants(rules: Iterable[Rule]) -> set[tuple[str, str, str]]:
    return {
        (verb, group, resource)
        for rule in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


@cache
def _facts() -> dict[str, Any]:
    document: dict[str, Any] = read_data("dracfg.check", "data/privileges.yaml")
    return document
