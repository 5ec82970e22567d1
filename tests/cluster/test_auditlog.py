"""The audit log of the emitted policy tells, in one chain of records, who got what of which device.

A pod's claim is made by the controller and allocated by the scheduler; what joins the records are
the names and uids that Kubernetes writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import yaml

from tests.cluster.client import Client, Object
from tests.cluster.controlplane import ControlPlane, account_of
from tests.cluster.drivers import RESOURCE, FakeDriver
from tests.cluster.emitted import ROOT, Emitted
from tests.cluster.kubelet import FakeKubelet, claims_of
from tests.cluster.objects import pod
from tests.cluster.processes import wait_for

CONTROLLER = "system:serviceaccount:kube-system:resource-claim-controller"
SCHEDULER = "system:kube-scheduler"
TENANT, REQUESTS = "dracfg.dev/tenant", "dracfg.dev/requests"
SECONDS = 60


@pytest.mark.usefixtures("applied")
def test_one_chain(
    emitted: Emitted,
    emitted_plane: ControlPlane,
    kubelets: Callable[..., FakeKubelet],
    drivers: Callable[..., FakeDriver],
) -> None:
    """Tenant, claim, ShareID, size and version of the policy, from the records alone."""
    if emitted.repository != ROOT:
        pytest.skip("only the example has recorded devices")
    admin = emitted_plane.admin
    template = _shared_template(emitted)
    namespace = template["metadata"]["namespace"]
    exactly = template["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    driver, devices = _shareable_devices(emitted)
    kubelets(admin, "audited-node")
    drivers(admin, driver, "audited-node", devices)
    wait_for(lambda: admin.find(account_of(namespace)), f"the account of {namespace}", SECONDS)
    user = admin.create(pod(namespace, "audited", template=template["metadata"]["name"]))
    name = wait_for(partial(_allocated, admin, user), "an allocated claim", SECONDS)
    records = wait_for(
        partial(_chain, emitted_plane, namespace, name), "the records of the claim", SECONDS
    )
    created, allocated = records["create"], records["allocate"]
    tenant = next(
        one["requestObject"]["metadata"]["annotations"][TENANT]
        for one in _records(emitted_plane)
        if one["objectRef"].get("resource") == "namespaces"
        and one["objectRef"]["name"] == namespace
        and one.get("requestObject", {}).get("metadata", {}).get("annotations")
    )
    made = created["responseObject"]
    assert created["user"]["username"] == CONTROLLER
    assert made["metadata"]["labels"][TENANT] == tenant
    assert made["metadata"]["ownerReferences"][0]["uid"] == user["metadata"]["uid"]
    stated = dict(
        part.split("=", 1) for part in made["metadata"]["annotations"][REQUESTS].split(",")
    )
    _, _, policy, size, version = stated["gpu"].split("/")
    assert size == exactly["capacity"]["requests"]["memory"]
    assert f"policy-{policy}-{version}" in _applied(emitted_plane, "configmaps")
    assert allocated["user"]["username"] == SCHEDULER
    after = allocated["responseObject"]
    assert after["metadata"]["uid"] == made["metadata"]["uid"]
    (result,) = after["status"]["allocation"]["devices"]["results"]
    assert result["shareID"]
    assert result["consumedCapacity"]["memory"] == size
    assert (result["driver"], result["pool"]) == (driver, "audited-node")
    admin.delete(user, grace=0)
    wait_for(lambda: admin.find(made) is None, "the claim is gone", SECONDS)


def _shared_template(emitted: Emitted) -> Object:
    """One request of one shared device, by memory."""
    for one in emitted.objects():
        if one["kind"] == "ResourceClaimTemplate":
            requests = one["spec"]["spec"]["devices"]["requests"]
            asked = requests[0].get("exactly", {}).get("capacity", {}).get("requests", {})
            if len(requests) == 1 and "memory" in asked:
                return one
    raise AssertionError(f"{emitted} has no template of a shared device")


def _shareable_devices(emitted: Emitted) -> tuple[str, list[Object]]:
    """A recorded slice of the cluster's inventory: its driver and devices."""
    file = ROOT / "catalog" / "inventory" / f"{emitted.cluster}.yaml"
    recorded = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]
    for one in recorded:
        devices = one["spec"].get("devices", [])
        if devices and all(
            device.get("allowMultipleAllocations") and "memory" in device["capacity"]
            for device in devices
        ):
            return one["spec"]["driver"], devices
    raise AssertionError(f"{file} has no shareable devices")


def _allocated(client: Client, user: Object) -> str | None:
    for name in claims_of(client.read(user)):
        claim = client.get(RESOURCE, "ResourceClaim", name, user["metadata"]["namespace"])
        if claim.get("status", {}).get("allocation"):
            return name
    return None


def _records(plane: ControlPlane) -> list[Any]:
    """Whole lines only: the last may still be under way."""
    lines = plane.audit_log.read_text(encoding="utf-8").split("\n")[:-1]
    found = [json.loads(line) for line in lines]
    return [one for one in found if one["stage"] == "ResponseComplete" and "objectRef" in one]


def _applied(plane: ControlPlane, resource: str) -> set[str]:
    """Names of what was written; of these the log holds no more."""
    found = [one["objectRef"] for one in _records(plane)]
    return {one["name"] for one in found if one["resource"] == resource and "name" in one}


def _chain(plane: ControlPlane, namespace: str, name: str) -> dict[str, Any]:
    """`create` and `allocate`, once both are there."""
    chain: dict[str, Any] = {}
    for one in _records(plane):
        after = one.get("responseObject", {})
        if one["objectRef"]["resource"] != "resourceclaims" or after.get("kind") != "ResourceClaim":
            continue
        named = (after["metadata"].get("namespace"), after["metadata"]["name"])
        if named != (namespace, name):
            continue
        if one["verb"] == "create":
            chain["create"] = one
        elif after.get("status", {}).get("allocation"):
            chain.setdefault("allocate", one)
    return chain if len(chain) == 2 else {}
