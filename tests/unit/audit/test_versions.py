"""LIV038-040: claims of older policy versions, and capacity that shrank under its claims."""

from collections.abc import Callable
from typing import Any

Codes = Callable[..., list[str]]
Found = Callable[..., Any]

RAISED = {
    "{min: 5Gi, step: 5Gi, max: 40Gi}": "{min: 10Gi, step: 5Gi, max: 40Gi}",
    "[5Gi, 10Gi, 20Gi]": "[10Gi, 20Gi]",
}


def share(world: Any, size: str) -> None:
    pod = world.pod("n", "cuts-1")
    world.share("n", size, pods=[pod])


def test_an_older_version_that_is_still_lawful(
    world: Any, found: Found, codes: Codes, changed: Callable[..., Any]
) -> None:
    share(world, "10Gi")
    raised = changed(RAISED)
    finding = found(world, "LIV038", raised)
    assert finding.diagnostic.severity == "note"
    assert (finding.diagnostic.found, finding.diagnostic.expected) == (
        world.version,
        raised.policies["slices"].version,
    )
    assert "LIV039" not in codes(world, raised)


def test_a_size_that_the_policy_would_refuse(
    world: Any, found: Found, codes: Codes, changed: Callable[..., Any]
) -> None:
    share(world, "5Gi")
    assert (
        "refuse now: its sizes are 10Gi or 20Gi"
        in found(world, "LIV039", changed(RAISED)).diagnostic.message
    )
    assert "LIV038" not in codes(world, changed(RAISED))


def test_a_policy_that_is_gone(world: Any, found: Found) -> None:
    share(world, "10Gi")
    note = world.find("ResourceClaim", "n")["metadata"]["annotations"]
    note["dracfg.dev/requests"] = "gpu=slice/cut/old/10Gi/0123abcd"
    assert "it has been removed" in found(world, "LIV039").diagnostic.message


def test_the_version_in_force(world: Any, codes: Codes) -> None:
    share(world, "10Gi")
    assert codes(world) == []


def test_numbers_that_are_kept_on_the_cluster(
    world: Any, found: Found, changed: Callable[..., Any]
) -> None:
    share(world, "10Gi")
    labels = {"dracfg.dev/policy": "slices", "dracfg.dev/policy-version": world.version}
    world.add("v1", "ConfigMap", "policy", metadata={"labels": labels})
    assert "numbers are kept" in found(world, "LIV038", changed(RAISED)).diagnostic.message


def test_capacity_that_shrank(world: Any, found: Found, codes: Codes) -> None:
    world.held("a", ["gpu-0"])
    devices = world.find("ResourceSlice", "gpus-1-gpu.example.org")["spec"]["devices"]
    devices[1]["capacity"]["memory"]["value"] = "79Gi"
    assert "LIV040" not in codes(world)
    devices[0]["capacity"]["memory"]["value"] = "79Gi"
    finding = found(world, "LIV040")
    assert (finding.diagnostic.found, finding.diagnostic.expected) == ("79Gi", "80Gi")
