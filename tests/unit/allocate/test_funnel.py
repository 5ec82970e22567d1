"""What a claim finds on a node, step by step, and the words for what is in its way."""

from collections.abc import Callable
from typing import Any

import pytest

from dracfg.allocate import placement
from dracfg.allocate.funnel import Funnel, Step

GPU, NIC = "gpu.example.org", "nic.example.org"
ONE = "requests: [{name: gpu, entitlement: gpu}]"
FOUR = "requests: [{name: gpu, entitlement: gpu, count: 4}]"
PAIRS = (
    "requests: [{name: gpu, entitlement: gpu, count: 4}, {name: nic, entitlement: nic, count: 4}],"
    " align: [{requests: [gpu, nic], by: example.org/root}]"
)
TOGETHER = f"{FOUR}, align: [{{requests: [gpu], by: example.org/root}}]"
APART = f"{FOUR}, distinct: [{{requests: [gpu], by: example.org/root}}]"
Fixture = Callable[..., Any]


def numbers(step: Step) -> tuple[Any, ...]:
    return (step.seen, *step.selected, step.capacity, step.untainted, step.constrained)


def reason(found: Funnel) -> str | None:
    (node,) = found.nodes
    return node.reason


def test_yes_where_everything_is_there(build: Fixture, make: Any, place: Fixture) -> None:
    gpus = [make.gpu(f"gpu-{i}", root=f"r{i // 2}") for i in range(4)]
    nics = [make.nic(f"card-{i}", f"r{i // 2}") for i in range(4)]
    found = place(build(PAIRS), make.inventory({"n1": {GPU: gpus, NIC: nics}}))
    assert found.result == "yes"
    assert [(step.request, step.wanted, numbers(step)) for step in found.nodes[0].steps] == [
        ("gpu", 4, (4, 4, 4, 4, 4)),
        ("nic", 4, (4, 4, 4, 4, 4)),
    ]


@pytest.mark.parametrize(
    ("profile", "devices", "counts", "words"),
    [
        (ONE, [{"memory": "81664Mi"}] * 4, (4, 0, 0, 0, None), "4 devices miss memory by 256Mi"),
        (
            ONE,
            [{"memory": "81664Mi"}, {"memory": "40Gi"}],
            (2, 0, 0, 0, None),
            "1 device misses memory by 256Mi",
        ),
        (ONE, [{"model": "B-40"}] * 2, (2, 0, 0, 0, None), 'model is "B-40"'),
        (FOUR, [{}] * 3 + [{"model": ""}], (4, 3, 3, 3, None), "model is not published on 1 of 4"),
        (FOUR, [{}] * 3, (3, 3, 3, 3, None), "3 devices of gpu.example.org here"),
        (
            ONE,
            [{"type": "mig", "model": "B-20"}, {"model": "B-40"}],
            (2, 0, 0, 0, None),
            'model is "B-40" on 1 of 2',
        ),
        (
            TOGETHER,
            [{"root": "a"}] * 2 + [{"root": "b"}] * 3,
            (5, 5, 5, 5, 3),
            "at most 3 gpu share one example.org/root",
        ),
        (
            APART,
            [{"root": "a"}] * 2 + [{"root": "b"}] * 3,
            (5, 5, 5, 5, 2),
            "2 different example.org/root, 4 are needed",
        ),
        (
            TOGETHER,
            [{"root": None}] * 4,
            (4, 4, 4, 4, 0),
            "example.org/root is not published for gpu",
        ),
    ],
)
def test_the_first_step_with_too_few_devices_is_named(
    build: Fixture,
    make: Any,
    place: Fixture,
    profile: str,
    devices: list[dict[str, Any]],
    counts: tuple[Any, ...],
    words: str,
) -> None:
    gpus = [make.gpu(f"gpu-{i}", **one) for i, one in enumerate(devices)]
    found = place(build(profile), make.inventory({"n1": {GPU: gpus}}))
    assert found.result == "no"
    assert numbers(found.nodes[0].steps[0]) == counts
    assert reason(found) == words


