"""The allocator on one node: which devices, which errors, in the order of the scheduler."""

import pytest

from dracfg.allocate.claims import ClaimConstraint, DeviceRequest, Request, Toleration
from dracfg.allocate.nodes import Node, NodeSelector, Requirement
from dracfg.allocate.structured import (
    AllocatedState,
    Allocation,
    Failed,
    Undecided,
    Unsatisfiable,
    share_id,
)
from dracfg.kube.quantity import Quantity
from tests.unit.allocate.structured.cluster import (
    DRIVER,
    MINORS,
    NODE,
    Cluster,
    claim,
    device,
    picked,
    wants,
)

MODEL = f"{DRIVER}/model"


def three(minor: str = "1.37") -> Cluster:
    found = [device(f"d{n}", attributes={"model": "ab"[n % 2], "index": n}) for n in range(3)]
    return Cluster(minor).add("s", found)


@pytest.mark.parametrize("minor", MINORS)
def test_the_first_devices_are_taken(minor: str) -> None:
    assert picked(three(minor).ask(claim(wants(count=2)))) == ["req=d0", "req=d1"]


@pytest.mark.parametrize("minor", MINORS)
def test_devices_in_use_are_passed_over(minor: str) -> None:
    state = AllocatedState(frozenset({(DRIVER, "node-1", "d0")}))
    assert picked(three(minor).ask(claim(wants()), state=state)) == ["req=d1"]
    outcome = three(minor).ask(claim(wants(count=3)), state=state)
    assert isinstance(outcome, Unsatisfiable)


def test_selectors_of_class_and_request_both_hold() -> None:
    text = 'device.attributes["gpu.example.com"].model == "b"'
    assert picked(three().ask(claim(wants(selectors=(text,))))) == ["req=d1"]


def test_the_search_goes_back_over_claims() -> None:
    only = 'device.attributes["gpu.example.com"].index == 0'
    asked = [claim(wants(), name="one"), claim(wants(selectors=(only,)), name="two")]
    assert picked(three().ask(*asked)) == ["req=d1", "req=d0"]


def test_an_error_of_a_selector_ends_the_allocation() -> None:
    text = 'device.attributes["gpu.example.com"].gone == "b"'
    outcome = three().ask(claim(wants(selectors=(text,))))
    assert isinstance(outcome, Failed)
    assert outcome.kind == "cel-runtime"


def test_a_device_in_use_is_not_put_to_the_selector() -> None:
    cluster = Cluster().add("s", [device("d0"), device("d1", attributes={"model": "a"})])
    text = 'device.attributes["gpu.example.com"].model == "a"'
    state = AllocatedState(frozenset({(DRIVER, "node-1", "d0")}))
    assert picked(cluster.ask(claim(wants(selectors=(text,))), state=state)) == ["req=d1"]


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        (wants(device_class="gone"), "missing-class"),
        (wants(count=33), "too-many-devices"),
        (wants(selectors=("this is not CEL",)), "cel-compile"),
    ],
)
def test_errors_are_told_by_kind(request_: Request, kind: str) -> None:
    outcome = three().ask(claim(request_))
    assert isinstance(outcome, Failed)
    assert outcome.kind == kind


@pytest.mark.parametrize(
    ("minor", "kind"), [("1.36", "missing-class"), ("1.37", "too-many-devices")]
)
def test_from_1_37_on_the_limit_is_held_against_each_request(minor: str, kind: str) -> None:
    outcome = three(minor).ask(claim(wants("a", count=33), wants("b", device_class="gone")))
    assert isinstance(outcome, Failed)
    assert outcome.kind == kind


@pytest.mark.parametrize(
    ("gate", "request_"),
    [
        ("DRAAdminAccess", wants(admin_access=True)),
        ("DRAConsumableCapacity", wants(capacity={"memory": Quantity.of(1)})),
        ("DRADerivedAttributes", wants(derived_attributes=(("example.com/x", "1"),))),
        (
            "DRAPrioritizedList",
            Request("req", first_available=(DeviceRequest("a", "gpu"),)),
        ),
    ],
)
def test_what_a_gate_guards_is_an_error_without_it(gate: str, request_: Request) -> None:
    outcome = three().ask(claim(request_), without={gate})
    assert isinstance(outcome, Failed)
    assert outcome.kind == "feature-disabled"


