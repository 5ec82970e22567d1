"""What is wrong with a slice is found, its near miss is not, and nothing ever raises."""

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.allocate import Inventory, load_inventory
from dracfg.allocate.devices import Attribute
from dracfg.diagnostics import Diagnostic
from dracfg.source.records import parse_record, read_record

DATA = Path(__file__).parents[2] / "data" / "slices"
DRIVER = "gpu.example.com"
Object = dict[str, Any]


def device(name: str = "gpu-0", **content: Any) -> Object:
    return {"name": name, **content}


def resource_slice(*devices: Object, name: str = "s", **spec: Any) -> Object:
    pool = {"name": "node-a", "generation": 1, "resourceSliceCount": 1, **spec.pop("pool", {})}
    place = (
        {}
        if {"nodeSelector", "allNodes", "perDeviceNodeSelection"} & set(spec)
        else {"nodeName": "node-a"}
    )
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {"driver": DRIVER, "pool": pool, **place, "devices": list(devices), **spec},
    }


def counters(*sets: Object, name: str = "c", **pool: Any) -> Object:
    made = resource_slice(name=name, sharedCounters=list(sets), pool=pool)
    del made["spec"]["devices"]
    return made


def load(*objects: Object, minor: str | None = None) -> tuple[Inventory, list[Diagnostic]]:
    record, faults = parse_record("dump.json", json.dumps({"kind": "List", "items": objects}))
    assert not faults
    inventory, found = load_inventory([record], minor)
    return inventory, list(found)


def codes(*objects: Object, minor: str | None = None) -> list[str]:
    return [fault.code for fault in load(*objects, minor=minor)[1]]


def with_attribute(**typed: Any) -> Object:
    return resource_slice(device(attributes={"a": typed}))


def with_policy(policy: Object, value: str = "40", shareable: bool = True) -> Object:
    capacity = {"memory": {"value": value, "requestPolicy": policy}}
    return resource_slice(device(allowMultipleAllocations=shareable, capacity=capacity))


def with_selector(*parts: Object, kind: str = "matchExpressions") -> Object:
    return resource_slice(device(), nodeSelector={"nodeSelectorTerms": [{kind: list(parts)}]})


def edited(edit: Callable[[Object], None]) -> Object:
    made = resource_slice(device())
    edit(made)
    return made


RANGE = {"min": "0", "max": "40", "step": "8"}
SET = {"name": "set", "counters": {"memory": {"value": "40"}}}
TAKES = [{"counterSet": "set", "counters": {"memory": {"value": "4"}}}]
TAINT = {"key": "example.com/down", "effect": "NoExecute"}
IN = {"key": "zone", "operator": "In", "values": ["a"]}

