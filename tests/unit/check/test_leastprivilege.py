"""Roles as they are emitted pass; each way to grant more is found."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.check.leastprivilege import role_faults
from dracfg.lower.roles import (
    APPLIER,
    CLASS_READER,
    MONITORING,
    PR_BOT,
    RBAC_API,
    USE,
    driver_role,
    fixed_roles,
)

CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
}
EVERY_VERB = ["get", "list", "watch", "create", "update", "patch", "delete"]


def role(name: str, rules: list[dict[str, list[str]]]) -> dict[str, Any]:
    return {
        "apiVersion": RBAC_API,
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules,
    }


def rule(verbs: str, group: str, resources: str, **more: list[str]) -> dict[str, list[str]]:
    return {
        "verbs": verbs.split(),
        "apiGroups": [group],
        "resources": resources.split(),
        **more,
    }


def codes(thing: dict[str, Any], *applied: dict[str, Any]) -> list[str]:
    return [code for code, _ in role_faults(thing, applied)]


@pytest.mark.parametrize("name", [*fixed_roles(), "dracfg-driver-gpu.example.org"])
def test_the_fixed_list_passes(name: str) -> None:
    fixed = fixed_roles().get(name) or driver_role(name.removeprefix("dracfg-driver-"))
    assert codes(role(name, list(fixed.rules))) == []


@pytest.mark.parametrize("name", [USE, CLASS_READER, MONITORING, PR_BOT])
@pytest.mark.parametrize(
    ("more", "code"),
    [
        (rule("*", "apps", "deployments"), "TEN050"),
        (rule("get", "*", "pods"), "TEN050"),
        (rule("get", "", "*/status"), "TEN050"),
        (rule("bind", "rbac.authorization.k8s.io", "clusterroles", resourceNames=["a"]), "TEN051"),
        (rule("escalate", "rbac.authorization.k8s.io", "roles"), "TEN051"),
        (rule("impersonate", "", "users"), "TEN051"),
        (rule("create", "resource.k8s.io", "deviceclasses"), "TEN052"),
        (rule("patch", "resource.k8s.io", "resourceslices"), "TEN052"),
        (rule("update", "resource.k8s.io", "resourceclaims/status"), "TEN052"),
        (rule("update", "", "resourcequotas"), "TEN052"),
        (rule("deletecollection", "", "namespaces"), "TEN052"),
        (rule("create", "rbac.authorization.k8s.io", "rolebindings"), "TEN052"),
        (rule("patch", "kueue.x-k8s.io", "localqueues"), "TEN052"),
    ],
)
def test_more_than_the_list_is_found(name: str, more: dict[str, list[str]], code: str) -> None:
    found = codes(role(name, [*fixed_roles()[name].rules, more]))
    assert code in found
    assert "TEN053" in found


def test_a_role_that_nobody_listed_is_found() -> None:
    assert codes(role("dracfg-extra", [rule("get", "", "pods")])) == ["TEN053"]


def test_a_driver_keeps_to_its_own_name() -> None:
    rules = list(driver_role("gpu.example.org").rules)
    assert codes(role("dracfg-driver-nic.example.org", rules)) == ["TEN053"]


def applier(*rules: dict[str, list[str]]) -> dict[str, Any]:
    return role(APPLIER, list(rules))


def test_the_applier_holds_what_it_applies_and_grants_and_no_more() -> None:
    reader = role("reader", [rule("get", "", "pods")])
    written = [
        rule(" ".join(EVERY_VERB), "resource.k8s.io", "deviceclasses"),
        rule(" ".join(EVERY_VERB), "rbac.authorization.k8s.io", "clusterroles"),
        rule("get", "", "pods"),
    ]
    bind = rule("bind", "rbac.authorization.k8s.io", "clusterroles", resourceNames=["reader"])
    assert codes(applier(*written, bind), CLASS, reader) == []
    assert codes(applier(*written, rule("list", "", "pods"), bind), CLASS, reader) == ["TEN053"]
    assert codes(applier(*written), CLASS, reader) == ["TEN053"]
    other = rule("bind", "rbac.authorization.k8s.io", "clusterroles", resourceNames=["admin"])
    assert codes(applier(*written, other), CLASS, reader) == ["TEN053"]
    free = rule("bind", "rbac.authorization.k8s.io", "clusterroles")
    assert "TEN051" in codes(applier(*written, free), CLASS, reader)
    raised = rule("bind escalate", "rbac.authorization.k8s.io", "clusterroles")
    assert codes(applier(*written, raised), CLASS, reader).count("TEN051") == 2