def test_all_takes_every_device_and_fails_where_one_is_in_use() -> None:
    everything = claim(wants(mode="All"))
    assert picked(three().ask(everything)) == ["req=d0", "req=d1", "req=d2"]
    state = AllocatedState(frozenset({(DRIVER, "node-1", "d2")}))
    assert isinstance(three().ask(everything, state=state), Unsatisfiable)


def test_all_is_an_error_on_pools_that_are_not_whole() -> None:
    outcome = Cluster().add("s", [device("d")], count=2).ask(claim(wants(mode="All")))
    assert isinstance(outcome, Failed)
    assert outcome.kind == "pool-incomplete"
    twice = Cluster().add("s", [device("d")], count=2).add("t", [device("d")], count=2)
    outcome = twice.ask(claim(wants(mode="All")))
    assert isinstance(outcome, Failed)
    assert outcome.kind == "pool-invalid"
    assert twice.ask(claim(wants())) == Unsatisfiable(
        "the devices of node node-1 do not suffice", invalid_pools=True
    )


def test_1_34_allocates_from_incomplete_pools_and_stops_at_invalid_ones() -> None:
    part = Cluster("1.34").add("s", [device("d")], count=2)
    assert picked(part.ask(claim(wants()))) == ["req=d"]
    twice = Cluster("1.34").add("s", [device("d")], count=2).add("t", [device("d")], count=2)
    outcome = twice.ask(claim(wants()))
    assert isinstance(outcome, Failed)
    assert outcome.kind == "pool-invalid"


def test_alternatives_are_taken_in_order() -> None:
    few = DeviceRequest("few", "gpu", count=2)
    many = DeviceRequest("many", "gpu", count=4)
    outcome = three().ask(claim(Request("req", first_available=(many, few))))
    assert picked(outcome) == ["req/few=d0", "req/few=d1"]


def test_an_alternative_may_bring_the_claim_below_the_limit() -> None:
    cluster = Cluster().add("s", [device(f"d{n:02}") for n in range(40)])
    many = DeviceRequest("many", "gpu", count=31)
    few = DeviceRequest("few", "gpu", count=2)
    outcome = cluster.ask(claim(Request("a", first_available=(many, few)), wants("b", count=2)))
    assert picked(outcome) == ["a/few=d00", "a/few=d01", "b=d02", "b=d03"]


def test_match_and_distinct_attribute() -> None:
    match = ClaimConstraint((), MODEL)
    assert picked(three().ask(claim(wants(count=2), constraints=(match,)))) == ["req=d0", "req=d2"]
    distinct = ClaimConstraint((), None, MODEL)
    outcome = three().ask(claim(wants(count=2), constraints=(distinct,)))
    assert picked(outcome) == ["req=d0", "req=d1"]
    assert isinstance(three().ask(claim(wants(count=3), constraints=(distinct,))), Unsatisfiable)


@pytest.mark.parametrize("minor", ["1.35", "1.36"])
def test_before_1_37_distinct_keeps_one_value_for_each_request(minor: str) -> None:
    distinct = ClaimConstraint((), None, MODEL)
    outcome = three(minor).ask(claim(wants(count=3), constraints=(distinct,)))
    assert picked(outcome) == ["req=d0", "req=d1", "req=d2"]


def test_lists_match_where_they_have_an_element_in_common() -> None:
    lists = [{"ints": [1, 2]}, {"ints": [3]}, {"ints": [2, 3]}, {"int": 2}]
    found = [device(f"d{n}", attributes={"links": value}) for n, value in enumerate(lists)]
    match = ClaimConstraint((), f"{DRIVER}/links")
    cluster = Cluster().add("s", found)
    assert picked(cluster.ask(claim(wants(count=3), constraints=(match,)))) == [
        "req=d0",
        "req=d2",
        "req=d3",
    ]


def test_derived_attributes_stand_before_published_ones() -> None:
    derived = ((MODEL, 'device.attributes["gpu.example.com"].index % 2 == 0'),)
    match = ClaimConstraint((), MODEL)
    request = wants(count=2, derived_attributes=derived)
    assert picked(three().ask(claim(request, constraints=(match,)))) == ["req=d0", "req=d2"]


