"""RoleBindings → who may use a tenant's devices and who may look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import yaml

from dracfg.diagnostics import Diagnostic
from tests.unit.draft.conftest import deployment, files
from tests.unit.draft.test_needs import groups

ENGINEERS = {"kind": "Group", "name": "ml-eng"}


def binding(
    role: str, *subjects: Mapping[str, str], namespace: str = "team", kind: str = "ClusterRole"
) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": f"{role}s", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": list(subjects),
    }


def tenant(*bindings: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The access of the drafted tenant, and the page of decisions."""
    asks = [deployment("d", {"nvidia.com/gpu": 1}, namespace=name) for name in ("team", "other")]
    written = files(*groups(), *asks, *bindings)
    return yaml.safe_load(written["tenants/team.yaml"])["spec"]["access"], written["DECISIONS.md"]


@pytest.mark.parametrize(
    ("bindings", "access"),
    [
        ((), {}),
        ((binding("edit", ENGINEERS),), {"use": [{"group": "ml-eng"}]}),
        ((binding("admin", {"kind": "User", "name": "ann@x"}),), {"use": [{"user": "ann@x"}]}),
        ((binding("view", ENGINEERS),), {"view": [{"group": "ml-eng"}]}),
        (
            (binding("view", ENGINEERS), binding("edit", ENGINEERS)),
            {"use": [{"group": "ml-eng"}]},
        ),
        (
            (binding("edit", {"kind": "ServiceAccount", "name": "ci"}),),
            {"use": [{"serviceAccount": {"namespace": "team", "name": "ci"}}]},
        ),
        ((binding("edit", {"kind": "Group", "name": "system:authenticated"}),), {}),
        ((binding("edit", ENGINEERS, kind="Role"),), {}),
        ((binding("gpu-user", ENGINEERS),), {}),
        ((binding("edit", ENGINEERS, namespace="elsewhere"),), {}),
    ],
)
def test_access(bindings: tuple[dict[str, Any], ...], access: dict[str, Any]) -> None:
    assert tenant(*bindings)[0] == access


def test_a_role_of_own_making_is_a_question() -> None:
    _, page = tenant(binding("gpu-user", ENGINEERS))
    assert "whether ClusterRole gpu-user lets people run work in team" in page


def test_namespaces_of_one_group_may_be_one_tenant() -> None:
    _, page = tenant(binding("edit", ENGINEERS), binding("admin", ENGINEERS, namespace="other"))
    assert "groups that may run work in it may do so in other as well" in page


def test_it_passes(errors_in: Callable[[Mapping[str, str]], list[Diagnostic]]) -> None:
    written = files(
        *groups(),
        deployment("d", {"nvidia.com/gpu": 1}),
        binding("edit", ENGINEERS, {"kind": "User", "name": "ann@example.com"}),
        binding("view", {"kind": "ServiceAccount", "name": "ci", "namespace": "tools"}),
    )
    assert errors_in(written) == []
