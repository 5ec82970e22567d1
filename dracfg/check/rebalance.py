"""ROL016-ROL019: a rebalance names a policy that claims hold, its numbers, and work that may end."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Policy, Tier
from dracfg.link.rebalance import fits_numbers, policy_of, reached
from dracfg.lower.policyversions import FILE, POLICY, RETIRED_FILE, VERSION
from dracfg.model import kinds
from dracfg.model.base import at
from dracfg.model.rollout import RolloutSpec
from dracfg.source.standing import Standing


def _rebalances(catalog: Catalog) -> Iterator[tuple[kinds.Rollout, Tier]]:
    for rollout in catalog.rollouts.values():
        tier = catalog.tiers.get(rollout.spec.tier)
        if tier is not None and rollout.spec.subject == "rebalance":
            yield rollout, tier


def names_no_policy_of_the_tier(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL016: the policy has versions, and claims hold the tier under it where stages reach."""
    for rollout, tier in _rebalances(catalog):
        name = rollout.spec.sharing
        if name is None or (name not in catalog.policies and not catalog.is_complete("NodePool")):
            continue
        policy = policy_of(catalog, rollout)
        if policy is not None and reached(catalog, rollout, tier, policy):
            continue
        listed_there = sorted(
            {
                one.name
                for pool in catalog.pools.values()
                for devices in pool.devices
                if devices.tier is tier and pool.claims_ever(tier.driver)
                for one in devices.policies
                if one.version
            }
        )
        why = (
            "has no versions: its claims are the same whenever they are made"
            if name in catalog.policies and policy is None
            else f"hands out no {tier.name} on a pool that its stages reach"
        )
        yield diagnose(
            "ROL016",
            at(rollout, "spec", "sharing"),
            f"{rollout.name} makes claims of {name} anew, which {why}",
            found=name,
            expected=listed(listed_there, "or") or None,
            help=f"policies of {tier.name}: {listed(listed_there)}"
            if listed_there
            else f"no claim of {tier.name} is under a policy with versions, so take the Rollout out",
        )


def leads_to_other_numbers(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL017: on the way forward the policy has the numbers that claims are to move to."""
    for rollout, policy in _with_policy(catalog):
        spec = rollout.spec
        if spec.version is None or spec.direction != "forward" or fits_numbers(spec, policy):
            continue
        document = policy.document
        yield diagnose(
            "ROL017",
            at(rollout, "spec", "version"),
            f"{rollout.name} moves claims to version {spec.version} of {policy.name}, whose numbers "
            f"come to {policy.version}",
            related=[Related(at(document, "spec"), "these numbers")] if document else (),
            found=spec.version,
            expected=policy.version,
            help=f'write `version: "{policy.version}"`, or give {policy.name} the numbers that were meant',
        )


def moves_more_than_claims(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL019: only work that can begin anew is ended, no pool is fenced, and no limit is split."""
    for rollout, _ in _rebalances(catalog):
        for steps, why, mend in _beyond_claims(rollout.spec):
            yield diagnose(
                "ROL019", at(rollout, "spec", *steps), f"{rollout.name}: {why}", help=mend
            )


def _beyond_claims(spec: RolloutSpec) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """(place, what is wrong, how to mend it)."""
    for i, stage in enumerate(spec.stages):
        if stage.workloads != "retryable":
            why = f"stage {stage.name} would end work that can't begin anew"
            mend = (
                "write `workloads: retryable`; other work keeps its claims and is listed for people"
            )
            yield ("stages", i, "workloads"), why, mend
        if stage.split:
            why = f"stage {stage.name} splits limits, and no path opens or closes"
            yield ("stages", i, "split"), why, "take `split` out"
    if spec.phase == "fenced":
        why = "it fences pools, and what it ends comes back to the same ones"
        yield ("phase",), why, "write `phase: open`"


def check_rebalances(catalog: Catalog, standing: Standing) -> Iterator[Diagnostic]:
    """ROL018: some other version of the policy was emitted, so that claims may be under it."""
    for rollout, policy in _with_policy(catalog):
        clusters = reached(catalog, rollout, catalog.tiers[rollout.spec.tier], policy)
        records = [
            thing["metadata"].get("labels") or {}
            for cluster in clusters
            for file in (FILE, RETIRED_FILE)
            for thing in standing.objects(f"{cluster.name}/platform", file)
        ]
        own = {one[VERSION] for one in records if one.get(POLICY) == policy.name and VERSION in one}
        if clusters and not own - {rollout.spec.version}:
            yield diagnose(
                "ROL018",
                at(rollout, "spec", "sharing"),
                f"{rollout.name} makes claims of {policy.name} anew, and no older version of it was "
                "ever emitted",
                found=listed(sorted(own)) or "no version under out/",
                help=f"change the numbers of {policy.name} first and let `dracfg compile` keep the old "
                "ones, or take the Rollout out",
            )


def _with_policy(catalog: Catalog) -> Iterator[tuple[kinds.Rollout, Policy]]:
    """Every rebalance whose policy has versions."""
    for rollout, _ in _rebalances(catalog):
        policy = policy_of(catalog, rollout)
        if policy is not None:
            yield rollout, policy


RULES: tuple[Rule, ...] = (
    names_no_policy_of_the_tier,
    leads_to_other_numbers,
    moves_more_than_claims,
)
