"""The audit policy: what is recorded with which detail, by the first rule that fits."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.link.catalog import Catalog
from dracfg.lower.audit import audit_policy


@pytest.fixture
def policy(catalog_of: Any, platform: str) -> dict[str, Any]:
    catalog: Catalog = catalog_of(platform)
    (artifact,) = audit_policy(catalog.clusters["east"])
    assert artifact.file == "audit-policy.yaml"
    return artifact.object


def level(policy: dict[str, Any], verb: str, group: str, resource: str) -> str:
    """What the API server would record (apiserver pkg/audit/policy/checker.go)."""
    for rule in policy["rules"]:
        fits = any(
            one["group"] == group and resource in one["resources"] for one in rule["resources"]
        )
        if fits and verb in rule["verbs"]:
            found: str = rule["level"]
            return found
    return "None"


@pytest.mark.parametrize(
    ("verb", "group", "resource", "wanted"),
    [
        ("create", "resource.k8s.io", "resourceclaims", "RequestResponse"),
        ("update", "resource.k8s.io", "resourceclaims/status", "RequestResponse"),
        ("patch", "resource.k8s.io", "resourceclaims/status", "RequestResponse"),
        ("create", "resource.k8s.io", "resourceclaimtemplates", "RequestResponse"),
        ("delete", "resource.k8s.io", "deviceclasses", "RequestResponse"),
        ("create", "resource.k8s.io", "devicetaintrules", "RequestResponse"),
        ("patch", "", "namespaces", "Request"),
        ("update", "", "namespaces/finalize", "Request"),
        ("update", "", "resourcequotas", "Request"),
        ("delete", "admissionregistration.k8s.io", "validatingadmissionpolicies", "Request"),
        ("create", "", "pods", "Metadata"),
        ("create", "apps", "deployments", "Metadata"),
        ("create", "", "secrets", "Metadata"),
        ("update", "", "configmaps", "Metadata"),
        ("create", "", "serviceaccounts/token", "Metadata"),
        ("create", "authentication.k8s.io", "tokenreviews", "Metadata"),
        ("get", "resource.k8s.io", "resourceclaims", "None"),
        ("list", "", "secrets", "None"),
        ("update", "resource.k8s.io", "resourceslices", "None"),
    ],
)
def test_level(policy: dict[str, Any], verb: str, group: str, resource: str, wanted: str) -> None:
    assert level(policy, verb, group, resource) == wanted


def test_what_can_hold_secrets_is_decided_first(policy: dict[str, Any]) -> None:
    levels = [rule["level"] for rule in policy["rules"]]
    first = next(i for i, name in enumerate(levels) if name != "Metadata")
    assert set(levels[:first]) == {"Metadata"}
    assert "Metadata" not in levels[first:]
    assert policy["omitManagedFields"] is True


@pytest.mark.parametrize("distribution", ["eks", "gke", "aks", "openshift"])
def test_managed_control_planes_take_no_file(
    catalog_of: Any, platform: str, distribution: str
) -> None:
    text = platform.replace("distribution: kubeadm", f"distribution: {distribution}")
    assert audit_policy(catalog_of(text).clusters["east"]) == ()


@pytest.mark.parametrize("distribution", ["kubeadm", "k3s", "kind", "generic"])
def test_others_do(catalog_of: Any, platform: str, distribution: str) -> None:
    text = platform.replace("distribution: kubeadm", f"distribution: {distribution}")
    assert len(audit_policy(catalog_of(text).clusters["east"])) == 1
