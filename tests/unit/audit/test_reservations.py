"""LIV035, LIV036, LIV045, LIV061, LIV062: who a claim is reserved for."""

from collections.abc import Callable
from typing import Any

import pytest

Codes = Callable[..., list[str]]
Found = Callable[..., Any]


def test_a_pod_that_is_gone(world: Any, found: Found) -> None:
    world.held("b", ["gpu-1"])
    pod, _ = world.held("a", ["gpu-0"])
    world.remove(pod)
    finding = found(world, "LIV035")
    assert finding.handling == "needsPerson"
    assert "on node gpus-1" in finding.diagnostic.help


def test_a_pod_of_the_same_name(world: Any, found: Found) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    pod["metadata"]["uid"] = "another"
    pod["status"]["phase"] = "Pending"
    assert found(world, "LIV035").diagnostic.label == "another pod of that name runs now"


def test_no_pods_recorded(world: Any, codes: Codes) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    world.remove(pod)
    pod["kind"] = "PodTemplate"
    world.objects = [thing for thing in world.objects if thing["kind"] != "Pod"]
    world.add("v1", "Pod", "other", metadata={"namespace": "vision"}, spec={}, status={})
    assert "LIV035" in codes(world)
    world.remove(world.find("Pod", "other"))
    assert "LIV035" not in codes(world)


@pytest.mark.parametrize(("since", "leaks"), [("11:45:00", False), ("11:29:59", True)])
def test_reserved_for_nobody(world: Any, codes: Codes, since: str, leaks: bool) -> None:
    claim = world.claim("a", ["gpu-0"])
    claim["status"]["allocation"]["allocationTimestamp"] = f"2026-11-29T{since}Z"
    world.pod("other", namespace="search")["spec"]["resourceClaims"] = []
    world.find("Pod", "other")["status"]["resourceClaimStatuses"] = []
    assert ("LIV036" in codes(world)) == leaks


@pytest.mark.parametrize(
    ("number", "meant", "over"),
    [(2, None, False), (256, None, False), (257, None, True), (2, "2", False), (2, "1", True)],
)
def test_bound_of_consumers(
    world: Any, codes: Codes, number: int, meant: str | None, over: bool
) -> None:
    pods = [world.pod(f"p{i}") for i in range(number)]
    for pod in pods:
        pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"] = "a"
    claim = world.claim("a", ["gpu-0"], pods=pods)
    if meant is not None:
        claim["metadata"]["annotations"]["dracfg.dev/pods"] = meant
    assert ("LIV045" in codes(world)) == over


@pytest.mark.parametrize(("since", "stuck"), [("11:45:00", False), ("11:00:00", True)])
def test_a_deletion_that_does_not_end(world: Any, codes: Codes, since: str, stuck: bool) -> None:
    _, claim = world.held("a", ["gpu-0"])
    claim["metadata"]["deletionTimestamp"] = f"2026-11-29T{since}Z"
    assert ("LIV061" in codes(world)) == stuck


def test_a_deletion_whose_pods_are_gone(world: Any, found: Found) -> None:
    """Deleted, still allocated and still reserved, though nobody is left who reserves it."""
    world.held("b", ["gpu-1"])
    pod, claim = world.held("a", ["gpu-0"])
    claim["metadata"]["deletionTimestamp"] = "2026-11-29T11:00:00Z"
    assert found(world, "LIV061").diagnostic.help.startswith("end the pods that reserve it, and")
    world.remove(pod)
    assert found(world, "LIV061").diagnostic.help.startswith("see the log of the claim controller")
    assert found(world, "LIV035").objects == ("ResourceClaim/vision/a",)


def test_a_running_pod_without_its_claim(world: Any, found: Found) -> None:
    world.held("b", ["gpu-1"])
    _, claim = world.held("a", ["gpu-0"])
    world.remove(claim)
    assert "does not exist any more" in found(world, "LIV062").diagnostic.message


def test_a_running_pod_whose_claim_is_free(world: Any, found: Found) -> None:
    _, claim = world.held("a", ["gpu-0"])
    claim["status"] = {}
    assert "is not allocated" in found(world, "LIV062").diagnostic.message


def test_a_running_pod_whose_claim_is_another_ones(world: Any, found: Found) -> None:
    _, claim = world.held("a", ["gpu-0"])
    other = world.pod("b")
    other["spec"]["resourceClaims"] = []
    other["status"]["resourceClaimStatuses"] = []
    claim["status"]["reservedFor"] = [world.consumer(other)]
    assert "is reserved for others" in found(world, "LIV062").diagnostic.message


def test_a_finished_pod_lets_go(world: Any, codes: Codes) -> None:
    _, claim = world.held("a", ["gpu-0"])
    claim["status"] = {}
    world.find("Pod", "a")["status"]["phase"] = "Succeeded"
    assert "LIV062" not in codes(world)


def test_a_claim_that_can_not_be_read(world: Any, codes: Codes) -> None:
    _, claim = world.held("a", ["gpu-0"])
    claim["status"]["devices"] = [{"driver": 1}]
    found = codes(world)
    assert "INV032" in found
    assert "LIV062" not in found


@pytest.mark.parametrize(("end", "leaks"), [("11:45:00", False), ("11:00:00", True)])
def test_reserved_for_pods_that_have_ended(world: Any, codes: Codes, end: str, leaks: bool) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    pod["status"]["phase"] = "Succeeded"
    pod["status"]["conditions"][1]["lastTransitionTime"] = f"2026-11-29T{end}Z"
    assert ("LIV036" in codes(world)) == leaks
    other = world.pod("b")
    other["status"]["resourceClaimStatuses"][0]["resourceClaimName"] = "a"
    world.find("ResourceClaim", "a")["status"]["reservedFor"].append(world.consumer(other))
    assert "LIV036" not in codes(world)
