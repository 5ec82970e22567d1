"""Gates derived from objects."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.kube.features import feature_matrix
from dracfg.kube.gates import derive, runtime_config

MINORS = ("1.34", "1.35", "1.36", "1.37")


def claim(devices: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "ns"},
        "spec": {"devices": devices},
    }


def exactly(**fields: Any) -> dict[str, Any]:
    return claim({"requests": [{"name": "r", "exactly": {"deviceClassName": "k", **fields}}]})


def slice_of(**device: Any) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {"devices": [{"name": "d", **device}]},
    }


def used(obj: dict[str, Any], minor: str = "1.36") -> list[tuple[str, str]]:
    return [(use.gate, use.pointer) for use in derive([obj], minor)]


REQUEST = "/spec/devices/requests/0/exactly"


@pytest.mark.parametrize(
    ("obj", "gate", "pointer"),
    [
        (
            exactly(capacity={"requests": {"memory": "1Gi"}}),
            "DRAConsumableCapacity",
            f"{REQUEST}/capacity/requests",
        ),
        (exactly(adminAccess=True), "DRAAdminAccess", f"{REQUEST}/adminAccess"),
        (
            exactly(tolerations=[{"operator": "Exists"}]),
            "DRADeviceTaints",
            f"{REQUEST}/tolerations",
        ),
        (
            claim({"constraints": [{"distinctAttribute": "a.b/c"}]}),
            "DRAConsumableCapacity",
            "/spec/devices/constraints/0/distinctAttribute",
        ),
        (
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "DeviceClass",
                "spec": {"extendedResourceName": "example.com/gpu"},
            },
            "DRAExtendedResource",
            "/spec/extendedResourceName",
        ),
        (
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "DeviceClass",
                "spec": {
                    "selectors": [
                        {"cel": {"expression": "true"}},
                        {"cel": {"expression": "!device.allowMultipleAllocations"}},
                    ]
                },
            },
            "DRAConsumableCapacity",
            "/spec/selectors/1/cel/expression",
        ),
        (
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "spec": {"hard": {"requests.deviceclass.resource.kubernetes.io/a": "1"}},
            },
            "DRAExtendedResource",
            "/spec/hard/requests.deviceclass.resource.kubernetes.io~1a",
        ),
        (
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "spec": {
                    "jobTemplate": {
                        "spec": {
                            "template": {
                                "spec": {
                                    "containers": [
                                        {
                                            "resources": {
                                                "limits": {
                                                    "deviceclass.resource.kubernetes.io/a": 1,
                                                    "cpu": 1,
                                                }
                                            }
                                        }
                                    ]
                                }
                            }
                        }
                    }
                },
            },
            "DRAExtendedResource",
            (
                "/spec/jobTemplate/spec/template/spec/containers/0/resources/limits/"
                "deviceclass.resource.kubernetes.io~1a"
            ),
        ),
        (
            slice_of(capacity={"memory": {"value": "1Gi", "requestPolicy": {"default": "1Gi"}}}),
            "DRAConsumableCapacity",
            "/spec/devices/0/capacity/memory/requestPolicy",
        ),
        (
            slice_of(attributes={"a": {"ints": [1]}}),
            "DRAListTypeAttributes",
            "/spec/devices/0/attributes/a/ints",
        ),
        (
            slice_of(basic={"taints": [{"effect": "NoSchedule"}]}),
            "DRADeviceTaints",
            "/spec/devices/0/basic/taints",
        ),
    ],
)
def test_one_use(obj: dict[str, Any], gate: str, pointer: str) -> None:
    assert used(obj) == [(gate, pointer)]


def test_objects_alike_in_what_they_ask_for_each_have_their_use() -> None:
    first, second = exactly(adminAccess=True), exactly(adminAccess=True)
    second["metadata"] = {"name": "d", "namespace": "ns"}
    other = exactly(adminAccess=False)
    found = [(use.object_ref, use.pointer) for use in derive([first, other, second], "1.36")]
    assert found == [(f"ResourceClaim/ns/{name}", f"{REQUEST}/adminAccess") for name in ("c", "d")]


def test_template_with_alternatives() -> None:
    alternatives = [
        {"name": "a", "capacity": {"requests": {"memory": "1"}}},
        {"name": "b", "tolerations": [{"operator": "Exists"}]},
    ]
    devices = {"requests": [{"name": "r", "firstAvailable": alternatives}]}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "ns"},
        "spec": {"spec": {"devices": devices}},
    }
    root = "/spec/spec/devices/requests/0/firstAvailable"
    assert used(template) == [
        ("DRAPrioritizedList", root),
        ("DRAConsumableCapacity", f"{root}/0/capacity/requests"),
        ("DRADeviceTaints", f"{root}/1/tolerations"),
    ]
    use = derive([template], "1.36")[0]
    assert use.object_ref == "ResourceClaimTemplate/ns/t"
    assert "needs DRAPrioritizedList" in use.reason
    assert "rejects the rest" in use.reason


@pytest.mark.parametrize(
    "obj",
    [
        exactly(),
        exactly(adminAccess=False, tolerations=[], capacity={"requests": {}}),
        exactly(selectors=[{"cel": {"expression": 'device.driver == "includes(device.allow)"'}}]),
        exactly(
            selectors=[
                {"cel": {"expression": "device.driver == 'device.allowMultipleAllocations'"}}
            ]
        ),
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass"},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "spec": None},
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "spec": {"hard": {"requests.example.com/gpu": "1"}},
        },
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload"},
        {"apiVersion": "example.com/v1", "kind": "DeviceTaintRule"},
        {"apiVersion": "v1", "kind": "ConfigMap", "spec": {"extendedResourceName": "a.b/c"}},
        {},
    ],
)
@pytest.mark.parametrize("minor", MINORS)
def test_no_use(obj: dict[str, Any], minor: str) -> None:
    assert used(obj, minor) == []


@pytest.mark.parametrize(
    ("minor", "gate"),
    [
        ("1.34", "DRADeviceTaints"),
        ("1.35", "DRADeviceTaintRules"),
        ("1.36", "DRADeviceTaintRules"),
        ("1.37", "DRADeviceTaintRules"),
    ],
)
def test_taint_rule_by_minor(minor: str, gate: str) -> None:
    assert used(
        {
            "apiVersion": "resource.k8s.io/v1beta2",
            "kind": "DeviceTaintRule",
            "metadata": {"name": "x"},
        },
        minor,
    ) == [(gate, "")]


@pytest.mark.parametrize(
    ("minor", "when_off"), [("1.34", "ineffective"), ("1.35", "dropped"), ("1.37", "dropped")]
)
def test_when_off_by_minor(minor: str, when_off: str) -> None:
    """1.34 keeps tolerations that no component of it reads."""
    (use,) = derive([exactly(tolerations=[{"operator": "Exists"}])], minor)
    assert use.when_off == when_off


def test_quota_key_is_unknown_before_it_exists() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "spec": {"hard": {"requests.deviceclass.resource.kubernetes.io/a": "1"}},
    }
    assert used(quota, "1.34") == []


@pytest.mark.parametrize("minor", MINORS)
def test_every_named_gate_exists(minor: str) -> None:
    everything = [
        exactly(adminAccess=True, derivedAttributes=[{}], tolerations=[{}]),
        slice_of(bindsToNode=True, consumesCounters=[{"compatibilityGroups": ["a"]}], taints=[{}]),
        {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule"},
        {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "PodGroup",
            "spec": {"resourceClaims": [{}]},
        },
    ]
    uses = derive(everything, minor)
    assert uses
    assert all(feature_matrix().gate(use.gate) is not None for use in uses)


@pytest.mark.parametrize(
    ("version", "kind", "gate"),
    [
        ("v1beta1", "Workload", "GenericWorkload"),
        ("v1beta1", "PodGroup", "GenericWorkload"),
        ("v1alpha3", "CompositePodGroup", "CompositePodGroup"),
    ],
)
def test_gates_of_workload_kinds(version: str, kind: str, gate: str) -> None:
    """Groups of pod groups came with a gate of their own in 1.37 (KEP-6012)."""
    (use,) = derive([{"apiVersion": f"scheduling.k8s.io/{version}", "kind": kind}], "1.37")
    assert (use.gate, use.when_off) == (gate, "rejected")
    assert gate in feature_matrix().gates
    assert "GenericWorkload" in {gate, *feature_matrix().gates[gate].requires}


@pytest.mark.parametrize(
    ("version", "minor", "expected"),
    [
        ("v1alpha3", "1.34", ("resource.k8s.io/v1alpha3",)),
        ("v1alpha3", "1.35", ("resource.k8s.io/v1alpha3",)),
        ("v1beta2", "1.36", ("resource.k8s.io/v1beta2",)),
        ("v1alpha3", "1.36", ("resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta2")),
        ("v1", "1.37", ()),
        ("v1beta2", "1.37", ("resource.k8s.io/v1beta2",)),
    ],
)
def test_runtime_config_for_taint_rules(
    version: str, minor: str, expected: tuple[str, ...]
) -> None:
    rule = {"apiVersion": f"resource.k8s.io/{version}", "kind": "DeviceTaintRule"}
    assert runtime_config([rule, exactly()], derive([rule, exactly()], minor), minor) == expected
