"""Which requests a policy or binding is about: resource rules, versions, and selectors.

Source: kubernetes/apiserver@v0.34.2:pkg/admission/plugin/policy/matching/matching.go,
pkg/admission/plugin/webhook/predicates/{rules,namespace,object}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dracfg.lower.artifact import K8sObject
from dracfg.policytest.requests import Request
from dracfg.policytest.versions import equivalents

Matching = Mapping[str, Any]
"""MatchResources of admissionregistration.k8s.io/v1."""

_EXEMPT_GROUP = "admissionregistration.k8s.io"
_EXEMPT = ("validatingadmissionpolicies", "mutatingadmissionpolicies")
_EXEMPT_BINDINGS = ("validatingadmissionpolicybindings", "mutatingadmissionpolicybindings")
_WEBHOOKS = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")


def matched_version(matching: Matching, request: Request, minor: str) -> str | None:
    """The version in which the policy sees the object; None where it does not see the request.

    A policy with `matchPolicy: Equivalent` sees a request in any served version of its resource,
    in the version that its rule names.
    """
    if request.group == _EXEMPT_GROUP and request.resource in (
        *_EXEMPT,
        *_EXEMPT_BINDINGS,
        *_WEBHOOKS,
    ):
        return None
    if not _selects_namespace(matching.get("namespaceSelector") or {}, request):
        return None
    if not _selects_object(matching.get("objectSelector") or {}, request):
        return None
    versions = [request.version]
    if matching.get("matchPolicy", "Equivalent") == "Equivalent":
        versions += equivalents(request.group, request.version, request.kind, minor)
    if any(
        _is_ruled(rule, request, version)
        for rule in matching.get("excludeResourceRules") or ()
        for version in versions
    ):
        return None
    rules = matching.get("resourceRules")
    if not rules:
        return request.version
    return next(
        (version for version in versions if any(_is_ruled(r, request, version) for r in rules)),
        None,
    )


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector takes these labels; an empty one takes all."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets(term, labels) for term in selector.get("matchExpressions") or ())


def _meets(term: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = term["key"], term.get("values") or ()
    match term["operator"]:
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels


def _selects_namespace(selector: Mapping[str, Any], request: Request) -> bool:
    """A Namespace is judged by its own labels; what lies in no namespace is always taken."""
    if not selector:
        return True
    holder = request.subject if request.is_namespace else request.namespace
    return holder is None or selects(selector, _labels(holder))


def _selects_object(selector: Mapping[str, Any], request: Request) -> bool:
    """One of the two objects of an update is enough, so that taking labels off is seen as well."""
    if not selector:
        return True
    things = [thing for thing in (request.object, request.old) if thing is not None]
    return any(selects(selector, _labels(thing)) for thing in things)


def _labels(thing: K8sObject) -> Mapping[str, str]:
    labels: Mapping[str, str] = thing.get("metadata", {}).get("labels") or {}
    return labels


def _is_ruled(rule: Mapping[str, Any], request: Request, version: str) -> bool:
    names = rule.get("resourceNames") or ()
    return (
        _has(rule["operations"], request.operation)
        and _has(rule["apiGroups"], request.group)
        and _has(rule["apiVersions"], version)
        and any(_is_resource(pattern, request) for pattern in rule["resources"])
        and _has_scope(rule.get("scope", "*"), request)
        and (not names or request.name in names)
    )


def _has(words: Any, word: str) -> bool:
    return "*" in words or word in words


def _is_resource(pattern: str, request: Request) -> bool:
    """`pods` is the resource without subresources, `pods/*` and `*/status` take those in."""
    resource, _, subresource = pattern.partition("/")
    return resource in ("*", request.resource) and (
        subresource == request.subresource or (subresource == "*")
    )


def _has_scope(scope: str, request: Request) -> bool:
    """A Namespace counts as an object of the cluster."""
    cluster = request.namespace is None
    return scope == "*" or (scope == "Cluster") == cluster