def test_pairs_are_counted_by_value(build: Fixture, make: Any, place: Fixture) -> None:
    gpus = [make.gpu(f"gpu-{i}", root=f"r{i // 2}") for i in range(8)]
    nics = [make.nic(f"card-{i}", root) for i, root in enumerate(("r0", "r0", "r1", "r9"))]
    found = place(build(PAIRS), make.inventory({"n1": {GPU: gpus, NIC: nics}}))
    assert [step.constrained for step in found.nodes[0].steps] == [3, 3]
    assert reason(found) == "only 3 gpu share example.org/root with nic"


def test_two_requests_of_one_class_need_different_devices(
    build: Fixture, make: Any, place: Fixture
) -> None:
    profile = (
        "requests: [{name: a, entitlement: gpu, count: 2}, {name: b, entitlement: gpu, count: 2}]"
    )
    gpus = [make.gpu(f"gpu-{i}") for i in range(3)]
    found = place(build(profile), make.inventory({"n1": {GPU: gpus}}))
    assert (found.result, reason(found)) == (
        "no",
        "its requests and constraints can't be met together",
    )
    gpus.append(make.gpu("gpu-3"))
    assert place(build(profile), make.inventory({"n1": {GPU: gpus}})).result == "yes"


def test_each_alternative_has_its_own_way(build: Fixture, make: Any, place: Fixture) -> None:
    profile = "requests: [{name: any, anyOf: [{entitlement: gpu, count: 2}, {entitlement: nic, count: 2}]}]"
    devices = {
        "n1": {GPU: [make.gpu("gpu-0")], NIC: [make.nic("c-0"), make.nic("c-1")]},
        "n2": {GPU: [make.gpu("gpu-0")], NIC: [make.nic("c-0")]},
    }
    found = place(build(profile), make.inventory(devices))
    assert [(node.node, node.result, node.reason) for node in found.nodes] == [
        ("n1", "yes", None),
        (
            "n2",
            "no",
            "gpu-0: 1 device of gpu.example.org here; nic-1: 1 device of nic.example.org here",
        ),
    ]
    assert [step.alternative for step in found.nodes[0].steps] == ["gpu-0", "nic-1"]


@pytest.mark.parametrize(
    ("tolerations", "effect", "result"),
    [
        ("", "NoSchedule", "no"),
        ("", "None", "yes"),
        ("{key: example.org/sick, operator: Exists}", "NoSchedule", "yes"),
        ("{key: example.org/sick, value: 'ecc'}", "NoExecute", "yes"),
        ("{key: example.org/sick, value: 'fan'}", "NoSchedule", "no"),
        ("{key: example.org/sick, operator: Exists, effect: NoExecute}", "NoSchedule", "no"),
        ("{operator: Exists}", "NoSchedule", "yes"),
    ],
)
def test_taints(
    build: Fixture, make: Any, place: Fixture, tolerations: str, effect: str, result: str
) -> None:
    device = make.gpu("gpu-0")
    device["taints"] = [{"key": "example.org/sick", "value": "ecc", "effect": effect}]
    profile = f"requests: [{{name: gpu, entitlement: gpu, tolerations: [{tolerations}]}}]"
    found = place(build(profile), make.inventory({"n1": {GPU: [device]}}))
    assert found.result == result
    if result == "no":
        assert reason(found) == f"1 device tainted example.org/sick=ecc:{effect}"


def test_quarantine_keeps_nodes_out(build: Fixture, make: Any, place: Fixture) -> None:
    catalog = build(ONE, quarantine="[{node: n2, reason: broken fan, since: 2026-11-01}]")
    devices = {name: {GPU: [make.gpu("gpu-0")]} for name in ("n1", "n2")}
    found = place(catalog, make.inventory(devices))
    assert [(node.result, node.reason) for node in found.nodes] == [
        ("yes", None),
        ("no", "n2 is in quarantine: broken fan"),
    ]


