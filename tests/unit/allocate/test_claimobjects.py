"""Claims, templates and classes come out of a dump with their defaults, and every fault is found."""

import copy
import json
import random
from typing import Any

import pytest

from dracfg.allocate.claimobjects import ClaimObjects, in_memory, read_claims
from dracfg.allocate.claims import (
    Claim,
    ClaimConstraint,
    Consumer,
    DeviceRequest,
    DeviceResult,
    OpaqueConfig,
    Request,
    Toleration,
)
from dracfg.allocate.nodes import NodeSelector, Requirement
from dracfg.diagnostics import Diagnostic
from dracfg.kube.quantity import Quantity
from dracfg.source.records import parse_record

Object = dict[str, Any]
ANY = {"deviceClassName": "gpu"}


def ask(**exactly: Any) -> Object:
    return {"name": "gpu", "exactly": {**ANY, **exactly}}


def claim(*requests: Object, name: str = "work", version: str = "v1", **more: Any) -> Object:
    devices = {"requests": list(requests) or [ask()], **more.pop("devices", {})}
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "team", "uid": "u-1", **more.pop("metadata", {})},
        "spec": {"devices": devices},
        **more,
    }


def device_class(name: str = "gpu", version: str = "v1", **spec: Any) -> Object:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": spec,
    }


def load(*objects: Object, minor: str | None = "1.36") -> tuple[ClaimObjects, list[Diagnostic]]:
    record, faults = parse_record("dump.json", json.dumps({"kind": "List", "items": objects}))
    assert not faults
    read, found = read_claims([record], minor)
    return read, list(found)


def one(*objects: Object, minor: str | None = "1.36") -> Claim:
    read, found = load(*objects, minor=minor)
    assert not found
    (made,) = read.claims
    return made


def first(made: Claim) -> DeviceRequest:
    asked = made.spec.requests[0].exactly
    assert asked is not None
    return asked


def test_defaults_are_written_out() -> None:
    made = one(claim(ask(tolerations=[{"key": "a", "value": "b"}])))
    assert made == Claim("team", "work", made.spec, "u-1")
    assert first(made) == DeviceRequest(
        name="gpu",
        device_class="gpu",
        mode="ExactCount",
        count=1,
        tolerations=(Toleration("a", "Equal", "b"),),
    )
    assert first(one(claim(ask(count=0)))).count == 1
    assert one(claim(ask(allocationMode="All"))).spec.requests[0].exactly == DeviceRequest(
        "gpu", "gpu", mode="All"
    )
    assert one(claim(metadata={"namespace": ""})).namespace == "default"


def test_everything_of_a_spec() -> None:
    made = one(
        claim(
            ask(
                selectors=[{"cel": {"expression": "true"}}],
                count=2,
                adminAccess=True,
                capacity={"requests": {"memory": "10Gi"}},
            ),
            {
                "name": "nic",
                "firstAvailable": [{"name": "fast", **ANY}, {"name": "slow", **ANY, "count": 2}],
            },
            devices={
                "constraints": [
                    {"requests": ["gpu", "nic/fast"], "matchAttribute": "example.org/root"},
                    {"distinctAttribute": "example.org/root"},
                ],
                "config": [
                    {"requests": ["nic"], "opaque": {"driver": "d", "parameters": {"ratio": 0.5}}}
                ],
            },
        )
    )
    assert first(made) == DeviceRequest(
        "gpu",
        "gpu",
        ("true",),
        count=2,
        admin_access=True,
        capacity={"memory": Quantity.parse("10Gi")},
    )
    assert made.spec.requests[1] == Request(
        "nic",
        first_available=(
            DeviceRequest("fast", "gpu"),
            DeviceRequest("slow", "gpu", count=2),
        ),
    )
    assert made.spec.constraints == (
        ClaimConstraint(("gpu", "nic/fast"), "example.org/root"),
        ClaimConstraint((), None, "example.org/root"),
    )
    (config,) = made.spec.config
    assert (config.driver, config.requests, config.source) == ("d", ("nic",), None)
    assert float(config.parameters["ratio"]) == 0.5


