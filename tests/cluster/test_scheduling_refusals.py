"""Why a pod does not land: what `dracfg place` and `capacity --what-if` say, and kube-scheduler too.

The scheduler has one sentence for most of it, so that a reason of dracfg counts as right when the
pod lands as soon as that reason, and nothing else, has been taken away.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dracfg.allocate.claimobjects import in_memory
from dracfg.allocate.funnel import NodeFunnel
from dracfg.allocate.inventory import load_inventory
from dracfg.allocate.placement import place
from dracfg.kube.features import feature_matrix
from dracfg.pipeline import Judgement, judge
from dracfg.plan.question import Repository, answer
from dracfg.plan.whatif import HELD, Placement
from dracfg.plan.workloads import pod_groups
from dracfg.source.records import Record
from tests.cluster.client import Object
from tests.cluster.controlplane import account_of
from tests.cluster.drivers import RESOURCE, FakeDriver, Lie, duplicates, incomplete
from tests.cluster.kubelet import FakeKubelet
from tests.cluster.objects import pod
from tests.cluster.processes import wait_for
from tests.cluster.scheduling import Scheduling

REPOSITORY = Path(__file__).parent / "data" / "refusals"
CLUSTER, TENANT, NODE = "lab", "team", "lab-1"
GPU, NIC, PART = "gpu.example.org", "nic.example.org", "part.example.org"
GATES = ("DRAConsumableCapacity", "DRADeviceTaints")
ROOT = "example.org/root"
REFUSED = "cannot allocate all claims"

Devices = Mapping[str, list[Object]]
"""Driver → what it publishes on the node."""


@dataclass
class Bench:
    """The small repository on a control plane: its classes and templates stand, devices vary."""

    scheduling: Scheduling
    judged: Judgement
    drivers: dict[str, FakeDriver] = field(default_factory=dict)

    def publish(self, devices: Devices, lies: tuple[Lie, ...] = ()) -> None:
        """As the next generation of each pool."""
        for name, own in devices.items():
            if name not in self.drivers:
                self.drivers[name] = FakeDriver(self.scheduling.client, name, NODE, [])
            self.drivers[name].lies = lies
            self.drivers[name].change(own)

    def funnel(self, profile: str) -> NodeFunnel | None:
        """What `dracfg place team/<profile>` says of the node; None where it is no candidate."""
        tenant = self.judged.catalog.tenants[TENANT]
        wanted = next(one for one in tenant.document.spec.profiles if one.name == profile)
        inventory, _ = load_inventory([self.record()], self.scheduling.minor)
        (found,) = place(self.judged.catalog, tenant, wanted, {CLUSTER: inventory})
        return next(iter(found.nodes), None)

    def what_if(self, asked: Object, *others: Object) -> Placement:
        """What `dracfg capacity --what-if` says of a file with a pod and what it needs."""
        record = self.record()
        inventory, _ = load_inventory([record], self.scheduling.minor)
        catalog, units = self.judged.catalog, self.judged.units
        repository = Repository(catalog, units, {CLUSTER: (record,)}, {CLUSTER: inventory})
        file = in_memory([asked, *others])
        found = answer(repository, file, pod_groups(file), (CLUSTER,))
        ((placement,),) = (one.plan.placements for one in found.clusters)
        return placement

    def record(self) -> Record:
        """As `kubectl get nodes,resourceslices,resourceclaims -A -o yaml` would record it."""
        client = self.scheduling.client
        node = client.get("v1", "Node", NODE)
        chosen = {"fieldSelector": f"spec.nodeName={NODE}"}
        slices = client.list(RESOURCE, "ResourceSlice", **chosen)
        return in_memory([node, *slices, *client.list(RESOURCE, "ResourceClaim")])


@pytest.fixture(scope="module")
def small_repository(scheduling: Scheduling, tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    """The repository, for the minor of the control plane."""
    folder = tmp_path_factory.mktemp("refusals") / "repository"
    shutil.copytree(REPOSITORY, folder)
    gates = feature_matrix().gates
    alpha = [name for name in GATES if gates[name].at(scheduling.minor).stage == "alpha"]
    words = {
        "MINOR": scheduling.minor,
        "GATES": json.dumps(dict.fromkeys(alpha, True)),
        "ALPHA": json.dumps(dict.fromkeys(alpha, "tried here")),
    }
    for file in folder.rglob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        file.write_text(text, encoding="utf-8")
    judged = judge(folder, None, ())
    assert not judged.has_errors
    return judged


@pytest.fixture
def bench(scheduling: Scheduling, small_repository: Judgement) -> Iterator[Bench]:
    client = scheduling.client
    emitted = [
        artifact.object
        for unit in small_repository.units
        if unit.synced and unit.path.startswith(f"{CLUSTER}/")
        for artifact in unit.artifacts
        if artifact.object["kind"] in ("DeviceClass", "Namespace", "ResourceClaimTemplate")
    ]
    for one in emitted:
        client.apply(one)
    wait_for(lambda: client.find(account_of(TENANT)), "the tenant's account")
    kubelet = FakeKubelet(client, [NODE]).start()
    one = Bench(scheduling, small_repository)
    yield one
    scheduling.remove(*client.list("v1", "Pod", TENANT))
    for driver in one.drivers.values():
        driver.stop()
    kubelet.stop()


def gpu(name: str, *, root: str = "a", memory: str = "80Gi", **more: object) -> Object:
    attributes = {
        "type": {"string": "gpu"},
        "model": {"string": more.pop("model", "B-80")},
        ROOT: {"string": root},
    }
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": memory}}} | more


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
        pytest.skip("1.34 compares no values here, see test_scheduling_features.py")
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
