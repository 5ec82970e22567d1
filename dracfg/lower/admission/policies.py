"""data/admission*.yaml → ValidatingAdmissionPolicies with their bindings.

The expressions are data; this module builds the objects around them and puts what the cluster's
documents say in their places. It knows nothing of tenants and of what an expression tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from string import Template
from typing import Any

from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import ClassPlan
from dracfg.lower.access import plural
from dracfg.lower.admission.facts import expressions, facts, rule_versions
from dracfg.lower.admission.literals import literal
from dracfg.lower.artifact import MANAGED_BY, Artifact, K8sObject, Origin, origin_of
from dracfg.lower.sync import make_synced, treatments
from dracfg.model.cluster import NodeGuards
from dracfg.packaged import read_data

FILE = "admission-policies.yaml"
ADMISSION_GROUP = "admissionregistration.k8s.io"
ADMISSION_API = f"{ADMISSION_GROUP}/v1"
SYSTEM_NAMESPACE = "kube-system"

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that the API server sets on every Namespace and holds equal to its name (KEP-2161)."""

DATA = ("claims", "own-claims", "workloads", "objects", "reclaim", "drivers")
"""The data files, data/admission-<name>.yaml, in the order of the output."""


def admission(
    catalog: Catalog, cluster: Cluster, classes: Iterable[ClassPlan]
) -> tuple[Artifact, ...]:
    """Every policy of the cluster, each followed by its binding (admissionregistration.k8s.io/v1).

    Policies about held nodes and about drivers are left out where the catalog holds nothing or names
    no driver's identity. Namespaces that the Cluster exempts are left out by name; kube-system is
    where a policy judges pods, as a mistake there could keep the control plane from starting, and
    who may write there may do anything.

    Every field that the API server would default is written, as Argo CD takes a missing one for
    drift (argo-cd gitops-engine pkg/diff). The reason is always Forbidden: a denial without one is
    a 422, which Flux takes for a change in an immutable field and, under force, answers by deleting
    the object (fluxcd/pkg ssa). Rules name `v1` with `Equivalent`: requests in older served
    versions are converted and judged too. An expression that can't be evaluated refuses.
    """
    known = facts(catalog, cluster, classes)
    texts = expressions(cluster, known)
    origin = origin_of(cluster.document)
    via = tuple(dict.fromkeys(_settings(cluster)))
    return tuple(
        Artifact(thing, FILE, origin, via)
        for name, data in _policies().items()
        if "where" not in data or known[data["where"]]
        for thing in (
            _policy(name, data, cluster, origin, texts),
            _binding(name, data, cluster, origin),
        )
    )


def left_out(namespaces: Iterable[str]) -> dict[str, Any]:
    """A namespace selector for every namespace but these; `{}` selects all."""
    names = sorted(set(namespaces))
    if not names:
        return {}
    return {"matchExpressions": [{"key": NAMESPACE_NAME, "operator": "NotIn", "values": names}]}


def claim_rule() -> dict[str, Any]:
    """The rule for new and changed claims and templates; their status is another resource."""
    return _rule(
        {
            "operations": ["CREATE", "UPDATE"],
            "group": "resource.k8s.io",
            "resources": ["resourceclaims", "resourceclaimtemplates"],
        }
    )


def _policy(
    name: str, data: Mapping[str, Any], cluster: Cluster, origin: Origin, texts: Mapping[str, str]
) -> K8sObject:
    contact = cluster.document.spec.contact
    ending = "" if contact is None else f"; ask {contact}"
    said = "" if contact is None else f" + {literal(ending)}"
    body = {
        "matchConstraints": {
            "namespaceSelector": left_out(_exempt(cluster, data)),
            "objectSelector": {"matchLabels": {MANAGED_BY: "dracfg"}} if data.get("ours") else {},
            "resourceRules": list(_rules(data, cluster)),
            "matchPolicy": "Equivalent",
        },
        "validations": [
            {
                "expression": _filled(rule["expression"], texts),
                "message": rule["message"] + ending,
                "reason": "Forbidden",
                "messageExpression": rule["says"] + said,
            }
            for rule in data["rules"]
        ],
        "failurePolicy": "Fail",
    }
    conditions = [_named(condition, texts) for condition in data.get("conditions", ())]
    if conditions:
        body["matchConditions"] = conditions
    fragments = _document("fragments")["fragments"]
    variables = [
        _named(variable, texts)
        for source in (
            *(fragments[name] for name in data.get("uses", ())),
            data.get("variables", ()),
        )
        for variable in source
    ]
    if variables:
        body["variables"] = variables
    kind = "ValidatingAdmissionPolicy"
    return make_synced(cluster, ADMISSION_API, kind, name, origin, {"spec": body})


