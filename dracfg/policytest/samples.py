"""For each policy, requests that it should let through and requests that each of its rules refuses.

A policy's samples are tried in their order, see `generated`. Samples that don't fit a cluster are
passed over; a rule that none of them meets is named. To cover a new rule, add a request that it
refuses to its policy, or a line for a new policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dracfg.lower.artifact import MANAGED_BY
from dracfg.lower.rights import ADMIN_LABEL, CLASSES, OWN_CLAIMS, STATE
from dracfg.policytest.requests import Request, named_namespace
from dracfg.policytest.scene import (
    API_SERVER,
    CONTROLLER,
    TEMPLATE,
    USER,
    Scene,
    claim,
    cluster_object,
    create,
    delete,
    noted,
    on_status,
    pod,
    update,
)
from dracfg.policytest.versions import DRA_GROUP, VERSIONS, is_served

Samples = Callable[[Scene], Iterator[Request]]

IMPLICIT = "deviceclass.resource.kubernetes.io/"
EXTENDED_CLAIM = "resource.kubernetes.io/extended-resource-claim"
PROTECTION = "resource.kubernetes.io/delete-protection"
NODE_NAME = "authentication.kubernetes.io/node-name"
FOREIGN = "not-entitled.example.com"
NODE = "sample-node"


def _unmanaged_claims(scene: Scene) -> Iterator[Request]:
    for name in scene.classes:
        thing = claim(scene.ask(name))
        yield create(thing, scene.namespace(), CONTROLLER)
        yield create(thing, named_namespace(thing["metadata"]["namespace"]))


def _claims(scene: Scene) -> Iterator[Request]:
    for name, text in scene.classes.items():
        ask = scene.ask(name)
        thing = claim(ask)
        closed = text.replace(";state=open", ";state=closed")
        yield create(thing, scene.namespace(), CONTROLLER)
        yield create(thing, scene.namespace({STATE: "frozen"}), CONTROLLER)
        yield create(thing, scene.namespace({CLASSES + name: closed}), CONTROLLER)
        turned = {**ask, "adminAccess": not ask.get("adminAccess", False)}
        yield create(claim(turned), scene.namespace(), CONTROLLER)
        missized = {**ask, "capacity": {"requests": {"sample": "1"}}}
        yield create(claim(missized), scene.namespace(), CONTROLLER)
    yield create(claim({"deviceClassName": FOREIGN}), scene.namespace(), CONTROLLER)


def _own_claims(scene: Scene) -> Iterator[Request]:
    here = scene.namespace()
    for name in scene.plain or scene.classes:
        ask = scene.ask(name)
        thing = claim(ask)
        yield create(thing, here)
        yield create(thing, scene.namespace({OWN_CLAIMS: None}))
        yield create(claim({**ask, "count": 1000}), here)
        selectors = [{"cel": {"expression": "true"}}]
        yield create(claim({**ask, "selectors": selectors}), here)
        tolerations = [{"operator": "Exists"}]
        yield create(claim({**ask, "tolerations": tolerations}), here)
        config = [{"opaque": {"driver": "driver.example.com", "parameters": {"sample": True}}}]
        yield create(claim(ask, config=config), here)
        yield create(noted(thing, annotations={EXTENDED_CLAIM: "true"}), here)
        yield create(noted(thing, labels={"dracfg.dev/sample": "true"}), here)
        for attribute in scene.world.facts["identityAttributes"]:
            yield create(claim(ask, constraints=[{"distinctAttribute": attribute}]), here)


def _unmanaged_workloads(scene: Scene) -> Iterator[Request]:
    nobody = named_namespace(str(scene.namespace()["metadata"]["name"]))
    yield create(pod(), nobody)
    for name in scene.classes:
        yield create(pod({IMPLICIT + name: "1"}), nobody)


def _workloads(scene: Scene) -> Iterator[Request]:
    here = scene.namespace()
    names = {"resourceClaimTemplateName": TEMPLATE}
    yield create(
        pod(resourceClaims=[{"name": "device", **names}]), scene.namespace({OWN_CLAIMS: None})
    )
    for name in scene.plain:
        yield create(pod({IMPLICIT + name: "1"}), here)
        yield create(pod({IMPLICIT + name: "500m"}), here)
        yield create(pod({IMPLICIT + name: "1"}), scene.namespace({STATE: "draining"}))
    yield create(pod({IMPLICIT + "not-entitled": "1"}), here)
    for name in scene.shared:
        yield create(pod({IMPLICIT + name: "1"}), here)
    for name, text in scene.classes.items():
        if ";admin=" in text:
            yield create(pod({IMPLICIT + name: "1"}), here)
    names = {"resourceClaimTemplateName": "foreign"}
    yield create(
        pod(resourceClaims=[{"name": "device", **names}]), scene.namespace({OWN_CLAIMS: None})
    )
    unwatched = {CLASSES + name: None for name, text in scene.classes.items() if ";admin=" in text}
    yield create(pod(tolerations=[{"operator": "Exists"}]), scene.namespace(unwatched))
    plugins = {"name": "files", "hostPath": {"path": "/var/lib/kubelet/plugins"}}
    yield create(pod(volumes=[plugins]), here)


def _taint_rules(scene: Scene) -> Iterator[Request]:
    minor = scene.world.minor
    served = [name for name in VERSIONS if is_served(DRA_GROUP, name, "DeviceTaintRule", minor)]
    taint = {"key": "example.com/sample", "effect": "NoSchedule"}
    for selector in ({"driver": "driver.example.com"}, {}):
        spec = {"deviceSelector": selector, "taint": taint}
        for version in served[:1]:
            yield create(cluster_object(f"{DRA_GROUP}/{version}", "DeviceTaintRule", spec=spec))


def _namespaces(_scene: Scene) -> Iterator[Request]:
    for labels in ({"example.com/sample": "true"}, {ADMIN_LABEL: "true"}):
        yield create(cluster_object("v1", "Namespace", labels=labels))


def _managed_objects(scene: Scene) -> Iterator[Request]:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {
            "name": "sample",
            "namespace": scene.namespace()["metadata"]["name"],
            "labels": {MANAGED_BY: "dracfg"},
        },
        "spec": {"hard": {"pods": "1"}},
    }
    for user in (API_SERVER, USER):
        yield create(quota, scene.namespace(), user)


def _held_pods(scene: Scene) -> Iterator[Request]:
    names = {"resourceClaimTemplateName": TEMPLATE}
    thing = pod(resourceClaims=[{"name": "device", **names}], nodeName=NODE)
    for grace in (30, 0):
        yield delete(thing, scene.namespace(), options={"gracePeriodSeconds": grace})


def _held_claims(scene: Scene) -> Iterator[Request]:
    status: dict[str, Any] = {"allocation": {"devices": {"results": []}}}
    for name in scene.classes:
        thing = {**claim(scene.ask(name)), "status": status}
        held = noted(thing, finalizers=[PROTECTION])
        yield update(held, held, scene.namespace())
        yield update(held, thing, scene.namespace())


def _held_nodes(scene: Scene) -> Iterator[Request]:
    yield delete(cluster_object("v1", "Node", spec={}))
    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
    for pool in scene.world.facts["heldPools"]:
        node = cluster_object("v1", "Node", labels=pool["selector"], spec={})
        yield delete(node)
        yield update(node, {**node, "spec": {"taints": [taint]}})


def _driver_slices(scene: Scene) -> Iterator[Request]:
    for user, driver in _driver_accounts(scene):
        for name, node in ((driver, NODE), ("other.example.com", NODE), (driver, "another-node")):
            spec = {"driver": name, "nodeName": node, "pool": _pool(node)}
            yield _on_node(
                create(cluster_object("resource.k8s.io/v1", "ResourceSlice", spec=spec), None, user)
            )


def _pool(name: str) -> dict[str, Any]:
    return {"name": name, "generation": 1, "resourceSliceCount": 1}


def _driver_status(scene: Scene) -> Iterator[Request]:
    thing = claim(scene.ask(next(iter(scene.classes), FOREIGN)))
    for user, driver in _driver_accounts(scene):
        for status in (
            {"devices": [_device(driver)]},
            {"reservedFor": [{"resource": "pods", "name": "sample", "uid": "1"}]},
            {"devices": [_device("other.example.com")]},
        ):
            yield _on_node(
                on_status(update(thing, {**thing, "status": status}, scene.namespace(), user))
            )


def _device(driver: str) -> dict[str, str]:
    return {"driver": driver, "pool": NODE, "device": "sample"}


def _on_node(request: Request) -> Request:
    return replace(request, extra={NODE_NAME: (NODE,)})


def _driver_accounts(scene: Scene) -> list[tuple[str, str]]:
    """(user, driver), one driver for each of the users that the catalog names."""
    return [(user, drivers[0]) for user, drivers in scene.world.facts["driverAccounts"].items()]


SAMPLES: Mapping[str, Samples] = {
    "dracfg-unmanaged-namespaces": _unmanaged_claims,
    "dracfg-claims": _claims,
    "dracfg-own-claims": _own_claims,
    "dracfg-unmanaged-workloads": _unmanaged_workloads,
    "dracfg-workloads": _workloads,
    "dracfg-taint-rules": _taint_rules,
    "dracfg-namespaces": _namespaces,
    "dracfg-managed-objects": _managed_objects,
    "dracfg-held-pods": _held_pods,
    "dracfg-held-claims": _held_claims,
    "dracfg-held-nodes": _held_nodes,
    "dracfg-driver-slices": _driver_slices,
    "dracfg-driver-status": _driver_status,
}
"""Samples by the policy's name."""
