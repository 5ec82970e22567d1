"""A catalog as it were if a rollout stood elsewhere: its pools' owners and fences, its tenants' paths.

Only a rollout of ownership is moved so; what pools are shared by stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from dracfg.link.catalog import Catalog, Cluster, Grant
from dracfg.link.moves import moves, pools_at
from dracfg.link.paths import on_paths
from dracfg.link.steps import Standing, at
from dracfg.model import kinds


def catalog_at(catalog: Catalog, rollout: kinds.Rollout, here: Standing) -> Catalog:
    """The catalog with a rollout of ownership at a standing, and with the clusters alone that it reaches."""
    moved = rollout.model_copy(update={"spec": at(rollout.spec, here)})
    rollouts = {**catalog.rollouts, rollout.name: moved}
    documents = {name: pool.document for name, pool in catalog.pools.items()}
    reached = moves(rollouts.values(), documents)
    pools = {
        name: replace(pool, moves=reached.get(name, ())) for name, pool in catalog.pools.items()
    }
    ever = pools_at(rollout.spec, len(rollout.spec.stages) - 1, documents)
    names = {documents[name].spec.cluster for name in ever}
    clusters = {
        name: replace(cluster, pools=tuple(pools[pool.name] for pool in cluster.pools))
        for name, cluster in catalog.clusters.items()
        if name in names
    }
    tenants = {
        name: replace(
            tenant,
            places=tuple(place for place in tenant.places if place.cluster in clusters),
            grants=on_paths(
                (
                    _before_paths(grant, clusters[grant.cluster.name])
                    for grant in tenant.grants
                    if grant.cluster.name in clusters
                ),
                rollouts.values(),
            ),
        )
        for name, tenant in catalog.tenants.items()
    }
    return replace(catalog, clusters=clusters, pools=pools, tenants=tenants, rollouts=rollouts)


def _before_paths(grant: Grant, cluster: Cluster) -> Grant:
    owners = cluster.owners_of(grant.tier)
    return replace(grant, cluster=cluster, owners=owners, by_plugin=None)