def test_taints_need_tolerations() -> None:
    taint = {"key": "example.com/broken", "value": "", "effect": "NoSchedule"}
    cluster = Cluster().add("s", [device("d0", taints=[taint]), device("d1")])
    assert picked(cluster.ask(claim(wants()))) == ["req=d1"]
    tolerated = wants(tolerations=(Toleration("example.com/broken", "Exists"),))
    assert picked(cluster.ask(claim(tolerated))) == ["req=d0"]


@pytest.mark.parametrize(("minor", "found"), [("1.34", "d1"), ("1.36", "d0")])
def test_the_effect_none_blocks_in_1_34_only(minor: str, found: str) -> None:
    taint = {"key": "example.com/note", "value": "", "effect": "None"}
    cluster = Cluster(minor).add("s", [device("d0", taints=[taint]), device("d1")])
    assert picked(cluster.ask(claim(wants()))) == [f"req={found}"]


def test_admin_access_takes_devices_in_use() -> None:
    state = AllocatedState(frozenset({(DRIVER, "node-1", "d0")}))
    outcome = three().ask(claim(wants(admin_access=True)), state=state)
    assert picked(outcome) == ["req=d0"]
    assert isinstance(outcome, Allocation)
    assert outcome.results[0].results[0].admin_access


def test_devices_with_binding_conditions_come_last() -> None:
    binding = {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]}
    cluster = Cluster().add("s", [device("slow", **binding)], pool="a")
    cluster.add("t", [device("fast")], pool="b")
    assert picked(cluster.ask(claim(wants(count=2)))) == ["req=fast", "req=slow"]
    off = cluster.ask(claim(wants(count=2)), without={"DRADeviceBindingConditions"})
    assert isinstance(off, Unsatisfiable)


def shared(minor: str) -> Cluster:
    policy = {"default": "1", "validRange": {"min": "1", "step": "2"}}
    capacity = {"cores": {"value": "8", "requestPolicy": policy}}
    return Cluster(minor).add("s", [device("d", capacity=capacity, allowMultipleAllocations=True)])


@pytest.mark.parametrize("minor", MINORS)
def test_shares_go_into_a_device_until_it_is_full(minor: str) -> None:
    # 4 is rounded up to 5, and 3 is taken as it is.
    asked = claim(
        wants("a", capacity={"cores": Quantity.of(4)}),
        wants("b", capacity={"cores": Quantity.of(3)}),
    )
    outcome = shared(minor).ask(asked)
    assert isinstance(outcome, Allocation)
    results = outcome.results[0].results
    assert [str(one.consumed_capacity["cores"]) for one in results] == ["5", "3"]
    assert [one.share_id for one in results] == [share_id(asked, 0), share_id(asked, 1)]
    consumed = {(DRIVER, "node-1", "d"): {"cores": Quantity.of(1)}}
    full = shared(minor).ask(asked, state=AllocatedState(consumed=consumed))
    assert isinstance(full, Unsatisfiable)


def partitions(minor: str) -> Cluster:
    counters = [{"name": "gpu", "counters": {"memory": {"value": "10Gi"}}}]
    draws = [{"counterSet": "gpu", "counters": {"memory": {"value": "6Gi"}}}]
    small = [{"counterSet": "gpu", "counters": {"memory": {"value": "4Gi"}}}]
    found = [
        device("big-0", consumesCounters=draws),
        device("big-1", consumesCounters=draws),
        device("small", consumesCounters=small),
    ]
    if minor == "1.34":
        return Cluster(minor).add("s", found, counters=counters)
    return Cluster(minor).add("c", counters=counters, count=2).add("s", found, count=2)


@pytest.mark.parametrize("minor", MINORS)
def test_partitions_stay_within_their_counters(minor: str) -> None:
    assert picked(partitions(minor).ask(claim(wants(count=2)))) == ["req=big-0", "req=small"]
    assert isinstance(partitions(minor).ask(claim(wants(count=3))), Unsatisfiable)


