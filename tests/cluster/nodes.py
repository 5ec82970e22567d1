"""Nodes that renew their leases and may fall silent, for a control plane that watches its nodes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.cluster.client import Object
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
            for name in alive:
                self.client.apply(_lease(name), "kubelet", force=True)
        for pod in self.client.list("v1", "Pod"):
            if pod["spec"].get("nodeName") in alive:
                self._follow(pod)


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
