"""Nodes that may be lost: in which of the forms, and whether something proves that they run nothing.

What Kubernetes does in each form: a node that stops answering keeps its pods, and with them their
claims; PodGC deletes pods of a Node object that is gone, or that carries the out-of-service taint,
and the claim controller then gives their devices back, whether the machine still uses them or not
(kubernetes/kubernetes@v1.36.3: pkg/controller/podgc/gc_controller.go,
pkg/controller/resourceclaim/controller.go).
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from dracfg.allocate.nodestates import NodeState
from dracfg.audit.dump import Dump
from dracfg.dataclass import dataclass
from dracfg.model.reclaim import Fencing
from dracfg.source.times import parse_time

Loss = Literal["notReady", "deleted", "outOfService"]


@dataclass(frozen=True, slots=True)
class LostNode:
    """A node that is not known to be there; `state` is its Node object where there is one."""

    name: str
    loss: Loss
    state: NodeState | None
    since: datetime | None

    def is_fenced(self, fencing: Fencing) -> bool:
        """Whether what the policy takes for a fence is recorded on the node itself."""
        if self.state is None or fencing == "none":
            return False
        if fencing == "outOfServiceTaint":
            return self.state.out_of_service
        return self.state.ready == "Unknown"


def lost_node(dump: Dump, name: str | None) -> LostNode | None:
    """The node as a lost one; None where it answers, or where no Nodes are recorded at all."""
    if name is None or "Node" not in dump.recorded:
        return None
    state = dump.nodes.get(name)
    if state is None:
        return LostNode(name, "deleted", None, dump.leases.get(name))
    since = parse_time(state.ready_since)
    if state.out_of_service:
        return LostNode(name, "outOfService", state, since)
    return None if state.answers else LostNode(name, "notReady", state, since)
