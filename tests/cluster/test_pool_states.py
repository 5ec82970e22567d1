"""What the API server allows a driver to make of a pool, and what dracfg reads in it afterwards.

It judges each ResourceSlice alone: slices of one pool may contradict each other in every way, and
only who reads them finds out. No scheduler and no controller runs here, so nothing changes but by
the test.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from dracfg.allocate.claimobjects import in_memory
from dracfg.allocate.inventory import load_inventory
from tests.cluster.client import Client, Object, Refused
from tests.cluster.controlplane import ControlPlane
from tests.cluster.drivers import RESOURCE

NUMBERS = itertools.count(1)
MOST_DEVICES = 128


@dataclass
class Published:
    """A pool of two slices, `first` and `second`, with the device of their name in each."""

    client: Client
    minor: str
    driver: str

    def write(self, name: str, driver: str = "", **spec: object) -> Object:
        """A new slice; None for a field leaves it out."""
        wanted: Object = {"apiVersion": RESOURCE, "kind": "ResourceSlice"}
        wanted["metadata"] = {"name": f"{driver or self.driver}-{name}"}
        filled: Object = {
            "driver": driver or self.driver,
            "nodeName": "node-1",
            "pool": {"name": "pool", "generation": 5, "resourceSliceCount": 2},
            "devices": [{"name": name}],
            **spec,
        }
        wanted["spec"] = {key: value for key, value in filled.items() if value is not None}
        return self.client.create(wanted)

    def slice(self, name: str) -> Object:
        return self.client.get(RESOURCE, "ResourceSlice", f"{self.driver}-{name}")

    def change(self, which: str, /, **spec: object) -> None:
        """Other values for fields of the spec, None for none, and for those of the pool."""
        found = self.slice(which)
        pool = found["spec"]["pool"]
        for field, value in spec.items():
            (pool if field in pool else found["spec"])[field] = value
        found["spec"] = {key: value for key, value in found["spec"].items() if value is not None}
        self.client.update(found)

    def listed(self) -> list[Object]:
        listed = self.client.list(RESOURCE, "ResourceSlice")
        return [one for one in listed if one["spec"]["driver"].endswith(self.driver)]

    def state(self) -> str:
        """What dracfg reads: of how many slices and devices the newest generation is, and how it is."""
        inventory, _ = load_inventory([in_memory(self.listed())], self.minor)
        found = inventory.pools_of(self.driver)
        if not found:
            return "gone"
        (pool,) = found
        how = (
            "incomplete" if not pool.complete else "invalid" if pool.invalid_reason else "complete"
        )
        return f"{how}, {pool.generation}: {' '.join(one.name for one in pool.devices)}".strip()


@pytest.fixture
def published(bare_plane: ControlPlane) -> Iterator[Published]:
    made = Published(bare_plane.admin, bare_plane.minor, f"pool-{next(NUMBERS)}.example.com")
    made.write("first")
    made.write("second")
    assert made.state() == "complete, 5: first second"
    yield made
    for one in made.listed():
        made.client.delete(one)


Step = Callable[[Published], None]


def nothing(_: Published) -> None:
    """As published."""


def renew_one(pool: Published) -> None:
    """What a driver that was killed while it published leaves."""
    pool.change("first", generation=6)


def renew_all(pool: Published) -> None:
    pool.change("first", generation=6)
    pool.change("second", generation=6)


def go_back_with_one(pool: Published) -> None:
    pool.change("second", generation=4)


def go_back_with_all(pool: Published) -> None:
    """A driver whose count began anew."""
    pool.change("first", generation=0)
    pool.change("second", generation=0)


def announce_more(pool: Published) -> None:
    for name in ("first", "second"):
        pool.change(name, resourceSliceCount=3)


def announce_fewer(pool: Published) -> None:
    for name in ("first", "second"):
        pool.change(name, resourceSliceCount=1)


def contradict(pool: Published) -> None:
    pool.change("first", resourceSliceCount=7)


def remove_one(pool: Published) -> None:
    pool.client.delete(pool.slice("second"))


def remove_all(pool: Published) -> None:
    for name in ("first", "second"):
        pool.client.delete(pool.slice(name))


def replace_slice(pool: Published) -> None:
    """Under a new name, before the old one goes: for a moment there are three."""
    pool.write("third", devices=[{"name": "second"}])
    assert pool.state().startswith("incomplete")
    pool.client.delete(pool.slice("second"))


def shrink(pool: Published) -> None:
    """In the same generation."""
    pool.change("second", devices=[])


def shrink_to_nothing(pool: Published) -> None:
    for name in ("first", "second"):
        pool.change(name, devices=[])


def shrink_to_one(pool: Published) -> None:
    """As a newer generation of one slice; the other is left behind."""
    pool.change("first", generation=6, resourceSliceCount=1)


def grow(pool: Published) -> None:
    pool.change("second", devices=[{"name": "second"}, {"name": "third"}])


def rename(pool: Published) -> None:
    pool.change("second", devices=[{"name": "other"}])


def repeat_a_device(pool: Published) -> None:
    pool.change("second", devices=[{"name": "first"}])


def lessen(pool: Published) -> None:
    pool.change("first", devices=[{"name": "first", "capacity": {"memory": {"value": "40Gi"}}}])
    pool.change("first", devices=[{"name": "first", "capacity": {"memory": {"value": "20Gi"}}}])


def share(pool: Published) -> None:
    pool.change("first", devices=[{"name": "first", "attributes": {"mode": {"string": "shared"}}}])


def of_another_driver(pool: Published) -> None:
    """Pools of one name of two drivers have nothing to do with each other."""
    pool.write("first", driver=f"other.{pool.driver}")


def on_another_node(pool: Published) -> None:
    """Slices of one pool may name different nodes, and nodes that do not exist."""
    pool.write("third", nodeName="node-2")


def label(pool: Published) -> None:
    found = pool.slice("first")
    pool.client.patch(found, {"metadata": {"labels": {"seen": "yes"}}})


ALLOWED: list[tuple[Step, str]] = [
    (nothing, "complete, 5: first second"),
    (renew_one, "incomplete, 6: first"),
    (renew_all, "complete, 6: first second"),
    (go_back_with_one, "incomplete, 5: first"),
    (go_back_with_all, "complete, 0: first second"),
    (announce_more, "incomplete, 5: first second"),
    (announce_fewer, "incomplete, 5: first second"),
    (contradict, "incomplete, 5: first second"),
    (remove_one, "incomplete, 5: first"),
    (remove_all, "gone"),
    (replace_slice, "complete, 5: first second"),
    (shrink, "complete, 5: first"),
    (shrink_to_nothing, "complete, 5:"),
    (shrink_to_one, "complete, 6: first"),
    (grow, "complete, 5: first second third"),
    (rename, "complete, 5: first other"),
    (repeat_a_device, "invalid, 5: first first"),
    (lessen, "complete, 5: first second"),
    (share, "complete, 5: first second"),
    (of_another_driver, "complete, 5: first second"),
    (on_another_node, "incomplete, 5: first second third"),
    (label, "complete, 5: first second"),
]

ONE_MORE = [{"name": f"gpu-{number}"} for number in range(MOST_DEVICES + 1)]

FORBIDDEN: dict[str, tuple[Object, str]] = {  # with a pattern of the field that is at fault
    "another driver": ({"driver": "another.example.com"}, "spec.driver"),
    "another pool": ({"name": "another"}, "spec.pool.name"),
    "another node": ({"nodeName": "node-2"}, "spec.nodeName"),
    "all nodes in place of one": ({"nodeName": None, "allNodes": True}, "spec.nodeName"),
    "all nodes beside one": ({"allNodes": True}, "spec"),
    "no slice": ({"resourceSliceCount": 0}, "spec.pool.resourceSliceCount"),
    "less than no slice": ({"resourceSliceCount": -1}, "spec.pool.resourceSliceCount"),
    "a negative generation": ({"generation": -1}, "spec.pool.generation"),
    "a device twice": ({"devices": [{"name": "one"}] * 2}, r"spec.devices\[1\](.name)?"),
    "a name that is none": ({"devices": [{"name": "One"}]}, r"spec.devices\[0\].name"),
    "a device more than fit": ({"devices": ONE_MORE}, "spec.devices"),
}

SELECTOR = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]}

REACHED_BY: dict[str, tuple[Object, bool]] = {
    "a node": ({}, True),
    "all nodes": ({"nodeName": None, "allNodes": True}, True),
    "nodes by labels": ({"nodeName": None, "nodeSelector": SELECTOR}, True),
    "no node": ({"nodeName": None}, False),
    "not all nodes": ({"nodeName": None, "allNodes": False}, False),
    "a node and all nodes": ({"allNodes": True}, False),
    "a node and nodes by labels": ({"nodeSelector": SELECTOR}, False),
    "nodes by labels of two kinds": (
        {
            "nodeName": None,
            "nodeSelector": {"nodeSelectorTerms": SELECTOR["nodeSelectorTerms"] * 2},
        },
        False,
    ),
}


@pytest.mark.parametrize(("change", "state"), ALLOWED, ids=lambda one: getattr(one, "__name__", ""))
def test_allowed(published: Published, change: Step, state: str) -> None:
    change(published)
    assert published.state() == state


@pytest.mark.parametrize("name", FORBIDDEN)
def test_forbidden(published: Published, name: str) -> None:
    spec, place = FORBIDDEN[name]
    before = published.slice("first")
    with pytest.raises(Refused) as refused:
        published.change("first", **spec)
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
    fields = {cause["field"] for cause in refused.value.status["details"]["causes"]}
    assert any(re.fullmatch(place, one) for one in fields), refused.value.message
    assert published.slice("first") == before


@pytest.mark.parametrize("name", REACHED_BY)
def test_one_way_to_reach_a_device(published: Published, name: str) -> None:
    spec, is_allowed = REACHED_BY[name]
    if is_allowed:
        published.write("third", **spec)
    else:
        with pytest.raises(Refused) as refused:
            published.write("third", **spec)
        assert (refused.value.code, refused.value.reason) == (422, "Invalid")


def test_as_many_devices_as_fit(published: Published) -> None:
    published.change("first", devices=ONE_MORE[:-1])
    assert len(published.slice("first")["spec"]["devices"]) == MOST_DEVICES
