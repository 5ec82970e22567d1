"""What dracfg's allocator foretells of a pod, and what kube-scheduler then does with it.

The cluster is read through the API and by dracfg's readers of recorded objects; pods are created
one after the other, so that what claims hold before each of them is known.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dracfg.allocate.claimobjects import ClaimObjects, in_memory, read_claim, read_claims
from dracfg.allocate.claims import ClaimAllocation
from dracfg.allocate.inventory import load_inventory
from dracfg.allocate.nodes import Node
from dracfg.allocate.nodestates import NodeState, read_node_states
from dracfg.allocate.state import AllocationState
from dracfg.allocate.structured import Allocation, Allocator, Failed, Features, Outcome
from dracfg.kube.features import feature_matrix, to_write
from dracfg.plan.demand import Demand, demand
from dracfg.plan.library import Library
from dracfg.plan.workloads import pod_groups
from tests.cluster.client import Client, Object, Refused
from tests.cluster.drivers import RESOURCE
from tests.cluster.emitted import Flags
from tests.cluster.processes import wait_for

PATIENCE = 60
"""Seconds; the scheduler's back-off grows to ten."""
IMPLICIT = "deviceclass.resource.kubernetes.io/"
RULE_VERSIONS = ("v1", "v1beta2", "v1alpha3")
GATES = (
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
)
"""All that changes what a pod gets and that some minor has for use."""

ABOUT_POOLS = ("INV012", "INV013", "INV014", "INV015")
"""Findings on pools that drivers tell lies about; they are read all the same."""


def flags_with(minor: str, gates: Iterable[str]) -> Flags:
    """The flags by which the gates are on, as far as the minor knows them, and their kinds served."""
    known = feature_matrix().gates
    wanted = {name: True for name in gates if known[name].at(minor).stage != "absent"}
    flags = {
        component: (f"--feature-gates={','.join(f'{name}=true' for name in sorted(values))}",)
        for component, values in to_write(wanted, minor).items()
    }
    served = {version for name in gates for version in known[name].runtime_config(minor)}
    if served:
        config = ",".join(f"{version}=true" for version in sorted(served))
        own = flags.get("kube-apiserver", ())
        flags["kube-apiserver"] = (*own, f"--runtime-config={config}")
    return flags


