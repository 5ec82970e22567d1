"""LIV052, LIV053, LIV065: unhealthy and tainted devices, and the quarantine that would follow."""

from collections.abc import Callable
from typing import Any

import pytest

Codes = Callable[..., list[str]]
Found = Callable[..., Any]


def report(pod: Any, health: str, identifier: str = "k8s.gpu.example.org/claim=uid-gpu-0") -> None:
    entry = {"resourceID": identifier, "health": health, "message": "Xid 79"}
    status = {"name": "claim:gpu", "resources": [entry]}
    pod["status"]["containerStatuses"] = [{"name": "main", "allocatedResourcesStatus": [status]}]


def test_an_unhealthy_device(world: Any, found: Found) -> None:
    pod, _ = world.held("a", ["gpu-0", "gpu-1"])
    report(pod, "Unhealthy")
    finding = found(world, "LIV052")
    step = finding.diagnostic.help
    assert (
        "quarantine: [{node: gpus-1, driver: gpu.example.org, pool: gpus-1, device: gpu-0, "
        'reason: "Xid 79", since: "2026-11-29"}]' in step
    )
    assert "vision/a stays" in step
    assert "1 devices are left for 2 guaranteed to vision" in finding.diagnostic.found
    assert "Device/gpu.example.org/gpus-1/gpu-0" in finding.objects


@pytest.mark.parametrize("identifier", ["gpu.example.org/gpus-1/gpu-1", "x/claim=1-gpu-1"])
def test_which_device_it_is(world: Any, found: Found, identifier: str) -> None:
    pod, _ = world.held("a", ["gpu-0", "gpu-1"])
    report(pod, "Unhealthy", identifier)
    assert found(world, "LIV052").diagnostic.message.startswith("gpu-1 of pool gpus-1")


def test_a_device_that_is_not_found(world: Any, found: Found) -> None:
    pod, _ = world.held("a", ["gpu-0", "gpu-1"])
    report(pod, "Unhealthy", "something")
    assert found(world, "LIV052").diagnostic.help == "find the device by its id, and quarantine it"


def test_health_that_is_not_known(world: Any, found: Found, codes: Codes) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    report(pod, "Unknown")
    assert found(world, "LIV065").diagnostic.severity == "unknown"
    assert "LIV052" not in codes(world)


def test_a_healthy_device(world: Any, codes: Codes) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    report(pod, "Healthy")
    assert codes(world) == []


def test_health_of_a_plugin_device(world: Any, codes: Codes) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    report(pod, "Unhealthy")
    pod["status"]["containerStatuses"][0]["allocatedResourcesStatus"][0]["name"] = "example.org/gpu"
    assert codes(world) == []


@pytest.mark.parametrize(
    ("effect", "told"), [("None", False), ("NoSchedule", True), ("NoExecute", True)]
)
def test_a_taint_of_the_driver(world: Any, codes: Codes, effect: str, told: bool) -> None:
    world.held("a", ["gpu-0"])
    device = world.find("ResourceSlice", "gpus-1-gpu.example.org")["spec"]["devices"][0]
    device["taints"] = [{"key": "example.org/hot", "effect": effect}]
    assert ("LIV053" in codes(world)) == told


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ({"driver": "gpu.example.org", "pool": "gpus-1", "device": "gpu-0"}, True),
        ({"driver": "gpu.example.org", "pool": "gpus-1", "device": "gpu-1"}, False),
        ({}, True),
        (None, False),
    ],
)
def test_a_taint_by_rule(world: Any, codes: Codes, selector: Any, told: bool) -> None:
    world.held("a", ["gpu-0"])
    spec = {"taint": {"key": "dracfg.dev/quarantine", "effect": "NoSchedule"}}
    if selector is not None:
        spec["deviceSelector"] = selector
    world.add("resource.k8s.io/v1beta2", "DeviceTaintRule", "r", spec=spec)
    assert ("LIV053" in codes(world)) == told


def test_a_pod_of_extended_resources_is_never_evicted(world: Any, found: Found) -> None:
    pod, claim = world.held("a", ["gpu-0"])
    pod["spec"]["resourceClaims"] = []
    pod["status"].pop("resourceClaimStatuses")
    pod["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": claim["metadata"]["name"]}
    device = world.find("ResourceSlice", "gpus-1-gpu.example.org")["spec"]["devices"][0]
    device["taints"] = [{"key": "example.org/hot", "effect": "NoSchedule"}]
    assert "not even then vision/a" in found(world, "LIV053").diagnostic.help
