"""Gates and API versions: the data against facts read in Kubernetes sources, and the questions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dracfg.kube.features import closure, contradictions, feature_matrix, to_write

MINORS = ("1.34", "1.35", "1.36", "1.37")
COMPONENTS = {"kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubelet"}

# kubernetes/kubernetes:test/compatibility_lifecycle/reference/versioned_feature_list.yaml
STATES = [
    ("DynamicResourceAllocation", "1.34", "ga", True, False),
    ("DynamicResourceAllocation", "1.35", "ga", True, True),
    ("DRAAdminAccess", "1.35", "beta", True, False),
    ("DRAAdminAccess", "1.36", "ga", True, True),
    ("DRAPrioritizedList", "1.36", "ga", True, False),
    ("DRAConsumableCapacity", "1.35", "alpha", False, False),
    ("DRAConsumableCapacity", "1.36", "beta", True, False),
    ("DRADeviceTaintRules", "1.34", "absent", None, None),
    ("DRADeviceTaintRules", "1.36", "beta", False, False),
    ("DRADeviceTaintRules", "1.37", "ga", True, False),
    ("DRAExtendedResource", "1.34", "alpha", False, False),
    ("DRAExtendedResource", "1.37", "ga", True, True),
    ("DRAFractionalCapacityRange", "1.37", "beta", False, False),
    ("DRADerivedAttributes", "1.36", "absent", None, None),
    ("MutatingAdmissionPolicy", "1.35", "beta", False, False),
]


@pytest.mark.parametrize(("name", "minor", "stage", "default", "locked"), STATES)
def test_state(
    name: str, minor: str, stage: str, default: bool | None, locked: bool | None
) -> None:
    gate = feature_matrix().gate(name)
    assert gate is not None
    state = gate.at(minor)
    assert (state.stage, state.default, state.locked) == (stage, default, locked)


def test_every_gate_is_whole() -> None:
    matrix = feature_matrix()
    assert matrix.minors == MINORS
    assert len(matrix.gates) == 34
    for name, gate in matrix.gates.items():
        assert gate.name == name
        assert set(gate.states) == set(MINORS)
        assert gate.components
        assert set(gate.components) <= COMPONENTS
        assert set(gate.requires) | set(gate.soft_requires) <= set(matrix.gates)
        assert set(gate.runtime_configs) <= set(MINORS)
        for minor in MINORS:
            state = gate.at(minor)
            unknown = state.stage == "absent"
            assert (state.default is None) is unknown
            assert (state.locked is None) is unknown
            for group_version in gate.runtime_config(minor):
                group, _, version = group_version.partition("/")
                assert "." in group
                assert version.startswith("v1")


def test_unknown_names_and_minors() -> None:
    matrix = feature_matrix()
    assert matrix.gate("DRASharedConsumableCapacity") is None
    assert "DRASharedConsumableCapacity" in matrix.not_landed
    gate = matrix.gate("DRAConsumableCapacity")
    assert gate is not None
    assert gate.at("1.20").stage == "absent"
    with pytest.raises(KeyError):
        closure(["NoSuchGate"], "1.36")


@pytest.mark.parametrize(
    ("name", "minor", "expected"),
    [
        ("DRADeviceTaintRules", "1.34", ("resource.k8s.io/v1alpha3",)),
        ("DRADeviceTaintRules", "1.35", ("resource.k8s.io/v1alpha3",)),
        ("DRADeviceTaintRules", "1.36", ("resource.k8s.io/v1beta2",)),
        ("DRADeviceTaintRules", "1.37", ()),
        ("MutatingAdmissionPolicy", "1.35", ("admissionregistration.k8s.io/v1beta1",)),
        ("MutatingAdmissionPolicy", "1.36", ()),
        ("DRAConsumableCapacity", "1.36", ()),
    ],
)
def test_runtime_config(name: str, minor: str, expected: tuple[str, ...]) -> None:
    gate = feature_matrix().gate(name)
    assert gate is not None
    assert gate.runtime_config(minor) == expected


@pytest.mark.parametrize(
    ("group_version", "kind", "minor", "expected"),
    [
        ("resource.k8s.io/v1", "DeviceClass", "1.34", "default"),
        ("resource.k8s.io/v1beta1", "ResourceSlice", "1.37", "flag"),
        ("resource.k8s.io/v1", "DeviceTaintRule", "1.36", "no"),
        ("resource.k8s.io/v1", "DeviceTaintRule", "1.37", "default"),
        ("resource.k8s.io/v1beta2", "DeviceTaintRule", "1.35", "no"),
        ("resource.k8s.io/v1beta2", "DeviceTaintRule", "1.36", "flag"),
        ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "1.35", "no"),
        ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "1.34", "default"),
        ("apps/v1", "Deployment", "1.36", "default"),
        ("v1", "ResourceQuota", "1.36", "default"),
        ("v1", "ResourceQuota", "1.99", "no"),
    ],
)
def test_served(group_version: str, kind: str, minor: str, expected: str) -> None:
    assert feature_matrix().served(group_version, kind, minor) == expected


def test_closure_puts_dependencies_first_whatever_the_order() -> None:
    expected = (
        "DynamicResourceAllocation",
        "DRADeviceTaints",
        "DRADeviceTaintRules",
        "GenericWorkload",
        "DRAWorkloadResourceClaims",
    )
    names = ["DRAWorkloadResourceClaims", "DRADeviceTaintRules"]
    assert closure(names, "1.36") == expected
    assert closure(reversed(names), "1.36") == expected


def test_write_only_what_differs_from_the_default() -> None:
    assert to_write({"DRAConsumableCapacity": True}, "1.36") == {}
    assert to_write({"DRAConsumableCapacity": True}, "1.35") == {
        component: {"DRAConsumableCapacity": True}
        for component in ("kube-apiserver", "kube-scheduler", "kubelet")
    }


def test_write_dependencies_on_every_component_that_checks_them() -> None:
    written = to_write({"DRADeviceTaintRules": True}, "1.35")
    assert written["kube-scheduler"] == {"DRADeviceTaintRules": True, "DRADeviceTaints": True}
    written = to_write({"DRAWorkloadResourceClaims": True}, "1.36")
    assert written["kubelet"] == {"DRAWorkloadResourceClaims": True, "GenericWorkload": True}
    assert list(written) == sorted(written)


@pytest.mark.parametrize(
    ("wanted", "minor"),
    [
        ({"DynamicResourceAllocation": False}, "1.36"),
        ({"DRADeviceTaintRules": True}, "1.34"),
        ({"ValidatingAdmissionPolicy": False}, "1.36"),
        ({"DRAExtendedResource": False}, "1.37"),
    ],
)
def test_never_write_locked_absent_or_gone_gates(wanted: dict[str, bool], minor: str) -> None:
    for gates in to_write(wanted, minor).values():
        assert not set(gates) & set(wanted)


def test_a_gate_that_is_gone_is_not_settable() -> None:
    gate = feature_matrix().gates["DRAConsumableCapacity"]
    assert gate.settable("1.36")
    assert not replace(gate, never_emit=True).settable("1.36")
    assert feature_matrix().gates["ValidatingAdmissionPolicy"].never_emit


def test_switching_off_takes_along_what_needs_it() -> None:
    expected = {"DRADeviceTaintRules": False, "DRADeviceTaints": False}
    written = to_write({"DRADeviceTaints": False}, "1.37")
    assert written["kube-controller-manager"] == expected
    # In 1.36 rules are off by default already.
    assert to_write({"DRADeviceTaints": False}, "1.36")["kube-scheduler"] == {
        "DRADeviceTaints": False
    }


def test_contradictions_are_named_and_the_gate_that_is_on_wins() -> None:
    wanted = {"DRADeviceTaintRules": True, "DRADeviceTaints": False}
    assert contradictions(wanted, "1.36") == (("DRADeviceTaintRules", "DRADeviceTaints"),)
    assert to_write(wanted, "1.36")["kube-apiserver"] == {"DRADeviceTaintRules": True}
    assert contradictions({"DRADeviceTaints": False}, "1.36") == ()
