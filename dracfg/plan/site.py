"""What pods of one cluster are placed on: its nodes with their devices, recorded or as modelled.

What the catalog keeps back is taken off: quarantined nodes and devices, nodes of pools that are not
open. Knows neither claims nor pods in use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from dracfg.allocate.claims import Toleration
from dracfg.allocate.devices import Taint
from dracfg.allocate.inventory import Inventory, inventory_of
from dracfg.allocate.modelled import modelled_inventory
from dracfg.allocate.nodes import Node, NodeSelection
from dracfg.allocate.nodestates import NodeState
from dracfg.allocate.restrictions import restrictions
from dracfg.allocate.slices import Slice
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Cluster, Pool
from dracfg.lower.quarantine import quarantined
from dracfg.plan.workloads import PodGroup

Doubt = tuple[Literal["no", "unknown"], str]
"""Why a node does not take a pod, or why that is not known."""

_BLOCKING = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Site:
    """The nodes of one cluster. `kept_out` says by node why no new pod goes there.

    `states` are the recorded Nodes. A modelled site has every node of every pool, named
    `<pool>-<number>`, with the labels that its pool selects nodes by.
    """

    cluster: Cluster
    inventory: Inventory
    modelled: bool
    kept_out: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, NodeState] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """By name, in which order they are tried."""
        return tuple(self.inventory.nodes[name] for name in sorted(self.inventory.nodes))

    def doubt(self, group: PodGroup, node: Node) -> Doubt | None:
        """Why the node does not take pods of a group whatever devices it has; None where it does."""
        if node.name in self.kept_out:
            return "no", self.kept_out[node.name]
        for key, wanted in sorted(group.node_selector.items()):
            labels = node.labels
            if labels is None or (self.modelled and key not in labels):
                return "unknown", f"whether it has label {key}={wanted} is not recorded"
            if labels.get(key) != wanted:
                return "no", f"it has no label {key}={wanted}"
        state = self.states.get(node.name)
        for taint in state.taints if state is not None else ():
            if taint.effect in _BLOCKING and not _tolerated(group.tolerations, taint):
                return "no", f"it is tainted {taint.key}={taint.value}:{taint.effect}"
        return None


def recorded_site(cluster: Cluster, inventory: Inventory, states: Mapping[str, NodeState]) -> Site:
    """The recorded nodes, with the taints that rules put on their devices."""
    kept = restrictions(cluster, inventory.taint_rules)
    closed = [pool for pool in cluster.pools if pool.is_closed]
    kept_out = {
        name: f"pool {pool.name} is {pool.state}"
        for name, node in inventory.nodes.items()
        for pool in closed
        if belongs(node, pool)
    }
    if kept.rules:
        slices = tuple(
            replace(
                part,
                devices=tuple(
                    replace(device, taints=(*device.taints, *kept.taints_of(device)))
                    for device in part.devices
                ),
            )
            for part in inventory.slices
        )
        inventory, _ = inventory_of(slices, inventory.nodes.values(), inventory.spoiled)
    return Site(cluster, inventory, False, kept_out | dict(kept.nodes), states)


def modelled_site(cluster: Cluster) -> Site:
    """The nodes that the catalog describes, less those in quarantine."""
    modelled = modelled_inventory(cluster)
    pools = {pool.name: pool for pool in cluster.pools}
    slices: list[Slice] = []
    nodes: list[Node] = []
    kept_out: dict[str, str] = {}
    for name, count in modelled.nodes.items():
        pool = pools[name]
        out = quarantined(cluster, pool).nodes
        own = [part for part in modelled.inventory.slices if part.node_name == name]
        for number in range(count):
            node = f"{name}-{number + 1:0{len(str(count))}}"
            nodes.append(Node(node, dict(pool.document.spec.node_selector)))
            if pool.is_closed:
                kept_out[node] = f"pool {name} is {pool.state}"
            elif number >= count - out:
                kept_out[node] = "in quarantine"
            slices += [_on(part, node) for part in own]
    inventory, _ = inventory_of(slices, nodes)
    return Site(cluster, inventory, True, kept_out)


def _on(part: Slice, node: str) -> Slice:
    """A modelled slice as another node of its pool would publish it."""
    pool, nodes = f"{node}/{part.pool.partition('/')[2]}", NodeSelection(node_name=node)
    return replace(
        part,
        name=f"{part.name}-{node}",
        pool=pool,
        node_name=node,
        nodes=nodes,
        devices=tuple(replace(device, pool=pool, nodes=nodes) for device in part.devices),
    )


def belongs(node: Node, pool: Pool) -> bool:
    """Whether a node has the labels by which its pool is known."""
    return pool.has_node(node.labels or {})


def _tolerated(tolerations: tuple[Toleration, ...], taint: Taint) -> bool:
    return any(_tolerates(one, taint) for one in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    """ToleratesTaint of core/v1: an empty key with Exists tolerates every taint."""
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.key not in ("", taint.key):
        return False
    return toleration.operator == "Exists" or toleration.value == taint.value
