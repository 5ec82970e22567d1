"""Configuration of device plugins: ConfigMaps, network definitions, numbers in resources and arguments."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.draft.plugins import Plugins, Replicas, read_plugins
from tests.unit.draft.conftest import draft, node, record


def plugins(*objects: dict[str, Any]) -> Plugins:
    return read_plugins(record(*objects).objects, ())


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


SLICED = "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: %d}]}}"


def test_nodes_choose_among_configurations() -> None:
    found = plugins(config_map(small=SLICED % 2, large=SLICED % 8, off="sharing: {}"))
    assert [(one.config, one.count) for one in found.replicas] == [("small", 2), ("large", 8)]
    chosen = found.replicas_of("nvidia.com/gpu", "large")
    assert isinstance(chosen, Replicas)
    assert chosen.count == 8
    assert found.replicas_of("nvidia.com/gpu", "off") is None
    assert found.replicas_of("nvidia.com/gpu", "") is None, "two may be meant"


@pytest.mark.parametrize("replicas", ["1", "0", "many"])
def test_what_shares_nothing(replicas: str) -> None:
    text = f"sharing: {{mps: {{resources: [{{name: nvidia.com/gpu, replicas: {replicas}}}]}}}}"
    assert plugins(config_map(any=text)).replicas == ()


def test_names_of_virtual_functions() -> None:
    listed = (
        '{"resourceList": [{"resourceName": "net_a"}, '
        '{"resourceName": "net_b", "resourcePrefix": "mellanox.com"}]}'
    )
    network = {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": "c",
            "annotations": {"k8s.v1.cni.cncf.io/resourceName": "example.com/net_c"},
        },
    }
    objects = (config_map(**{"config.json": listed}), network)
    names = {"intel.com/net_a", "mellanox.com/net_b", "example.com/net_c"}
    assert set(plugins(*objects).sriov) == names
    done = draft(*objects, node("n1", dict.fromkeys(names, 4)))
    assert {tier.make.driver for tier in done.hardware.tiers} == {
        "sriovnetwork.k8snetworkplumbingwg.io"
    }


def daemon(*arguments: str) -> dict[str, Any]:
    container = {"name": "p", "image": "intel/intel-gpu-plugin:0.34", "args": list(arguments)}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "p"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


@pytest.mark.parametrize(
    "thing",
    [
        daemon("-shared-dev-num=4"),
        daemon("--shared-dev-num", "4"),
        {
            "apiVersion": "deviceplugin.intel.com/v1",
            "kind": "GpuDevicePlugin",
            "metadata": {"name": "p"},
            "spec": {"sharedDevNum": 4},
        },
    ],
)
def test_numbers_of_intel(thing: dict[str, Any]) -> None:
    done = draft(thing, node("n1", {"gpu.intel.com/i915": 8}))
    (pool,) = done.hardware.pools
    assert [(part.per_node, part.policy, part.replicas) for part in pool.parts] == [(2, None, 4)]


def test_a_map_that_is_no_configuration_is_passed_over() -> None:
    assert (
        plugins(config_map(a="sharing: [", b="just sharing words", c="[resourceList]")) == Plugins()
    )
