"""LIV037, LIV041-043, LIV054: what has been allocated, and whether it arrived in a running pod."""

from collections.abc import Callable
from typing import Any

import pytest

from dracfg.audit.failures import classify, failures

Codes = Callable[..., list[str]]
Found = Callable[..., Any]


def starting(world: Any, reason: str = "ContainerCreating", node: str | None = "gpus-1") -> Any:
    """A pod that holds a GPU since 9:00 and does not run at 12:00."""
    waiting = {"name": "main", "state": {"waiting": {"reason": reason, "message": "words"}}}
    pod = world.pod("a", node, phase="Pending", containerStatuses=[waiting])
    world.claim("a", ["gpu-0"], pods=[pod])
    return pod


def test_prepared_nowhere(world: Any, found: Found) -> None:
    starting(world)
    finding = found(world, "LIV037")
    assert "are allocated for 3h and prepared nowhere" in finding.diagnostic.message
    assert "claim uid claim-a" in finding.diagnostic.found


@pytest.mark.parametrize("since", ["11:30:00", "11:59:00"])
def test_still_within_the_timeout(world: Any, codes: Codes, since: str) -> None:
    pod = starting(world)
    pod["status"]["conditions"][0]["lastTransitionTime"] = f"2026-11-29T{since}Z"
    assert codes(world) == []


@pytest.mark.parametrize(("reason", "node"), [("ImagePullBackOff", "gpus-1"), ("", None)])
def test_holds_and_does_not_run(world: Any, found: Found, reason: str, node: str | None) -> None:
    starting(world, reason, node)
    finding = found(world, "LIV043")
    assert "counts as used" in finding.diagnostic.message
    assert "claim uid claim-a" in finding.diagnostic.found


def test_evidence_of_a_share(world: Any, found: Found) -> None:
    pod = world.pod("n", "cuts-1", phase="Pending")
    world.share("n", pods=[pod], share="00000000-0000-4000-8000-00000000000a")
    said = found(world, "LIV037").diagnostic.found
    assert "ShareID 00000000-0000-4000-8000-00000000000a" in said
    assert f"policy slices version {world.version}" in said


def test_a_failed_preparation_speaks_alone(world: Any, found: Found, codes: Codes) -> None:
    pod = starting(world)
    prefix = "Failed to prepare dynamic resources: prepare dynamic resources:"
    world.event(
        pod, "FailedPrepareDynamicResources", f"{prefix} DRA driver {pod['kind']} is not registered"
    )
    finding = found(world, "LIV054")
    assert (finding.handling, finding.diagnostic.label) == ("retryable", "driver-not-registered")
    assert codes(world) == ["LIV054"]


def test_a_preparation_that_worked_at_last(world: Any, codes: Codes) -> None:
    pod, _ = world.held("a", ["gpu-0"])
    world.event(pod, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: no")
    assert codes(world) == []


def test_an_event_of_an_earlier_pod(world: Any, codes: Codes) -> None:
    pod = starting(world)
    event = world.event(
        pod, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: no"
    )
    event["involvedObject"]["uid"] = "another"
    assert codes(world) == ["LIV037"]


@pytest.mark.parametrize(
    ("message", "kind", "handling"),
    [
        ("DRA driver gpu.x is not registered", "transient", "retryable"),
        ("NodePrepareResources: rpc error: code = Unavailable desc = x", "transient", "retryable"),
        ("rpc error: code = DeadlineExceeded desc = x", "transient", "retryable"),
        ("rpc error: code = InvalidArgument desc = x", "parameters", "notRetryable"),
        ("error getting opaque device configs: x", "parameters", "notRetryable"),
        (
            "requested device gpu-0 is already allocated to different claim 12",
            "leaked",
            "needsPerson",
        ),
        (
            "old ResourceClaim with same name a and different UID 1 still exists (previous pod …)",
            "leaked",
            "needsPerson",
        ),
        ("unresolvable CDI devices k8s.gpu/claim=1", "health", "needsPerson"),
        ("NVML: GPU is lost", "health", "needsPerson"),
        ("words that nobody knows", "health", "needsPerson"),
    ],
)
def test_classes(message: str, kind: str, handling: str) -> None:
    failure = classify("FailedPrepareDynamicResources", message)
    assert (failure.kind, failure.handling) == (kind, handling)


def test_a_reason_that_the_table_lacks() -> None:
    assert classify("Unheard", "of").kind == "unclassified"


def test_every_entry_says_what_to_do_and_from_where() -> None:
    table = failures()
    assert len({failure.id for failure in table}) == len(table)
    assert all(failure.step and failure.source for failure in table)
    assert all(failure.field for failure in table if failure.kind == "parameters")


def test_ready_on_a_failed_device(world: Any, found: Found, codes: Codes) -> None:
    _, claim = world.held("a", ["gpu-0"])
    claim["status"]["devices"] = [world.status("gpu-0")]
    assert codes(world) == []
    failed = world.status("gpu-0", status="False", reason="Lost", message="no link")
    claim["status"]["devices"] = [failed]
    assert found(world, "LIV041").diagnostic.label == "Ready: Lost (no link)"


def test_a_failed_device_of_a_pod_that_is_not_ready(world: Any, codes: Codes) -> None:
    pod, claim = world.held("a", ["gpu-0"])
    pod["status"]["conditions"][1]["status"] = "False"
    claim["status"]["devices"] = [world.status("gpu-0", status="False")]
    assert codes(world) == []


@pytest.mark.parametrize(("driver", "missing"), [("dra.net", True), ("gpu.nvidia.com", False)])
def test_statuses_of_drivers_that_write_them(
    world: Any, audited: Callable[..., Any], driver: str, missing: bool
) -> None:
    for thing in world.objects:
        if thing["kind"] == "ResourceSlice" and thing["spec"]["driver"] == "gpu.example.org":
            thing["spec"]["driver"] = driver
    pod, claim = world.held("a", ["gpu-0", "gpu-1"])
    for result in claim["status"]["allocation"]["devices"]["results"]:
        result["driver"] = driver
    claim["status"]["devices"] = [world.status("gpu-0") | {"driver": driver}]
    found = [f for f in audited(world, None).diagnostics if f.code == "LIV042"]
    assert bool(found) == missing
    if missing:
        assert found[0].found == "1 of 2 statuses"
    pod["status"]["conditions"][1]["lastTransitionTime"] = "2026-11-29T11:55:00Z"
    assert "LIV042" not in [f.code for f in audited(world, None).diagnostics]
