"""A node pool → what its nodes and the installers of its drivers need: `<cluster>/nodes/<pool>`.

A kubelet drop-in, values for each driver's chart, taints, trials and a runbook. None of it is applied by
an engine: the files are for people, and for the tools that set nodes up.
Sources: KEP-3983 (drop-ins end in `.conf` and carry apiVersion and kind; maps are merged key by
key); kubernetes/kubernetes staging/src/k8s.io/kubelet/config/v1beta1/types.go.
"""

from __future__ import annotations

from typing import Any

from dracfg.kube.distributions import distribution
from dracfg.link.catalog import Catalog, Cluster, Pool
from dracfg.link.driver import Driver
from dracfg.link.moves import gates_now
from dracfg.lower.artifact import Artifact, Unit, origin_of
from dracfg.lower.gates import GatePlan
from dracfg.lower.helmvalues import driver_values, values_file
from dracfg.lower.quarantine import KEY as QUARANTINE_KEY
from dracfg.lower.quarantine import VALUE as QUARANTINE_VALUE
from dracfg.lower.quarantine import as_node_taints
from dracfg.lower.runbook import RUNBOOK, runbook
from dracfg.lower.trials import trial_artifacts

KUBELET_FILE = "kubelet.conf"
TAINTS_FILE = "taints.yaml"
POOL_KEY = "dracfg.dev/pool"


def node_pool(catalog: Catalog, cluster: Cluster, pool: Pool, plan: GatePlan) -> Unit:
    """The unit of one pool. Files without content are left out."""
    origin = origin_of(pool.document, "spec")
    on_cluster = origin_of(cluster.document, "spec")
    artifacts = []
    kubelet = kubelet_configuration(cluster, pool, plan)
    if kubelet:
        artifacts.append(Artifact(kubelet, KUBELET_FILE, origin, (on_cluster,)))
    for driver in pool_drivers(pool):
        values = driver_values(catalog, cluster, pool, driver)
        via = (origin_of(driver.document, "spec"),)
        artifacts.append(Artifact(values, values_file(driver), origin, via))
    taints = node_taints(cluster, pool)
    if taints:
        artifacts.append(Artifact({"nodes": taints}, TAINTS_FILE, origin, (on_cluster,)))
    artifacts += trial_artifacts(cluster, pool)
    text = runbook(cluster, pool, taints, has_kubelet_file=bool(kubelet))
    return Unit(
        f"{cluster.name}/nodes/{pool.name}", tuple(artifacts), {RUNBOOK: text}, synced=False
    )


def kubelet_configuration(cluster: Cluster, pool: Pool, plan: GatePlan) -> dict[str, Any]:
    """The kubelet's gates where they differ from the default, and those that a rollout has brought.

    Empty where the distribution sets none, and on kind, whose cluster file sets those of every
    node when it makes them.
    """
    target = distribution(cluster.document.spec.distribution)
    brought = dict.fromkeys(gates_now(pool.moves), True)
    gates = dict(plan.by_component.get("kubelet") or {}) | brought
    if target is None or not gates or not target.sets_gates or target.name == "kind":
        return {}
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "featureGates": dict(sorted(gates.items())),
    }


def node_taints(cluster: Cluster, pool: Pool) -> list[dict[str, Any]]:
    """The taints that nodes need: that of the pool's state, then those of quarantine by node."""
    spec = pool.document.spec
    taints: list[dict[str, Any]] = []
    if pool.is_closed:
        taints.append(
            {
                "nodeSelector": dict(sorted(spec.node_selector.items())),
                "taints": [{"key": POOL_KEY, "value": pool.state, "effect": "NoSchedule"}],
                "reason": f"the pool is {pool.state}",
            }
        )
    for taint in as_node_taints(cluster, pool):
        mark = {"key": QUARANTINE_KEY, "value": QUARANTINE_VALUE, "effect": taint.effect}
        taints.append(
            {
                "node": taint.node,
                "taints": [mark],
                "reason": taint.entry.reason,
                "since": taint.entry.since,
            }
        )
    return taints


def pool_drivers(pool: Pool) -> tuple[Driver, ...]:
    """The drivers of the pool's devices by name, without hardware that only a plugin serves."""
    found = {devices.tier.driver.name: devices.tier.driver for devices in pool.devices}
    return tuple(found[name] for name in sorted(found) if found[name].has_dra_driver)
