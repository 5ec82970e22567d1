"""Why a pod does not land: what `dracfg place` and `capacity --what-if` say, and kube-scheduler too.

The scheduler has one sentence for most of it, so that a reason of dracfg counts as right when the
pod lands as soon as that reason, and nothing else, has been taken away.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dracfg.pipeline import Judgement
from dracfg.plan.whatif import HELD
from tests.cluster.bench import NODE, TENANT, Bench, Devices, judged_for, open_bench
from tests.cluster.client import Object
from tests.cluster.drivers import Lie, duplicates, incomplete
from tests.cluster.objects import pod, template
from tests.cluster.scheduling import Scheduling

GPU, NIC, PART = "gpu.example.org", "nic.example.org", "part.example.org"
ROOT = "example.org/root"
REFUSED = "cannot allocate all claims"


@pytest.fixture(scope="module")
def judged(scheduling: Scheduling, tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    return judged_for(scheduling.minor, tmp_path_factory.mktemp("refusals") / "repository")


@pytest.fixture
def bench(scheduling: Scheduling, judged: Judgement) -> Iterator[Bench]:
    with open_bench(scheduling, judged) as opened:
        yield opened


def gpu(name: str, *, root: str = "a", memory: str = "80Gi", **more: object) -> Object:
    attributes = {
        "type": {"string": "gpu"},
        "model": {"string": more.pop("model", "B-80")},
        ROOT: {"string": root},
    }
    return {
        "name": name,
        "attributes": attributes,
        "capacity": {"memory": {"value": memory}},
    } | more


def nic(name: str, root: str) -> Object:
    return {"name": name, "attributes": {"speed": {"int": 400}, ROOT: {"string": root}}}


def part(key: str = "memory", value: str = "40Gi", **policy: object) -> Object:
    """A device that is shared by amount."""
    capacity: Object = {"value": value} | ({"requestPolicy": policy} if policy else {})
    return {
        "name": "part-0",
        "allowMultipleAllocations": True,
        "attributes": {"type": {"string": "gpu"}},
        "capacity": {key: capacity},
    }


def selector(expression: str) -> Object:
    return {"cel": {"expression": expression}}


TAINT = {"key": "example.org/health", "value": "bad", "effect": "NoSchedule"}
TWO_ROOTS = {GPU: [gpu("gpu-0", root="a"), gpu("gpu-1", root="b")]}
ONE_ROOT = {GPU: [gpu("gpu-0", root="a"), gpu("gpu-1", root="a")]}

CASES: dict[str, tuple[str, Devices, str, Devices]] = {
    "no-device": (
        "one",
        {NIC: [nic("nic-0", "a")]},
        "no device of its drivers is there",
        {GPU: [gpu("gpu-0")]},
    ),
    "too-few": (
        "four",
        {GPU: [gpu(f"gpu-{number}") for number in range(3)]},
        "3 devices of gpu.example.org here",
        {GPU: [gpu(f"gpu-{number}") for number in range(4)]},
    ),
    "attribute": (
        "one",
        {GPU: [gpu("gpu-0", model="B-40")]},
        'model is "B-40"',
        {GPU: [gpu("gpu-0", model="B-80")]},
    ),
    "capacity-of-class": (
        "one",
        {GPU: [gpu("gpu-0", memory="72Gi")]},
        "1 device misses memory by 8Gi",
        {GPU: [gpu("gpu-0", memory="80Gi")]},
    ),
    "taint": (
        "one",
        {GPU: [gpu("gpu-0", taints=[TAINT])]},
        "1 device tainted example.org/health=bad:NoSchedule",
        {GPU: [gpu("gpu-0")]},
    ),
    "match": ("together", TWO_ROOTS, "at most 1 gpu share one example.org/root", ONE_ROOT),
    "match-of-two": (
        "pair",
        {GPU: [gpu("gpu-0", root="a")], NIC: [nic("nic-0", "b")]},
        "example.org/root",
        {GPU: [gpu("gpu-0", root="b")], NIC: [nic("nic-0", "b")]},
    ),
    "distinct": ("apart", ONE_ROOT, "1 different example.org/root, 2 are needed", TWO_ROOTS),
    "capacity-of-request": (
        "slice",
        {PART: [part(value="8Gi")]},
        "1 device misses memory by 2Gi",
        {PART: [part(value="10Gi")]},
    ),
    "capacity-by-another-name": (
        "slice",
        {PART: [part(f"{PART}/memory")]},
        "capacity memory is not published under that name",
        {PART: [part("memory")]},
    ),
    "request-policy": (
        "slice",
        {PART: [part(default="4Gi", validRange={"min": "4Gi", "max": "8Gi"})]},
        "the request policies of 1 device don't take memory 10Gi",
        {PART: [part(default="4Gi", validRange={"min": "4Gi", "max": "12Gi"})]},
    ),
}
"""Profile, devices on which it fails, dracfg's reason, and the same devices without that reason."""


