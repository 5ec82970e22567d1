"""The generated cases as tests for the Kyverno CLI, so that teams can run both on one source.

The CLI knows creations by one user a test, and of Namespaces the name and the labels. So tests are
cut by user, everything else is left out and named, and the exported policies read the annotations
of Namespaces from a literal. Bindings stay behind: with one the CLI does not look at
matchConstraints. Knows no file system.
Source: kyverno/kyverno@111e07bbecc6: cmd/cli/kubectl-kyverno/apis/v1alpha1/*.go,
pkg/admissionpolicy/validate.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.lower.admission.literals import literal
from dracfg.lower.artifact import K8sObject
from dracfg.policytest.admission import Policy
from dracfg.policytest.generated import Case, generated_cases
from dracfg.policytest.requests import NAMESPACE_NAME, Request
from dracfg.policytest.world import World

CLI_API = "cli.kyverno.io/v1alpha1"
ANNOTATIONS = "namespaceObject.metadata.annotations"
README = "README.md"

Content = str | list[K8sObject]
"""Text, or the documents of a YAML file."""


@dataclass(slots=True)
class _Suite:
    """One test of the CLI: cases of one user on one cluster."""

    user: str
    groups: tuple[str, ...]
    resources: list[K8sObject] = field(default_factory=list)
    namespaces: dict[str, K8sObject] = field(default_factory=dict)
    results: list[dict[str, Any]] = field(default_factory=list)
    policies: dict[str, Policy] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def add(self, policy: Policy, case: Case, request: Request) -> None:
        """Adds a case; requests that are alike share their resource."""
        self.policies[policy.name] = policy
        name = self._resource(request)
        result = {
            "policy": policy.name,
            "isValidatingAdmissionPolicy": True,
            "kind": request.kind,
            "resources": [name],
            "result": "pass" if case.expect == "allow" else "fail",
        }
        if result not in self.results:
            self.results.append(result)

    def _resource(self, request: Request) -> str:
        text = json.dumps([request.object, request.namespace], sort_keys=True)
        if text not in self._names:
            name = f"sample-{len(self._names) + 1}"
            self._names[text] = name
            metadata = {**request.subject["metadata"], "name": name}
            if request.namespace is not None:
                metadata["namespace"] = self._namespace(request.namespace)
            self.resources.append({**request.subject, "metadata": metadata})
        return self._names[text]

    def _namespace(self, thing: K8sObject) -> str:
        text = json.dumps(thing, sort_keys=True)
        if text not in self.namespaces:
            self.namespaces[text] = _renamed(thing, f"sample-tenant-{len(self.namespaces) + 1}")
        return str(self.namespaces[text]["metadata"]["name"])


def kyverno_tests(worlds: Iterable[World]) -> Mapping[str, Content]:
    """Relative path → content: a folder for each cluster and user, and a README."""
    files: dict[str, Content] = {}
    left_out: list[str] = []
    for world in worlds:
        suites: dict[tuple[str, ...], _Suite] = {}
        policies = {policy.name: policy for policy in world.policies}
        for case in generated_cases(world):
            policy, request = policies[case.validation.policy], case.request
            reason = _reason(policy, request)
            if reason is not None or request is None:
                left_out.append(f"{world.name}, {case.name}: {reason}")
                continue
            key = (request.user, *request.groups)
            suite = suites.setdefault(key, _Suite(request.user, request.groups))
            suite.add(policy, case, request)
        for number, suite in enumerate(suites.values(), 1):
            folder = f"{world.name}/user-{number}"
            for name, content in _files(f"{world.name}-user-{number}", suite).items():
                files[f"{folder}/{name}"] = content
    files[README] = _readme(left_out)
    return files


def _reason(policy: Policy, request: Request | None) -> str | None:
    """Why the CLI can't run a case; None where it can."""
    if request is None:
        return "no generated request gets this answer"
    if request.operation != "CREATE":
        return f"the CLI sends no {request.operation} to such policies"
    if request.subresource:
        return "the CLI sends no requests for subresources"
    if request.extra:
        return "the CLI knows no extra facts of users"
    text = json.dumps(_exported(policy, {}))
    if ANNOTATIONS in text:
        return "the policy reads annotations of the Namespace in a place of its own"
    if "authorizer" in text:
        return "the CLI has no authorizer"
    return None


def _files(name: str, suite: _Suite) -> dict[str, Content]:
    namespaces = {
        str(thing["metadata"]["name"]): thing["metadata"] for thing in suite.namespaces.values()
    }
    notes = {
        # An entry in every map, as the environment refuses literals of mixed types.
        key: {NAMESPACE_NAME: key, **metadata.get("annotations", {})}
        for key, metadata in namespaces.items()
    }
    test: K8sObject = {
        "apiVersion": CLI_API,
        "kind": "Test",
        "metadata": {"name": name},
        "policies": ["policies.yaml"],
        "resources": ["resources.yaml"],
        "variables": "values.yaml",
        "userinfo": "userinfo.yaml",
        "results": suite.results,
    }
    values: K8sObject = {
        "apiVersion": CLI_API,
        "kind": "Value",
        "metadata": {"name": "values"},
        "namespaceSelector": [
            {"name": key, "labels": dict(metadata["labels"])}
            for key, metadata in namespaces.items()
        ],
    }
    user: K8sObject = {
        "apiVersion": CLI_API,
        "kind": "UserInfo",
        "metadata": {"name": "user"},
        "userInfo": {"username": suite.user, "groups": list(suite.groups)},
    }
    return {
        "kyverno-test.yaml": [test],
        "policies.yaml": [_exported(policy, notes) for policy in suite.policies.values()],
        "resources.yaml": suite.resources,
        "values.yaml": [values],
        "userinfo.yaml": [user],
    }


def _exported(policy: Policy, notes: Mapping[str, Mapping[str, str]]) -> K8sObject:
    """The policy with what it reads from the Namespace's annotations as a literal, by namespace."""
    spec = dict(policy.spec)
    listed = ",\n ".join(f"{literal(name)}: {literal(notes[name])}" for name in sorted(notes))
    lookup = f"{{{listed}}}[namespaceObject.metadata.name]"
    if "variables" in spec:
        spec["variables"] = [
            {**variable, "expression": lookup}
            if variable["name"] == "annotations" and ANNOTATIONS in variable["expression"]
            else variable
            for variable in spec["variables"]
        ]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": policy.name},
        "spec": spec,
    }


def _renamed(thing: K8sObject, name: str) -> K8sObject:
    labels = thing["metadata"].get("labels", {}) | {NAMESPACE_NAME: name}
    return {**thing, "metadata": {**thing["metadata"], "name": name, "labels": labels}}


def _readme(left_out: Iterable[str]) -> str:
    lines = [
        "# Policy tests for the Kyverno CLI",
        "",
        "Written by `dracfg test --export-kyverno`; run them with `kyverno test .` and a release of",
        "the CLI that knows resource.k8s.io/v1. Each folder holds what one user sends to one cluster.",
        "",
        "The CLI shows policies the name and labels of a Namespace, no annotations. The policies here",
        "therefore read those from a literal in their variable `annotations`; all else is as emitted.",
        "Roles, quotas, fields of feature gates that are off, and other API versions are not judged.",
        "`dracfg test` judges them, and compares messages.",
        "",
        "Left out:",
        "",
        *(f"- {line}" for line in left_out),
    ]
    return "\n".join([*lines, ""])
