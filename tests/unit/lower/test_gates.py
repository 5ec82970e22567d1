"""Gates that a cluster needs, from its objects, its pools and the settings of its drivers."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.lower.gates import GatePlan, cluster_gates

CLAIM = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c", "namespace": "ns"},
    "spec": {
        "devices": {
            "requests": [
                {"name": "r", "exactly": {"deviceClassName": "k", "tolerations": [{"key": "x"}]}}
            ]
        }
    },
}
SLICES = """
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: slices}
spec: {mode: consumable, capacity: {memory: {min: 1Gi, max: 8Gi}}, tenancy: sameTenant, sizes: [1Gi]}
"""
PARTS = """
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: parts}
spec:
  mode: partitioned
  tenancy: sameTenant
  partitions: [{name: half, match: {attributes: {half: true}}, consumes: {memory: 4Gi}}]
"""


def documents(
    minor: str = "1.35",
    *,
    gates: str = "{}",
    driver: str = "gpu.example.org",
    settings: str = "{attributes: {half: bool}}",
    sharing: str = "whole",
    owner: str = "dra",
) -> str:
    return f"""
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {{name: east}}
spec:
  kubernetes: "{minor}"
  distribution: kubeadm
  gitops: {{engine: plain}}
  featureGates: {gates}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {{name: {driver}}}