@pytest.mark.parametrize("case", CASES)
def test_reason_is_what_keeps_the_pod_out(bench: Bench, case: str) -> None:
    if (case, bench.scheduling.minor) == ("distinct", "1.34"):
        pytest.skip("1.34 compares no values here")
    profile, devices, reason, mended = CASES[case]
    bench.publish(devices)
    wanted = pod(TENANT, "pod", template=profile)
    found = bench.funnel(profile)
    if found is not None:
        assert (found.result, reason in (found.reason or "")) == ("no", True), found
        reason = found.reason or ""
    placement = bench.what_if(wanted)
    assert (placement.result, placement.nodes) == ("no", {NODE: ("no", reason)})
    assert REFUSED in bench.scheduling.refuse(wanted)
    bench.publish(mended)
    better = bench.funnel(profile)
    assert better is not None
    assert better.result == "yes"
    bench.scheduling.bound(bench.scheduling.client.read(wanted))


def test_distinct_keeps_nothing_out_in_1_34(bench: Bench) -> None:
    """Its allocator takes two devices with one value, and the funnel says so."""
    if bench.scheduling.minor != "1.34":
        pytest.skip("values are compared")
    bench.publish(ONE_ROOT)
    found = bench.funnel("apart")
    assert found is not None
    assert found.result == "yes"
    bench.scheduling.place(pod(TENANT, "pod", template="apart"))


FAILURES: dict[str, tuple[Object, tuple[Lie, ...], str, str]] = {
    "missing-class": (
        {"deviceClassName": "absent"},
        (),
        "there is no DeviceClass absent",
        "device class absent does not exist",
    ),
    "cel-runtime": (
        {"selectors": [selector(f'device.attributes["{GPU}"].absent == "x"')]},
        (),
        "the scheduler ends with an error",
        "no such key: absent",
    ),
    "too-many-devices": (
        {"count": 33},
        (),
        "the scheduler ends with an error",
        "exceeds the claim limit",
    ),
    "pool-incomplete": (
        {"allocationMode": "All"},
        (incomplete,),
        "the scheduler ends with an error",
        "is currently being updated",
    ),
    "pool-invalid": (
        {"allocationMode": "All"},
        (duplicates,),
        "the scheduler ends with an error",
        "is currently invalid",
    ),
}
"""Kind of error → request, lies of the driver, dracfg's words, Kubernetes' words."""


@pytest.mark.parametrize("kind", FAILURES)
def test_error_ends_the_scheduling(bench: Bench, kind: str) -> None:
    """What the allocator can't answer keeps the pod from every node, and both say why."""
    asked, lies, said, event = FAILURES[kind]
    bench.publish({GPU: [gpu("gpu-0")]}, lies)
    exactly = {"deviceClassName": "big", **asked}
    own = template(TENANT, "own", exactly.pop("deviceClassName"), **exactly)
    bench.scheduling.client.create(own)
    bench.made.append(own)
    wanted = pod(TENANT, "pod", template="own")
    failure = bench.scheduling.forecast(wanted).failure
    assert failure is not None and failure.kind == kind
    placement = bench.what_if(wanted, own)
    assert placement.result == "no"
    assert said in (placement.reason or ""), placement
    assert event in bench.scheduling.refuse(wanted)


def test_device_in_use(bench: Bench) -> None:
    """The pod lands once another one has left."""
    bench.publish({GPU: [gpu("gpu-0")]})
    first = bench.scheduling.place(pod(TENANT, "first", template="one"))
    wanted = pod(TENANT, "second", template="one")
    assert bench.what_if(wanted).nodes == {NODE: ("no", HELD)}
    assert REFUSED in bench.scheduling.refuse(wanted)
    bench.scheduling.remove(first)
    bench.scheduling.bound(bench.scheduling.client.read(wanted))


def test_tainted_node(bench: Bench) -> None:
    bench.publish({GPU: [gpu("gpu-0")]})
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    bench.scheduling.client.patch(node, {"spec": {"taints": [TAINT]}})
    wanted = pod(TENANT, "pod", template="one")
    reason = "it is tainted example.org/health=bad:NoSchedule"
    assert bench.what_if(wanted).nodes == {NODE: ("no", reason)}
    assert "had untolerated taint" in bench.scheduling.refuse(wanted)
    bench.scheduling.client.patch(node, {"spec": {"taints": None}})
    bench.scheduling.bound(bench.scheduling.client.read(wanted))


def test_node_without_the_label(bench: Bench) -> None:
    bench.publish({GPU: [gpu("gpu-0")]})
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    wanted = pod(TENANT, "pod", template="one")
    wanted["spec"]["nodeSelector"] = {"example.org/zone": "a"}
    assert bench.what_if(wanted).nodes == {NODE: ("no", "it has no label example.org/zone=a")}
    assert "didn't match Pod's node affinity/selector" in bench.scheduling.refuse(wanted)
    bench.scheduling.client.patch(node, {"metadata": {"labels": {"example.org/zone": "a"}}})
    bench.scheduling.bound(bench.scheduling.client.read(wanted))


def test_pool_that_is_passed_over(bench: Bench) -> None:
    """A pool whose slices contradict each other gives nothing until they don't.

    1.34 ends in an error, later minors pass the pool over and say so.
    """
    devices = {GPU: [gpu("gpu-0")]}
    bench.publish(devices, (duplicates,))
    wanted = pod(TENANT, "pod", template="one")
    found = bench.funnel("one")
    assert found is not None
    assert found.result == "no"
    assert "is not complete or not valid" in (found.reason or "")
    failure = bench.scheduling.forecast(wanted).failure
    said = "invalid resource pools were encountered" if failure is None else "is invalid"
    assert said in bench.scheduling.refuse(wanted)
    bench.publish(devices)
    bench.scheduling.bound(bench.scheduling.client.read(wanted))