def test_an_allocation() -> None:
    selector = {
        "nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
        ]
    }
    result = {"request": "gpu", "driver": "d", "pool": "p", "device": "0"}
    share = {"shareID": "s-1", "consumedCapacity": {"memory": "10Gi"}, "adminAccess": True}
    made = one(
        claim(
            status={
                "allocation": {
                    "devices": {
                        "results": [result, {**result, **share}],
                        "config": [
                            {
                                "source": "FromClass",
                                "requests": ["gpu"],
                                "opaque": {"driver": "d", "parameters": {}},
                            }
                        ],
                    },
                    "nodeSelector": selector,
                    "allocationTimestamp": "2026-01-02T03:04:05Z",
                },
                "reservedFor": [{"resource": "pods", "name": "p-0", "uid": "u-2"}],
                "devices": [{"driver": "d", "pool": "p", "device": "0"}],
            },
            metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"},
        )
    )
    assert made.allocation is not None
    assert made.allocation.results == (
        DeviceResult("gpu", "d", "p", "0"),
        DeviceResult(
            "gpu",
            "d",
            "p",
            "0",
            admin_access=True,
            share_id="s-1",
            consumed_capacity={"memory": Quantity.parse("10Gi")},
        ),
    )
    assert made.allocation.config == (OpaqueConfig("d", {}, ("gpu",), "FromClass"),)
    assert made.allocation.node_selector == NodeSelector(
        fields=(Requirement("metadata.name", "In", ("n",)),)
    )
    assert made.allocation.timestamp == "2026-01-02T03:04:05Z"
    assert made.reserved_for == (Consumer("pods", "p-0", "u-2"),)
    assert made.deleting


@pytest.mark.parametrize("minor", [None, "1.34", "1.36", "1.37"])
def test_every_version_reads_alike(minor: str | None) -> None:
    alternatives = [{"name": "a", **ANY}, {"name": "b", **ANY}]
    flat: list[Object] = [
        {"name": "gpu", **ANY, "count": 3},
        {"name": "nic", "firstAvailable": alternatives},
    ]
    nested: list[Object] = [ask(count=3), {"name": "nic", "firstAvailable": alternatives}]
    new, middle, old = (
        one(claim(*nested, version="v1"), minor=minor),
        one(claim(*nested, version="v1beta2"), minor=minor),
        one(claim(*flat, version="v1beta1"), minor=minor),
    )
    assert new == middle == old
    assert first(new).count == 3


def test_templates_and_classes() -> None:
    template = claim(name="train")
    template["kind"] = "ResourceClaimTemplate"
    template["spec"] = {"metadata": {"labels": {"a": "b"}}, "spec": template["spec"]}
    config = [{"opaque": {"driver": "d", "parameters": {"a": 1}}}]
    read, found = load(
        template,
        device_class(
            selectors=[{"cel": {"expression": "true"}}],
            config=config,
            extendedResourceName="example.org/gpu",
        ),
        device_class("bare"),
    )
    assert not found
    (made,) = read.templates
    assert (made.namespace, made.name, made.labels) == ("team", "train", {"a": "b"})
    assert made.claim("train-x") == Claim("team", "train-x", made.spec, labels={"a": "b"})
    gpu, bare = read.classes
    assert (gpu.name, gpu.selectors, gpu.extended_resource_name) == (
        "gpu",
        ("true",),
        "example.org/gpu",
    )
    assert gpu.config == (OpaqueConfig("d", {"a": 1}),)
    assert (bare.name, bare.selectors) == ("bare", ())


