"""What the API server lets be changed and deleted of the kinds of DRA while all of it is in use.

No scheduler and no controller runs here, so nothing changes but by the test.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from dracfg.kube.kinds import kinds
from tests.cluster.client import Client, Object, Refused
from tests.cluster.controlplane import ControlPlane
from tests.cluster.drivers import RESOURCE
from tests.cluster.objects import claim, device_class, template

NAMESPACE = "default"
FINALIZER = "resource.kubernetes.io/delete-protection"
NUMBERS = itertools.count(1)


@dataclass
class Objects:
    """One object of each kind, a claim that is in use among them."""

    client: Client
    by_kind: dict[str, Object]

    def left(self) -> dict[str, str]:
        """Kind → resourceVersion, of what stands."""
        found = {kind: self.client.find(one) for kind, one in self.by_kind.items()}
        return {
            kind: one["metadata"]["resourceVersion"]
            for kind, one in found.items()
            if one is not None
        }


@pytest.fixture
def objects(bare_plane: ControlPlane) -> Iterator[Objects]:
    client, name = bare_plane.admin, f"used-{next(NUMBERS)}"
    driver = f"{name}.example.com"
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": "node-1", "pool": pool, "devices": [{"name": "gpu-0"}]}
    made = {
        "DeviceClass": device_class(name, driver),
        "ResourceClaimTemplate": template(NAMESPACE, name, name),
        "ResourceClaim": claim(NAMESPACE, name, name),
        "ResourceSlice": {
            "apiVersion": RESOURCE,
            "kind": "ResourceSlice",
            "metadata": {"name": name},
            "spec": spec,
        },
    }
    made["ResourceClaim"]["metadata"]["finalizers"] = [FINALIZER]
    found = Objects(client, made)
    for one in made.values():
        client.create(one)
    result = {"request": "gpu", "driver": driver, "pool": "node-1", "device": "gpu-0"}
    user = {"resource": "pods", "name": "user", "uid": "user"}
    status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [user]}
    client.patch(made["ResourceClaim"], {"status": status}, "status")
    yield found
    let_go(found)
    for kind in found.left():
        client.delete(made[kind])


def let_go(objects: Objects) -> None:
    """Nobody uses the claim any more."""
    held = objects.client.find(objects.by_kind["ResourceClaim"])
    if held is not None and held["metadata"].get("finalizers"):
        objects.client.patch(held, {"metadata": {"finalizers": None}})


KINDS = ("DeviceClass", "ResourceClaimTemplate", "ResourceClaim", "ResourceSlice")
POINTERS = [
    (kind, pointer) for kind in KINDS for pointer in kinds()["resource.k8s.io", kind].immutable
]


@pytest.mark.parametrize(("kind", "pointer"), POINTERS, ids=lambda one: str(one).strip("/"))
def test_immutable_fields(objects: Objects, kind: str, pointer: str) -> None:
    changed = copy.deepcopy(objects.client.read(objects.by_kind[kind]))
    *steps, last = pointer.split("/")[1:]
    holder = changed
    for step in steps:
        holder = holder[step]
    holder[last] = "other" if isinstance(holder[last], str) else {"devices": {}}
    if kind == "ResourceClaimTemplate":
        holder[last] = {"spec": {"devices": {}}}
    with pytest.raises(Refused, match="immutable") as refused:
        objects.client.update(changed)
    fields = {cause["field"] for cause in refused.value.status["details"]["causes"]}
    assert pointer.strip("/").replace("/", ".") in fields


def test_classes_are_not_immutable(objects: Objects) -> None:
    """Not even while a claim of theirs is allocated."""
    assert kinds()["resource.k8s.io", "DeviceClass"].immutable == ()
    changed = objects.client.read(objects.by_kind["DeviceClass"])
    changed["spec"] = {"selectors": [{"cel": {"expression": "false"}}]}
    assert objects.client.update(changed)["spec"] == changed["spec"]


ORDERS = list(itertools.permutations(KINDS))


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_deletion_in_any_order(objects: Objects, order: tuple[str, ...]) -> None:
    """The server asks nobody whether a thing is still used: only the claim waits for its finalizer."""
    for kind in order:
        before = objects.left()
        objects.client.delete(objects.by_kind[kind])
        after = objects.left()
        stays = kind == "ResourceClaim"
        assert (kind in after) is stays
        assert {**after, kind: ""} == {**before, kind: ""}, "the others are as they were"
    held = objects.client.read(objects.by_kind["ResourceClaim"])
    assert held["metadata"]["deletionTimestamp"]
    assert held["status"]["allocation"]
    let_go(objects)
    assert not objects.left()
    for kind in order:
        objects.client.create(objects.by_kind[kind])
    assert set(objects.left()) == set(KINDS), "nor whether what it names is there"