CASES: dict[str, tuple[Object, list[str]]] = {
    "clean": (resource_slice(device()), []),
    "unknown version": (edited(lambda o: o.update(apiVersion="resource.k8s.io/v1alpha3")), ["INV002"]),
    "foreign group": (edited(lambda o: o.update(apiVersion="example.com/v1")), ["INV002"]),
    "no apiVersion": (edited(lambda o: o.pop("apiVersion")), ["INV002"]),
    "v1beta2": (edited(lambda o: o.update(apiVersion="resource.k8s.io/v1beta2")), []),
    "v1beta1, flat": (
        {**resource_slice(device(capacity={})), "apiVersion": "resource.k8s.io/v1beta1"},
        ["INV003"],
    ),
    "v1beta1, basic": (
        {**resource_slice(device(basic={"capacity": {}})), "apiVersion": "resource.k8s.io/v1beta1"},
        [],
    ),
    "v1, basic": (resource_slice(device(basic={})), ["INV003"]),
    "unknown field": (resource_slice(device(), colour="red"), ["INV004"]),
    "unknown field of a device": (resource_slice(device(colour="red")), ["INV004"]),
    "no spec": (edited(lambda o: o.pop("spec")), ["INV005"]),
    "spec is text": (edited(lambda o: o.update(spec="x")), ["INV005"]),
    "devices are a map": (resource_slice(device(), devices={}), ["INV005"]),
    "a null device": (resource_slice(device(), devices=[None]), ["INV005"]),
    "count is text": (resource_slice(device(), pool={"resourceSliceCount": "1"}), ["INV005"]),
    "no generation": (edited(lambda o: o["spec"]["pool"].pop("generation")), []),
    "negative generation": (resource_slice(device(), pool={"generation": -1}), ["INV008"]),
    "no slices in the pool": (
        resource_slice(device(), pool={"resourceSliceCount": 0}),
        ["INV008", "INV013"],
    ),
    "device name of 63": (resource_slice(device("a" * 63)), []),
    "device name of 64": (resource_slice(device("a" * 64)), ["INV006"]),
    "device name with a dot": (resource_slice(device("a.b")), ["INV006"]),
    "driver in capitals": (resource_slice(device(), driver="GPU.example.com"), ["INV006"]),
    "pool of two parts": (resource_slice(device(), pool={"name": "rack/node-a"}), []),
    "pool with an empty part": (resource_slice(device(), pool={"name": "rack//a"}), ["INV006"]),
    "node name": (resource_slice(device(), nodeName="node_a"), ["INV006"]),
    "key of 32": (resource_slice(device(attributes={"a" * 32: {"int": 1}})), []),
    "key of 33": (resource_slice(device(attributes={"a" * 33: {"int": 1}})), ["INV006"]),
    "key of two slashes": (resource_slice(device(attributes={"a/b/c": {"int": 1}})), ["INV006"]),
    "capacity key with a dash": (resource_slice(device(capacity={"a-b": {"value": 1}})), ["INV006"]),
    "int": (with_attribute(int=2**63 - 1), []),
    "int too large": (with_attribute(int=2**63), ["INV005"]),
    "int as text": (with_attribute(int="1"), ["INV005"]),
    "no value": (with_attribute(), ["INV008"]),
    "two values": (with_attribute(int=1, string="1"), ["INV008"]),
    "string of 64": (with_attribute(string="x" * 64), []),
    "string of 65": (with_attribute(string="x" * 65), ["INV008"]),
    "string in a list of 65": (with_attribute(strings=["x" * 65]), ["INV008"]),
    "version": (with_attribute(version="1.2.3-rc.1+build.5"), []),
    "version of two parts": (with_attribute(version="1.2"), ["INV008"]),
    "version with a v": (with_attribute(version="v1.2.3"), ["INV008"]),
    "version with a leading zero": (with_attribute(version="1.02.3"), ["INV008"]),
    "pre-release with a leading zero": (with_attribute(version="1.2.3-01"), ["INV008"]),
    "pre-release that starts with zero": (with_attribute(version="1.2.3-0a"), []),
    "quantity": (resource_slice(device(capacity={"m": {"value": "1.5Gi"}})), []),
    "quantity as a number": (resource_slice(device(capacity={"m": {"value": 1.5}})), []),
    "no quantity": (resource_slice(device(capacity={"m": {"value": "40GB"}})), ["INV007"]),
    "32 facts": (
        resource_slice(
            device(
                attributes={f"a{n}": {"int": n} for n in range(30)},
                capacity={f"c{n}": {"value": "1"} for n in range(2)},
            )
        ),
        [],
    ),
    "33 facts": (
        resource_slice(device(attributes={f"a{n}": {"int": n} for n in range(33)})),
        ["INV009"],
    ),
    "48 values": (resource_slice(device(attributes={"a": {"ints": list(range(48))}})), []),
    "49 values": (resource_slice(device(attributes={"a": {"ints": list(range(49))}})), ["INV009"]),
    "128 devices": (resource_slice(*[device(f"d{n}") for n in range(128)]), []),
    "129 devices": (resource_slice(*[device(f"d{n}") for n in range(129)]), ["INV009"]),
    "64 tainted devices": (resource_slice(*[device(f"d{n}", taints=[TAINT]) for n in range(64)]), []),
    "65 devices, one tainted": (
        resource_slice(device("x", taints=[TAINT]), *[device(f"d{n}") for n in range(64)]),
        ["INV009"],
    ),
    "65 devices, one with a list": (
        resource_slice(device("x", attributes={"a": {"ints": [1]}}), *[device(f"d{n}") for n in range(64)]),
        ["INV009"],
    ),
    "16 taints": (resource_slice(device(taints=[TAINT] * 16)), []),
    "17 taints": (resource_slice(device(taints=[TAINT] * 17)), ["INV009"]),
    "taint effect": (resource_slice(device(taints=[{**TAINT, "effect": "Never"}])), ["INV008"]),
    "taint key": (resource_slice(device(taints=[{**TAINT, "key": "a b"}])), ["INV006"]),
    "taint value": (resource_slice(device(taints=[{**TAINT, "value": "-"}])), ["INV006"]),
    "policy": (with_policy({"default": "8", "validRange": RANGE}), []),
    "policy on an exclusive device": (
        with_policy({"default": "8", "validRange": RANGE}, shareable=False),
        ["INV010"],
    ),
    "policy of both kinds": (
        with_policy({"default": "8", "validRange": RANGE, "validValues": ["8"]}),
        ["INV010"],
    ),
    "no default": (with_policy({"validRange": RANGE}), ["INV010"]),
    "default alone": (with_policy({"default": "8"}), []),
    "default off the steps": (with_policy({"default": "9", "validRange": RANGE}), ["INV010"]),
    "default above max": (with_policy({"default": "48", "validRange": RANGE}), ["INV010"]),
    "max above the capacity": (
        with_policy({"default": "8", "validRange": {"min": "0", "max": "48"}}),
        ["INV010"],
    ),
    "min plus step above the capacity": (
        with_policy({"default": "8", "validRange": {"min": "8", "step": "40"}}),
        ["INV010"],
    ),
    "step of zero": (with_policy({"default": "8", "validRange": {**RANGE, "step": "0"}}), ["INV010"]),
    "values": (with_policy({"default": "8", "validValues": ["8", "16"]}), []),
    "values that do not ascend": (
        with_policy({"default": "8", "validValues": ["16", "8"]}),
        ["INV010"],
    ),
    "default that is no value": (with_policy({"default": "9", "validValues": ["8"]}), ["INV010"]),
    "11 values": (
        with_policy({"default": "1", "validValues": [str(n) for n in range(1, 12)]}),
        ["INV009"],
    ),
    "no node selection": (edited(lambda o: o["spec"].pop("nodeName")), ["INV011"]),
    "empty node name": (resource_slice(device(), nodeName=""), ["INV011"]),
    "two node selections": (edited(lambda o: o["spec"].update(allNodes=True)), ["INV011"]),
    "all nodes": (resource_slice(device(), allNodes=True), []),
    "selector": (with_selector(IN), ["INV017"]),
    "selector by name": (with_selector({**IN, "key": "metadata.name"}, kind="matchFields"), []),
    "selector by another field": (with_selector(IN, kind="matchFields"), ["INV011"]),
    "operator in capitals": (with_selector({**IN, "operator": "IN"}), ["INV011"]),
    "In without values": (with_selector({**IN, "values": []}), ["INV011"]),
    "Exists with values": (with_selector({**IN, "operator": "Exists"}), ["INV011"]),
    "Gt of text": (with_selector({**IN, "operator": "Gt"}), ["INV011"]),
    "two terms": (
        resource_slice(device(), nodeSelector={"nodeSelectorTerms": [{}, {}]}),
        ["INV011"],
    ),
    "per device": (resource_slice(device(nodeName="node-a"), perDeviceNodeSelection=True), []),
    "per device, but none": (resource_slice(device(), perDeviceNodeSelection=True), ["INV011"]),
    "of a device, but not asked for": (resource_slice(device(nodeName="node-a")), ["INV011"]),
    "binding conditions": (
        resource_slice(device(bindingConditions=["a"], bindingFailureConditions=["b"])),
        [],
    ),
    "binding without failure": (resource_slice(device(bindingConditions=["a"])), ["INV008"]),
    "binding that is its failure": (
        resource_slice(device(bindingConditions=["a"], bindingFailureConditions=["a"])),
        ["INV008"],
    ),
    "5 binding conditions": (
        resource_slice(device(bindingConditions=list("abcde"), bindingFailureConditions=["f"])),
        ["INV009"],
    ),
    "both spellings of a key": (
        resource_slice(device(attributes={"a": {"int": 1}, f"{DRIVER}/a": {"int": 2}})),
        ["INV016"],
    ),
    "one id of two domains": (
        resource_slice(device(attributes={"a": {"int": 1}, "other.example.com/a": {"int": 2}})),
        [],
    ),
    "two devices of a name": (resource_slice(device("a"), device("a")), ["INV014"]),
    "unknown counter set": (resource_slice(device(consumesCounters=TAKES)), ["INV014"]),
    "incomplete": (resource_slice(device(), pool={"resourceSliceCount": 2}), ["INV013"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_fault_is_found_and_its_near_miss_is_not(case: str) -> None:
    made, expected = CASES[case]
    assert codes(made) == expected


def test_a_fault_names_its_place_and_what_is_wrong() -> None:
    text = (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec:\n"
        "  driver: gpu.example.com\n  nodeName: node-a\n"
        "  pool: {name: node-a, generation: 1, resourceSliceCount: 1}\n"
        "  devices:\n  - name: gpu-0\n    capacity:\n      memory: {value: 40GB}\n"
    )
    record, _ = parse_record("catalog/inventory/prod.yaml", text)
    _, (fault,) = load_inventory([record])
    assert str(fault.span) == "catalog/inventory/prod.yaml:11:23"
    assert fault.message == "'40GB' is not a quantity: did you mean 40G"


def test_without_slices() -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    _, (fault,) = load(node)
    assert (fault.code, fault.found) == ("INV001", "Node")
    assert codes() == ["INV001"]
    assert load_inventory([])[1] == ()


def test_both_spellings_of_an_attribute_and_of_a_capacity() -> None:
    published = resource_slice(
        device(
            attributes={
                "a": {"int": 1},
                f"{DRIVER}/b": {"string": "x"},
                "o.example.com/a": {"int": 2},
            },
            capacity={"memory": {"value": "1"}, f"{DRIVER}/cores": {"value": "2"}},
        )
    )
    inventory, _ = load(published)
    (found,) = inventory.devices
    assert found.attribute("a") == found.attribute(f"{DRIVER}/a") == Attribute("int", 1)
    assert found.attribute("b") == found.attribute(f"{DRIVER}/b") == Attribute("string", "x")
    assert found.attribute("o.example.com/a") == Attribute("int", 2)
    assert found.attribute("o.example.com/b") is None
    assert found.capacity_fact("memory") is not None
    assert found.capacity_fact(f"{DRIVER}/memory") is None
    assert found.capacity_fact("cores") is None


def test_values_of_different_types_differ() -> None:
    assert Attribute("int", 1) != Attribute("bool", True)
    assert Attribute("string", "1.0.0") != Attribute("version", "1.0.0")


def test_the_newest_generation_holds() -> None:
    old = resource_slice(device("old"), name="a", pool={"resourceSliceCount": 3})
    new = resource_slice(device("new"), name="b", pool={"generation": 2})
    inventory, (fault,) = load(new, old)
    assert [found.name for found in inventory.devices] == ["new"]
    assert (fault.code, fault.severity) == ("INV015", "warning")
    (pool,) = inventory.pools
    assert (pool.generation, pool.complete) == (2, True)


def test_slices_that_disagree_on_their_number() -> None:
    one = resource_slice(device("a"), name="a", pool={"resourceSliceCount": 2})
    two = resource_slice(device("b"), name="b", pool={"resourceSliceCount": 3})
    inventory, (fault,) = load(one, two)
    assert (fault.code, fault.found, fault.expected) == ("INV012", "3", "2")
    assert not inventory.pools[0].complete


def test_more_slices_than_the_pool_has() -> None:
    inventory, (fault,) = load(
        resource_slice(device("a"), name="a"), resource_slice(device("b"), name="b")
    )
    assert (fault.code, fault.found, fault.expected) == ("INV013", "2 slices", "1")
    assert not inventory.pools[0].usable


def test_one_slice_recorded_twice_counts_once() -> None:
    made = resource_slice(device())
    inventory, faults = load(made, copy.deepcopy(made))
    assert (len(inventory.devices), faults) == (1, [])


def test_an_unread_slice_spoils_its_pool_without_a_second_finding() -> None:
    good = resource_slice(device("a"), name="a", pool={"resourceSliceCount": 2})
    bad = resource_slice(device("b", basic={}), name="b", pool={"resourceSliceCount": 2})
    inventory, (fault,) = load(good, bad)
    assert fault.code == "INV003"
    assert (inventory.pools[0].complete, len(inventory.devices)) == (False, 1)


def test_a_device_that_cannot_be_read_leaves_the_others() -> None:
    bad = device("b", capacity={"m": {"value": "?"}})
    inventory, (fault,) = load(resource_slice(device("a"), bad, device("c")))
    assert fault.code == "INV007"
    assert [found.name for found in inventory.devices] == ["a", "c"]
    assert not inventory.pools[0].usable


TWO = {"resourceSliceCount": 2}


@pytest.mark.parametrize(
    ("sets", "takes", "reason"),
    [
        ([SET], TAKES, None),
        ([SET, SET], TAKES, "two counter sets are named set"),
        ([{**SET, "name": "other"}], TAKES, "no counter set is named set"),
        ([{**SET, "counters": {"cores": {"value": "1"}}}], TAKES, "counter set set has no counter memory"),
    ],
)  # fmt: skip
def test_counter_sets_of_a_pool(
    sets: list[Object], takes: list[Object], reason: str | None
) -> None:
    devices = resource_slice(device(consumesCounters=takes), pool=TWO)
    inventory, faults = load(counters(*sets, **TWO), devices)
    (pool,) = inventory.pools
    assert pool.invalid_reason == reason
    assert pool.usable is (reason is None)
    assert [fault.code for fault in faults] == ([] if reason is None else ["INV014"])


def test_counter_sets_beside_devices_serve_their_slice_alone() -> None:
    first = resource_slice(
        device("a", consumesCounters=TAKES), name="a", sharedCounters=[SET], pool=TWO
    )
    second = resource_slice(
        device("b", consumesCounters=TAKES), name="b", sharedCounters=[SET], pool=TWO
    )
    inventory, faults = load(first, second, minor="1.34")
    (pool,) = inventory.pools
    assert (faults, pool.usable, sorted(pool.counter_sets)) == ([], True, ["a/set", "b/set"])
    assert [d.consumes_counters[0].counter_set for d in pool.devices] == ["a/set", "b/set"]
    assert codes(first, second, minor="1.36") == ["INV003", "INV003"]


@pytest.mark.parametrize(
    ("number", "minor", "expected"), [(4, "1.34", []), (5, "1.34", ["INV009"]), (5, "1.35", [])]
)
def test_limits_are_those_of_the_minor(number: int, minor: str, expected: list[str]) -> None:
    assert codes(resource_slice(device(taints=[TAINT] * number)), minor=minor) == expected


def test_an_incomplete_pool_is_unknown_not_wrong() -> None:
    _, (fault,) = load(resource_slice(device(), pool=TWO))
    assert fault.severity == "unknown"


def test_an_unsupported_minor_is_a_fault_of_the_caller() -> None:
    with pytest.raises(KeyError):
        load(resource_slice(device()), minor="1.2")


REAL = [
    item.data
    for path in sorted(DATA.rglob("*.yaml"))
    for item in read_record(DATA, path.relative_to(DATA).as_posix())[0].objects
]


def seen(objects: list[Object]) -> tuple[Inventory, list[tuple[str, str]]]:
    inventory, faults = load(*objects)
    return inventory, sorted((fault.code, fault.message) for fault in faults)


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_slices_does_not_matter(order: random.Random) -> None:
    shuffled = list(REAL)
    order.shuffle(shuffled)
    assert seen(shuffled) == seen(REAL)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["In", "nodeName", "resource.k8s.io/v1beta1", "resource.k8s.io/v1", "40Gi"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [at] if at else []
    if isinstance(value, dict):
        found += [place for key in value for place in places(value[key], (*at, key))]
    elif isinstance(value, list):
        found += [place for n, item in enumerate(value) for place in places(item, (*at, n))]
    return found


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_object_raises(data: st.DataObject) -> None:
    broken = copy.deepcopy(data.draw(st.sampled_from(REAL)))
    for _ in range(data.draw(st.integers(1, 3))):
        *steps, last = data.draw(st.sampled_from(places(broken)))
        target: Any = broken
        for step in steps:
            target = target[step]
        target[last] = data.draw(ANYTHING)
    record, _ = parse_record("d.json", json.dumps({"kind": "List", "items": [broken]}))
    for minor in (None, "1.34", "1.37"):
        _, faults = load_inventory([record], minor)
        assert all(fault.code.startswith("INV") for fault in faults)