def test_a_selector_that_fails_ends_it_for_all_nodes(
    build: Fixture, make: Any, place: Fixture
) -> None:
    match = (
        '{attributes: {type: gpu}, cel: [\'device.attributes["gpu.example.org"].model == "B-80"\']}'
    )
    devices = {"n1": {GPU: [make.gpu("gpu-0")]}, "n2": {GPU: [make.gpu("gpu-9", model="")]}}
    found = place(build(ONE, match=match), make.inventory(devices))
    assert (found.result, found.count("no")) == ("no", 2)
    assert found.failure == "class big fails on device gpu-9 of pool n2: no such key: model"


def test_each_selector_of_the_class_is_counted(build: Fixture, make: Any, place: Fixture) -> None:
    match = (
        "{attributes: {type: gpu}, cel: ["
        '\'device.attributes["gpu.example.org"].?model.orValue("") == "B-80"\','
        "'device.driver == \"x\"']}"
    )
    gpus = [make.gpu("gpu-0"), make.gpu("gpu-1", model="B-40"), make.gpu("gpu-2", type="mig")]
    found = place(build(ONE, match=match), make.inventory({"n1": {GPU: gpus}}))
    assert found.nodes[0].steps[0].selected == (2, 1, 0)
    assert reason(found) == "selector 3 is not true on 1 of 3"


CHOICES = [
    ("link: nvlink", (4, 3, 1), "no", "1 device with the link that it chooses"),
    ("link: pcie", (4, 3, 2), "yes", None),
    ("memory: 160Gi", (4, 3, 2), "yes", None),
    (
        "memory: 160Gi, link: pcie",
        (4, 3, 1),
        "no",
        "1 device with the link and memory that it chooses",
    ),
    ("memory: 81920Mi", (4, 3, 3), "yes", None),
]


@pytest.mark.parametrize(("choice", "counts", "result", "words"), CHOICES)
def test_what_a_request_chooses_is_counted_after_its_class(
    build: Fixture,
    make: Any,
    place: Fixture,
    choice: str,
    counts: tuple[int, ...],
    result: str,
    words: str | None,
) -> None:
    gpus = [
        make.gpu("gpu-0", link="nvlink", memory="160Gi"),
        make.gpu("gpu-1", link="pcie", memory="160Gi"),
        make.gpu("gpu-2", link="pcie"),
        make.gpu("gpu-3", model="B-40", link="nvlink"),
    ]
    profile = f"requests: [{{name: gpu, entitlement: gpu, count: 2, choose: {{{choice}}}}}]"
    found = place(build(profile), make.inventory({"n1": {GPU: gpus}}))
    (step,) = found.nodes[0].steps
    assert (step.seen, *step.selected) == counts
    assert (found.result, reason(found)) == (result, words)


def test_a_choice_of_an_alternative_is_its_own(build: Fixture, make: Any, place: Fixture) -> None:
    ways = "{entitlement: gpu, choose: {link: nvlink}}, {name: any, entitlement: gpu, choose: {link: pcie}}"
    profile = f"requests: [{{name: gpu, anyOf: [{ways}]}}]"
    gpus = [make.gpu("gpu-0", link="pcie")]
    found = place(build(profile), make.inventory({"n1": {GPU: gpus}}))
    assert [step.selected[-1] for step in found.nodes[0].steps] == [0, 1]
    assert found.result == "yes"


def test_a_choice_of_what_the_model_does_not_say_is_not_decided(
    build: Fixture,
) -> None:
    for choice, result in (("link: nvlink", "unknown"), ("memory: 160Gi", "no")):
        catalog = build(f"requests: [{{name: gpu, entitlement: gpu, choose: {{{choice}}}}}]")
        tenant = catalog.tenants["team"]
        (found,) = placement.place(catalog, tenant, tenant.document.spec.profiles[0], {})
        assert found.result == result, choice


