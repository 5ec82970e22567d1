"""Claims and pools as schedulers, controllers, drivers and people move them, one state at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.cluster.client import Client, Object
from tests.cluster.controlplane import ControlPlane
from tests.cluster.drivers import (
    RESOURCE,
    FakeDriver,
    capacity_of,
    duplicates,
    incomplete,
    stale_generation,
)
from tests.cluster.kubelet import FakeKubelet, claims_of
from tests.cluster.objects import claim, device_class, pod, template
from tests.cluster.processes import wait_for

NUMBERS = itertools.count(1)
UNBOUND = ("Unschedulable", "SchedulerError")
"""No node has it; the scheduler could not find out."""
PATIENCE = 40
"""Seconds; the scheduler's back-off grows to ten."""


@dataclass
class Site:
    """A namespace, and a class, a driver and a node of its own."""

    client: Client
    namespace: str
    node: str
    driver: FakeDriver
    class_object: Object

    @property
    def class_name(self) -> str:
        name: str = self.class_object["metadata"]["name"]
        return name

    def claim(self, name: str = "claim", **exactly: object) -> Object:
        return self.client.create(claim(self.namespace, name, self.class_name, **exactly))

    def pod(self, name: str, **claims: str) -> Object:
        """Keeps to the node of the site, as the claim would."""
        wanted = pod(self.namespace, name, **claims)
        wanted["spec"]["nodeSelector"] = {"kubernetes.io/hostname": self.node}
        return self.client.create(wanted)

    def running(self, one: Object) -> Object:
        def look() -> Object | None:
            found = self.client.read(one)
            return found if found["status"]["phase"] == "Running" else None

        return wait_for(look, f"{one['metadata']['name']} runs", PATIENCE)

    def unschedulable(self, one: Object) -> str:
        """What the scheduler says."""

        def look() -> str | None:
            conditions = self.client.read(one)["status"].get("conditions", ())
            said = [one["message"] for one in conditions if one.get("reason") in UNBOUND]
            return said[0] if said else None

        return wait_for(look, f"{one['metadata']['name']} is unschedulable", PATIENCE)

    def gone(self, one: Object) -> None:
        name = one["metadata"]["name"]
        wait_for(lambda: self.client.find(one) is None, f"{name} is gone", PATIENCE)

    def devices(self, one: Object) -> list[str]:
        allocation = self.client.read(one).get("status", {}).get("allocation") or {}
        return [result["device"] for result in allocation.get("devices", {}).get("results", ())]


@pytest.fixture
def site(control_plane: ControlPlane, namespace: str) -> Iterator[Site]:
    """Two devices on one node."""
    client, number = control_plane.admin, next(NUMBERS)
    name = f"driver-{number}.example.com"
    driver = FakeDriver(client, name, f"node-{number}", [{"name": "gpu-0"}, {"name": "gpu-1"}])
    kubelet = FakeKubelet(client, [driver.node], waits_for=frozenset({name})).start()
    driver.start()
    class_object = client.create(device_class(f"class-{number}", name))
    yield Site(client, namespace, driver.node, driver, class_object)
    for one in client.list("v1", "Pod", namespace):
        client.delete(one, grace=0)
    wait_for(lambda: not _held(client, namespace), "no claim is in use", PATIENCE)
    driver.stop()
    kubelet.stop()
    if client.find(class_object) is not None:
        client.delete(class_object)


def _held(client: Client, namespace: str) -> list[Object]:
    claims = client.list(RESOURCE, "ResourceClaim", namespace)
    return [one for one in claims if one.get("status", {}).get("allocation")]


# Claims


