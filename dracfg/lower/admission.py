"""A cluster → the ValidatingAdmissionPolicies that judge claims and templates, with their bindings.

Two policies whatever the number of tenants: what a namespace may do is read from the annotations
that `rights` writes. The expressions are data; this module builds the objects around them and
knows nothing of tenants, classes or amounts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import Artifact, K8sObject, Origin, make, origin_of
from dracfg.model.cluster import ClusterSpec
from dracfg.packaged import read_data

FILE = "admission-policies.yaml"
ADMISSION_API = "admissionregistration.k8s.io/v1"
CLAIMS = "dracfg-claims"
UNMANAGED = "dracfg-unmanaged-namespaces"

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that the API server sets on every Namespace and holds equal to its name (KEP-2161)."""


def admission(cluster: Cluster) -> tuple[Artifact, ...]:
    """Both policies, each followed by its binding (admissionregistration.k8s.io/v1).

    Codes in the messages: TEN003 class, TEN004 capacity, TEN005 admin access, TEN006 namespace
    without a tenant, TEN007 state of tenant or class. Exempt namespaces are left out by name.

    Every field that the API server would default is written, as Argo CD takes a missing one for
    drift (argo-cd gitops-engine pkg/diff). The reason is always Forbidden: a denial without one is
    a 422, which Flux takes for a change in an immutable field and, under force, answers by deleting
    the object (fluxcd/pkg ssa). Rules name `v1` with `Equivalent`: requests in older served
    versions are converted and judged too.
    """
    spec = cluster.document.spec
    actions = {UNMANAGED: "Warn" if spec.unmanaged_namespaces == "warn" else "Deny", CLAIMS: "Deny"}
    literals = {UNMANAGED: {}, CLAIMS: {"appliers": _appliers(spec)}}
    origin = origin_of(cluster.document)
    via = tuple(_settings(cluster))
    exempt = [namespace.name for namespace in spec.exempt_namespaces]
    objects = (
        thing
        for name in (UNMANAGED, CLAIMS)
        for thing in (
            _policy(name, origin, exempt, literals[name]),
            _binding(name, origin, actions[name]),
        )
    )
    return tuple(Artifact(thing, FILE, origin, via) for thing in objects)


def left_out(namespaces: Iterable[str]) -> dict[str, Any]:
    """A namespace selector for every namespace but these; `{}` selects all."""
    names = sorted(set(namespaces))
    if not names:
        return {}
    return {"matchExpressions": [{"key": NAMESPACE_NAME, "operator": "NotIn", "values": names}]}


def claim_rule() -> dict[str, Any]:
    """The rule for new and changed claims and templates; their status is another resource."""
    return {
        "operations": ["CREATE", "UPDATE"],
        "apiGroups": ["resource.k8s.io"],
        "apiVersions": ["v1"],
        "resources": ["resourceclaims", "resourceclaimtemplates"],
        "scope": "*",
    }


def _policy(
    name: str, origin: Origin, exempt: Iterable[str], literals: dict[str, list[str]]
) -> K8sObject:
    text = _expressions()
    own = text["policies"][name]
    values = [
        {"name": variable, "expression": json.dumps(value)} for variable, value in literals.items()
    ]
    body = {
        "matchConstraints": {
            "namespaceSelector": left_out(exempt),
            "objectSelector": {},
            "resourceRules": [claim_rule()],
            "matchPolicy": "Equivalent",
        },
        "validations": [
            {
                "expression": rule["expression"],
                "message": rule["message"],
                "reason": "Forbidden",
                "messageExpression": rule["says"],
            }
            for rule in own["rules"]
        ],
        "failurePolicy": "Fail",
        "matchConditions": text["conditions"],
        "variables": [*text["shared"], *values, *own.get("variables", ())],
    }
    return make(ADMISSION_API, "ValidatingAdmissionPolicy", name, origin, {"spec": body})


def _binding(name: str, origin: Origin, action: str) -> K8sObject:
    body = {"policyName": name, "validationActions": [action]}
    return make(ADMISSION_API, "ValidatingAdmissionPolicyBinding", name, origin, {"spec": body})


def _appliers(spec: ClusterSpec) -> list[str]:
    """User names of those who write templates, as the API server knows service accounts."""
    if spec.gitops.applier is None:
        return []
    account = spec.gitops.applier.service_account
    return [f"system:serviceaccount:{account.namespace}:{account.name}"]


def _settings(cluster: Cluster) -> Iterator[Origin]:
    """The places in the Cluster document that the policies' content depends on."""
    spec = cluster.document.spec
    if spec.gitops.applier is not None:
        yield origin_of(cluster.document, "spec", "gitops", "applier")
    if spec.exempt_namespaces:
        yield origin_of(cluster.document, "spec", "exemptNamespaces")
    if spec.unmanaged_namespaces == "warn":
        yield origin_of(cluster.document, "spec", "unmanagedNamespaces")


@cache
def _expressions() -> dict[str, Any]:
    document: dict[str, Any] = read_data("dracfg.lower", "data/admission.yaml")
    return document
