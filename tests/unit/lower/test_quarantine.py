"""Quarantine as DeviceTaintRules, as node taints, and as what it takes off usable capacity."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.kube.objects import schema_faults
from dracfg.link.catalog import Cluster, Pool
from dracfg.lower.quarantine import (
    Quarantined,
    as_node_taints,
    device_taint_rules,
    quarantined,
    taint_rule_version,
)

DRIVER = "gpu.example.org"
DEVICE = f"{{driver: {DRIVER}, pool: n1, device: gpu-3, reason: xid 79, since: 2026-11-02}}"
ALL_DEVICES = f"{{driver: {DRIVER}, pool: n1, reason: firmware, since: 2026-11-02, evict: true}}"
NODE = "{node: n9, reason: broken fan, since: 2026-11-01, evict: true}"


def documents(
    *entries: str, minor: str = "1.37", gates: str = "{}", owner: str = "dra", nodes: int = 4
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
metadata: {{name: {DRIVER}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {{name: big}}
spec: {{driver: {DRIVER}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {{name: small}}
spec: {{driver: {DRIVER}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {{name: p}}
spec:
  cluster: east
  nodes: {nodes}
  nodeSelector: {{pool: p}}
  devices: [{{tier: big, perNode: 2}}, {{tier: small, perNode: 8}}]
  owner: {{{DRIVER}: {owner}}}
  quarantine: [{", ".join(entries)}]
"""


def made(catalog_of: Any, *entries: str, **said: Any) -> tuple[Cluster, Pool]:
    catalog = catalog_of(documents(*entries, **said))
    return catalog.clusters["east"], catalog.pools["p"]


def rules(catalog_of: Any, *entries: str, **said: Any) -> list[dict[str, Any]]:
    cluster, _ = made(catalog_of, *entries, **said)
    return [artifact.object for artifact in device_taint_rules(cluster)]


def taints(catalog_of: Any, *entries: str, **said: Any) -> list[tuple[str, str, str]]:
    found = as_node_taints(*made(catalog_of, *entries, **said))
    return [(taint.node, taint.effect, taint.entry.reason) for taint in found]


RULES = "DRADeviceTaintRules"


@pytest.mark.parametrize(
    ("minor", "gates", "version"),
    [
        ("1.37", "{}", "resource.k8s.io/v1"),
        ("1.37", f"{{{RULES}: false}}", None),
        ("1.37", "{DRADeviceTaints: false}", None),
        ("1.36", "{}", None),
        ("1.36", f"{{{RULES}: true}}", "resource.k8s.io/v1beta2"),
        ("1.36", f"{{{RULES}: true, DRADeviceTaints: false}}", None),
        ("1.35", "{}", None),
        ("1.35", "{DRADeviceTaints: true}", None),
        ("1.35", f"{{{RULES}: true}}", "resource.k8s.io/v1alpha3"),
        ("1.34", f"{{{RULES}: true}}", None),
        ("1.34", "{DRADeviceTaints: true}", "resource.k8s.io/v1alpha3"),
    ],
)
def test_a_device_is_kept_back_by_a_rule_where_components_read_them(
    catalog_of: Any, minor: str, gates: str, version: str | None
) -> None:
    cluster, _ = made(catalog_of, DEVICE, minor=minor, gates=gates)
    assert taint_rule_version(cluster) == version
    found = rules(catalog_of, DEVICE, minor=minor, gates=gates)
    assert [rule["apiVersion"] for rule in found] == ([version] if version else [])
    nodes = taints(catalog_of, DEVICE, minor=minor, gates=gates)
    assert nodes == ([] if version else [("n1", "NoSchedule", "xid 79")])


def test_rule(catalog_of: Any) -> None:
    (rule,) = rules(catalog_of, DEVICE)
    assert rule["metadata"]["name"].startswith("dracfg-p-")
    assert rule["spec"] == {
        "deviceSelector": {"driver": DRIVER, "pool": "n1", "device": "gpu-3"},
        "taint": {"key": "dracfg.dev/quarantine", "value": "true", "effect": "NoSchedule"},
    }
    assert schema_faults(rule, "1.37") == ()


def test_a_rule_for_all_devices_names_driver_and_resource_pool(catalog_of: Any) -> None:
    (rule,) = rules(catalog_of, ALL_DEVICES)
    assert rule["spec"]["deviceSelector"] == {"driver": DRIVER, "pool": "n1"}
    assert rule["spec"]["taint"]["effect"] == "NoExecute"


