"""What is published → the inventory of the drafted repository, which its own check can read."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dracfg.diagnostics import Diagnostic
from tests.unit.draft.conftest import deployment, draft, files, node
from tests.unit.draft.test_hardware import SLICE, T4

Check = Callable[[Mapping[str, str]], list[Diagnostic]]
PATH = "catalog/inventory/lab.json"
NAMED = f"  inventory: {PATH}"
CLASS: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu.nvidia.com", "managedFields": [{"manager": "helm"}]},
    "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]},
}


def bent(**spec: Any) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(SLICE)
    made["spec"] |= spec
    return made


def test_what_is_published_is_the_inventory(errors_in: Check) -> None:
    written = files(node("n1", {}, T4), SLICE, CLASS)
    assert NAMED in written["catalog/clusters.yaml"]
    kinds = {item["kind"]: item for item in json.loads(written[PATH])["items"]}
    assert kinds["ResourceSlice"]["spec"] == SLICE["spec"]
    assert kinds["DeviceClass"]["metadata"] == {"name": "gpu.nvidia.com"}
    assert kinds["Node"]["metadata"]["labels"]["nvidia.com/gpu.product"] == "Tesla-T4"
    assert errors_in(written) == []


def test_without_slices_there_is_none() -> None:
    written = files(node("n1", {"nvidia.com/gpu": 4}, T4))
    assert PATH not in written
    assert "inventory" not in written["catalog/clusters.yaml"]


@pytest.mark.parametrize(
    ("objects", "asks"),
    [
        ((node("n1", {"nvidia.com/gpu": 4}, T4), SLICE), "when the catalog is held against"),
        ((node("n1", {}, T4), bent(nodes=3)), "whether the inventory was recorded on this cluster"),
    ],
)
def test_what_no_catalog_can_be_right_about_waits(
    objects: tuple[dict[str, Any], ...], asks: str, errors_in: Check
) -> None:
    written = files(*objects)
    assert f"  # inventory: {PATH}" in written["catalog/clusters.yaml"].splitlines()
    assert PATH in written
    assert asks in written["DECISIONS.md"]
    assert errors_in(written) == []


def test_nodes_keep_what_pods_and_devices_hang_on() -> None:
    made = node("n1", {}, T4)
    made["metadata"]["annotations"] = {"csi": "x"}
    made["spec"] = {"taints": [{"key": "k", "effect": "NoSchedule"}], "podCIDR": "10.0.0.0/24"}
    made["status"] |= {"images": [{"names": ["a"]}], "addresses": [{"address": "10.0.0.1"}]}
    (kept,) = [
        item for item in json.loads(files(made, SLICE)[PATH])["items"] if item["kind"] == "Node"
    ]
    assert set(kept["metadata"]) == {"name", "labels"}
    assert kept["spec"] == {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    assert "images" not in kept["status"]
    assert "addresses" not in kept["status"]


def test_a_tier_that_is_half_on_claims_is_two(errors_in: Check) -> None:
    objects = (
        node("n1", {}, T4),
        SLICE,
        node("p1", {"nvidia.com/gpu": 4}, {**T4, "node-pool": "x"}),
        deployment("d", {"nvidia.com/gpu": 1}, nodeSelector=T4),
    )
    done = draft(*objects)
    assert [tier.name for tier in done.hardware.tiers] == ["tesla-t4-on-claims", "tesla-t4"]
    assert {tier.sample.spelled for tier in done.hardware.tiers} == {"Tesla T4"}
    (verdict,) = done.verdicts
    assert any("on claims already" in one for one in verdict.obstacles)
    assert any("become one tier" in one.question for one in done.open)
    assert errors_in(files(*objects)) == []
