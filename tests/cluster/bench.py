"""A small repository on a control plane, and what `dracfg place` and `capacity --what-if` say of it.

Its classes and templates stand, the devices of its one node vary.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dracfg.allocate.claimobjects import in_memory
from dracfg.allocate.funnel import NodeFunnel
from dracfg.allocate.inventory import load_inventory
from dracfg.allocate.placement import place
from dracfg.kube.features import feature_matrix
from dracfg.lower.units import gate_plans
from dracfg.pipeline import Judgement, judge
from dracfg.plan.question import Repository, answer
from dracfg.plan.whatif import Placement
from dracfg.plan.workloads import pod_groups
from dracfg.source.records import Record
from tests.cluster.client import Object
from tests.cluster.controlplane import account_of
from tests.cluster.drivers import RESOURCE, FakeDriver, Lie
from tests.cluster.kubelet import FakeKubelet
from tests.cluster.processes import wait_for
from tests.cluster.scheduling import Scheduling

REPOSITORY = Path(__file__).parent / "data" / "refusals"
CLUSTER, TENANT, NODE = "lab", "team", "lab-1"
GATES = ("DRAConsumableCapacity", "DRADeviceTaints")
KINDS = ("DeviceClass", "Namespace", "ResourceClaimTemplate")

Devices = Mapping[str, list[Object]]
"""Driver → what it publishes on the node."""


@dataclass
class Bench:
    """`made` are objects that go with the bench."""

    scheduling: Scheduling
    judged: Judgement
    drivers: dict[str, FakeDriver] = field(default_factory=dict)
    made: list[Object] = field(default_factory=list)

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
        gates = gate_plans(self.judged.catalog, self.judged.units)
        (found,) = place(self.judged.catalog, tenant, wanted, {CLUSTER: inventory}, gates=gates)
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


def judged_for(minor: str, folder: Path) -> Judgement:
    """The repository as dracfg reads it, for a minor, in a new folder."""
    shutil.copytree(REPOSITORY, folder)
    gates = feature_matrix().gates
    alpha = [name for name in GATES if gates[name].at(minor).stage == "alpha"]
    words = {
        "MINOR": minor,
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


@contextmanager
def open_bench(scheduling: Scheduling, judged: Judgement) -> Iterator[Bench]:
    """The bench with its node; pods, devices and the node go in the end."""
    client = scheduling.client
    for unit in judged.units:
        if unit.synced and unit.path.startswith(f"{CLUSTER}/"):
            for artifact in unit.artifacts:
                if artifact.object["kind"] in KINDS:
                    client.apply(artifact.object)
    wait_for(lambda: client.find(account_of(TENANT)), "the tenant's account")
    kubelet = FakeKubelet(client, [NODE]).start()
    opened = Bench(scheduling, judged)
    try:
        yield opened
    finally:
        scheduling.remove(*client.list("v1", "Pod", TENANT))
        for obj in opened.made:
            client.delete(obj)
        for driver in opened.drivers.values():
            driver.stop()
        kubelet.stop()
