"""Gate plans in the form that each distribution reads."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.emit.yaml import dump
from dracfg.kube.distributions import distributions
from dracfg.kube.features import to_write
from dracfg.lower.controlplane import WRITERS, control_plane
from dracfg.lower.gates import GatePlan

CLUSTER = """
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {{name: east}}
spec: {{kubernetes: "1.35", distribution: {}, gitops: {{engine: plain}}}}
"""
WANTED = {"DRAConsumableCapacity": True, "DRASchedulerFilterTimeout": False}


def plan(wanted: dict[str, bool], runtime_config: tuple[str, ...] = ()) -> GatePlan:
    return GatePlan("1.35", (), (), wanted, to_write(wanted, "1.35"), runtime_config)


def written(catalog_of: Any, distribution: str, made: GatePlan) -> dict[str, Any]:
    unit = control_plane(catalog_of(CLUSTER.format(distribution)).clusters["east"], made)
    assert unit is not None
    assert (unit.path, unit.synced) == ("east/control-plane", False)
    (artifact,) = unit.artifacts
    return {artifact.file: artifact.object}


APIS = ("resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta2")
FULL = plan(WANTED, APIS)
SERVED = "resource.k8s.io/v1alpha3=true,resource.k8s.io/v1beta2=true"
BOTH = "DRAConsumableCapacity=true,DRASchedulerFilterTimeout=false"


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        (
            "kubeadm",
            {
                "kubeadm.yaml": {
                    "apiVersion": "kubeadm.k8s.io/v1beta4",
                    "kind": "ClusterConfiguration",
                    "apiServer": {
                        "extraArgs": [
                            {"name": "feature-gates", "value": "DRAConsumableCapacity=true"},
                            {"name": "runtime-config", "value": SERVED},
                        ]
                    },
                    "scheduler": {"extraArgs": [{"name": "feature-gates", "value": BOTH}]},
                }
            },
        ),
        (
            "k3s",
            {
                "config.yaml": {
                    "kube-apiserver-arg": [
                        "feature-gates=DRAConsumableCapacity=true",
                        f"runtime-config={SERVED}",
                    ],
                    "kube-scheduler-arg": [f"feature-gates={BOTH}"],
                    "kubelet-arg": ["feature-gates=DRAConsumableCapacity=true"],
                }
            },
        ),
        (
            "kind",
            {
                "kind.yaml": {
                    "apiVersion": "kind.x-k8s.io/v1alpha4",
                    "kind": "Cluster",
                    "featureGates": WANTED,
                    "runtimeConfig": dict.fromkeys(APIS, "true"),
                }
            },
        ),
        (
            "generic",
            {
                "flags.yaml": {
                    "kube-apiserver": [
                        "--feature-gates=DRAConsumableCapacity=true",
                        f"--runtime-config={SERVED}",
                    ],
                    "kube-scheduler": [f"--feature-gates={BOTH}"],
                    "kubelet": ["--feature-gates=DRAConsumableCapacity=true"],
                }
            },
        ),
    ],
)
def test_form(catalog_of: Any, distribution: str, expected: dict[str, Any]) -> None:
    found = written(catalog_of, distribution, FULL)
    assert found == expected
    assert [dump(content) for content in found.values()]


def test_every_distribution_that_sets_gates_has_a_form() -> None:
    assert set(WRITERS) == {name for name, it in distributions().items() if it.sets_gates}


@pytest.mark.parametrize("distribution", ["eks", "gke", "aks", "openshift"])
def test_managed_control_planes_have_no_folder(catalog_of: Any, distribution: str) -> None:
    assert control_plane(catalog_of(CLUSTER.format(distribution)).clusters["east"], FULL) is None


@pytest.mark.parametrize("distribution", sorted(WRITERS))
def test_defaults_have_no_folder(catalog_of: Any, distribution: str) -> None:
    cluster = catalog_of(CLUSTER.format(distribution)).clusters["east"]
    assert control_plane(cluster, plan({"DRAAdminAccess": True})) is None


def test_kubelet_gates_alone_leave_kubeadm_without_a_folder(catalog_of: Any) -> None:
    made = GatePlan("1.35", (), (), {}, {"kubelet": {"DRAConsumableCapacity": True}}, ())
    assert control_plane(catalog_of(CLUSTER.format("kubeadm")).clusters["east"], made) is None


@pytest.mark.parametrize("distribution", sorted(WRITERS))
def test_api_versions_alone_are_written(catalog_of: Any, distribution: str) -> None:
    (content,) = written(catalog_of, distribution, plan({}, APIS[:1])).values()
    text = dump(content)
    assert "resource.k8s.io/v1alpha3" in text
    assert "eature" not in text
