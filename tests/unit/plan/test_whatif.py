"""Pods on the example's clusters: what lands where, on top of what is held, and why the rest does not."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dracfg.allocate.claimobjects import ClaimObjects, read_claims
from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.nodestates import read_node_states
from dracfg.allocate.structured import Features
from dracfg.pipeline import Judgement, judge
from dracfg.plan.library import Library, library
from dracfg.plan.site import Site, modelled_site, recorded_site
from dracfg.plan.utilisation import TierUse, utilisation
from dracfg.plan.whatif import HELD, Placement, WhatIf, what_if
from dracfg.plan.workloads import pod_groups
from dracfg.source.records import Record, parse_record

ROOT = Path(__file__).parents[3]
EAST, WEST = "prod-east", "prod-west"
GATES = frozenset(
    {"DRAPrioritizedList", "DRAAdminAccess", "DRAConsumableCapacity", "DRADeviceTaints"}
)
Object = dict[str, Any]


@pytest.fixture(scope="module")
def judged() -> Judgement:
    return judge(ROOT)


class Cluster:
    """The example's cluster, to which pods are put: `cluster.what_if(pods, recorded=…)`."""

    def __init__(self, judged: Judgement, name: str, modelled: bool = False) -> None:
        self.judged, self.name, self.modelled = judged, name, modelled
        self.cluster = judged.catalog.clusters[name]

    def what_if(
        self, *objects: Object, recorded: Sequence[Object] = (), extended: bool = False
    ) -> WhatIf:
        file, dump = _record(objects), _record(recorded)
        groups = pod_groups(file)
        own, faults = read_claims([file], self.cluster.minor)
        held, more = read_claims([dump], self.cluster.minor)
        assert not [*faults, *more]
        features = Features.of(self.cluster.minor, GATES)
        found = self._library(own, held, (group.namespace for group in groups), extended)
        return what_if(self._site(dump), found, groups, held.claims, features)

    def tiers(self, found: WhatIf) -> dict[str | None, TierUse]:
        uses = utilisation(self.judged.catalog, found.site, found.before, found.after)
        return {use.tier: use for use in uses if use.partition is None}

    def _library(
        self, own: ClaimObjects, held: ClaimObjects, namespaces: Iterable[str], extended: bool
    ) -> Library:
        found, faults = library(
            self.judged.catalog,
            self.cluster,
            self.judged.units,
            own,
            held,
            namespaces=namespaces,
            extended=extended,
        )
        assert not faults
        return found

    def _site(self, dump: Record) -> Site:
        if self.modelled:
            return modelled_site(self.cluster)
        inventory: Inventory = self.judged.inventories[self.name]
        states = read_node_states([dump])
        if states:
            records = (*self.judged.records[self.name], dump)
            inventory = load_inventory(records, self.cluster.minor)[0]
        return recorded_site(self.cluster, inventory, states)


def _record(objects: Sequence[Object]) -> Record:
    text = json.dumps({"kind": "List", "items": list(objects)})
    return parse_record("file.json", text)[0]


@pytest.fixture
def east(judged: Judgement) -> Cluster:
    return Cluster(judged, EAST)


@pytest.fixture
def west(judged: Judgement) -> Cluster:
    return Cluster(judged, WEST)


def pod(name: str, namespace: str, *claims: Object, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "a"}], "resourceClaims": list(claims), **spec},
    }


def pods(name: str, namespace: str, count: int, *claims: Object, **spec: Any) -> Object:
    inner = pod(name, namespace, *claims, **spec)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": inner["metadata"],
        "spec": {"replicas": count, "template": {"spec": inner["spec"]}},
    }


def of(template: str) -> Object:
    return {"name": "gpu", "resourceClaimTemplateName": template}


def named(claim: str) -> Object:
    return {"name": "gpu", "resourceClaimName": claim}


