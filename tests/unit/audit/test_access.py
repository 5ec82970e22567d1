"""LIV080, LIV081: bindings that let what runs in a tenant's namespace read claims or slices."""

from collections.abc import Callable
from typing import Any

import pytest

Codes = Callable[..., list[str]]
Found = Callable[..., Any]
RBAC = "rbac.authorization.k8s.io/v1"
READS = {"verbs": ["list"], "apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"]}
READS_CLAIMS = {"verbs": ["get"], "apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims"]}
PODS = {"verbs": ["*"], "apiGroups": [""], "resources": ["pods"]}
ACCOUNT = {"kind": "ServiceAccount", "namespace": "vision", "name": "default"}


def bind(world: Any, role: str, subject: dict[str, str], namespace: str | None = None) -> None:
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    place = {"namespace": namespace} if namespace else {}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    world.add(RBAC, kind, f"bind-{role}", metadata=place, subjects=[subject], roleRef=ref)


@pytest.mark.parametrize(
    ("rule", "subject", "namespace", "told"),
    [
        (READS, ACCOUNT, None, True),
        (READS_CLAIMS, ACCOUNT, "vision", True),
        ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, ACCOUNT, "vision", True),
        (READS_CLAIMS, {"kind": "Group", "name": "system:serviceaccounts:vision"}, None, True),
        (READS_CLAIMS, {"kind": "Group", "name": "system:serviceaccounts"}, None, True),
        (READS_CLAIMS, {"kind": "User", "name": "system:serviceaccount:vision:x"}, None, True),
        # Slices have no namespace, so a RoleBinding shows none; people and others' accounts may read.
        (READS, ACCOUNT, "vision", False),
        (READS_CLAIMS, ACCOUNT, "vendor", False),
        (PODS, ACCOUNT, "vision", False),
        (READS, {"kind": "ServiceAccount", "namespace": "monitoring", "name": "x"}, None, False),
        (READS, {"kind": "Group", "name": "platform"}, None, False),
    ],
)
def test_who_reads(
    world: Any, codes: Codes, rule: Any, subject: dict[str, str], namespace: str | None, told: bool
) -> None:
    world.add(RBAC, "ClusterRole", "r", rules=[rule])
    bind(world, "r", subject, namespace)
    assert ("LIV080" in codes(world)) == told


def test_a_shipped_role_that_is_not_recorded(world: Any, found: Found) -> None:
    bind(world, "view", ACCOUNT, "vision")
    finding = found(world, "LIV080").diagnostic
    assert "service account vision/default read resourceclaims by role view" in finding.message


def test_another_role_that_is_not_recorded(world: Any, codes: Codes) -> None:
    bind(world, "custom", ACCOUNT, "vision")
    assert "LIV081" in codes(world)
    assert "LIV080" not in codes(world)


def test_the_role_of_exporters_is_approved(
    world: Any, codes: Codes, changed: Callable[..., Any]
) -> None:
    world.add(RBAC, "ClusterRole", "dracfg-monitoring", rules=[READS])
    bind(world, "dracfg-monitoring", ACCOUNT)
    assert "LIV080" in codes(world)
    access = "  adminAccess: [{namespace: vision, tiers: [big], reason: exporter}]"
    watching = f"metadata: {{name: vision}}\nspec:\n{access}"
    known = changed({"metadata: {name: vision}\nspec:": watching})
    assert "LIV080" not in codes(world, known)
