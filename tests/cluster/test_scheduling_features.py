"""Each feature of the allocator on kube-scheduler, with every gate on that bears on it.

Every pod that is placed here is foretold first, and holds what was foretold (see scheduling.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.client import Object
from tests.cluster.drivers import RESOURCE
from tests.cluster.lab import Lab, exactly, open_lab
from tests.cluster.processes import wait_for
from tests.cluster.scheduling import IMPLICIT, PATIENCE, RULE_VERSIONS, Scheduling

ROOT = "resource.kubernetes.io/pcieRoot"
TAINT = {"key": "example.com/health", "value": "bad", "effect": "NoSchedule"}
REFUSED = "cannot allocate all claims"


@pytest.fixture
def lab(scheduling: Scheduling) -> Iterator[Lab]:
    with open_lab(scheduling, admin_access=True) as one:
        yield one


def device(name: str, **parts: object) -> Object:
    return {"name": name, **parts}


def model(name: str, value: str) -> Object:
    return device(name, attributes={"model": {"string": value}})


def rooted(name: str, root: str) -> Object:
    return device(name, attributes={ROOT: {"string": root}})


def test_first_available(lab: Lab) -> None:
    """The next alternative once the one before has run out, and nothing after the last."""
    lab.publish([model("small-0", "small"), model("big-0", "big")])
    driver = lab.driver_name()
    classes = {
        word: lab.device_class(f"gpu.{word}", f'device.attributes["{driver}"].model == "{word}"')
        for word in ("big", "small")
    }
    ways = [{"name": word, **exactly(name)["exactly"]} for word, name in classes.items()]
    template = lab.template("either", {"firstAvailable": ways})
    placed = [lab.scheduling.place(lab.pod(f"pod-{number}", template)) for number in range(2)]
    assert [lab.devices(one) for one in placed] == [["big-0"], ["small-0"]]
    assert REFUSED in lab.scheduling.refuse(lab.pod("pod-2", template))


def test_first_available_draws_pods_to_a_node(lab: Lab) -> None:
    """Between nodes the better alternative counts; 1.34 does not score."""
    if lab.scheduling.minor == "1.34":
        pytest.skip("1.34 does not score devices")
    driver = lab.driver_name()
    for node, word in ((lab.node(), "small"), (lab.node(), "big"), (lab.node(), "small")):
        lab.publish([model("gpu-0", word), model("gpu-1", word)], node=node)
    classes = {
        word: lab.device_class(f"gpu.{word}", f'device.attributes["{driver}"].model == "{word}"')
        for word in ("big", "small")
    }
    ways = [{"name": word, **exactly(name)["exactly"]} for word, name in classes.items()]
    template = lab.template("either", {"firstAvailable": ways})
    for number in range(2):
        pod = lab.pod(f"pod-{number}", template)
        forecast = lab.scheduling.forecast(pod)
        assert len(forecast.fitting) == 3
        placed = lab.scheduling.holds(lab.scheduling.client.create(pod), forecast)
        assert placed["spec"]["nodeName"] == forecast.best == lab.nodes[1]


def test_match_attribute(lab: Lab) -> None:
    """A GPU and a card on one PCIe root, although the first GPU and the first card are not."""
    lab.publish([rooted("gpu-0", "a"), rooted("gpu-1", "b"), rooted("gpu-2", "c")])
    lab.publish([rooted("card-0", "c"), rooted("card-1", "b"), rooted("card-2", "c")], "card")
    requests = [exactly(lab.device_class("gpu")), exactly(lab.device_class("card"))]
    template = lab.template("pair", *requests, constraints=[{"matchAttribute": ROOT}])
    placed = [lab.scheduling.place(lab.pod(f"pod-{number}", template)) for number in range(2)]
    assert [lab.devices(one) for one in placed] == [["gpu-1", "card-1"], ["gpu-2", "card-0"]]
    assert REFUSED in lab.scheduling.refuse(lab.pod("pod-2", template))


def test_distinct_attribute(lab: Lab) -> None:
    """Two GPUs on two roots; 1.34 gives any two that have one.

    Its allocator compares where the values lie, not the values (matchesAttribute of
    kubernetes/dynamic-resource-allocation@v0.34.4:structured/internal/experimental/constraint.go).
    """
    lab.publish([rooted("gpu-0", "a"), rooted("gpu-1", "a"), rooted("gpu-2", "b")])
    name = lab.device_class()
    apart = [{"distinctAttribute": ROOT}]
    template = lab.template("apart", exactly(name), exactly(name), constraints=apart)
    placed = lab.scheduling.place(lab.pod("pod-0", template))
    second = "gpu-1" if lab.scheduling.minor == "1.34" else "gpu-2"
    assert lab.devices(placed) == ["gpu-0", second]


def test_all_devices(lab: Lab) -> None:
    """All that the class takes, and none once one of them is in use."""
    lab.publish([model("gpu-0", "big"), model("gpu-1", "small"), model("gpu-2", "big")])
    name = lab.device_class("gpu", f'device.attributes["{lab.driver_name()}"].model == "big"')
    template = lab.template("all", exactly(name, allocationMode="All"))
    placed = lab.scheduling.place(lab.pod("pod-0", template))
    assert lab.devices(placed) == ["gpu-0", "gpu-2"]
    assert REFUSED in lab.scheduling.refuse(lab.pod("pod-1", template))


def test_shared_claim(lab: Lab) -> None:
    """A second pod uses what the first one's claim holds, on the same node."""
    lab.publish([device("gpu-0")], node=lab.node())
    lab.publish([device("gpu-0")], node=lab.node())
    request = {"name": "gpu", **exactly(lab.device_class())}
    claim = {
        "apiVersion": RESOURCE,
        "kind": "ResourceClaim",
        "metadata": {"name": "shared", "namespace": lab.namespace},
        "spec": {"devices": {"requests": [request]}},
    }
    lab.scheduling.client.create(claim)
    placed = []
    for number in range(2):
        pod = lab.pod(f"pod-{number}")
        pod["spec"]["resourceClaims"] = [{"name": "claim", "resourceClaimName": "shared"}]
        placed.append(lab.scheduling.place(pod))
    first, second = placed
    assert first["spec"]["nodeName"] == second["spec"]["nodeName"]