@pytest.mark.parametrize(
    ("profile", "devices", "result", "words"),
    [
        ("{size: 30Gi}", [("80Gi", {})], "yes", None),
        ("{size: 30Gi}", [("20Gi", {})], "no", "1 device misses memory by 10Gi"),
        (
            "{size: 30Gi}",
            [("80Gi", {"default": "10Gi", "validRange": {"min": "10Gi", "max": "20Gi"}})],
            "no",
            "the request policies of 1 device don't take memory 30Gi",
        ),
        ("{size: 30Gi, count: 2}", [("80Gi", {})], "no", "1 device of gpu.example.org here"),
        ("{size: 30Gi}, {size: 30Gi}", [("80Gi", {})], "yes", None),
        (
            "{size: 30Gi}, {size: 30Gi}, {size: 30Gi}",
            [("80Gi", {})],
            "no",
            "its requests and constraints can't be met together",
        ),
        # The driver rounds 30Gi up to 40Gi, so that two fit, and not one more of 10Gi.
        (
            "{size: 30Gi}, {size: 30Gi}, {size: 10Gi}",
            [("80Gi", {"default": "40Gi", "validRange": {"min": "0", "step": "40Gi"}})],
            "no",
            "its requests and constraints can't be met together",
        ),
    ],
)
def test_shares(
    build: Fixture,
    make: Any,
    place: Fixture,
    profile: str,
    devices: list[tuple[str, dict[str, Any]]],
    result: str,
    words: str | None,
) -> None:
    requests = ", ".join(
        f"{{name: r{i}, entitlement: gpu, {part.strip('{} ')}}}"
        for i, part in enumerate(profile.split("}, "))
    )
    catalog = build(f"requests: [{requests}]", match="{attributes: {type: gpu}}", sharing="shared")
    gpus = [
        make.shared_gpu(f"gpu-{i}", memory=memory, **({"requestPolicy": policy} if policy else {}))
        for i, (memory, policy) in enumerate(devices)
    ]
    found = place(catalog, make.inventory({"n1": {GPU: gpus}}))
    assert (found.result, reason(found)) == (result, words)


def test_a_key_with_a_domain_is_another_capacity(build: Fixture, make: Any, place: Fixture) -> None:
    device = make.shared_gpu("gpu-0")
    device["capacity"] = {"gpu.example.org/memory": device["capacity"]["memory"]}
    catalog = build(
        "requests: [{name: gpu, entitlement: gpu, size: 10Gi}]",
        match="{attributes: {type: gpu}, capacity: {memory: {min: 80Gi}}}",
        sharing="shared",
    )
    found = place(catalog, make.inventory({"n1": {GPU: [device]}}))
    assert numbers(found.nodes[0].steps[0])[:3] == (1, 1, 0)
    assert reason(found) == "capacity memory is not published under that name"


def test_pools_that_the_scheduler_passes_over_hold_nothing(
    build: Fixture, make: Any, place: Fixture
) -> None:
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    found = place(build(ONE), make.inventory({"n1": {GPU: [make.gpu("gpu-0")]}}, pool=pool))
    assert (
        reason(found) == "no device of gpu.example.org here; pool n1 is not complete or not valid"
    )


def test_nodes_by_labels_that_are_not_recorded_are_not_decided(
    build: Fixture, make: Any, place: Fixture
) -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}
    inventory = make.inventory(
        {"net": {GPU: [make.gpu("gpu-0")]}},
        nodeName=None,
        nodeSelector={"nodeSelectorTerms": [term]},
        pool={"name": "net", "generation": 1, "resourceSliceCount": 1},
    )
    found = place(build(ONE), inventory)
    assert [(node.node, node.result) for node in found.nodes] == [("nodes of net", "unknown")]


@pytest.mark.parametrize(
    ("minor", "roots", "result", "words"),
    [
        ("1.34", ["a"] * 4, "yes", None),
        ("1.34", ["a"] * 3 + [None], "no", "example.org/root is not published for gpu"),
        ("1.35", ["a"] * 4, "no", "1 different example.org/root, 4 are needed"),
    ],
)
def test_distinct_values_are_not_compared_in_1_34(
    build: Fixture,
    make: Any,
    place: Fixture,
    minor: str,
    roots: list[str | None],
    result: str,
    words: str | None,
) -> None:
    gpus = [make.gpu(f"gpu-{i}", root=root) for i, root in enumerate(roots)]
    found = place(build(APART), make.inventory({"n1": {GPU: gpus}}), minor)
    assert (found.result, reason(found)) == (result, words)