spec: {settings}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {{name: big}}
spec: {{driver: {driver}, device: {{capacity: {{memory: 8Gi}}, counters: {{memory: 8Gi}}}}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {{name: p}}
spec:
  cluster: east
  nodes: 2
  nodeSelector: {{pool: p}}
  devices: [{{tier: big, perNode: 1, sharing: [{sharing}]}}]
  owner: {{{driver}: {owner}}}
---
{SLICES}---
{PARTS}"""


def plan_of(catalog_of: Any, *objects: dict[str, Any], **said: str) -> GatePlan:
    return cluster_gates(catalog_of(documents(**said)).clusters["east"], iter(objects))


def places(plan: GatePlan) -> set[tuple[str, str, str]]:
    return {(use.gate, use.object_ref, use.pointer) for use in plan.uses}


def test_nothing_is_needed_where_nothing_is_used(catalog_of: Any) -> None:
    plan = plan_of(catalog_of)
    assert (plan.uses, plan.needed, plan.wanted) == ((), (), {})
    assert (plan.by_component, plan.runtime_config, plan.unknown) == ({}, (), ())


def test_objects_need_their_gates_with_all_dependencies(catalog_of: Any) -> None:
    plan = plan_of(catalog_of, CLAIM)
    assert plan.needed == ("DynamicResourceAllocation", "DRADeviceTaints")
    assert plan.by_component == {
        "kube-apiserver": {"DRADeviceTaints": True},
        "kube-controller-manager": {"DRADeviceTaints": True},
        "kube-scheduler": {"DRADeviceTaints": True},
    }
    assert [use.object_ref for use in plan.uses_of("DynamicResourceAllocation")] == [
        "ResourceClaim/ns/c"
    ]
    assert len(plan.reasons("DRADeviceTaints")) == 1


POOL = ("NodePool/p", "/spec/devices/0")
CONSUMABLE = ("DRAConsumableCapacity", *POOL)
PARTITIONABLE = ("DRAPartitionableDevices", *POOL)
LISTS = "DRAListTypeAttributes"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, set()),
        ({"sharing": "slices"}, {CONSUMABLE}),
        ({"sharing": "slices", "owner": "devicePlugin"}, set()),
        ({"sharing": "parts"}, {PARTITIONABLE}),
        ({"driver": "dra.memory", "settings": "{preset: dra.memory}"}, {CONSUMABLE}),
        # A driver that never publishes counters cuts its devices beforehand.
        (
            {
                "driver": "gpu.intel.com",
                "settings": "{preset: gpu.intel.com, attributes: {half: bool}}",
                "sharing": "parts",
            },
            set(),
        ),
        (
            {
                "driver": "gpu.nvidia.com",
                "settings": "{preset: gpu.nvidia.com}",
                "sharing": "parts",
            },
            set(),
        ),
        (
            {
                "driver": "gpu.nvidia.com",
                "settings": "{preset: gpu.nvidia.com, featureGates: {DynamicMIG: true}}",
            },
            {PARTITIONABLE},
        ),
        (
            {
                "driver": "gpu.example.com",
                "settings": "{preset: gpu.example.com, values: {kubeletPlugin: {gpuPartitions: 4}}}",
            },
            {PARTITIONABLE},
        ),
        (
            {
                "driver": "gpu.example.com",
                "settings": "{preset: gpu.example.com, values: {kubeletPlugin: {bindingConditions: true}}}",
            },
            {
                (
                    "DRADeviceBindingConditions",
                    "Driver/gpu.example.com",
                    "/spec/values/kubeletPlugin/bindingConditions",
                )
            },
        ),
        (
            {
                "driver": "dra.net",
                "settings": f"{{preset: dra.net, featureGates: {{{LISTS}: true}}}}",
            },
            {
                (LISTS, "Driver/dra.net", f"/spec/featureGates/{LISTS}"),
                ("DRAResourceClaimDeviceStatus", "Driver/dra.net", "/spec"),
            },
        ),
        (
            {
                "driver": "dra.net",
                "settings": f"{{preset: dra.net, featureGates: {{{LISTS}: true}}}}",
                "owner": "devicePlugin",
            },
            set(),
        ),
    ],
)
def test_drivers_need_gates_for_what_they_publish(
    catalog_of: Any, said: dict[str, str], expected: set[tuple[str, str, str]]
) -> None:
    assert places(plan_of(catalog_of, **said)) == expected


def test_what_is_on_by_default_is_needed_but_not_written(catalog_of: Any) -> None:
    plan = plan_of(catalog_of, minor="1.36", sharing="slices")
    assert "DRAConsumableCapacity" in plan.needed
    assert plan.by_component == {}


def test_the_cluster_adds_gates(catalog_of: Any) -> None:
    plan = plan_of(
        catalog_of, gates="{DRADeviceTaintRules: true, DRASchedulerFilterTimeout: false}"
    )
    assert plan.needed == ()
    assert plan.wanted == {
        "DRADeviceTaintRules": True,
        "DRADeviceTaints": True,
        "DRASchedulerFilterTimeout": False,
        "DynamicResourceAllocation": True,
    }
    assert plan.by_component["kube-scheduler"] == {
        "DRADeviceTaintRules": True,
        "DRADeviceTaints": True,
        "DRASchedulerFilterTimeout": False,
    }


def test_a_needed_gate_is_wanted_whatever_the_cluster_says(catalog_of: Any) -> None:
    plan = plan_of(catalog_of, sharing="slices", gates="{DRAConsumableCapacity: false}")
    assert plan.wanted["DRAConsumableCapacity"] is True
    assert plan.by_component["kubelet"] == {"DRAConsumableCapacity": True}


@pytest.mark.parametrize(
    ("minor", "gate"),
    [("1.37", "DRASharedConsumableCapacity"), ("1.34", "DRADeviceTaintRules")],
)
def test_a_gate_that_the_minor_lacks_is_named_and_not_written(
    catalog_of: Any, minor: str, gate: str
) -> None:
    plan = plan_of(catalog_of, minor=minor, gates=f"{{{gate}: true}}")
    assert plan.unknown == (gate,)
    assert (plan.wanted, plan.by_component) == ({}, {})


def test_a_gate_that_is_needed_before_its_time_is_told(catalog_of: Any) -> None:
    settings = f"{{preset: dra.net, featureGates: {{{LISTS}: true}}}}"
    plan = plan_of(catalog_of, minor="1.34", driver="dra.net", settings=settings)
    assert plan.unknown == (LISTS,)
    assert LISTS in plan.needed
    assert plan.by_component == {}


@pytest.mark.parametrize(
    ("minor", "gate", "expected"),
    [
        ("1.34", "DRADeviceTaints", ("resource.k8s.io/v1alpha3",)),
        ("1.34", "DRADeviceTaintRules", ()),
        ("1.35", "DRADeviceTaints", ()),
        ("1.35", "DRADeviceTaintRules", ("resource.k8s.io/v1alpha3",)),
        ("1.36", "DRADeviceTaintRules", ("resource.k8s.io/v1beta2",)),
        ("1.37", "DRADeviceTaintRules", ()),
    ],
)
def test_what_components_watch_is_served(
    catalog_of: Any, minor: str, gate: str, expected: tuple[str, ...]
) -> None:
    assert plan_of(catalog_of, minor=minor, gates=f"{{{gate}: true}}").runtime_config == expected


@pytest.mark.parametrize(
    ("minor", "gates", "gate", "expected"),
    [
        ("1.36", "{}", "DRAConsumableCapacity", True),
        ("1.36", "{DRAConsumableCapacity: false}", "DRAConsumableCapacity", False),
        ("1.35", "{}", "DRAConsumableCapacity", False),
        ("1.35", "{DRAConsumableCapacity: true}", "DRAConsumableCapacity", True),
        ("1.37", "{DRAExtendedResource: false}", "DRAExtendedResource", True),  # locked
        ("1.34", "{DRAListTypeAttributes: true}", "DRAListTypeAttributes", False),  # absent
        ("1.36", "{}", "NoSuchGate", False),
    ],
)
def test_value_of_a_gate(
    catalog_of: Any, minor: str, gates: str, gate: str, expected: bool
) -> None:
    assert plan_of(catalog_of, minor=minor, gates=gates).is_on(gate) is expected
