"""Clusters and node pools in linked form: what they hold, who hands it out, what it may be asked by."""

from __future__ import annotations

from dracfg.kube.distributions import distribution
from dracfg.link.catalog import Catalog, Cluster, Pool
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.lower.nodes import node_taints
from dracfg.lower.quarantine import quarantined
from dracfg.show.document import Document, linked, plain, present


def cluster_document(catalog: Catalog, cluster: Cluster) -> Document:
    """`kind: LinkedCluster`: versions, engine, pools, classes with what they stand for, tenants."""
    spec = cluster.document.spec
    target = distribution(spec.distribution)
    return linked(
        "LinkedCluster",
        cluster.document,
        kubernetes=spec.kubernetes,
        distribution=spec.distribution,
        setsGates=target is not None and target.sets_gates,
        gitops=plain(spec.gitops),
        featureGates=dict(spec.feature_gates),
        allowAlpha=dict(spec.allow_alpha),
        unmanagedNamespaces=spec.unmanaged_namespaces,
        exemptNamespaces=[plain(exempt) for exempt in spec.exempt_namespaces],
        addons=plain(spec.addons),
        inventory=spec.inventory,
        drivers=[
            present(name=driver.name, version=driver.document.spec.version)
            for driver in cluster.drivers
        ],
        pools=[_pool(cluster, pool) for pool in cluster.pools],
        classes=[class_document(plan) for plan in device_classes(catalog, cluster)],
        tenants=[
            {
                "name": tenant.name,
                "state": tenant.document.spec.state,
                "namespaces": [place.name for place in tenant.places_on(cluster.name)],
            }
            for tenant in catalog.tenants_on(cluster.name)
        ],
    )


def pool_document(catalog: Catalog, pool: Pool) -> Document:
    """`kind: LinkedPool`: nodes, devices by tier with owner and policies, and what is taken off."""
    spec = pool.document.spec
    cluster = catalog.clusters.get(pool.cluster)
    return linked(
        "LinkedPool",
        pool.document,
        cluster=pool.cluster,
        nodeSelector=dict(spec.node_selector),
        **_numbers(cluster, pool),
        quarantine=[plain(entry) for entry in spec.quarantine],
        nodeTaints=[] if cluster is None else node_taints(cluster, pool),
    )


def class_document(plan: ClassPlan) -> Document:
    """One DeviceClass and what it stands for; `capacity` is what each of its requests writes."""
    return present(
        name=plan.name,
        tier=plan.tier.name,
        sharing=plan.policy.name,
        size=plan.part.name or None,
        capacity={key: str(amount) for key, amount in plan.capacity.items()} or None,
        devices=plan.sharing_test,
        adminAccess=plan.admin or None,
        extendedResourceName=plan.extended_name,
        closed=plan.closed,
    )


def _pool(cluster: Cluster, pool: Pool) -> Document:
    return {"name": pool.name, **_numbers(cluster, pool)}


def _numbers(cluster: Cluster | None, pool: Pool) -> Document:
    spec = pool.document.spec
    taken = None if cluster is None else quarantined(cluster, pool)
    return present(
        state=pool.state,
        nodes=spec.nodes,
        spareNodes=spec.spare.nodes,
        quarantinedNodes=taken.nodes if taken is not None else None,
        devices=[
            present(
                tier=devices.tier.name,
                driver=devices.tier.driver.name,
                owner=pool.owner(devices.tier.driver),
                perNode=devices.per_node,
                total=devices.per_node * spec.nodes,
                quarantined=taken.devices.get(devices.tier.name) if taken is not None else None,
                sharing=[policy.name for policy in devices.policies],
            )
            for devices in pool.devices
        ],
    )