def gates_on(minor: str, flags: Flags) -> frozenset[str]:
    """The gates that are on in a kube-scheduler with these flags."""
    values = {name: gate.at(minor).default for name, gate in feature_matrix().gates.items()}
    for flag in flags.get("kube-scheduler", ()):
        name, _, pairs = flag.partition("=")
        if name == "--feature-gates":
            given = (pair.split("=") for pair in pairs.split(","))
            values |= {gate: value == "true" for gate, value in given}
    return frozenset(name for name, value in values.items() if value)


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a pod would get, node by node, and the node that dracfg would choose."""

    demand: Demand
    nodes: Mapping[str, Outcome]
    best: str | None

    @property
    def fitting(self) -> dict[str, Allocation]:
        return {name: one for name, one in self.nodes.items() if isinstance(one, Allocation)}

    @property
    def failure(self) -> Failed | None:
        """An error on one node keeps the pod from all."""
        failed = (one for one in self.nodes.values() if isinstance(one, Failed))
        return next(failed, None)


@dataclass(frozen=True)
class Scheduling:
    """One cluster; `gates` are those that its scheduler has on."""

    client: Client
    minor: str
    gates: frozenset[str]

    @property
    def knows_implicit_names(self) -> bool:
        """Whether a class can be named by a resource without `extendedResourceName`.

        The DynamicResources plugin of 1.34 passes over such names (hasDeviceClassMappedExtendedResource
        of kubernetes/kubernetes@v1.34.4), while NodeResourcesFit leaves them to it.
        """
        return self.minor != "1.34"

    def place(self, pod: Object) -> Object:
        """The pod once it is bound; it holds what was foretold for its node."""
        forecast = self.forecast(pod)
        assert forecast.failure is None
        assert forecast.fitting, f"{pod['metadata']['name']} fits nowhere: {forecast}"
        made = self.client.create(pod)
        return self.holds(made, forecast)

    def holds(self, made: Object, forecast: Forecast) -> Object:
        """A created pod once it is bound, with what was foretold for its node."""
        bound = self.bound(made)
        foretold = forecast.nodes[bound["spec"]["nodeName"]]
        assert isinstance(foretold, Allocation), f"{bound['metadata']['name']} got what it can't"
        held = {one.name for one in forecast.demand.held}
        names = [name for name in claim_names(bound) if name not in held]
        given = [self.allocation(bound["metadata"]["namespace"], name) for name in names]
        expected = [without_random(one) for one in foretold.results]
        assert given == expected, f"{bound['metadata']['name']} holds {given}, not {expected}"
        return bound

    def refuse(self, pod: Object) -> str:
        """What the scheduler says of a pod that fits nowhere, as was foretold."""
        forecast = self.forecast(pod)
        assert forecast.failure is not None or not forecast.fitting, (
            f"{pod['metadata']['name']} was not foretold to stay: {forecast.fitting.keys()}"
        )
        return self.said(self.client.create(pod))

    def forecast(self, pod: Object) -> Forecast:
        """What dracfg says before the pod exists."""
        recorded = [in_memory(self._objects())]
        inventory, faults = load_inventory(recorded, self.minor)
        objects, more = read_claims(recorded, self.minor)
        unread = [one for one in (*faults, *more) if one.code not in ABOUT_POOLS]
        assert not unread
        state = AllocationState.of(objects.claims, inventory)
        (group,) = pod_groups(in_memory([pod]))
        wanted = demand(self._library(objects), group, group.stem, state, {}, self.minor)
        states = read_node_states(recorded).values()
        nodes = [inventory.nodes[one.name] for one in states if takes(one, pod)]
        return self._forecast(wanted, objects, nodes, state)

    def bound(self, made: Object) -> Object:
        def look() -> Object | None:
            found = self.client.read(made)
            return found if found["spec"].get("nodeName") else None

        name = made["metadata"]["name"]
        try:
            return wait_for(look, f"{name} is bound", PATIENCE)
        except TimeoutError as late:
            raise TimeoutError(f"{late}; {self.events(made)}") from None

    def said(self, made: Object) -> str:
        """What the scheduler says of a pod that it leaves where it is."""

        def look() -> str | None:
            assert not self.client.read(made)["spec"].get("nodeName"), "it was bound"
            return next(reversed(self.events(made)), None)

        return wait_for(look, f"{made['metadata']['name']} is refused", PATIENCE)

    def events(self, made: Object) -> list[str]:
        """The messages of FailedScheduling, less those that only wait for a controller."""
        chosen = f"involvedObject.uid={made['metadata']['uid']},reason=FailedScheduling"
        namespace = made["metadata"]["namespace"]
        found = self.client.list("v1", "Event", namespace, fieldSelector=chosen)
        return [one["message"] for one in found if "waiting for" not in one["message"]]

    def allocation(self, namespace: str, name: str) -> ClaimAllocation:
        """What a claim holds, less what is random in it."""
        claim = self.client.get(RESOURCE, "ResourceClaim", name, namespace)
        read, faults = read_claim(in_memory([claim]).objects[0], self.minor)
        assert read is not None and read.allocation is not None, faults
        return without_random(read.allocation)

    def remove(self, *pods: Object) -> None:
        """Deletes pods by their names, and waits until nothing holds a claim for them."""
        standing = [one for one in map(self.client.find, pods) if one is not None]
        for pod in standing:
            self.client.delete(pod, grace=0)
        owners = {pod["metadata"]["uid"] for pod in standing}
        wait_for(lambda: not self._held_by(owners), "their claims are free", PATIENCE)

    def _held_by(self, owners: set[str]) -> list[Object]:
        return [
            claim
            for claim in self.client.list(RESOURCE, "ResourceClaim")
            if owners & {one["uid"] for one in claim["metadata"].get("ownerReferences", ())}
            or owners & {one["uid"] for one in claim.get("status", {}).get("reservedFor", ())}
        ]

    def _forecast(
        self,
        wanted: Demand,
        objects: ClaimObjects,
        nodes: Sequence[Node],
        state: AllocationState,
    ) -> Forecast:
        features = Features.of(self.minor, self.gates)
        classes = {one.name: one for one in objects.classes}
        allocator = Allocator(state.inventory, classes, features)
        held = [replace(one, allocation=state.allocation(one)) for one in wanted.held]
        taken = state.allocated(consumable=features.consumable_capacity)
        claims = [*wanted.pending, *held]
        outcomes = {node.name: allocator.allocate(claims, node, taken) for node in nodes}
        return Forecast(wanted, outcomes, allocator.allocate_on_nodes(claims, nodes, taken).node)

    def _library(self, objects: ClaimObjects) -> Library:
        resources: dict[str, str] = {}
        for one in objects.classes:
            if self.knows_implicit_names:
                resources[IMPLICIT + one.name] = one.name
            if one.extended_resource_name is not None:
                resources[one.extended_resource_name] = one.name
        return Library(
            {one.name: one for one in objects.classes},
            {(one.namespace, one.name): one for one in objects.templates},
            {(one.namespace, one.name): one for one in objects.claims},
            extended=resources if "DRAExtendedResource" in self.gates else None,
        )

    def _objects(self) -> Iterator[Object]:
        yield from self.client.list("v1", "Node")
        rules = list(self._rules())
        for part in self.client.list(RESOURCE, "ResourceSlice"):
            yield tainted(part, rules)
        for kind in ("DeviceClass", "ResourceClaimTemplate", "ResourceClaim"):
            yield from self.client.list(RESOURCE, kind)

    def _rules(self) -> Iterator[Object]:
        for version in RULE_VERSIONS:
            try:
                yield from self.client.list(f"resource.k8s.io/{version}", "DeviceTaintRule")
            except Refused as refused:
                if refused.code != 404:
                    raise
            else:
                return


def takes(node: NodeState, pod: Object) -> bool:
    """Whether a node takes a pod without tolerations, whatever devices it has."""
    wanted = pod["spec"].get("nodeSelector", {})
    blocked = any(taint.effect != "PreferNoSchedule" for taint in node.taints)
    return not blocked and wanted.items() <= node.labels.items()


def claim_names(pod: Object) -> list[str]:
    """The pod's claims in the order of its spec, that of its extended resources last."""
    status = pod.get("status", {})
    made = {
        one["name"]: one.get("resourceClaimName") for one in status.get("resourceClaimStatuses", ())
    }
    names = [
        one.get("resourceClaimName") or made.get(one["name"])
        for one in pod["spec"].get("resourceClaims", ())
    ]
    extended = status.get("extendedResourceClaimStatus", {}).get("resourceClaimName")
    return [name for name in (*names, extended) if name]


def without_random(allocation: ClaimAllocation) -> ClaimAllocation:
    """An allocation less the share ids and the time."""
    results = tuple(
        replace(one, share_id=None if one.share_id is None else "some")
        for one in allocation.results
    )
    return replace(allocation, results=results, timestamp=None)


def tainted(part: Object, rules: Iterable[Object]) -> Object:
    """A slice as the scheduler sees it, with the taints of DeviceTaintRules on its devices."""
    spec = copy.deepcopy(part["spec"])
    for device in spec.get("devices", ()):
        names = {"driver": spec["driver"], "pool": spec["pool"]["name"], "device": device["name"]}
        for rule in rules:
            selector = rule["spec"].get("deviceSelector")
            if selector is not None and selector.items() <= names.items():
                taint = {k: v for k, v in rule["spec"]["taint"].items() if k != "timeAdded"}
                device.setdefault("taints", []).append(taint)
    return part | {"spec": spec}