def test_consumable_capacity(lab: Lab) -> None:
    """Rounded up to a step, the default where nothing is asked, refused above the most."""
    policy = {
        "default": "1Gi",
        "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"},
    }
    capacity = {"memory": {"value": "10Gi", "requestPolicy": policy}}
    lab.publish([device("gpu-0", allowMultipleAllocations=True, capacity=capacity)])
    name = lab.device_class()
    asked = {"rounded": "5632Mi", "bare": None, "more": "4Gi", "rest": "3Gi", "above": "9Gi"}
    templates = {
        word: lab.template(
            word,
            exactly(name, **({} if size is None else {"capacity": {"requests": {"memory": size}}})),
        )
        for word, size in asked.items()
    }
    for word in ("rounded", "bare"):
        lab.scheduling.place(lab.pod(word, templates[word]))
    for word in ("more", "above"):
        assert REFUSED in lab.scheduling.refuse(lab.pod(word, templates[word]))
    lab.scheduling.place(lab.pod("rest", templates["rest"]))


def test_partitions_share_counters(lab: Lab) -> None:
    """Parts exclude the whole, and the whole its parts."""
    memory = {"memory": {"value": "40Gi"}}

    def part(name: str, size: str) -> Object:
        drawn = {"counterSet": "gpu-0", "counters": {"memory": {"value": size}}}
        return model(name, size) | {"consumesCounters": [drawn]}

    devices = [part("whole", "40Gi"), part("half-0", "20Gi"), part("half-1", "20Gi")]
    lab.publish(devices, counters=[{"name": "gpu-0", "counters": memory}])
    key = f'device.attributes["{lab.driver_name()}"].model'
    templates = {
        size: lab.template(size.lower(), exactly(lab.device_class(f"gpu.{word}", condition)))
        for size, word in (("40Gi", "whole"), ("20Gi", "half"))
        for condition in [f'{key} == "{size}"']
    }
    halves = [lab.scheduling.place(lab.pod(f"half-{n}", templates["20Gi"])) for n in range(2)]
    assert REFUSED in lab.scheduling.refuse(lab.pod("whole", templates["40Gi"]))
    lab.scheduling.remove(*halves, lab.pod("whole"))
    lab.scheduling.place(lab.pod("whole-again", templates["40Gi"]))
    assert REFUSED in lab.scheduling.refuse(lab.pod("half", templates["20Gi"]))


def test_admin_access(lab: Lab) -> None:
    """It takes a device that is in use, and leaves it free for others."""
    lab.publish([device("gpu-0")])
    name = lab.device_class()
    plain, admin = (
        lab.template("plain", exactly(name)),
        lab.template("admin", exactly(name, adminAccess=True)),
    )
    user = lab.scheduling.place(lab.pod("user", plain))
    watcher = lab.scheduling.place(lab.pod("watcher", admin))
    assert lab.devices(watcher) == lab.devices(user) == ["gpu-0"]
    assert REFUSED in lab.scheduling.refuse(lab.pod("late", plain))
    lab.scheduling.remove(user, lab.pod("late"))
    lab.scheduling.place(lab.pod("later", plain))


