"""What follows from another minor of Kubernetes."""

from dataclasses import replace
from pathlib import Path

import pytest

from dracfg.diff.minors import changes_layout, minor_changes
from dracfg.link.catalog import Cluster
from tests.unit.diff.pairs import CLUSTERS, POOLS, VISION, Case, Edit, hold

_KUBEADM = "distribution: kubeadm"
_ALPHA = "allowAlpha:\n"
ACCEPTED: Edit = (
    CLUSTERS,
    _ALPHA,
    f"{_ALPHA}    DRAConsumableCapacity: asked for\n    DRAPartitionableDevices: asked for\n",
)
ALIKE: Edit = (VISION, "      distinct: [{requests: [nic], by: nic.example.com/subnet}]\n", "")
_SUSPECT = """\
  nodes: 12
  quarantine:
    - driver: gpu.nvidia.com
      pool: a100-east-3
      device: gpu-2
      reason: memory errors
      since: 2026-11-01
"""
BAD_DEVICE: tuple[Edit, ...] = (
    (POOLS, "  nodes: 12\n", _SUSPECT),
    (CLUSTERS, _KUBEADM, f"{_KUBEADM}\n  featureGates: {{DRADeviceTaintRules: true}}"),
)
_ROLLOUT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Rollout
metadata: {name: nics}
spec:
  tier: cx7-400g
  stage: start
  stages: [{name: all, pools: "*", tenants: "*", workloads: any}]
  gates:
    - {name: claims made, promql: sum(scheduler_resourceclaim_creates_total), max: 10}
"""


def minor_from(minor: str) -> Edit:
    return CLUSTERS, '"1.36"', f'"{minor}"'


def minor_to(before: str, after: str) -> Edit:
    return CLUSTERS, f'"{before}"', f'"{after}"'


def _gates(before: str, after: str) -> tuple[str, ...]:
    return "minor-gates", "feature gates in use", f"Kubernetes {before}", f"Kubernetes {after}"


_METRICS = ("metric-names", "metrics of Kubernetes", "Kubernetes 1.36", "Kubernetes 1.37")

CASES = (
    Case(
        "alpha features become beta",
        (minor_to("1.35", "1.36"),),
        (minor_from("1.35"), ACCEPTED),
        told=(_gates("1.35", "1.36"),),
        says=("DRAConsumableCapacity: alpha -> beta, on by default",),
        impact="none",
    ),
    Case(
        "metrics have other names",
        (minor_to("1.36", "1.37"),),
        told=(_gates("1.36", "1.37"), _METRICS),
        says=("scheduler_resourceclaim_creates_total -> dynamic_resource_allocation_",),
        impact="none",
    ),
    Case(
        "partitions are published otherwise",
        (minor_to("1.34", "1.35"),),
        (minor_from("1.34"), ACCEPTED, ALIKE),
        told=(
            (
                "slices-relaid",
                "slices with shared counters on mig-east",
                "counters beside devices",
                "counters in slices of their own",
            ),
            _gates("1.34", "1.35"),
        ),
        says=("delete these slices",),
    ),
    Case(
        "objects are written in another version",
        (minor_to("1.36", "1.37"),),
        BAD_DEVICE,
        told=(
            (
                "api-version",
                "API version of DeviceTaintRule",
                "resource.k8s.io/v1beta2",
                "resource.k8s.io/v1",
            ),
            _gates("1.36", "1.37"),
            _METRICS,
        ),
    ),
    Case("the same minor", ((CLUSTERS, "distribution: kubeadm", "distribution: generic"),)),
)
FUNCTIONS = (minor_changes,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_minors(case: Case, tmp_path: Path) -> None:
    hold(case, minor_changes(case.pair(tmp_path)))


def test_a_gate_of_a_rollout_asks_for_the_old_name(tmp_path: Path) -> None:
    case = Case("asked", CASES[1].after, head={"catalog/rollout.yaml": _ROLLOUT})
    pair = replace(case.pair(tmp_path), blocked=lambda _: False)
    names = [one for one in minor_changes(pair) if one.kind.name == "metric-names"]
    assert [one.impact.word for one in names] == ["restrictive"]
    assert "gates that ask for the old name: nics/claims made" in names[0].details


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("1.34", "1.35", True),
        ("1.35", "1.34", True),
        ("1.34", "1.36", True),
        ("1.35", "1.36", False),
    ],
)
def test_minors_between_which_slices_differ(
    before: str, after: str, changes: bool, tmp_path: Path
) -> None:
    cluster = next(iter(Case("one").pair(tmp_path).head.judgement.catalog.clusters.values()))

    def at(minor: str) -> Cluster:
        spec = cluster.document.spec.model_copy(update={"kubernetes": minor})
        return Cluster("prod-east", cluster.document.model_copy(update={"spec": spec}), ())

    assert changes_layout(at(before), at(after)) is changes
