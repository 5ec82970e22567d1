"""Where a claim of a tenant's profile can land, cluster by cluster: on what is recorded, else modelled."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dracfg.allocate.funnel import Funnel, NodeFunnel, funnel
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.modelled import modelled_inventory
from dracfg.allocate.narrowing import Ground
from dracfg.allocate.restrictions import restrictions
from dracfg.allocate.selection import Selection
from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.claims import claim_plan
from dracfg.link.classes import device_classes
from dracfg.lower.gates import GatePlan
from dracfg.lower.quarantine import quarantined
from dracfg.lower.tenancy import profile_places
from dracfg.model.tenant import Profile

FRACTIONS, TAINTS = "DRAFractionalCapacityRange", "DRADeviceTaints"


def place(
    catalog: Catalog,
    tenant: Tenant,
    profile: Profile,
    inventories: Mapping[str, Inventory],
    *,
    gates: Mapping[str, GatePlan] = MappingProxyType({}),
) -> tuple[Funnel, ...]:
    """The funnel of the profile on each cluster where it exists, by the clusters' names.

    `gates` are the gate plans by the cluster's name; without one, the defaults of its minor hold.
    """
    found = []
    for name in tenant.clusters:
        cluster = catalog.clusters.get(name)
        if cluster is None or not profile_places(tenant, profile, name):
            continue
        classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
        plan = claim_plan(tenant, profile, cluster, classes)
        if plan is None:
            continue
        inventory = inventories.get(name)
        fractional, looks_at_taints = (_is_on(cluster, gates, gate) for gate in (FRACTIONS, TAINTS))
        if inventory is not None:
            ground = Ground(
                name,
                cluster.minor,
                inventory,
                Selection(cluster.minor),
                restrictions(cluster, inventory.taint_rules, looks_at_taints=looks_at_taints),
                fractional=fractional,
            )
            found.append(funnel(plan, ground))
        else:
            modelled = modelled_inventory(cluster)
            ground = Ground(
                name,
                cluster.minor,
                modelled.inventory,
                Selection(cluster.minor, modelled=True),
                alike=modelled.nodes,
                fractional=fractional,
            )
            found.append(_without_quarantine(cluster, funnel(plan, ground)))
    return tuple(found)


def _is_on(cluster: Cluster, gates: Mapping[str, GatePlan], name: str) -> bool:
    plan = gates.get(cluster.name)
    if plan is not None:
        return plan.is_on(name)
    return bool(feature_matrix().gates[name].at(cluster.minor).default)


def _without_quarantine(cluster: Cluster, found: Funnel) -> Funnel:
    """Modelled nodes less those in quarantine, which get a row of their own."""
    pools = {pool.name: pool for pool in cluster.pools}
    nodes: list[NodeFunnel] = []
    for node in found.nodes:
        kept_out = quarantined(cluster, pools[node.node]).nodes
        if kept_out < node.count:
            nodes.append(_counted(node, node.count - kept_out))
        if kept_out:
            reason = "in quarantine"
            nodes.append(NodeFunnel(node.node, kept_out, node.steps, "no", reason))
    return Funnel(found.cluster, found.modelled, tuple(nodes), found.failure)


def _counted(node: NodeFunnel, count: int) -> NodeFunnel:
    return NodeFunnel(node.node, count, node.steps, node.result, node.reason)
