"""What tenants are told while a rollout moves their tier: which stage, and the path until then."""

from __future__ import annotations

from typing import Any

import pytest

LEGACY = "example.org/gpu"

POOLS = """
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: more}
spec:
  cluster: east
  nodes: 4
  nodeSelector: {pool: more}
  devices: [{tier: a100, perNode: 8}]
  owner: {gpu.example.org: devicePlugin}
"""

ROLLOUT = """
apiVersion: dracfg.dev/v1alpha1
kind: Rollout
metadata: {name: to-claims}
spec:
  tier: a100
  stage: STAGE
  stages:
    - {name: canary, pools: [training], tenants: [], workloads: retryable}
    - {name: shared, pools: [training], tenants: [TENANTS], workloads: retryable}
    - {name: all, pools: [training, more], tenants: [TENANTS], workloads: retryable}
"""

CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "mine", "namespace": "here"},
    "spec": {
        "devices": {
            "requests": [
                {
                    "name": "gpu",
                    "exactly": {
                        "deviceClassName": "a100",
                        "allocationMode": "ExactCount",
                        "count": 1,
                    },
                }
            ]
        }
    },
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "here"},
    "spec": {"containers": [{"name": "main", "resources": {"limits": {LEGACY: "1"}}}]},
}


@pytest.fixture
def told(catalog_of: Any, policies_of: Any, rights_of: Any, platform: str, vision: str) -> Any:
    """(stage and so on, what is asked for) → what vision is told by the policy over it."""

    def tell(where: str, made: dict[str, Any], tenants: str = "vision") -> list[str]:
        moving = platform.replace(
            "match: {attributes: {model: A100}}",
            f"match: {{attributes: {{model: A100}}}}\n  legacyResource: {LEGACY}",
        ).replace(
            "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: dra}",
            "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: devicePlugin}",
        )
        rollout = ROLLOUT.replace("STAGE", where).replace("TENANTS", tenants)
        catalog = catalog_of(moving, POOLS, rollout, vision)
        policy = {"ResourceClaim": "dracfg-claims", "Pod": "dracfg-workloads"}[made["kind"]]
        found: list[str] = policies_of(catalog).denials(made, rights_of(catalog), policy=policy)
        return found

    return tell


@pytest.mark.parametrize(
    ("where", "ending"),
    [
        ("start", "comes with stage shared of rollout to-claims"),
        ("start\n  phase: fenced", "comes with stage shared of rollout to-claims"),
        ("canary", "comes with stage shared of rollout to-claims"),
        ("canary\n  direction: halted", "comes with stage shared of rollout to-claims"),
        ("canary\n  direction: rollback", "is taken back by rollout to-claims"),
        ("shared\n  direction: rollback", "is taken back by rollout to-claims"),
    ],
)
def test_a_class_that_has_not_come(told: Any, where: str, ending: str) -> None:
    (message,) = told(where, CLAIM)
    assert message.startswith("TEN003: tenant vision is not entitled to a100; it may use ")
    assert message.endswith(f"; a100 {ending}, ask for {LEGACY} meanwhile")
    assert told(where, POD) == []


@pytest.mark.parametrize("where", ["canary\n  phase: fenced", "shared", "all"])
def test_a_class_that_has_come(told: Any, where: str) -> None:
    assert told(where, CLAIM) == []


def test_a_tenant_without_a_stage(told: Any) -> None:
    (message,) = told("shared", CLAIM, tenants="")
    assert message.endswith(
        f"; a100 comes with no stage of rollout to-claims, ask for {LEGACY} meanwhile"
    )


def test_a_plugin_that_has_gone(told: Any) -> None:
    assert told("shared", POD) == []
    (message,) = told("all", POD)
    assert message.startswith(f"TEN030: tenant vision asks for {LEGACY}=1")
    assert f"no device plugin; devices of {LEGACY} have moved to claims, name template/" in message


def test_another_class_is_refused_as_ever(told: Any) -> None:
    asked = {"deviceClassName": "h100", "allocationMode": "ExactCount", "count": 1}
    made = {**CLAIM, "spec": {"devices": {"requests": [{"name": "gpu", "exactly": asked}]}}}
    (message,) = told("canary", made)
    assert message.startswith("TEN003")
    assert "rollout" not in message