def claim(name: str, namespace: str, **more: Any) -> Object:
    request = {"name": "gpu", "exactly": {"deviceClassName": "a100-40g", "count": 2}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace, "uid": "u"},
        "spec": {"devices": {"requests": [request]}},
        **more,
    }


def held(name: str, node: str, *devices: str, **more: Any) -> Object:
    """A recorded claim that has GPUs of one node."""
    result = {"request": "gpu", "driver": "gpu.nvidia.com", "pool": node}
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    allocation = {
        "devices": {"results": [{**result, "device": device} for device in devices]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
    }
    return claim(name, "vision-train", status={"allocation": allocation, **more})


def node(name: str, **more: Any) -> Object:
    labels = more.pop("labels", {})
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, **more}


def landed(found: WhatIf) -> list[tuple[str, str | None]]:
    return [(one.pod, one.node) for one in found.placements]


def devices(placement: Placement) -> list[str]:
    return [result.device for one in placement.claims for _, result in one.devices]


GPUS = [f"gpu-{number}" for number in range(8)]


def test_pods_land_in_the_order_of_nodes_until_nothing_is_free(east: Cluster) -> None:
    found = east.what_if(pods("train", "vision-train", 5, of("train-x8")))
    assert landed(found) == [
        *((f"train-{number}", f"a100-east-{number + 1}") for number in range(4)),
        ("train-4", None),
    ]
    first, *_, last = found.placements
    assert devices(first)[:8] == GPUS
    assert (last.result, last.nodes["a100-east-1"]) == ("no", ("no", HELD))
    # The words of the funnel where even an empty node would not do.
    assert last.nodes["a100-mig-east-1"][1].startswith('type is "mig"')
    assert last.nodes["l40s-east-1"][1] == "no device of its drivers is there"
    assert "is in quarantine" in last.nodes["l40s-east-4"][1]
    uses = east.tiers(found)
    assert (uses["a100-40g"].before, uses["a100-40g"].after, uses["a100-40g"].free) == (0, 32, 0)
    assert (uses["cx7-400g"].after, uses["l40s-hami"].after) == (32, 0)


def test_recorded_claims_hold_their_devices(east: Cluster) -> None:
    recorded = [held("old", "a100-east-1", "gpu-0"), held("other", "a100-east-2", *GPUS)]
    found = east.what_if(
        pods("train", "vision-train", 2, of("train-x4")),
        pods("big", "vision-train", 3, of("train-x8")),
        recorded=recorded,
    )
    assert landed(found) == [
        ("train-0", "a100-east-1"),
        ("train-1", "a100-east-3"),
        ("big-0", "a100-east-4"),
        ("big-1", None),
        ("big-2", None),
    ]
    assert devices(found.placements[0]) == ["gpu-1", "gpu-2", "gpu-3", "gpu-4"]
    use = east.tiers(found)["a100-40g"]
    assert (use.before, use.after) == (9, 25)


def test_a_shared_claim_keeps_its_pods_on_its_node(east: Cluster) -> None:
    found = east.what_if(
        claim("pair", "vision-train"), pods("user", "vision-train", 3, named("pair"))
    )
    assert landed(found) == [(f"user-{number}", "a100-east-1") for number in range(3)]
    assert [one.claims[0].is_new for one in found.placements] == [True, False, False]
    assert {tuple(devices(one)) for one in found.placements} == {("gpu-0", "gpu-1")}
    assert east.tiers(found)["a100-40g"].after == 2


def test_a_recorded_claim_is_used_where_it_is(east: Cluster) -> None:
    recorded = [held("pair", "a100-east-3", "gpu-4", "gpu-5")]
    user = pod("user", "vision-train", named("pair"), of("train-x8"))
    found = east.what_if(user, recorded=recorded)
    assert landed(found) == [("user", None)]
    assert found.placements[0].nodes["a100-east-3"] == ("no", HELD)
    assert "is allocated for other nodes" in found.placements[0].nodes["a100-east-1"][1]
    found = east.what_if(
        pod("user", "vision-train", named("pair"), of("train-x4")), recorded=recorded
    )
    assert landed(found) == [("user", "a100-east-3")]
    assert devices(found.placements[0])[:2] == ["gpu-4", "gpu-5"]
    assert [one.is_new for one in found.placements[0].claims] == [False, True]


