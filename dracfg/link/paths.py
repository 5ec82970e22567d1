"""Grants → the paths that rollouts leave open to them, and what of their numbers each path has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dracfg.link.catalog import Grant
from dracfg.link.moves import claims_now, split_now
from dracfg.link.numbers import ByPart, first
from dracfg.model import kinds


def on_paths(grants: Iterable[Grant], rollouts: Iterable[kinds.Rollout]) -> tuple[Grant, ...]:
    """A tenant's grants as the rollouts of ownership have them now.

    What a stage's split leaves to the plugin is taken from the tenant's grants of the tier in their
    order, since a plugin knows whole devices alone. It holds while pools of the cluster have both
    owners, on the way back as well.
    """
    moving = {one.spec.tier: one for one in rollouts if one.spec.subject == "ownership"}
    if not moving:
        return tuple(grants)
    left: dict[tuple[str, str], int] = {}
    found = []
    for grant in grants:
        rollout = moving.get(grant.tier.name)
        if rollout is None or not _reaches(rollout, grant):
            found.append(grant)
            continue
        owners = grant.owners
        if not claims_now(rollout.spec, grant.tenant, by_plugin=_takes_plugin_work(grant)):
            owners -= {"dra"}
        split = split_now(rollout.spec, grant.tenant)
        by_plugin: ByPart | None = None
        if split is not None and len(grant.owners) > 1 and grant.lender is None:
            key = (grant.cluster.name, grant.tier.name)
            by_plugin = first(grant.numbers, left.get(key, split.plugin))
            left[key] = left.get(key, split.plugin) - sum(one.limit for one in by_plugin.values())
        found.append(replace(grant, owners=owners, by_plugin=by_plugin))
    return tuple(found)


def _reaches(rollout: kinds.Rollout, grant: Grant) -> bool:
    """Whether some stage moves a pool of the grant's cluster."""
    pools = grant.cluster.pools_of(grant.tier)
    return any(move.rollout is rollout for pool in pools for move in pool.moves)


def _takes_plugin_work(grant: Grant) -> bool:
    """Whether some pool of the cluster takes new work by the device plugin."""
    return any(
        pool.owner(grant.tier.driver) == "devicePlugin" and not pool.is_closed
        for pool in grant.cluster.pools_of(grant.tier)
    )
