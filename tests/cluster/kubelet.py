"""Nodes without machines: Node objects, and pods that run as soon as their claims are prepared."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.cluster.client import Client, Object, Refused, unless_away
from tests.cluster.drivers import RESOURCE

POLL_SECONDS = 0.1
CAPACITY = {"cpu": "256", "memory": "4Ti", "pods": "500", "ephemeral-storage": "4Ti"}
LONG_AGO = "2026-01-01T00:00:00Z"


@dataclass
class FakeKubelet:
    """Stands for the kubelets of some nodes.

    A pod runs once each of its claims is reserved for it and, where a driver of `waits_for` has a
    device in it, prepared by that driver. A pod that is being deleted ends at once.
    """

    client: Client
    nodes: Sequence[str]
    labels: dict[str, str] = field(default_factory=dict)
    waits_for: frozenset[str] = frozenset()
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> FakeKubelet:
        """Registers the nodes, then follows their pods in a thread of its own."""
        for name in self.nodes:
            self._register(name)
        self._ended.clear()
        self._thread = threading.Thread(target=self._serve, name="kubelet", daemon=True)
        self._thread.start()
        return self

    def kill(self) -> None:
        """The nodes stay, nothing happens on them any more."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def stop(self) -> None:
        """The nodes go as well."""
        self.kill()
        for name in self.nodes:
            self.client.delete(_node(name))

    def bind(self, pod: Object, node: str) -> None:
        """Puts a pod on a node without the scheduler."""
        metadata = {key: pod["metadata"][key] for key in ("name", "namespace")}
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
        self.client.call("POST", self.client.path_of(pod, "binding"), binding)

    def finish(self, pod: Object, phase: str = "Succeeded") -> None:
        """The pod's containers have ended."""
        self.client.patch(pod, {"status": {"phase": phase}}, "status")

    def _register(self, name: str) -> None:
        node = _node(name)
        node["metadata"]["labels"] = {"kubernetes.io/hostname": name} | self.labels
        self.client.apply(node, "kubelet", force=True)
        ready = _condition("Ready") | {"reason": "KubeletReady", "lastHeartbeatTime": LONG_AGO}
        status = {"capacity": CAPACITY, "allocatable": CAPACITY, "conditions": [ready]}
        self.client.patch(node, {"status": status}, "status")

    def _serve(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            with unless_away():
                self._look()

    def _look(self) -> None:
        for pod in self.client.list("v1", "Pod"):
            if pod["spec"].get("nodeName") in self.nodes:
                self._follow(pod)

    def _follow(self, pod: Object) -> None:
        try:
            if pod["metadata"].get("deletionTimestamp"):
                self.client.delete(pod, grace=0)
            elif pod["status"].get("phase") == "Pending" and self._may_run(pod):
                conditions = [_condition("Ready"), _condition("ContainersReady")]
                status = {"phase": "Running", "startTime": LONG_AGO}
                kept = pod["status"].get("conditions", [])
                self.client.patch(
                    pod, {"status": status | {"conditions": kept + conditions}}, "status"
                )
        except Refused as refused:
            if refused.code not in (404, 409):
                raise

    def _may_run(self, pod: Object) -> bool:
        return all(self._is_prepared(name, pod) for name in claims_of(pod))

    def _is_prepared(self, name: str, pod: Object) -> bool:
        claim = self.client.get(RESOURCE, "ResourceClaim", name, pod["metadata"]["namespace"])
        status = claim.get("status", {})
        if pod["metadata"]["uid"] not in {one["uid"] for one in status.get("reservedFor", ())}:
            return False
        results = status.get("allocation", {}).get("devices", {}).get("results", ())
        due = {_key(one) for one in results if one["driver"] in self.waits_for}
        return due <= {_key(one) for one in status.get("devices", ())}


def claims_of(pod: Object) -> list[str]:
    """The names of the pod's claims, those included that were made for it."""
    made = [one.get("resourceClaimName") for one in pod["status"].get("resourceClaimStatuses", ())]
    named = [one.get("resourceClaimName") for one in pod["spec"].get("resourceClaims", ())]
    extended = pod["status"].get("extendedResourceClaimStatus", {}).get("resourceClaimName")
    return list(dict.fromkeys(name for name in (*made, *named, extended) if name))


def _key(entry: Object) -> tuple[str | None, ...]:
    return tuple(entry.get(name) for name in ("driver", "pool", "device", "shareID"))


def _node(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def _condition(kind: str) -> Object:
    return {"type": kind, "status": "True", "lastTransitionTime": LONG_AGO}