def test_taints_of_the_driver(lab: Lab) -> None:
    """A tainted device needs a toleration, which the result repeats from 1.35 on."""
    lab.publish([device("gpu-0", taints=[TAINT])])
    name = lab.device_class()
    tolerations = [{"key": TAINT["key"], "operator": "Exists", "effect": "NoSchedule"}]
    plain = lab.template("plain", exactly(name))
    tolerant = lab.template("tolerant", exactly(name, tolerations=tolerations))
    refused = lab.pod("plain", plain)
    assert REFUSED in lab.scheduling.refuse(refused)
    lab.scheduling.place(lab.pod("tolerant", tolerant))


def test_taint_rule(lab: Lab) -> None:
    """A rule bars one device; others are taken, and the device itself once the rule has gone."""
    client = lab.scheduling.client
    version = next(
        one for one in RULE_VERSIONS if client.serves(f"resource.k8s.io/{one}", "DeviceTaintRule")
    )
    driver = lab.publish([device("gpu-0"), device("gpu-1")])
    selector = {"driver": driver.name, "pool": driver.pool, "device": "gpu-0"}
    spec = {"deviceSelector": selector, "taint": TAINT}
    rule = lab.create(f"resource.k8s.io/{version}", "DeviceTaintRule", lab.name("rule"), spec)
    template = lab.template("one", exactly(lab.device_class()))
    placed = lab.scheduling.place(lab.pod("pod-0", template))
    assert lab.devices(placed) == ["gpu-1"]
    waiting = lab.pod("pod-1", template)
    assert REFUSED in lab.scheduling.refuse(waiting)
    client.delete(rule)
    assert lab.devices(lab.scheduling.bound(client.read(waiting))) == ["gpu-0"]


def test_binding_conditions(lab: Lab) -> None:
    """The pod is bound once the driver says so, with the claim narrowed to its node."""
    attached = {"bindsToNode": True, "bindingConditions": ["Attached"]}
    lab.publish([device("gpu-0", **attached, bindingFailureConditions=["Failed"])])
    pod = lab.pod("pod", lab.template("one", exactly(lab.device_class())))
    forecast = lab.scheduling.forecast(pod)
    made = lab.scheduling.client.create(pod)
    claim = wait_for(lambda: allocated_claim(lab), "the claim is allocated", PATIENCE)
    assert "nodeName" not in lab.scheduling.client.read(made)["spec"]
    (result,) = claim["status"]["allocation"]["devices"]["results"]
    condition = {"type": "Attached", "status": "True", "reason": "Attached", "message": ""}
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    report = {key: result[key] for key in ("driver", "pool", "device")}
    change = {"status": {"devices": [report | {"conditions": [condition]}]}}
    lab.scheduling.client.patch(claim, change, "status")
    lab.scheduling.holds(made, forecast)


def allocated_claim(lab: Lab) -> Object | None:
    claims = lab.scheduling.client.list(RESOURCE, "ResourceClaim", lab.namespace)
    return next((one for one in claims if one.get("status", {}).get("allocation")), None)


@pytest.mark.parametrize("explicit", [True, False], ids=["explicit", "implicit"])
def test_extended_resource(lab: Lab, explicit: bool) -> None:
    """Pods that name a class by a resource get a claim of the scheduler's own."""
    if not explicit and not lab.scheduling.knows_implicit_names:
        pytest.skip("1.34 hands nothing out by an implicit name")
    lab.publish([device(f"gpu-{number}") for number in range(3)])
    own = f"example.com/gpu-{lab.number}"
    name = lab.device_class(**({"extendedResourceName": own} if explicit else {}))
    resource = own if explicit else IMPLICIT + name
    counts = {"pod-0": "2", "pod-1": "1", "pod-2": "1"}
    pods = [lab.pod(pod, limits={resource: count}) for pod, count in counts.items()]
    placed = [lab.scheduling.place(one) for one in pods[:2]]
    assert [len(lab.devices(one)) for one in placed] == [2, 1]
    assert REFUSED in lab.scheduling.refuse(pods[2])


def test_implicit_name_brings_nothing_in_1_34(lab: Lab) -> None:
    """The pod is bound all the same, without a claim."""
    if lab.scheduling.knows_implicit_names:
        pytest.skip("the name is known")
    lab.publish([device("gpu-0")])
    pod = lab.pod("pod", limits={IMPLICIT + lab.device_class(): "1"})
    made = lab.scheduling.client.create(pod)
    bound = lab.scheduling.bound(made)
    assert "extendedResourceClaimStatus" not in bound["status"]
    assert lab.scheduling.client.list(RESOURCE, "ResourceClaim", lab.namespace) == []
