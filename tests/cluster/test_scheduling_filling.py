"""Shares of devices under concurrent creation: as many as the policy promises, and not one more."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from dracfg.kube.quantity import Quantity
from tests.cluster.client import Object
from tests.cluster.drivers import RESOURCE, FakeDriver
from tests.cluster.emitted import ROOT, Emitted, emitted_trees
from tests.cluster.lab import Lab, open_lab
from tests.cluster.processes import wait_for
from tests.cluster.scheduling import PATIENCE, Scheduling
from tests.cluster.test_scheduling import recorded_slices

CLUSTER, DRIVER = "prod-east", "hami-core-gpu.project-hami.io"
"""Where the example shares GPUs between tenants."""
RECORD, NODE = "prod-west", "l40s-west-1"
"""Where it has several of them on a node."""
CLASS = "l40s-hami-memory-slices-10gi"
PROFILES = (("notebooks", "notebook"), ("search-index", "evaluate"))
"""Two tenants' namespaces and templates, each for 10Gi of one GPU."""
SIZE = Quantity.parse("10Gi")
SHARES = 4
"""Of 10Gi on each of the node's four L40S of 46068Mi."""
PROMISED = 16
MORE = 8
REFUSED = "cannot allocate all claims"


@dataclass
class Filling:
    """The node with its recorded GPUs, and two namespaces whose pods take shares of them."""

    scheduling: Scheduling
    devices: list[str]
    labs: tuple[Lab, Lab]
    usable: list[str]

    def pod(self, place: int, name: str) -> Object:
        return self.labs[place].pod(name, PROFILES[place][1])

    def create_at_once(self, pods: Sequence[Sequence[Object]]) -> list[Object]:
        """Each list in a thread of its own, all of which begin at one time."""
        begin, made = threading.Barrier(len(pods)), []

        def create(own: Sequence[Object]) -> None:
            begin.wait()
            made.extend([self.scheduling.client.create(one) for one in own])

        threads = [threading.Thread(target=create, args=(own,)) for own in pods]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        return made

    def settled(self, made: Sequence[Object], running: int) -> tuple[list[Object], list[Object]]:
        """The pods that run and those that don't, once there are so many, and the others refused."""

        def look() -> tuple[list[Object], list[Object]] | None:
            standing = [self.scheduling.client.read(one) for one in made]
            runs = [one for one in standing if one["status"]["phase"] == "Running"]
            rest = [one for one in standing if not one["spec"].get("nodeName")]
            done = len(runs) >= running and all(map(self.scheduling.events, rest))
            return (runs, rest) if done and len(runs) + len(rest) == len(made) else None

        runs, rest = wait_for(look, f"{running} of {len(made)} pods run", PATIENCE)
        assert len(runs) == running
        for one in rest:
            assert REFUSED in self.scheduling.events(one)[-1]
        return runs, rest

    def consumed(self) -> dict[str, list[Quantity]]:
        """Device → what each share takes of its memory."""
        found: dict[str, list[Quantity]] = {name: [] for name in self.devices}
        for claim in self.scheduling.client.list(RESOURCE, "ResourceClaim"):
            allocation = claim.get("status", {}).get("allocation") or {}
            for one in allocation.get("devices", {}).get("results", ()):
                if one["driver"] == DRIVER:
                    amount = Quantity.parse(one["consumedCapacity"]["memory"])
                    found[one["device"]].append(amount)
        return found


def one_device_a_slice(slices: list[Object]) -> list[Object]:
    """Another way to publish the same pool."""
    (whole,) = slices
    parts = []
    for number, device in enumerate(whole["spec"]["devices"]):
        part = copy.deepcopy(whole)
        part["metadata"]["name"] += f"-{number}"
        part["spec"]["devices"] = [device]
        part["spec"]["pool"]["resourceSliceCount"] = len(whole["spec"]["devices"])
        parts.append(part)
    return parts


