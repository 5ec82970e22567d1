"""Gates and API versions that components are told of."""

from pathlib import Path

import pytest

from dracfg.diff.gates import gate_changes
from tests.unit.diff.pairs import CLUSTERS, DRIVERS, Case, hold
from tests.unit.diff.test_minors import ACCEPTED, BAD_DEVICE, minor_from, minor_to

_KUBEADM = "distribution: kubeadm"
_OFF = "DRADeviceBindingConditions: false"

CASES = (
    Case(
        "a gate is switched off",
        ((CLUSTERS, _KUBEADM, f"{_KUBEADM}\n  featureGates: {{{_OFF}}}"),),
        told=(("gate-flipped", "gate DRADeviceBindingConditions", "on", "off"),),
        says=("beta in Kubernetes 1.36", "restarts kube-apiserver, kube-scheduler"),
        impact="disruptive",
    ),
    Case(
        "a device that is kept back needs gate and version",
        BAD_DEVICE,
        told=(
            ("gate-flipped", "gate DRADeviceTaintRules", "off", "on"),
            ("api-served", "API version resource.k8s.io/v1beta2", "not served", "served"),
        ),
        says=("restarts kube-apiserver",),
    ),
    Case("gates become default", (minor_to("1.35", "1.36"),), (minor_from("1.35"), ACCEPTED)),
    Case(
        "a provider's control plane",
        ((CLUSTERS, "distribution: gke", f"distribution: gke\n  featureGates: {{{_OFF}}}"),),
        ((CLUSTERS, _KUBEADM, "distribution: gke"),),
    ),
    Case("a setting that needs no gate", ((DRIVERS, "version: 0.5.0", "version: 0.4.1"),)),
)
FUNCTIONS = (gate_changes,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gates(case: Case, tmp_path: Path) -> None:
    hold(case, gate_changes(case.pair(tmp_path)))


def test_an_alpha_gate_is_flagged(tmp_path: Path) -> None:
    gate = "DRAListTypeAttributes"
    case = Case(
        "alpha",
        (
            (CLUSTERS, _KUBEADM, f"{_KUBEADM}\n  featureGates: {{{gate}: true}}"),
            (CLUSTERS, "allowAlpha:\n", f"allowAlpha:\n    {gate}: asked for\n"),
        ),
    )
    (found,) = gate_changes(case.pair(tmp_path))
    assert (found.object, found.flags, found.effect) == (f"gate {gate}", ("alpha",), "restart")