def test_a_claim_that_is_there_already_stays_as_it_is(east: Cluster) -> None:
    found = east.what_if(
        claim("pair", "vision-train"),
        pod("user", "vision-train", named("pair")),
        recorded=[held("pair", "a100-east-3", "gpu-4", "gpu-5")],
    )
    assert landed(found) == [("user", "a100-east-3")]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (
            pod("p", "vision-train", of("train-x9")),
            "no ResourceClaimTemplate train-x9 in vision-train",
        ),
        (pod("p", "vision-train", named("gone")), "no ResourceClaim gone in vision-train"),
        (pod("p", "vision-train", {"name": "gpu"}), "must name either resourceClaimName or"),
        (pod("p", "vision-train", of("train-x1"), nodeName="a100-east-1"), "names its node itself"),
    ],
)
def test_what_lands_nowhere_whatever_the_nodes(east: Cluster, made: Object, reason: str) -> None:
    (placement,) = east.what_if(made).placements
    assert placement.result == "no"
    assert reason in (placement.reason or "")
    assert not placement.nodes


def test_refusals_by_the_claim(east: Cluster) -> None:
    users = [{"resource": "pods", "name": f"p{n}", "uid": str(n)} for n in range(256)]
    full = held("full", "a100-east-1", "gpu-0", reservedFor=users)
    going = held("going", "a100-east-1", "gpu-1")
    going["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    foreign = claim("foreign", "vision-train")
    foreign["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = "nowhere"
    found = east.what_if(
        foreign,
        *(pod(name, "vision-train", named(name)) for name in ("full", "going", "foreign")),
        recorded=[full, going],
    )
    assert [one.reason for one in found.placements] == [
        "256 pods use ResourceClaim full already",
        "ResourceClaim going is being deleted",
        "there is no DeviceClass nowhere",
    ]


def test_pods_without_devices_are_counted_only(east: Cluster) -> None:
    found = east.what_if(pods("web", "vision-train", 7), pod("p", "vision-train", of("train-x1")))
    assert (found.idle, landed(found)) == (7, [("p", "a100-east-1")])


def test_node_selectors_and_taints_need_recorded_nodes(east: Cluster) -> None:
    made = pod("p", "vision-train", of("train-x1"), nodeSelector={"zone": "b"})
    (placement,) = east.what_if(made).placements
    assert placement.result == "unknown"
    assert placement.nodes["a100-east-1"] == (
        "unknown",
        "whether it has label zone=b is not recorded",
    )
    taint = {"key": "full", "value": "yes", "effect": "NoSchedule"}
    nodes = [
        node("a100-east-1"),
        node("a100-east-2", labels={"zone": "b"}, spec={"taints": [taint]}),
        node("a100-east-3", labels={"zone": "b"}),
    ]
    assert landed(east.what_if(made, recorded=nodes)) == [("p", "a100-east-3")]
    made["spec"]["tolerations"] = [{"key": "full", "operator": "Exists"}]
    assert landed(east.what_if(made, recorded=nodes)) == [("p", "a100-east-2")]


def test_one_pod_a_node(east: Cluster) -> None:
    made = pods("agent", "vision-train", 1, of("train-x8"))
    made["kind"] = "DaemonSet"
    found = east.what_if(made)
    names = [one.pod for one in found.placements if one.result == "yes"]
    assert names == [f"agent-a100-east-{number}" for number in range(1, 5)]
    refused = next(one for one in found.placements if one.pod == "agent-l40s-east-1")
    assert list(refused.nodes) == ["l40s-east-1"]


def test_shares_are_consumed(west: Cluster) -> None:
    found = west.what_if(pods("answer", "serving-prod", 4, of("small")))
    assert [one.result for one in found.placements] == ["yes"] * 4
    shares = [result.share_id for one in found.placements for _, result in one.claims[0].devices]
    assert len(set(shares)) == 4
    use = west.tiers(found)["l40s-hami"]
    memory = next(one for one in use.capacity if one.key == "memory")
    assert (use.after, str(memory.before), str(memory.after)) == (1, "0", "20Gi")


def test_the_best_alternative_comes_before_the_first_node(west: Cluster) -> None:
    found = west.what_if(pods("answer", "serving-prod", 9, of("inference")))
    classes = [one.claims[0].devices[0][0] for one in found.placements]
    assert classes == ["l4"] * 8 + ["l40s-hami-memory-slices-20gi"]


def test_extended_resources(west: Cluster) -> None:
    name = "deviceclass.resource.kubernetes.io/l4"
    ask = [{"name": "a", "resources": {"requests": {name: 2}}}]
    made = pods("plain", "serving-prod", 2, containers=ask)
    found = west.what_if(made, extended=True)
    assert landed(found) == [("plain-0", "l4-west-1"), ("plain-1", "l4-west-2")]
    assert found.placements[0].claims[0].name == "plain-0-extended-resources-*"
    assert devices(found.placements[0]) == ["gpu-0", "gpu-1"]
    refused = west.what_if(made).placements[0]
    assert refused.reason == f"{name} needs DRAExtendedResource, which is off here"
    plugin = node("l4-west-1", status={"allocatable": {name: "2"}})
    found = west.what_if(made, recorded=[plugin], extended=True)
    assert landed(found) == [("plain-0", "l4-west-2"), ("plain-1", "l4-west-3")]


def test_modelled_devices(judged: Judgement) -> None:
    east = Cluster(judged, EAST, modelled=True)
    found = east.what_if(pods("train", "vision-train", 9, of("train-x4")))
    assert found.site.modelled
    assert landed(found)[:3] == [
        ("train-0", "a100-east-1"),
        ("train-1", "a100-east-1"),
        ("train-2", "a100-east-2"),
    ]
    assert [one.result for one in found.placements] == ["yes"] * 8 + ["no"]
    # Nothing says on which roots the modelled devices are.
    (placement,) = east.what_if(pod("p", "vision-train", of("train-x8"))).placements
    assert placement.result == "unknown"
    assert "do not say resource.kubernetes.io/pcieRoot" in placement.nodes["a100-east-1"][1]
    assert found.site.kept_out == {"l40s-east-10": "in quarantine"}
    selected = pod("p", "vision-train", of("train-x1"), nodeSelector={"zone": "b"})
    assert east.what_if(selected).placements[0].result == "unknown"


def test_two_objects_of_one_name_are_two_claims(east: Cluster) -> None:
    made = pods("train", "vision-train", 1, of("train-x1"))
    found = east.what_if(made, {**made, "kind": "StatefulSet"})
    assert [one.pod for one in found.placements] == ["train-0", "train-statefulset-0"]
    assert [devices(one) for one in found.placements] == [["gpu-0"], ["gpu-1"]]


@pytest.mark.parametrize(("minor", "lands"), [(EAST, False), (WEST, True)])
def test_implicit_names_by_minor(judged: Judgement, minor: str, lands: bool) -> None:
    """1.34 binds a pod that asks for one without a device, so nothing of it is said to land."""
    cluster = Cluster(judged, minor, modelled=True)
    name = "deviceclass.resource.kubernetes.io/" + ("l4" if lands else "a100-40g")
    ask = [{"name": "a", "resources": {"requests": {name: 1}}}]
    place = "serving-prod" if lands else "vision-train"
    (found,) = cluster.what_if(pods("p", place, 1, containers=ask), extended=True).placements
    assert bool(found.claims) == lands, found.reason
