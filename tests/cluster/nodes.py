"""Nodes that renew their leases and may fall silent, for a control plane that watches its nodes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.cluster.client import Object
from tests.cluster.drivers import FakeDriver
from tests.cluster.kubelet import FakeKubelet

BEAT_SECONDS = 1.0
GRACE_SECONDS = 16
LIFECYCLE_FLAGS = (
    "--node-monitor-period=1s",
    f"--node-monitor-grace-period={GRACE_SECONDS}s",
    "--node-eviction-rate=10",
)
"""A node is given up after seconds, where the defaults take most of a minute."""


@dataclass
class BeatingKubelet(FakeKubelet):
    """As FakeKubelet, for all nodes of a cluster; those in `silent` neither beat nor run anything.

    A silent node is a machine that is off, or one behind a broken network: the API can't tell.
    """

    silent: set[str] = field(default_factory=set)
    _beaten: float = 0.0

    def lose(self, *nodes: str) -> None:
        self.silent |= set(nodes)

    def restart(self, *nodes: str) -> None:
        """The nodes register again and answer."""
        for name in nodes:
            self._register(name)
        self.silent -= set(nodes)
        self._beaten = 0.0

    def _look(self) -> None:
        alive = [name for name in self.nodes if name not in self.silent]
        if time.monotonic() - self._beaten >= BEAT_SECONDS:
            self._beaten = time.monotonic()
            self._beat(alive)
        for pod in self.client.list("v1", "Pod"):
            if pod["spec"].get("nodeName") in alive:
                self._follow(pod)

    def _beat(self, alive: list[str]) -> None:
        """Renews the leases, and answers again where a node was given up."""
        for name in alive:
            self.client.apply(_lease(name), "kubelet", force=True)
        for node in self.client.list("v1", "Node"):
            ready = [one for one in node["status"]["conditions"] if one["type"] == "Ready"]
            if node["metadata"]["name"] in alive and ready[0]["status"] != "True":
                self._register(node["metadata"]["name"])


@dataclass
class NodesDriver(FakeDriver):
    """As FakeDriver, its slices being owned by the Node as those of kubelet plugins are.

    (kubernetes/dynamic-resource-allocation@v0.36.3: kubeletplugin/draplugin.go.)
    """

    def slices(self) -> list[Object]:
        uid = self.client.get("v1", "Node", self.node)["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Node", "name": self.node, "uid": uid}
        found = super().slices()
        for one in found:
            one["metadata"]["ownerReferences"] = [owner | {"controller": True}]
        return found


def _lease(node: str) -> Object:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": node, "namespace": "kube-node-lease"},
        "spec": {
            "holderIdentity": node,
            "leaseDurationSeconds": 40,
            "renewTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        },
    }
