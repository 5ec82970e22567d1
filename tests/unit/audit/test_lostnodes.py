"""LIV048-051: a node lost in four forms, and what the ledger says of it."""

from collections.abc import Callable
from typing import Any

import pytest

Found = Callable[..., Any]
Audited = Callable[..., Any]


def silent(world: Any, name: str = "gpus-1") -> None:
    ready = world.find("Node", name)["status"]["conditions"][0]
    ready |= {"status": "Unknown", "lastTransitionTime": "2026-11-29T11:00:00Z"}


def states(done: Any) -> dict[str, str]:
    return {entry.id[2]: entry.state for entry in done.ledger.entries}


def test_a_node_that_is_kept(world: Any, found: Found, audited: Audited) -> None:
    world.held("a", ["gpu-0"])
    silent(world)
    finding = found(world, "LIV048")
    assert "does not answer for 1h" in finding.diagnostic.message
    assert states(audited(world))["gpu-0"] == "unknown"
    assert states(audited(world))["gpu-1"] == "idle"
    amount = audited(world).ledger.totals[0].capacity["memory"]
    assert (str(amount.used), str(amount.unknown), str(amount.free)) == ("80Gi", "80Gi", "80Gi")


def test_a_node_that_is_not_ready_but_answers(world: Any, audited: Audited) -> None:
    world.held("a", ["gpu-0"])
    world.find("Node", "gpus-1")["status"]["conditions"][0]["status"] = "False"
    assert [f.code for f in audited(world).diagnostics] == []
    assert states(audited(world))["gpu-0"] == "allocated"


def test_a_node_that_is_deleted(world: Any, found: Found, audited: Audited) -> None:
    world.held("a", ["gpu-0"])
    world.remove(world.find("Node", "gpus-1"))
    assert "has no Node object" in found(world, "LIV049").diagnostic.message
    assert states(audited(world))["gpu-0"] == "unknown"


def test_slices_that_went_with_their_node(world: Any, audited: Audited) -> None:
    """Kubernetes deletes what a Node owns: the device is unknown, and the node is the one finding."""
    world.held("a", ["gpu-0"])
    world.remove(world.find("Node", "gpus-1"))
    slices = [one for one in world.objects if one["kind"] == "ResourceSlice"]
    for one in slices:
        if one["spec"].get("nodeName") == "gpus-1":
            world.remove(one)
    done = audited(world, None)
    assert {f.code for f in done.diagnostics if f.code.startswith("LIV")} == {"LIV049"}
    assert states(done)["gpu-0"] == "unknown"


def test_no_nodes_are_recorded(world: Any, audited: Audited) -> None:
    world.held("a", ["gpu-0"])
    world.objects = [thing for thing in world.objects if thing["kind"] != "Node"]
    assert {f.code for f in audited(world).diagnostics} == {"LIV058"}
    assert states(audited(world))["gpu-0"] == "allocated"


def test_a_node_out_of_service(world: Any, found: Found) -> None:
    world.held("a", ["gpu-0"])
    silent(world)
    taint = {
        "key": "node.kubernetes.io/out-of-service",
        "value": "nodeshutdown",
        "effect": "NoExecute",
    }
    world.find("Node", "gpus-1")["spec"]["taints"] = [taint]
    assert found(world, "LIV050").handling == "retryable"


def test_a_pod_that_was_deleted_by_force(world: Any, found: Found, audited: Audited) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    world.held("b", ["gpu-1"])
    silent(world)
    world.remove(pod)
    assert found(world, "LIV051").objects == ("ResourceClaim/vision/a", "Node/gpus-1")
    codes = [f.code for f in audited(world).diagnostics]
    assert "LIV035" not in codes
    assert codes.count("LIV048") == 1


@pytest.mark.parametrize(
    ("reclaim", "step"),
    [
        ("timeout: 30m", "the fence nodeLease is recorded"),
        ("timeout: 30m, fencing: outOfServiceTaint", "wait for the fence outOfServiceTaint"),
        ("timeout: 30m, fencing: none, onUnknownNode: release", "nothing is to be done"),
    ],
)
def test_what_to_do_next(
    world: Any, found: Found, changed: Callable[..., Any], reclaim: str, step: str
) -> None:
    world.held("a", ["gpu-0"])
    silent(world)
    known = changed({"reclaim: {timeout: 30m}": f"reclaim: {{{reclaim}}}"})
    assert step in found(world, "LIV048", known).diagnostic.help