@pytest.mark.parametrize(
    ("made", "code", "part"),
    [
        (claim(version="v1alpha3"), "INV030", "v1alpha3 is not read"),
        (claim(ask(count="two")), "INV032", "count"),
        (claim(spec=[]), "INV032", "spec"),
        (claim(ask(capacity={"requests": {"m": "1GiB"}})), "INV033", "did you mean 1Gi"),
        (claim(ask(capacity={"requests": {"m": "-1"}})), "INV033", "must not be negative"),
        (claim({"name": "gpu"}), "INV034", "neither of exactly and firstAvailable"),
        (
            claim({**ask(), "firstAvailable": [{"name": "a", **ANY}]}),
            "INV034",
            "both of exactly and firstAvailable",
        ),
        (claim(ask(deviceClassName="")), "INV034", "names no deviceClassName"),
        (claim(ask(allocationMode="Some")), "INV034", "none of ExactCount, All"),
        (claim(ask(allocationMode="All", count=2)), "INV034", "must not stand beside"),
        (claim(ask(count=-1)), "INV034", "must be above 0"),
        (claim(ask(selectors=[{}])), "INV034", "must hold a CEL expression"),
        (claim(ask(tolerations=[{"operator": "In"}])), "INV034", "none of Exists"),
        (claim(ask(tolerations=[{"value": "a"}])), "INV034", "must be Exists"),
        (claim(ask(), ask()), "INV034", "the name of another one"),
        (
            claim(devices={"constraints": [{"requests": ["nic"], "matchAttribute": "a.b/c"}]}),
            "INV034",
            "no request of the claim is named nic",
        ),
        (
            claim(devices={"constraints": [{"requests": ["gpu"]}]}),
            "INV034",
            "must hold matchAttribute or distinctAttribute",
        ),
        (
            claim(devices={"constraints": [{"matchAttribute": "numa"}]}),
            "INV034",
            "must name its domain",
        ),
        (claim(devices={"config": [{}]}), "INV034", "must hold opaque parameters"),
        (
            claim(*[{**ask(), "name": f"r{number}"} for number in range(33)]),
            "INV034",
            "33 requests, Kubernetes takes 32",
        ),
        (
            claim(status={"allocation": {"nodeSelector": {"nodeSelectorTerms": [{}, {}]}}}),
            "INV034",
            "exactly one term",
        ),
        (claim(name=""), "INV034", "must have a name"),
    ],
)
def test_what_cannot_be_read_is_left_out_and_found(made: Object, code: str, part: str) -> None:
    read, found = load(made, claim(name="other"))
    assert [one.name for one in read.claims] == ["other"]
    assert [fault.code for fault in found] == [code]
    assert part in found[0].message
    assert found[0].span is not None
    assert found[0].span.path == "dump.json"


def test_unknown_fields_are_found_and_passed_over() -> None:
    made = claim(ask(colour="red", count=2))
    read, found = load(made)
    assert [(fault.code, "colour" in fault.message) for fault in found] == [("INV031", True)]
    assert first(read.claims[0]).count == 2
    # A field of 1.37 is none in 1.36; without a minor any will do.
    newer = claim(ask(derivedAttributes=[{"name": "a.b/c", "expression": "1"}]))
    assert [fault.code for fault in load(newer)[1]] == ["INV031"]
    assert first(one(newer, minor=None)).derived_attributes == (("a.b/c", "1"),)


def test_the_last_of_one_name_holds() -> None:
    read, found = load(claim(), claim(ask(count=2)), claim(name="other"))
    assert [(one.name, first(one).count) for one in read.claims] == [("work", 2), ("other", 1)]
    assert [fault.code for fault in found] == ["INV035"]
    assert not load(claim(), claim())[1]
    # What can't be read takes the place of an older one as well.
    assert load(claim(), claim(ask(count="two")))[0].claims == ()
    assert len(load(claim(), claim(metadata={"namespace": "b"}))[0].claims) == 2


def test_other_kinds_are_passed_over() -> None:
    foreign = {**claim(), "apiVersion": "example.org/v1"}
    assert load({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}, foreign) == (
        ClaimObjects(),
        [],
    )


def test_objects_in_memory() -> None:
    read, found = read_claims([in_memory([claim(), device_class()])], "1.36")
    assert not found
    assert (read.claims[0].name, read.classes[0].name) == ("work", "gpu")


def test_nothing_raises() -> None:
    """Any part of an object may be missing or of another type."""
    whole = claim(
        ask(
            count=2,
            tolerations=[{"key": "a"}],
            selectors=[{"cel": {"expression": "true"}}],
            capacity={"requests": {"m": "1"}},
        ),
        devices={
            "constraints": [{"matchAttribute": "a.b/c"}],
            "config": [{"opaque": {"driver": "d", "parameters": {}}}],
        },
        status={
            "allocation": {
                "devices": {
                    "results": [{"request": "gpu", "driver": "d", "pool": "p", "device": "0"}]
                }
            },
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}],
        },
    )
    chance = random.Random(5)
    for _ in range(400):
        broken = copy.deepcopy(whole)
        spot: Any = broken
        while True:
            keys = list(spot) if isinstance(spot, dict) else list(range(len(spot)))
            key = chance.choice(keys)
            inner = spot[key]
            if key == "kind" or (
                isinstance(inner, dict | list) and inner and chance.random() < 0.8
            ):
                if key == "kind":
                    break
                spot = inner
                continue
            choice = chance.choice(["drop", 7, "text", [], {}, [1], {"a": 1}, True])
            if choice == "drop":
                del spot[key]
            else:
                spot[key] = choice
            break
        load(broken, minor=chance.choice([None, "1.34", "1.37"]))