def test_1_35_panics_on_all_with_counters() -> None:
    outcome = partitions("1.35").ask(claim(wants(mode="All")))
    assert isinstance(outcome, Failed)
    assert outcome.kind == "panic"
    assert isinstance(partitions("1.36").ask(claim(wants(mode="All"))), Unsatisfiable)


def test_partitions_need_a_group_in_common() -> None:
    def draws(*groups: str) -> list[dict[str, object]]:
        taken = {"counterSet": "gpu", "counters": {"memory": {"value": "1Gi"}}}
        return [{**taken, "compatibilityGroups": list(groups)}]

    counters = [{"name": "gpu", "counters": {"memory": {"value": "10Gi"}}}]
    found = [
        device("a", consumesCounters=draws("x")),
        device("b", consumesCounters=draws("y")),
        device("c", consumesCounters=draws("x", "y")),
    ]
    cluster = Cluster().add("c", counters=counters, count=2).add("s", found, count=2)
    assert picked(cluster.ask(claim(wants(count=2)))) == ["req=a", "req=c"]
    held = AllocatedState(frozenset({(DRIVER, "node-1", "b")}))
    assert picked(cluster.ask(claim(wants()), state=held)) == ["req=c"]
    off = cluster.ask(claim(wants()), without={"DRADeviceCompatibilityGroups"})
    assert isinstance(off, Unsatisfiable)


def test_devices_may_choose_their_nodes_themselves() -> None:
    found = [device("d0", nodeName="node-2"), device("d1", allNodes=True)]
    cluster = Cluster().add("s", found, where={"perDeviceNodeSelection": True})
    assert picked(cluster.ask(claim(wants()))) == ["req=d1"]


def test_older_generations_count_for_nothing() -> None:
    cluster = Cluster().add("old", [device("a")], generation=1)
    cluster.add("new", [device("b")], generation=2)
    assert picked(cluster.ask(claim(wants()))) == ["req=b"]


def test_slices_stand_in_the_order_of_their_names() -> None:
    cluster = Cluster().add("t", [device("a")], count=2).add("s", [device("z")], count=2)
    assert picked(cluster.ask(claim(wants(count=2)))) == ["req=z", "req=a"]


def test_optional_node_operations_need_a_node_that_declares_them() -> None:
    operations = ["NodePrepareResources", "NodeUnprepareResources"]
    cluster = Cluster().add("s", [device("d")], skipNodeOperations=operations)
    assert isinstance(cluster.ask(claim(wants())), Unsatisfiable)
    able = Node("node-1", {}, frozenset({"DRAOptionalNodeOperations"}))
    assert picked(cluster.ask(claim(wants()), node=able)) == ["req=d"]


def test_a_search_that_is_too_long_is_undecided() -> None:
    found = [device(f"d{n:02}", attributes={"index": n}) for n in range(30)]
    match = ClaimConstraint((), f"{DRIVER}/index")
    asked = claim(*(wants(f"r{n}") for n in range(6)), constraints=(match,))
    assert isinstance(Cluster().add("s", found).ask(asked, budget=20), Undecided)


def test_labels_that_are_not_known_leave_it_undecided() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["east"]}]}
    where = {"nodeSelector": {"nodeSelectorTerms": [term]}}
    cluster = Cluster().add("s", [device("d")], where=where)
    assert isinstance(cluster.ask(claim(wants()), node=Node("node-1")), Undecided)
    outcome = cluster.ask(claim(wants()), node=NODE)
    assert isinstance(outcome, Allocation)
    assert outcome.results[0].node_selector == NodeSelector((Requirement("zone", "In", ("east",)),))


def test_an_allocated_claim_holds_the_pod_to_its_nodes() -> None:
    elsewhere = NodeSelector(fields=(Requirement("metadata.name", "In", ("node-2",)),))
    outcome = three().ask(claim(wants()))
    assert isinstance(outcome, Allocation)
    bound = claim(wants())
    for selector, fits in ((elsewhere, False), (None, True)):
        allocation = type(outcome.results[0])(outcome.results[0].results, (), selector)
        allocated = type(bound)(bound.namespace, "held", bound.spec, "uid", allocation)
        found = three().ask(allocated, claim(wants(), name="free"))
        assert isinstance(found, Allocation) is fits
        if isinstance(found, Allocation):
            assert len(found.results) == 1
