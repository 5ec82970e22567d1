"""LIV082, LIV083: what is being deleted, does not end, and keeps its devices."""

from collections.abc import Callable
from typing import Any

import pytest

Codes = Callable[..., list[str]]
Found = Callable[..., Any]
LONG_AGO = "2026-11-29T11:00:00Z"


def deleted(thing: Any, at: str = LONG_AGO) -> Any:
    thing["metadata"]["deletionTimestamp"] = at
    return thing


def containers(pod: Any, *states: str) -> None:
    pod["status"]["containerStatuses"] = [{"name": s, "state": {s: {}}} for s in states]


@pytest.mark.parametrize(("since", "told"), [("11:30:00", False), ("11:29:59", True)])
def test_past_the_timeout_of_the_tier(world: Any, codes: Codes, since: str, told: bool) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    deleted(pod, f"2026-11-29T{since}Z")
    assert codes(world) == (["LIV082"] if told else [])


@pytest.mark.parametrize(("since", "told"), [("11:00:00", False), ("10:59:59", True)])
def test_past_an_hour_where_nothing_is_said(
    world: Any, audited: Callable[..., Any], since: str, told: bool
) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    deleted(pod, f"2026-11-29T{since}Z")
    assert [f.code for f in audited(world, None).diagnostics] == (["LIV082"] if told else [])


@pytest.mark.parametrize(
    ("states", "handling", "step"),
    [
        ((), "needsPerson", "whether the kubelet and the container runtime answer"),
        (("running", "terminated"), "needsPerson", "the kubelet and the container runtime answer"),
        (("terminated",), "retryable", "see that its driver runs on gpus-1 and answers"),
    ],
)
def test_whose_turn_it_is(
    world: Any, found: Found, states: tuple[str, ...], handling: str, step: str
) -> None:
    pod, _ = world.held("a", ["gpu-0", "gpu-1"])
    containers(deleted(pod), *states)
    finding = found(world, "LIV082")
    assert finding.handling == handling
    assert step in finding.diagnostic.help
    assert "don't delete it by force" in finding.diagnostic.help
    assert finding.objects == ("Pod/vision/a", "ResourceClaim/vision/a")
    assert finding.diagnostic.message == (
        "pod vision/a is being deleted for 1h and still holds 2 devices on node gpus-1"
    )


def test_a_pod_that_was_never_bound(world: Any, found: Found) -> None:
    pod = deleted(world.pod("a", node=None, phase="Pending"))
    world.claim("a", ["gpu-0"], pods=[pod])
    assert "log of the claim controller" in found(world, "LIV082").diagnostic.help


def test_a_pod_that_has_ended(world: Any, codes: Codes) -> None:
    """Its claim is the claim controller's turn."""
    pod, _ = world.held("a", ["gpu-0"])
    deleted(pod)["status"]["phase"] = "Failed"
    assert "LIV082" not in codes(world)


def test_a_pod_without_devices(world: Any, codes: Codes) -> None:
    world.held("b", ["gpu-1"])
    pod = deleted(world.pod("a"))
    pod["spec"]["resourceClaims"] = []
    pod["status"]["resourceClaimStatuses"] = []
    assert codes(world) == []


def test_a_pod_on_a_lost_node(world: Any, codes: Codes) -> None:
    """The node is the finding, whatever is on it."""
    pod, _ = world.held("a", ["gpu-0"])
    deleted(pod)
    world.find("Node", "gpus-1")["status"]["conditions"][0]["status"] = "Unknown"
    assert codes(world) == ["LIV048"]


@pytest.mark.parametrize(("since", "told"), [("11:30:00", False), ("11:29:59", True)])
def test_a_namespace_that_does_not_end(world: Any, codes: Codes, since: str, told: bool) -> None:
    world.held("a", ["gpu-0"])
    deleted(world.find("Namespace", "vision"), f"2026-11-29T{since}Z")
    assert ("LIV083" in codes(world)) == told


def test_a_namespace_without_devices(world: Any, codes: Codes) -> None:
    world.held("a", ["gpu-0"])
    deleted(world.find("Namespace", "search"))
    assert codes(world) == []


def test_what_is_said_of_a_namespace(world: Any, found: Found) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    deleted(pod)
    space = deleted(world.find("Namespace", "vision"))
    left = "Some resources are remaining: pods. has 1 resource instances"
    space["status"] = {
        "conditions": [
            {"type": "NamespaceDeletionContentFailure", "status": "False", "message": "no failure"},
            {"type": "NamespaceContentRemaining", "status": "True", "message": left},
        ]
    }
    finding = found(world, "LIV083")
    assert finding.handling == "needsPerson"
    assert finding.diagnostic.found == left
    assert "find out what keeps a; don't empty the finalizers" in finding.diagnostic.help
    assert finding.objects == ("Namespace/vision", "ResourceClaim/vision/a")
    assert found(world, "LIV082")


def test_a_namespace_whose_claims_nobody_reserves(world: Any, found: Found) -> None:
    world.claim("a", ["gpu-0"])
    deleted(world.find("Namespace", "vision"))
    finding = found(world, "LIV083").diagnostic
    assert finding.label == "reserved for no pod that is recorded"
    assert "claim uid" in finding.found