@pytest.fixture(params=[(), (one_device_a_slice,)], ids=["one-slice", "slice-a-device"])
def filling(request: pytest.FixtureRequest, scheduling: Scheduling) -> Iterator[Filling]:
    """The GPUs as recorded, in one slice, and in slices of their own.

    When the allocator of 1.34 takes a device for a request, it holds the capacity against the
    device of the slice whose place has the number of the wanted device in the request: for a
    request of one device, the first of the slice (allocateDevice of
    kubernetes/dynamic-resource-allocation@v0.34.4:structured/internal/experimental). Once that one
    is full, the others of the slice are out of reach. 1.35 looks at the device itself.
    """
    tree = next(one for one in emitted_trees() if (one.repository, one.cluster) == (ROOT, CLUSTER))
    with ExitStack() as stack:
        labs = tuple(stack.enter_context(open_lab(scheduling)) for _ in PROFILES)
        first, second = labs
        devices = recorded_devices()
        driver = FakeDriver(scheduling.client, DRIVER, first.node(), devices, lies=request.param)
        driver.publish()
        first.drivers.append(driver)
        device_class = emitted_object(tree, "DeviceClass", CLASS)
        first.create(RESOURCE, "DeviceClass", CLASS, device_class["spec"])
        for lab, (namespace, name) in zip(labs, PROFILES, strict=True):
            template = emitted_object(tree, "ResourceClaimTemplate", name, namespace)
            lab.template(name, *template["spec"]["spec"]["devices"]["requests"])
        names = [one["name"] for one in devices]
        is_bound_to_first = scheduling.minor == "1.34" and not request.param
        usable = names[:1] if is_bound_to_first else names
        yield Filling(scheduling, names, (first, second), usable)


def recorded_devices() -> list[Object]:
    """The shared GPUs of one node of the example."""
    (found,) = (
        one["spec"]["devices"]
        for one in recorded_slices(RECORD)
        if (one["spec"]["driver"], one["spec"]["nodeName"]) == (DRIVER, NODE)
    )
    devices: list[Object] = found
    return devices


def emitted_object(tree: Emitted, kind: str, name: str, namespace: str = "") -> Object:
    return next(
        one
        for one in tree.objects()
        if (one["kind"], one["metadata"]["name"], one["metadata"].get("namespace", ""))
        == (kind, name, namespace)
    )


def test_promise_is_what_the_devices_hold() -> None:
    devices = recorded_devices()
    memory = [Quantity.parse(one["capacity"]["memory"]["value"]) for one in devices]
    assert [one.nano // SIZE.nano for one in memory] == [SHARES] * (PROMISED // SHARES)


def test_shares_fill_the_devices_and_no_more(filling: Filling) -> None:
    """Four threads in two namespaces ask for half as much again as there is."""
    each = (PROMISED + MORE) // 4
    wanted = [
        [filling.pod(place, f"pod-{thread}-{number}") for number in range(each)]
        for place in range(2)
        for thread in range(2)
    ]
    made = filling.create_at_once(wanted)
    filling.settled(made, SHARES * len(filling.usable))
    assert filling.consumed() == {
        name: [SIZE] * SHARES if name in filling.usable else [] for name in filling.devices
    }
    forecast = filling.scheduling.forecast(filling.pod(0, "one-more"))
    assert forecast.failure is None
    assert not forecast.fitting


def test_last_share_goes_to_one_of_two(filling: Filling) -> None:
    """Two namespaces race for the last 10Gi; whoever waits gets it when it comes free."""
    count = SHARES * len(filling.usable)
    taken = [[filling.pod(0, f"pod-{number}") for number in range(count - 1)]]
    filling.settled(filling.create_at_once(taken), count - 1)
    for number in range(3):
        race = [[filling.pod(place, f"race-{number}")] for place in range(2)]
        winners, rest = filling.settled(filling.create_at_once(race), 1)
        filling.scheduling.remove(*winners)
        followers, _ = filling.settled(rest, 1)
        assert sum(map(len, filling.consumed().values())) == count
        filling.scheduling.remove(*followers)
