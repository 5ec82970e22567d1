"""Rollouts of rebalance → whose claims are made anew under which version of a policy, stage by stage.

A rebalance moves no pool: it says of which pools and tenants live claims may be ended, so that what
comes after them is made under the numbers that a policy has now, or on the way back had before.
Knows only documents and what they link to; which claims there are is for others.
"""

from __future__ import annotations

from dracfg.link.catalog import Catalog, Cluster, Policy, Tier
from dracfg.link.moves import Pools, has_tenant, pools_at, position
from dracfg.model import kinds
from dracfg.model.rollout import RolloutSpec


def stage_of(spec: RolloutSpec, pool: str, tenant: str, pools: Pools) -> int | None:
    """The first stage that reaches the claims of a tenant on a pool; None where no stage does."""
    return next(
        (
            place
            for place, stage in enumerate(spec.stages)
            if has_tenant(stage, tenant) and pool in pools_at(spec, place, pools)
        ),
        None,
    )


def may_move(spec: RolloutSpec, stage: int) -> bool:
    """Whether claims of a stage may be ended where the rollout stands.

    On the way back those of the stage that is left go first, and the others after it.
    """
    if spec.direction == "halted":
        return False
    here = position(spec)
    return stage >= here if spec.direction == "rollback" else stage <= here


def is_old(spec: RolloutSpec, version: str) -> bool:
    """Whether a claim under a version is to be made anew: on the way back, what had moved is."""
    return (version == spec.version) is (spec.direction == "rollback")


def fits_numbers(spec: RolloutSpec, policy: Policy) -> bool:
    """Whether new claims get the numbers that the rollout's way leads to."""
    return (policy.version == spec.version) is (spec.direction != "rollback")


def policy_of(catalog: Catalog, rollout: kinds.Rollout) -> Policy | None:
    """The policy whose claims are made anew; None for one that has no versions."""
    policy = catalog.policies.get(rollout.spec.sharing or "")
    return policy if policy is not None and policy.version else None


def reached(catalog: Catalog, rollout: kinds.Rollout, tier: Tier, policy: Policy) -> list[Cluster]:
    """The clusters on which some stage reaches a pool whose claims hold the tier under the policy."""
    documents = {name: pool.document for name, pool in catalog.pools.items()}
    names = {
        name
        for place in range(len(rollout.spec.stages))
        for name in pools_at(rollout.spec, place, documents)
    }
    return [
        cluster
        for cluster in catalog.clusters.values()
        if any(
            pool.name in names and devices.tier is tier and policy in devices.policies
            for pool, devices in cluster.offers()
            if pool.claims_ever(tier.driver)
        )
    ]
