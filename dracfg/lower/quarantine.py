"""NodePool.quarantine → DeviceTaintRules where the cluster acts on them, node taints everywhere else.

A DeviceTaintRule keeps one device, or all devices of a driver on a node, from being handed out; a
node taint keeps pods from the whole node. Rules say nothing to a device plugin.

`taint.timeAdded` is left to the API server, which writes when it took the effect: from then on the
seconds count that a claim tolerates it. With the date of the entry they would be over before they begin.
Source: KEP-5055; kubernetes/api@v0.37.0-rc.0 resource/v1/types.go (DeviceTaintRule).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.kube.features import closure, feature_matrix
from dracfg.link.catalog import Cluster, Pool
from dracfg.link.parts import digest
from dracfg.lower.artifact import Artifact, origin_of
from dracfg.lower.sync import make_synced
from dracfg.model.pool import Quarantine

FILE = "device-taint-rules.yaml"
KEY = "dracfg.dev/quarantine"
VALUE = "true"

Effect = Literal["NoSchedule", "NoExecute"]


@dataclass(frozen=True, slots=True)
class NodeTaint:
    """A node that must carry the quarantine taint, and for which entry of the pool."""

    node: str
    effect: Effect
    entry: Quarantine


@dataclass(frozen=True, slots=True)
class Quarantined:
    """What a pool can't hand out: whole nodes, and devices by tier on the nodes that remain."""

    nodes: int
    devices: Mapping[str, int]


def taint_rule_gate(minor: str) -> str:
    """The gate that makes the components of a minor act on DeviceTaintRules."""
    own = feature_matrix().gates["DRADeviceTaintRules"]
    return "DRADeviceTaints" if own.at(minor).stage == "absent" else own.name


def taint_rule_version(cluster: Cluster) -> str | None:
    """The apiVersion by which the cluster's components read DeviceTaintRules; None: they don't.

    The gate must be on by the minor's default or by the Cluster; a gate that it depends on must
    not be switched off.
    """
    matrix = feature_matrix()
    minor = cluster.minor
    gate = matrix.gates[taint_rule_gate(minor)]
    said = cluster.document.spec.feature_gates
    if not said.get(gate.name, gate.at(minor).default):
        return None
    if any(said.get(name) is False for name in closure([gate.name], minor)):
        return None
    if matrix.served("resource.k8s.io/v1", "DeviceTaintRule", minor) == "default":
        return "resource.k8s.io/v1"
    watched = matrix.gates["DRADeviceTaintRules"].runtime_config(minor)
    return watched[0] if watched else None


def device_taint_rules(cluster: Cluster) -> tuple[Artifact, ...]:
    """One DeviceTaintRule for each driver, resource pool and device that a pool of DRA names.

    The name depends on what is selected alone, so that a rule survives other entries and a change
    of its effect. Entries that select the same become one rule, which evicts if one of them does.
    """
    version = taint_rule_version(cluster)
    if version is None:
        return ()
    return tuple(
        artifact
        for pool in sorted(cluster.pools, key=lambda pool: pool.name)
        for artifact in _rules(cluster, pool, version)
    )


def as_node_taints(cluster: Cluster, pool: Pool) -> tuple[NodeTaint, ...]:
    """The entries that no DeviceTaintRule carries, as taints of their nodes, by node.

    The node is the entry's own, else that whose name the resource pool bears. An entry that names
    neither has no taint. Pods are evicted only where the entry means the node as a whole: on a
    taint for one device, they would go together with pods that have nothing to do with it.
    """
    taints = [
        NodeTaint(node, "NoExecute" if entry.evict and _means_node(entry) else "NoSchedule", entry)
        for entry in pool.document.spec.quarantine
        if not _is_rule(cluster, pool, entry) and (node := _node(entry)) is not None
    ]
    distinct = {_order(taint): taint for taint in taints}
    return tuple(distinct[key] for key in sorted(distinct))


def quarantined(cluster: Cluster, pool: Pool) -> Quarantined:
    """What quarantine takes off the pool's usable devices, counted on the safe side.

    A node that carries a taint counts whole. Elsewhere a device counts for every tier of its driver,
    as its name doesn't tell which tier it belongs to; a rule without a device counts all of them.
    """
    nodes = {taint.node for taint in as_node_taints(cluster, pool)}
    by_resource_pool: dict[tuple[str, str], set[str | None]] = {}
    for entry in pool.document.spec.quarantine:
        if _is_rule(cluster, pool, entry) and _node(entry) not in nodes:
            named = by_resource_pool.setdefault((entry.driver or "", entry.pool or ""), set())
            named.add(entry.device)
    size = pool.document.spec.nodes
    left = max(size - len(nodes), 0)
    per_node: dict[tuple[str, str], int] = {}
    for devices in pool.devices:
        key = (devices.tier.name, devices.tier.driver.name)
        per_node[key] = per_node.get(key, 0) + devices.per_node
    taken: dict[str, int] = {}
    for (tier, driver), each in sorted(per_node.items()):
        count = sum(
            each if None in named else min(len(named), each)
            for (owner, _), named in by_resource_pool.items()
            if owner == driver
        )
        if count:
            taken[tier] = min(count, left * each)
    return Quarantined(min(len(nodes), size), taken)


def _rules(cluster: Cluster, pool: Pool, version: str) -> Iterator[Artifact]:
    by_selector: dict[tuple[str, ...], list[int]] = {}
    entries = pool.document.spec.quarantine
    for i, entry in enumerate(entries):
        if _is_rule(cluster, pool, entry):
            selected = filter(None, (entry.driver, entry.pool, entry.device))
            by_selector.setdefault(tuple(selected), []).append(i)
    for selector, places in sorted(by_selector.items()):
        origin, *via = (origin_of(pool.document, "spec", "quarantine", i) for i in places)
        evict = any(entries[i].evict for i in places)
        effect: Effect = "NoExecute" if evict else "NoSchedule"
        body = {
            "spec": {
                "deviceSelector": dict(zip(("driver", "pool", "device"), selector, strict=False)),
                "taint": {"key": KEY, "value": VALUE, "effect": effect},
            }
        }
        name = f"dracfg-{pool.name}-{digest(selector)}"
        made = make_synced(cluster, version, "DeviceTaintRule", name, origin, body)
        yield Artifact(made, FILE, origin, tuple(via))


def _is_rule(cluster: Cluster, pool: Pool, entry: Quarantine) -> bool:
    """A selector needs driver and resource pool: with less it would reach devices of other nodes."""
    return (
        entry.driver is not None
        and entry.pool is not None
        and pool.document.spec.owner.get(entry.driver, "dra") == "dra"
        and taint_rule_version(cluster) is not None
    )


def _means_node(entry: Quarantine) -> bool:
    return entry.driver is None and entry.pool is None and entry.device is None


def _node(entry: Quarantine) -> str | None:
    """Resource pools of one node are called after it, with `/` and more behind where it has several."""
    return entry.node if entry.node is not None else entry.pool and entry.pool.split("/")[0]


def _order(taint: NodeTaint) -> tuple[str, ...]:
    entry = taint.entry
    names = (entry.driver, entry.pool, entry.device, entry.since, entry.reason)
    return (taint.node, *(name or "" for name in names), taint.effect)