def _binding(name: str, data: Mapping[str, Any], cluster: Cluster, origin: Origin) -> K8sObject:
    body = {"policyName": name, "validationActions": [_action(cluster, data)]}
    kind = "ValidatingAdmissionPolicyBinding"
    return make_synced(cluster, ADMISSION_API, kind, name, origin, {"spec": body})


def _action(cluster: Cluster, data: Mapping[str, Any]) -> str:
    warns = data.get("unmanaged") and cluster.document.spec.unmanaged_namespaces == "warn"
    return "Warn" if warns else "Deny"


def _exempt(cluster: Cluster, data: Mapping[str, Any]) -> list[str]:
    """The namespaces that a policy leaves out; cluster-wide ones leave out none."""
    exempt = [namespace.name for namespace in cluster.document.spec.exempt_namespaces]
    match data.get("leavesOut"):
        case "exempt":
            return exempt
        case "exempt and kube-system":
            return [*exempt, SYSTEM_NAMESPACE]
        case _:
            return []


def _rules(data: Mapping[str, Any], cluster: Cluster) -> Iterator[dict[str, Any]]:
    for entry in data.get("judges", ()):
        versions = ["v1"]
        if "kind" in entry:
            versions = rule_versions(entry["group"], entry["kind"], cluster.minor)
        yield _rule(entry, versions)
    if data.get("podTemplates"):
        for kind in cluster.document.spec.pod_template_kinds:
            yield _rule(
                {
                    "operations": ["CREATE", "UPDATE"],
                    "group": kind.api_group,
                    "resources": [kind.resource],
                },
                kind.versions,
            )
    if data.get("ours"):
        yield from _emitted_kinds(cluster)


def _emitted_kinds(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Kinds that dracfg applies, but for policies and webhooks, which no policy can match.

    Kinds of addons are there in any version, and only where the addon is.
    """
    addons = cluster.document.spec.addons
    present = {
        "kueue.x-k8s.io": addons.kueue is not None,
        "monitoring.coreos.com": addons.prometheus_operator,
    }
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for group, kind in treatments():
        if group == ADMISSION_GROUP or not present.get(group, True):
            continue
        versions = ["*"] if group in present else rule_versions(group, kind, cluster.minor)
        found.setdefault((group, tuple(versions)), []).append(plural(kind))
    for (group, named), resources in sorted(found.items()):
        entry = {
            "operations": ["CREATE", "UPDATE", "DELETE"],
            "group": group,
            "resources": sorted(resources),
        }
        yield _rule(entry, named)


def _rule(entry: Mapping[str, Any], versions: Iterable[str] = ("v1",)) -> dict[str, Any]:
    return {
        "operations": list(entry["operations"]),
        "apiGroups": [entry["group"]],
        "apiVersions": list(versions),
        "resources": list(entry["resources"]),
        "scope": "*",
    }


def _named(entry: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str]:
    return {"name": entry["name"], "expression": _filled(entry["expression"], texts)}


def _filled(expression: str, texts: Mapping[str, str]) -> str:
    return Template(expression).substitute(texts)


def _settings(cluster: Cluster) -> Iterator[Origin]:
    """The places that the policies' content depends on: settings of the Cluster, then the catalog."""
    spec = cluster.document.spec
    if spec.gitops.applier is not None:
        yield origin_of(cluster.document, "spec", "gitops", "applier")
    said = {
        "exemptNamespaces": spec.exempt_namespaces,
        "unmanagedNamespaces": spec.unmanaged_namespaces == "warn",
        "podTemplateKinds": spec.pod_template_kinds,
        "nodeGuards": spec.node_guards != NodeGuards.model_construct(),
        "contact": spec.contact,
    }
    for key, value in said.items():
        if value:
            yield origin_of(cluster.document, "spec", key)
    for pool, devices in cluster.offers():
        yield origin_of(pool.document, "spec")
        yield origin_of(devices.tier.document, "spec")
        yield origin_of(devices.tier.driver.document, "spec")
        for policy in devices.policies:
            if policy.document is not None:
                yield origin_of(policy.document, "spec")


@cache
def packaged_expressions() -> frozenset[str]:
    """The expressions of the data files, with the `${names}` that stand for a cluster's facts."""
    fragments = _document("fragments")["fragments"].values()
    texts = {variable["expression"] for fragment in fragments for variable in fragment}
    for policy in _policies().values():
        named = (*policy.get("conditions", ()), *policy.get("variables", ()), *policy["rules"])
        texts |= {entry["expression"] for entry in named}
        texts |= {rule["says"] for rule in policy["rules"]}
    return frozenset(texts)


@cache
def _policies() -> Mapping[str, Mapping[str, Any]]:
    return {name: policy for data in DATA for name, policy in _document(data)["policies"].items()}


@cache
def _document(name: str) -> Mapping[str, Any]:
    document: Mapping[str, Any] = read_data("dracfg.lower", f"data/admission-{name}.yaml")
    return document
