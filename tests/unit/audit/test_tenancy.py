"""LIV044, LIV046, LIV047, LIV057, LIV063, LIV064: who holds devices, and who gives them out."""

from collections.abc import Callable
from typing import Any

import pytest

Codes = Callable[..., list[str]]
Found = Callable[..., Any]


def share(world: Any, name: str, namespace: str, size: str = "10Gi") -> None:
    pod = world.pod(name, "cuts-1", namespace)
    world.share(name, size, namespace=namespace, pods=[pod])


def test_tenants_that_must_not_meet(world: Any, found: Found, codes: Codes) -> None:
    share(world, "one", "vision")
    share(world, "two", "vision")
    assert codes(world) == []
    share(world, "three", "search")
    assert "search and vision meet" in found(world, "LIV044").diagnostic.message


def test_tenants_that_may_meet(world: Any, codes: Codes, changed: Callable[..., Any]) -> None:
    known = changed({"tenancy: sameTenant": "tenancy: {any: approved by everybody}"})
    share(world, "one", "vision")
    share(world, "three", "search")
    assert "LIV044" not in codes(world, known)


def test_a_removed_tenant(
    world: Any, found: Found, codes: Codes, changed: Callable[..., Any]
) -> None:
    share(world, "one", "search")
    known = changed({"STATE": "removed"})
    assert found(world, "LIV046", known).objects[0] == "Tenant/search"
    assert "LIV063" not in codes(world, known)
    world.objects = [o for o in world.objects if o["metadata"].get("namespace") != "search"]
    world.held("a", ["gpu-0"])
    assert "LIV046" not in codes(world, known)


@pytest.mark.parametrize(
    ("namespace", "devices", "told"),
    [
        ("vendor", ["gpu-0"], False),
        ("vendor", ["gpu-0", "gpu-1"], True),
        ("stray", ["gpu-0"], True),
    ],
)
def test_namespaces_without_rights(
    world: Any, codes: Codes, namespace: str, devices: list[str], told: bool
) -> None:
    pod = world.pod("a", namespace=namespace)
    world.claim("a", devices, namespace, [pod])
    assert ("LIV047" in codes(world)) == told


def test_namespaces_that_only_warn(world: Any, codes: Codes, changed: Callable[..., Any]) -> None:
    known = changed(
        {"gitops: {engine: plain}": "gitops: {engine: plain}\n  unmanagedNamespaces: warn"}
    )
    pod = world.pod("a", namespace="stray")
    world.claim("a", ["gpu-0"], "stray", [pod])
    assert "LIV047" not in codes(world, known)


def test_a_class_beyond_the_entitlements(world: Any, found: Found, codes: Codes) -> None:
    pod = world.pod("a", namespace="search")
    world.claim("a", ["gpu-0"], "search", [pod])
    assert "not entitled to" in found(world, "LIV063").diagnostic.message
    assert "LIV064" not in codes(world)


def test_more_than_the_limit(world: Any, found: Found, codes: Codes) -> None:
    share(world, "s0", "search")
    share(world, "s1", "search")
    assert codes(world) == []
    share(world, "s2", "search")
    finding = found(world, "LIV064")
    assert (finding.diagnostic.found, finding.diagnostic.expected) == ("3", "2 or less")


def test_two_schedulers_on_one_pool(world: Any, found: Found, codes: Codes) -> None:
    world.held("a", ["gpu-0"])
    pod, _ = world.held("b", ["gpu-1"])
    assert codes(world) == []
    pod["spec"]["schedulerName"] = "volcano"
    assert found(world, "LIV057").diagnostic.message == (
        "default-scheduler and volcano give out devices of pool gpus-1 of gpu.example.org"
    )


def test_two_schedulers_on_pools_of_their_own(world: Any, codes: Codes) -> None:
    world.held("a", ["gpu-0"])
    share(world, "n", "vision")
    world.find("Pod", "n")["spec"]["schedulerName"] = "volcano"
    assert codes(world) == ["INV050"]


def test_a_scheduler_on_the_pool_of_another(
    world: Any, found: Found, codes: Codes, changed: Callable[..., Any]
) -> None:
    line = "gitops: {engine: plain}"
    known = changed(
        {line: line + "\n  schedulers: [{name: default-scheduler}, {name: volcano, pools: []}]"}
    )
    pod, _ = world.held("a", ["gpu-0"])
    assert codes(world, known) == []
    pod["spec"]["schedulerName"] = "volcano"
    assert (
        "default-scheduler gives out that pool" in found(world, "LIV057", known).diagnostic.message
    )