def test_names_depend_on_what_is_selected_alone(catalog_of: Any) -> None:
    def names(*entries: str) -> list[str]:
        return [rule["metadata"]["name"] for rule in rules(catalog_of, *entries)]

    assert names(DEVICE, ALL_DEVICES) == names(ALL_DEVICES, NODE, DEVICE)
    assert len(set(names(DEVICE, ALL_DEVICES))) == 2
    assert set(names(DEVICE)) < set(names(DEVICE, ALL_DEVICES))
    changed = DEVICE.replace("xid 79", "xid 48, evict: true").replace("-02", "-09")
    assert names(changed) == names(DEVICE)


def test_entries_that_select_the_same_become_one_rule(catalog_of: Any) -> None:
    second = DEVICE.replace("reason: xid 79", "reason: heat, evict: true")
    cluster, pool = made(catalog_of, DEVICE, second)
    (artifact,) = device_taint_rules(cluster)
    assert artifact.object["spec"]["taint"]["effect"] == "NoExecute"
    assert artifact.origin.pointer == ("spec", "quarantine", 0)
    assert [origin.pointer for origin in artifact.via] == [("spec", "quarantine", 1)]
    assert quarantined(cluster, pool) == Quarantined(0, {"big": 1, "small": 1})


def test_a_selector_is_never_wider_than_one_resource_pool(catalog_of: Any) -> None:
    entries = (
        "{node: n1, reason: some reason, since: 2026-11-01}",
        f"{{node: n2, driver: {DRIVER}, reason: some reason, since: 2026-11-01}}",
        f"{{driver: {DRIVER}, reason: some reason, since: 2026-11-01}}",
        "{pool: n3, device: gpu-0, reason: some reason, since: 2026-11-01}",
    )
    assert rules(catalog_of, *entries) == []
    assert [node for node, _, _ in taints(catalog_of, *entries)] == ["n1", "n2", "n3"]


def test_a_device_plugin_reads_no_rules(catalog_of: Any) -> None:
    assert rules(catalog_of, DEVICE, owner="devicePlugin") == []
    assert taints(catalog_of, DEVICE, owner="devicePlugin") == [("n1", "NoSchedule", "xid 79")]


def test_only_an_entry_for_the_node_evicts_from_the_node(catalog_of: Any) -> None:
    found = taints(catalog_of, ALL_DEVICES, NODE, minor="1.34")
    assert found == [("n1", "NoSchedule", "firmware"), ("n9", "NoExecute", "broken fan")]


def test_the_node_of_a_resource_pool_with_parts(catalog_of: Any) -> None:
    entry = DEVICE.replace("pool: n1", "pool: n1/left")
    assert taints(catalog_of, entry, minor="1.34") == [("n1", "NoSchedule", "xid 79")]
    named = entry.replace("driver:", "node: other, driver:")
    assert taints(catalog_of, named, minor="1.34") == [("other", "NoSchedule", "xid 79")]


def test_the_same_entry_twice_is_one_taint(catalog_of: Any) -> None:
    assert len(taints(catalog_of, NODE, NODE)) == 1


@pytest.mark.parametrize(
    ("entries", "minor", "expected"),
    [
        ((), "1.37", Quarantined(0, {})),
        ((NODE,), "1.37", Quarantined(1, {})),
        ((NODE, NODE.replace("broken fan", "smoke")), "1.37", Quarantined(1, {})),
        # The name of a device doesn't tell its tier, so it counts for both.
        ((DEVICE,), "1.37", Quarantined(0, {"big": 1, "small": 1})),
        (
            (DEVICE, DEVICE.replace("gpu-3", "gpu-4")),
            "1.37",
            Quarantined(0, {"big": 2, "small": 2}),
        ),
        (
            tuple(DEVICE.replace("gpu-3", f"gpu-{i}") for i in range(5)),
            "1.37",
            Quarantined(0, {"big": 2, "small": 5}),
        ),
        ((ALL_DEVICES, DEVICE), "1.37", Quarantined(0, {"big": 2, "small": 8})),
        # A device on a node that is gone anyway counts once.
        ((DEVICE, NODE.replace("n9", "n1")), "1.37", Quarantined(1, {})),
        ((DEVICE,), "1.34", Quarantined(1, {})),
        (
            tuple(NODE.replace("n9", f"n{i}") for i in range(2, 8)),
            "1.37",
            Quarantined(4, {}),
        ),
        (
            (
                *(NODE.replace("n9", f"n{i}") for i in range(5, 8)),
                DEVICE,
                ALL_DEVICES.replace("n1", "n2"),
            ),
            "1.37",
            Quarantined(3, {"big": 2, "small": 8}),
        ),
    ],
)
def test_what_is_taken_off_usable_capacity(
    catalog_of: Any, entries: tuple[str, ...], minor: str, expected: Quarantined
) -> None:
    assert quarantined(*made(catalog_of, *entries, minor=minor)) == expected