def test_claim_of_a_template(site: Site) -> None:
    """Made for the pod, allocated, reserved and prepared, and gone with the pod."""
    site.client.create(template(site.namespace, "template", site.class_name))
    user = site.running(site.pod("user", template="template"))
    (name,) = claims_of(user)
    made = site.client.get(RESOURCE, "ResourceClaim", name, site.namespace)
    assert [one["uid"] for one in made["status"]["reservedFor"]] == [user["metadata"]["uid"]]
    assert made["status"]["allocation"]["devices"]["results"][0]["driver"] == site.driver.name
    assert made["status"]["devices"][0]["conditions"][0]["status"] == "True"
    assert made["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    site.client.delete(user)
    site.gone(made)


def test_named_claim_is_shared_and_freed(site: Site) -> None:
    """Two pods reserve it; it keeps its device until the last one has ended, then waits anew."""
    shared = site.claim()
    first = site.running(site.pod("first", claim="claim"))
    second = site.running(site.pod("second", claim="claim"))
    found = site.client.read(shared)["status"]
    users = {one["metadata"]["uid"] for one in (first, second)}
    assert {one["uid"] for one in found["reservedFor"]} == users
    site.client.delete(first)
    site.gone(first)
    wait_for(lambda: len(site.client.read(shared)["status"]["reservedFor"]) == 1, "one user left")
    assert site.devices(shared)
    site.client.patch(second, {"status": {"phase": "Succeeded"}}, "status")
    wait_for(lambda: not site.devices(shared), "the device is free", PATIENCE)
    wait_for(lambda: "finalizers" not in site.client.read(shared)["metadata"], "it may go")
    assert not site.client.read(shared)["status"]


def test_pending_claim_waits_for_a_device(site: Site) -> None:
    site.driver.change([])
    waiting = site.claim()
    user = site.pod("user", claim="claim")
    assert "cannot allocate all claims" in site.unschedulable(user)
    assert not site.client.read(waiting).get("status")
    site.driver.change([{"name": "gpu-2"}])
    site.running(user)
    assert site.devices(waiting) == ["gpu-2"]


def test_claim_in_use_outlives_its_deletion(site: Site) -> None:
    """And no other pod gets it any more."""
    held = site.claim()
    user = site.running(site.pod("user", claim="claim"))
    site.client.delete(held)
    deleting = site.client.read(held)
    assert deleting["metadata"]["deletionTimestamp"]
    late = site.pod("late", claim="claim")
    assert site.devices(held)
    site.client.delete(user)
    site.gone(held)
    assert "nodeName" not in site.client.read(late)["spec"]


def test_claim_is_not_reserved_where_it_is_not(
    site: Site, kubelets: Callable[..., FakeKubelet]
) -> None:
    """A second pod of an allocated claim goes to the claim's node or nowhere."""
    site.claim()
    site.running(site.pod("first", claim="claim"))
    elsewhere = f"{site.node}-other"
    kubelets(site.client, elsewhere)
    second = pod(site.namespace, "second", claim="claim")
    second["spec"]["nodeSelector"] = {"kubernetes.io/hostname": elsewhere}
    site.unschedulable(site.client.create(second))


# Drivers


def test_killed_driver_leaves_pods_unprepared(site: Site) -> None:
    site.driver.kill()
    held = site.claim()
    user = site.pod("user", claim="claim")
    wait_for(lambda: site.devices(held), "the claim is allocated", PATIENCE)
    assert site.client.read(user)["status"]["phase"] == "Pending"
    site.driver.start()
    site.running(user)


def test_slow_driver_delays_pods(site: Site) -> None:
    site.driver.delay = 0.5
    held = site.claim()
    user = site.running(site.pod("user", claim="claim"))
    assert user["metadata"]["uid"] in {
        one["uid"] for one in site.client.read(held)["status"]["reservedFor"]
    }


def test_capacity_that_a_driver_lies_about(site: Site) -> None:
    """The scheduler believes what is published."""
    site.driver.devices = [{"name": "gpu-0", "capacity": {"memory": {"value": "80Gi"}}}]
    site.driver.lies = [capacity_of("memory", "10Gi")]
    site.driver.change(site.driver.devices)
    big = f'device.capacity["{site.driver.name}"].memory.isGreaterThan(quantity("40Gi"))'
    site.claim(selectors=[{"cel": {"expression": big}}])
    user = site.pod("user", claim="claim")
    site.unschedulable(user)
    site.driver.lies = []
    site.driver.change(site.driver.devices)
    site.running(user)


# Pools


def test_incomplete_pool_gives_nothing(site: Site, control_plane: ControlPlane) -> None:
    """1.34 gives single devices of it away; no minor gives all of them."""
    site.driver.lies = [incomplete]
    site.driver.change(site.driver.devices)
    mode = "ExactCount"
    if control_plane.minor == "1.34":
        site.claim("single")
        single = site.running(site.pod("single", claim="single"))
        site.client.delete(single)
        site.gone(single)
        mode = "All"
    site.claim(allocationMode=mode)
    user = site.pod("user", claim="claim")
    site.unschedulable(user)
    site.driver.lies = []
    site.driver.change(site.driver.devices)
    site.running(user)


def test_duplicate_devices_give_nothing(site: Site) -> None:
    site.driver.lies = [duplicates]
    site.driver.change(site.driver.devices)
    site.claim()
    site.unschedulable(site.pod("user", claim="claim"))


def test_stale_slices_are_not_used(site: Site) -> None:
    """Beside a slice of the newest generation, an older one is as if it were not there."""
    last: Object = {"name": "last", "attributes": {"last": {"bool": True}}}
    devices = [*({"name": f"gpu-{number}"} for number in range(64)), last]
    site.driver.lies = [stale_generation]
    site.driver.change(devices)
    is_last = f'has(device.attributes["{site.driver.name}"].last)'
    asked = site.claim(selectors=[{"cel": {"expression": is_last}}])
    user = site.pod("user", claim="claim")
    site.unschedulable(user)
    site.driver.lies = []
    site.driver.change(devices)
    site.running(user)
    assert site.devices(asked) == ["last"]


def test_newer_generation_replaces_the_pool(site: Site) -> None:
    site.driver.change([{"name": "new-0"}])
    asked = site.claim()
    site.running(site.pod("user", claim="claim"))
    assert site.devices(asked) == ["new-0"]


def test_shrinking_pool_keeps_what_is_allocated(site: Site) -> None:
    """An allocated device may vanish from the pool: its claim stays, nobody else gets it."""
    held = site.claim()
    user = site.running(site.pod("user", claim="claim"))
    (device,) = site.devices(held)
    site.driver.change([])
    late = site.claim("late")
    site.unschedulable(site.pod("late", claim="late"))
    assert site.devices(held) == [device]
    assert site.client.read(user)["status"]["phase"] == "Running"
    site.driver.change([{"name": device}])
    assert not site.devices(late)


# Deletion

KINDS = ("class", "template", "claim", "slice")
ORDERS = list(itertools.permutations(KINDS))


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_deletion_in_any_order(site: Site, order: tuple[str, ...]) -> None:
    """Whatever goes first, what runs stays, and the claim goes with its last pod."""
    own = site.client.create(template(site.namespace, "template", site.class_name))
    shared = site.claim()
    by_claim = site.running(site.pod("by-claim", claim="claim"))
    by_template = site.running(site.pod("by-template", template="template"))
    (made,) = claims_of(by_template)
    site.driver.kill()
    slices = site.client.list(
        RESOURCE, "ResourceSlice", fieldSelector=f"spec.driver={site.driver.name}"
    )
    victims = {"class": [site.class_object], "template": [own], "claim": [shared], "slice": slices}
    for kind in order:
        for victim in victims[kind]:
            site.client.delete(victim)
        for user in (by_claim, by_template):
            assert site.client.read(user)["status"]["phase"] == "Running", kind
        assert site.devices(shared), kind
        assert site.client.get(RESOURCE, "ResourceClaim", made, site.namespace)["status"][
            "allocation"
        ]
    assert site.client.read(shared)["metadata"]["deletionTimestamp"]
    for gone in (site.class_object, own, *slices):
        assert site.client.find(gone) is None
    for user in (by_claim, by_template):
        site.client.delete(user)
    site.gone(shared)
    wait_for(lambda: not _held(site.client, site.namespace), "no claim is in use", PATIENCE)
