"""Each pod that waits gets its one cause: from events, from its condition, from the objects."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.audit.causes import cause_names, read_cause

Audited = Callable[..., Any]
Codes = Callable[..., list[str]]

DATA = Path(__file__).parents[2] / "data" / "events" / "causes.yaml"
EVENTS = yaml.safe_load(DATA.read_text(encoding="utf-8"))
ALL = "0/2 nodes are available: 2 cannot allocate all claims. preemption: not helpful"


def waiting(world: Any, name: str = "a", **spec: Any) -> Any:
    """A pod that waits since 11:50, with a claim for one whole GPU that is not allocated."""
    pod = world.pod(name, None, phase="Pending", spec=spec)
    pod["metadata"]["creationTimestamp"] = "2026-11-29T11:50:00Z"
    world.claim(name)
    return pod


def cause(done: Any) -> tuple[str | None, str]:
    (one,) = done.causes
    return one.cause, one.text


@pytest.mark.parametrize("row", EVENTS, ids=lambda row: str(row["cause"]))
def test_words_of_events(row: dict[str, str]) -> None:
    read = read_cause(row["reason"], row["message"])
    assert read is not None
    assert (read.cause, read.text) == (row["cause"], row["text"])


def test_words_of_another_reason() -> None:
    assert read_cause("Pulled", "device class big does not exist") is None


def test_every_cause_has_a_next_step() -> None:
    from dracfg.audit.causes import _steps, _table

    assert {row.cause for row in _table()} - {"objects"} <= set(cause_names())
    assert all(_steps().values())


def test_the_newest_event_speaks(world: Any, audited: Audited) -> None:
    pod = waiting(world)
    world.event(
        pod,
        "FailedScheduling",
        "request gpu: device class big does not exist",
        "2026-11-29T11:00:00Z",
    )
    world.event(pod, "FailedScheduling", "2 resourceclaim in use", "2026-11-29T11:59:00Z")
    assert cause(audited(world))[0] == "claimInUse"
    assert audited(world).causes[0].source == "event"


def test_the_condition_speaks_where_no_event_does(world: Any, audited: Audited) -> None:
    pod = waiting(world)
    pod["status"]["conditions"][0]["message"] = "2 resourceclaim in use"
    assert audited(world).causes[0].source == "condition"
    assert cause(audited(world))[0] == "claimInUse"


def test_a_pod_that_starts_waits_for_nothing(world: Any, audited: Audited) -> None:
    pod = world.pod("a", phase="Pending")
    world.claim("a", ["gpu-0"], pods=[pod])
    assert audited(world).causes == ()


def test_nothing_is_known(world: Any, audited: Audited, codes: Codes) -> None:
    waiting(world)
    assert cause(audited(world)) == (None, "nothing that is recorded tells why")
    assert "LIV055" in codes(world)


def test_a_cause_that_lasts(world: Any, codes: Codes) -> None:
    pod = waiting(world)
    world.event(pod, "FailedScheduling", "2 resourceclaim in use")
    assert codes(world) == []
    pod["metadata"]["creationTimestamp"] = "2026-11-29T11:00:00Z"
    assert codes(world) == ["LIV056"]


def busy(world: Any) -> None:
    world.held("b", ["gpu-0"])
    world.held("c", ["gpu-1"])


def without_class(world: Any) -> None:
    world.add("resource.k8s.io/v1", "DeviceClass", "other", spec={})


def unselected(world: Any) -> None:
    expression = 'device.driver == "nobody"'
    world.add(
        "resource.k8s.io/v1",
        "DeviceClass",
        "big",
        spec={"selectors": [{"cel": {"expression": expression}}]},
    )


def failing(world: Any) -> None:
    expression = 'device.attributes["gpu.example.org"].nothing == "x"'
    world.add(
        "resource.k8s.io/v1",
        "DeviceClass",
        "big",
        spec={"selectors": [{"cel": {"expression": expression}}]},
    )


def tainted(world: Any) -> None:
    for device in world.find("ResourceSlice", "gpus-1-gpu.example.org")["spec"]["devices"]:
        device["taints"] = [{"key": "hot", "effect": "NoSchedule"}]


def incomplete(world: Any) -> None:
    world.find("ResourceSlice", "gpus-1-gpu.example.org")["spec"]["pool"]["resourceSliceCount"] = 2


def too_large(world: Any) -> None:
    exactly = world.find("ResourceClaim", "a")["spec"]["devices"]["requests"][0]["exactly"]
    exactly["capacity"] = {"requests": {"memory": "81Gi"}}


def too_many(world: Any) -> None:
    world.held("b", ["gpu-0"])
    world.find("ResourceClaim", "a")["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2


def more_than_a_node_has(world: Any) -> None:
    world.find("ResourceClaim", "a")["spec"]["devices"]["requests"][0]["exactly"]["count"] = 3


def constrained(world: Any) -> None:
    constraint = {"matchAttribute": "example.org/root", "requests": ["gpu"]}
    world.find("ResourceClaim", "a")["spec"]["devices"]["constraints"] = [constraint]


def template_is_missing(world: Any) -> None:
    world.find("Pod", "a")["status"]["resourceClaimStatuses"] = []
    spec = {
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "big"}}]}}
    }
    world.add(
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
        "other",
        metadata={"namespace": "vision"},
        spec=spec,
    )


def claim_is_missing(world: Any) -> None:
    world.remove(world.find("ResourceClaim", "a"))
    world.held("b", ["gpu-0"])


@pytest.mark.parametrize(
    ("bend", "named", "text"),
    [
        (busy, "deviceInUse", "request gpu: all of 2 devices are in use"),
        (without_class, "missingClass", "request gpu: there is no DeviceClass big"),
        (unselected, "selector", "request gpu: class big selects none of 3 devices"),
        (
            failing,
            "selector",
            "request gpu: a selector fails on gpu-0 of gpus-1: no such key: nothing",
        ),
        (tainted, "taint", "request gpu: 2 devices carry taints (hot:NoSchedule)"),
        (incomplete, "poolIncomplete", "request gpu: pool gpus-1 is not published as a whole"),
        (too_large, "capacity", "request gpu: none of 2 devices has memory 81Gi"),
        (
            too_many,
            "deviceInUse",
            "request gpu: 2 free devices of one node are wanted, the most is 1",
        ),
        (
            more_than_a_node_has,
            "capacity",
            "request gpu: 3 devices of one node are wanted, the most is 2",
        ),
        (
            constrained,
            "constraint",
            "no devices on one node agree with its constraint on example.org/root",
        ),
        (template_is_missing, "missingTemplate", "there is no template t in its namespace"),
        (claim_is_missing, "missingClaim", "there is no claim a in its namespace"),
    ],
)
def test_objects_speak_where_the_scheduler_says_little(
    world: Any, audited: Audited, bend: Callable[[Any], None], named: str, text: str
) -> None:
    pod = waiting(world)
    world.event(pod, "FailedScheduling", ALL)
    bend(world)
    done = audited(world)
    one = next(c for c in done.causes if c.subject == "Pod/vision/a")
    assert (one.cause, one.text, one.source) == (named, text, "objects")


def test_a_share_that_is_too_large_for_what_is_left(world: Any, audited: Audited) -> None:
    pod = world.pod("n", "cuts-1")
    world.share("n", "20Gi", pods=[pod])
    other = world.pod("m", "cuts-1")
    world.share("m", "5Gi", pods=[other])
    late = waiting(world, "late")
    exactly = world.find("ResourceClaim", "late")["spec"]["devices"]["requests"][0]["exactly"]
    exactly |= {"deviceClassName": "cut-slices-20gi", "capacity": {"requests": {"memory": "20Gi"}}}
    world.event(late, "FailedScheduling", ALL)
    assert cause(audited(world)) == (
        "capacity",
        "request gpu: 20Gi of memory is wanted, the most that is free is 15Gi",
    )


def test_one_alternative_is_free(world: Any, audited: Audited) -> None:
    pod = waiting(world)
    world.held("b", ["gpu-0"])
    request = world.find("ResourceClaim", "a")["spec"]["devices"]["requests"][0]
    del request["exactly"]
    request["firstAvailable"] = [
        {"name": "two", "deviceClassName": "big", "count": 2},
        {"name": "one", "deviceClassName": "big"},
    ]
    world.event(pod, "FailedScheduling", ALL)
    assert cause(audited(world))[0] is None


def test_a_claim_whose_pod_is_not_recorded(world: Any, audited: Audited) -> None:
    waiting(world)
    busy(world)
    world.remove(world.find("Pod", "a"))
    assert audited(world).causes == ()
    owner = {"kind": "Pod", "name": "a", "uid": "1", "controller": True, "apiVersion": "v1"}
    world.find("ResourceClaim", "a")["metadata"]["ownerReferences"] = [owner]
    (one,) = audited(world).causes
    assert (one.subject, one.cause) == ("ResourceClaim/vision/a", "deviceInUse")


@pytest.mark.parametrize(("used", "cause_named"), [("0", None), ("1", "quota")])
def test_a_quota_that_is_full(
    world: Any, audited: Audited, used: str, cause_named: str | None
) -> None:
    pod = world.pod("a", None, phase="Pending")
    pod["status"]["resourceClaimStatuses"] = []
    asked = {"name": "gpu", "exactly": {"deviceClassName": "big", "count": 1}}
    spec = {"spec": {"devices": {"requests": [asked]}}}
    place = {"namespace": "vision"}
    world.add("resource.k8s.io/v1", "ResourceClaimTemplate", "t", metadata=place, spec=spec)
    key = "big.deviceclass.resource.k8s.io/devices"
    world.add(
        "v1",
        "ResourceQuota",
        "dracfg-devices",
        metadata=place,
        spec={"hard": {key: "1"}},
        status={"used": {key: used}},
    )
    assert cause(audited(world))[0] == cause_named
