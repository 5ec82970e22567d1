"""What is written for the nodes of a pool."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from dracfg.emit.yaml import dump
from dracfg.lower.artifact import Unit
from dracfg.lower.gates import cluster_gates
from dracfg.lower.markdown import code, prose, shell
from dracfg.lower.nodes import node_pool

SELECTOR = {"pool": "p", "zone": "a"}


def documents(
    *,
    minor: str = "1.35",
    distribution: str = "kubeadm",
    driver: str = "gpu.nvidia.com",
    settings: str = "preset: gpu.nvidia.com, version: 0.5.0",
    tier: str = "legacyResource: nvidia.com/gpu",
    policy: str = "",
    sharing: str = "whole",
    owner: str = "dra",
    pool: str = "state: open",
    description: str = "",
) -> str:
    return f"""
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {{name: east}}
spec: {{kubernetes: "{minor}", distribution: {distribution}, gitops: {{engine: plain}}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {{name: {driver}}}
spec: {{{settings}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {{name: big}}
spec: {{driver: {driver}, device: {{capacity: {{memory: 8Gi, shares: 4}}}}, {tier}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {{name: slices}}
spec:
  mode: consumable
  capacity: {{memory: {{min: 1Gi, max: 8Gi}}}}
  tenancy: sameTenant
  sizes: [1Gi]
  {policy}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {{name: p, description: "{description}"}}
spec:
  cluster: east
  nodes: 2
  nodeSelector: {{zone: a, pool: p}}
  devices: [{{tier: big, perNode: 1, sharing: [{sharing}]}}]
  owner: {{{driver}: {owner}}}
  {pool}
"""


def unit_of(catalog_of: Any, **said: str) -> Unit:
    catalog = catalog_of(documents(**said))
    cluster = catalog.clusters["east"]
    return node_pool(catalog, cluster, catalog.pools["p"], cluster_gates(cluster, ()))


def files(catalog_of: Any, **said: str) -> dict[str, Any]:
    unit = unit_of(catalog_of, **said)
    found = {artifact.file: artifact.object for artifact in unit.artifacts}
    assert all(dump(content) for content in found.values())
    return found


def values(catalog_of: Any, **said: str) -> dict[str, Any]:
    (content,) = (
        content for file, content in files(catalog_of, **said).items() if file.startswith("values-")
    )
    return dict(content)


def test_unit(catalog_of: Any) -> None:
    unit = unit_of(catalog_of)
    assert (unit.path, unit.synced) == ("east/nodes/p", False)
    assert [artifact.file for artifact in unit.artifacts] == ["values-gpu.nvidia.com.yaml"]
    assert list(unit.texts) == ["RUNBOOK.md"]


# The kubelet's drop-in


@pytest.mark.parametrize("distribution", ["kubeadm", "k3s", "generic"])
def test_kubelet_gates_that_differ_from_the_default(catalog_of: Any, distribution: str) -> None:
    found = files(catalog_of, distribution=distribution, sharing="slices")
    assert found["kubelet.conf"] == {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "featureGates": {"DRAConsumableCapacity": True},
    }


@pytest.mark.parametrize(
    "said",
    [
        {"sharing": "whole"},
        {"sharing": "slices", "minor": "1.36"},
        *(
            {"sharing": "slices", "distribution": name}
            for name in ("eks", "gke", "aks", "openshift", "kind")
        ),
    ],
)
def test_no_drop_in_where_there_is_nothing_to_say(catalog_of: Any, said: dict[str, str]) -> None:
    assert "kubelet.conf" not in files(catalog_of, **said)


# Values of the driver's chart


@pytest.mark.parametrize(("owner", "on"), [("dra", True), ("devicePlugin", False)])
def test_the_owner_switches_the_driver(catalog_of: Any, owner: str, on: bool) -> None:
    assert values(catalog_of, owner=owner) == {
        "gpuResourcesEnabledOverride": on,
        "kubeletPlugin": {"nodeSelector": SELECTOR},
        "resources": {"gpus": {"enabled": on}},
    }


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        (
            "hami-core-gpu.project-hami.io",
            {"gpuResourcesEnabled": False, "kubeletPlugin": SELECTOR},
        ),
        (
            "gpu.intel.com",
            {"kubeletPlugin": SELECTOR | {"dracfg.dev/owner": "dra"}},
        ),
    ],
)
def test_a_chart_without_a_switch_runs_nowhere_beside_a_plugin(
    catalog_of: Any, driver: str, expected: dict[str, Any]
) -> None:
    found = values(catalog_of, driver=driver, settings=f"preset: {driver}", owner="devicePlugin")
    expected = expected | {"kubeletPlugin": {"nodeSelector": expected["kubeletPlugin"]}}
    assert found == expected


@pytest.mark.parametrize(
    ("driver", "settings", "path"),
    [
        ("gpu.example.org", "shareable: false", "kubeletPlugin"),
        ("dra.nvme", "preset: dra.nvme", "kubeletPlugin"),
        ("dra.net", "preset: dra.net", None),
    ],
)
def test_node_selector(catalog_of: Any, driver: str, settings: str, path: str | None) -> None:
    found = values(catalog_of, driver=driver, settings=settings)
    expected = {"nodeSelector": SELECTOR}
    assert found == ({path: expected} if path else expected)


@pytest.mark.parametrize(
    ("policy", "mode"), [("", "memory"), ("maxShares: 4", 4)], ids=["by memory", "by number"]
)
def test_sharing_sets_value_and_gate(catalog_of: Any, policy: str, mode: Any) -> None:
    found = values(catalog_of, sharing="slices", policy=policy)
    assert found["consumableShares"] == mode
    assert found["featureGates"] == {"ConsumableShares": True}


@pytest.mark.parametrize(
    "said",
    [
        {"sharing": "whole"},
        {"sharing": "slices", "owner": "devicePlugin"},
        {"sharing": "slices", "settings": "preset: gpu.nvidia.com, shareable: false"},
    ],
)
def test_nothing_is_shared_without_need(catalog_of: Any, said: dict[str, str]) -> None:
    assert not {"consumableShares", "featureGates"} & values(catalog_of, **said).keys()


def test_a_flag_of_the_chart_is_a_flag(catalog_of: Any) -> None:
    found = values(
        catalog_of,
        driver="gpu.example.com",
        settings="preset: gpu.example.com",
        sharing="slices",
    )
    assert found["gpuAllowMultipleAllocations"] is True


def test_metadata_files_are_switched_on(catalog_of: Any) -> None:
    found = values(catalog_of, settings="preset: gpu.nvidia.com, deviceMetadata: true")
    assert found["featureGates"] == {"DeviceMetadata": True}


@pytest.mark.parametrize(
    ("version", "take", "expected"),
    [
        ("1.0.1", True, {"create": False}),
        ("1.0.1", False, None),
        ("0.1.0", True, None),
    ],
)
def test_the_chart_leaves_out_a_class_whose_name_dracfg_takes(
    catalog_of: Any, version: str, take: bool, expected: Any
) -> None:
    found = values(
        catalog_of,
        driver="gpu.amd.com",
        settings=f"preset: gpu.amd.com, version: {version}",
        tier=f"legacyResource: amd.com/gpu, takesOverLegacyName: {str(take).lower()}",
    )
    assert found.get("deviceClass") == expected


def test_no_class_is_left_out_at_the_price_of_the_driver(catalog_of: Any) -> None:
    found = values(catalog_of, tier="legacyResource: nvidia.com/gpu, takesOverLegacyName: true")
    assert found["resources"] == {"gpus": {"enabled": True}}


def test_the_driver_document_wins(catalog_of: Any) -> None:
    settings = (
        "preset: gpu.nvidia.com, featureGates: {ConsumableShares: false, MPSSupport: true}, "
        "values: {kubeletPlugin: {priorityClassName: high, nodeSelector: {extra: x}, "
        "tolerations: [{operator: Exists}]}, resources: {gpus: {enabled: false}}, weight: 0.5}"
    )
    assert values(catalog_of, sharing="slices", settings=settings) == {
        "consumableShares": "memory",
        "featureGates": {"ConsumableShares": False, "MPSSupport": True},
        "gpuResourcesEnabledOverride": True,
        "kubeletPlugin": {
            "nodeSelector": SELECTOR | {"extra": "x"},
            "priorityClassName": "high",
            "tolerations": [{"operator": "Exists"}],
        },
        "resources": {"gpus": {"enabled": False}},
        "weight": "0.5",
    }


def test_hardware_of_a_plugin_alone_has_no_values(catalog_of: Any) -> None:
    said = {
        "driver": "fpga.intel.com",
        "settings": "preset: fpga.intel.com",
        "owner": "devicePlugin",
    }
    assert files(catalog_of, **said) == {}
    assert "none: no DRA driver" in unit_of(catalog_of, **said).texts["RUNBOOK.md"]


# Taints


@pytest.mark.parametrize("state", ["frozen", "draining", "disabled"])
def test_a_pool_that_is_not_open_is_tainted(catalog_of: Any, state: str) -> None:
    assert files(catalog_of, pool=f"state: {state}")["taints.yaml"] == {
        "nodes": [
            {
                "nodeSelector": SELECTOR,
                "taints": [{"key": "dracfg.dev/pool", "value": state, "effect": "NoSchedule"}],
                "reason": f"the pool is {state}",
            }
        ]
    }


QUARANTINE = (
    "quarantine: [{node: n1, reason: broken fan, since: 2026-11-01, evict: true},"
    " {driver: gpu.nvidia.com, pool: n2, device: gpu-3, reason: xid 79, since: 2026-11-02}]"
)


@pytest.mark.parametrize(("minor", "nodes"), [("1.37", ["n1"]), ("1.36", ["n1", "n2"])])
def test_nodes_carry_what_no_rule_carries(catalog_of: Any, minor: str, nodes: list[str]) -> None:
    entries = files(catalog_of, pool=QUARANTINE, minor=minor)["taints.yaml"]["nodes"]
    assert [entry["node"] for entry in entries] == nodes
    assert entries[0] == {
        "node": "n1",
        "taints": [{"key": "dracfg.dev/quarantine", "value": "true", "effect": "NoExecute"}],
        "reason": "broken fan",
        "since": "2026-11-01",
    }


def test_open_pools_have_no_taints_file(catalog_of: Any) -> None:
    assert "taints.yaml" not in files(catalog_of)


# The runbook


def runbook(catalog_of: Any, **said: str) -> str:
    return unit_of(catalog_of, **said).texts["RUNBOOK.md"]


def commands(text: str) -> list[list[str]]:
    """Every line of every shell block, as words."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def test_runbook_of_a_pool_on_dra(catalog_of: Any) -> None:
    text = runbook(catalog_of, sharing="slices")
    assert "| `gpu.nvidia.com` | DRA | `values-gpu.nvidia.com.yaml` |" in text
    found = commands(text)
    assert [
        "install", "-D", "-m", "0644", "kubelet.conf", "/etc/kubernetes/kubelet.conf.d/90-dracfg.conf",
    ] in found  # fmt: skip
    helm = next(words for words in found if words[:2] == ["helm", "upgrade"])
    assert "REPOSITORY/dra-driver-nvidia-gpu" in helm
    assert helm[helm.index("--version") + 1] == "0.5.0"
    assert '{key: "zone", operator: NotIn, values: ["a"]}' in text
    assert text.index("keep the device plugin away") < text.index("install the driver")
    assert r"nvidia.com/gpu:.status.allocatable.nvidia\.com/gpu" in text


def test_runbook_of_a_pool_on_the_device_plugin(catalog_of: Any) -> None:
    text = runbook(catalog_of, owner="devicePlugin")
    assert text.index("take the driver away") < text.index("let the device plugin in")
    assert "Kubelet" not in text


def test_k3s_keeps_its_drop_ins_elsewhere(catalog_of: Any) -> None:
    text = runbook(catalog_of, sharing="slices", distribution="k3s")
    assert "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/90-dracfg.conf" in text
    assert "systemctl restart k3s-agent" in text


def test_runbook_tells_how_to_fence(catalog_of: Any) -> None:
    found = commands(runbook(catalog_of, pool=f"state: draining\n  {QUARANTINE}", minor="1.37"))
    taints = [words[3:5] for words in found if words[:3] == ["kubectl", "taint", "nodes"]]
    assert taints == [
        ["--selector=pool=p,zone=a", "dracfg.dev/pool=draining:NoSchedule"],
        ["n1", "dracfg.dev/quarantine=true:NoExecute"],
        ["--selector=pool=p,zone=a", "dracfg.dev/pool-"],
        ["NODE", "dracfg.dev/quarantine-"],
    ]
    (jq,) = (words for words in found if "jq" in words)
    assert '.driver == "gpu.nvidia.com" and .pool == "n2" and .device == "gpu-3"' in jq[-1]


def test_runbook_counts_what_is_not_handed_out(catalog_of: Any) -> None:
    assert "Not handed out: 1 × whole node, 1 × big." in runbook(
        catalog_of, pool=QUARANTINE, minor="1.37"
    )
    assert "Nothing is fenced." in runbook(catalog_of)


def test_runbook_takes_nothing_of_the_catalog_for_markup(catalog_of: Any) -> None:
    hostile = 'quarantine: [{node: n1, reason: "<b>*x*|`y`\\n# [z](http://z)", since: 2026-11-01}]'
    text = runbook(catalog_of, pool=hostile, description=r"a\n# b <script>")
    assert r"`n1`: \<b\>\*x\*\|\`y\` \# \[z\](http://z) (since 2026-11-01):" in text
    assert r"a \# b \<script\>" in text
    assert [line for line in text.splitlines() if line.startswith("# ")] == [
        "# Node pool `p` of cluster `east`"
    ]


def test_a_name_can_not_leave_its_shell_block(catalog_of: Any) -> None:
    entry = (
        '{driver: gpu.nvidia.com, pool: "n\\n```\\n\'$(x)", reason: some reason, since: 2026-11-02}'
    )
    text = runbook(catalog_of, pool=f"quarantine: [{entry}]", minor="1.37")
    (jq,) = (words for words in commands(text) if "jq" in words)
    assert '.pool == "n\\n```\\n\'$(x)"' in jq[-1]


def test_runbook_is_tidy(catalog_of: Any) -> None:
    for said in ({}, {"owner": "devicePlugin"}, {"sharing": "slices", "pool": QUARANTINE}):
        text = runbook(catalog_of, **said)
        assert text == runbook(catalog_of, **said)
        assert text.endswith("\n")
        assert "\n\n\n" not in text
        assert not re.search(
            r"^ +\S|[ \t]+$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.M
        )


@pytest.mark.parametrize(
    ("write", "text", "expected"),
    [
        (prose, "a\u202e b\n\n*c*", r"a b \*c\*"),
        (code, "plain", "`plain`"),
        (code, "a``b", "``` a``b ```"),
        (shell, "it's", "'it'\"'\"'s'"),
        (shell, "n1", "n1"),
    ],
)
def test_escapes(write: Any, text: str, expected: str) -> None:
    assert write(text) == expected
