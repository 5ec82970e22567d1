"""Requests to try policies with, made from what a cluster's objects say.

Tenants are made up: a Namespace of a tenant that has every class that some tenant of the cluster
has. So what is generated does not hang on who is in the catalog.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.lower.artifact import K8sObject
from dracfg.lower.rights import ADMIN_LABEL, CLAIMS, CLASSES, OWN_CLAIMS, STATE, TENANT
from dracfg.policytest.requests import (
    Operation,
    Request,
    authenticated_groups,
    named_namespace,
)
from dracfg.policytest.world import World

USER = "somebody"
CONTROLLER = "system:serviceaccount:kube-system:resource-claim-controller"
API_SERVER = "system:apiserver"
TEMPLATE = "sample"
_NAMESPACE = "sample-tenant"
_DRA = "resource.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Scene:
    """A cluster's classes with the text of their rights (see `lower.rights.rights`)."""

    world: World
    classes: Mapping[str, str]

    @classmethod
    def of(cls, world: World) -> Scene:
        """The classes that any Namespace of the cluster is entitled to, by name."""
        found: dict[str, str] = {}
        for thing in world.objects.values():
            if thing["kind"] == "Namespace":
                notes = thing["metadata"].get("annotations", {})
                found |= {
                    key.removeprefix(CLASSES): text
                    for key, text in notes.items()
                    if key.startswith(CLASSES)
                }
        return cls(world, dict(sorted(found.items())))

    @property
    def shared(self) -> tuple[str, ...]:
        """Classes whose requests write capacity."""
        return tuple(name for name, text in self.classes.items() if ";capacity." in text)

    @property
    def plain(self) -> tuple[str, ...]:
        """Classes of whole devices and parts, taken by number alone."""
        return tuple(
            name
            for name, text in self.classes.items()
            if ";capacity." not in text and ";admin=" not in text
        )

    def namespace(self, changes: Mapping[str, str | None] = MappingProxyType({})) -> K8sObject:
        """A Namespace of an active tenant with all classes; None takes an annotation away.

        With a class for admin access among them it has the label for it, as those of tenants do.
        """
        notes = {CLASSES + name: text for name, text in self.classes.items()}
        notes |= {TENANT: "sample", STATE: "active", OWN_CLAIMS: "true"}
        notes[CLAIMS] = f"template/{TEMPLATE}"
        for key, text in changes.items():
            if text is None:
                notes.pop(key, None)
            else:
                notes[key] = text
        watches = any(";admin=" in text for text in self.classes.values())
        labels = {"labels": {ADMIN_LABEL: "true"}} if watches else {}
        metadata = {"name": _NAMESPACE, "annotations": dict(sorted(notes.items())), **labels}
        return named_namespace(
            _NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        )

    def ask(self, name: str) -> dict[str, Any]:
        """A request for one device of a class as its rights want it."""
        fields = self.classes.get(name, "").split(";")
        capacity = dict(
            field.removeprefix("capacity.").split("=", 1)
            for field in fields
            if field.startswith("capacity.")
        )
        asked: dict[str, Any] = {
            "deviceClassName": name,
            "allocationMode": "ExactCount",
            "count": 1,
        }
        if capacity:
            asked["capacity"] = {"requests": capacity}
        if "admin=true" in fields:
            asked["adminAccess"] = True
        return asked


def claim(ask: Mapping[str, Any], **devices: Any) -> K8sObject:
    """A ResourceClaim of one request; `devices` stand beside it."""
    requests = [{"name": "device", "exactly": dict(ask)}]
    return {
        "apiVersion": _DRA,
        "kind": "ResourceClaim",
        "metadata": {"name": "sample", "namespace": _NAMESPACE},
        "spec": {"devices": {"requests": requests, **devices}},
    }


def pod(resources: Mapping[str, str] | None = None, **spec: Any) -> K8sObject:
    """A Pod whose one container asks for extended resources."""
    container: dict[str, Any] = {"name": "main", "image": "registry.example.com/sample:1"}
    if resources:
        container["resources"] = {"limits": dict(resources), "requests": dict(resources)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "sample", "namespace": _NAMESPACE},
        "spec": {"containers": [container], **spec},
    }


def cluster_object(api_version: str, kind: str, **body: Any) -> K8sObject:
    """An object of the cluster, with labels and spec as given."""
    labels = body.pop("labels", None)
    metadata = {"name": "sample"} | ({"labels": labels} if labels else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def noted(thing: K8sObject, **metadata: Any) -> K8sObject:
    """The object with further metadata."""
    return {**thing, "metadata": {**thing["metadata"], **metadata}}


def create(thing: K8sObject, namespace: K8sObject | None = None, user: str = USER) -> Request:
    """Somebody makes the object."""
    return Request("CREATE", user, authenticated_groups(user, ()), thing, None, namespace)


def update(
    old: K8sObject, new: K8sObject, namespace: K8sObject | None = None, user: str = USER
) -> Request:
    """Somebody changes the object."""
    return Request("UPDATE", user, authenticated_groups(user, ()), new, old, namespace)


def delete(
    thing: K8sObject,
    namespace: K8sObject | None = None,
    user: str = USER,
    options: Mapping[str, Any] | None = None,
) -> Request:
    """Somebody deletes the object."""
    operation: Operation = "DELETE"
    groups = authenticated_groups(user, ())
    return Request(operation, user, groups, None, thing, namespace, options=options)


def on_status(request: Request) -> Request:
    """The same request on the object's status."""
    return replace(request, subresource="status")
