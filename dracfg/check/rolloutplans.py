"""ROL001-ROL007, ROL009, ROL010: whether a rollout can be walked, forth and back, with nobody left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.check.rule import Rule, listed
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.kube.distributions import distribution
from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.link.moves import claims_now, fenced_pools, pools_at, position, split_now
from dracfg.link.steps import Standing, at, reachable
from dracfg.model import kinds
from dracfg.model.base import at as place_of
from dracfg.model.pool import Owner
from dracfg.model.rollout import START, RolloutSpec, Split, Subject

_NEEDS: Mapping[Subject, tuple[str, ...]] = {
    "sharing": ("sharing",),
    "featureGate": ("gate",),
    "rebalance": ("sharing", "version"),
}
"""The fields that say what a rollout of a subject moves to."""
_MOVED: Mapping[Subject, str] = {"rebalance": "claims"}


def _ownership(catalog: Catalog) -> Iterator[tuple[kinds.Rollout, Tier]]:
    for rollout in catalog.rollouts.values():
        tier = catalog.tiers.get(rollout.spec.tier)
        if tier is not None and rollout.spec.subject == "ownership":
            yield rollout, tier


def _documents(catalog: Catalog) -> dict[str, kinds.NodePool]:
    return {name: pool.document for name, pool in catalog.pools.items()}


def _starts_with(pool: kinds.NodePool, tier: Tier) -> Owner:
    """The owner of the tier's driver before any stage."""
    return pool.spec.owner.get(tier.driver.name, "dra")


def starts_with_claims(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL001: a pool that a rollout of ownership moves starts with the device plugin."""
    pools = _documents(catalog)
    for rollout, tier in _ownership(catalog):
        last = len(rollout.spec.stages) - 1
        for name in sorted(pools_at(rollout.spec, last, pools)):
            owner = _starts_with(pools[name], tier)
            if owner != "devicePlugin":
                yield diagnose(
                    "ROL001",
                    place_of(pools[name], "spec", "owner", tier.driver.name),
                    f"pool {name} says dra, and {rollout.name} is what moves it there",
                    related=[
                        Related(place_of(rollout, "spec", "stages"), f"stages of {rollout.name}")
                    ],
                    found=owner,
                    expected="devicePlugin",
                    help="`owner` says where the pool starts until the Rollout is removed: write "
                    "devicePlugin, or leave the pool out of the stages",
                    fix="devicePlugin" if tier.driver.name in pools[name].spec.owner else None,
                )


def loses_both_paths(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL002: wherever the rollout can stand, each entitled tenant has a pool that takes its work.

    Where driver and plugin are one switch of the cluster, all of its pools turn at once, and that a
    tenant waits meanwhile is the price of it.
    """
    for rollout, tier in _ownership(catalog):
        if tier.driver.is_one_switch:
            continue
        for cluster in catalog.clusters.values():
            pools = {pool.name: pool.document for pool in cluster.pools_of(tier)}
            moved = pools_at(rollout.spec, len(rollout.spec.stages) - 1, pools)
            if not moved or any(_starts_with(pools[name], tier) == "dra" for name in moved):
                continue
            yield from _without_a_path(catalog, rollout, tier, cluster, pools)


@dataclass(frozen=True, slots=True)
class _Paths:
    """Whether pools of a cluster take new work by plugin and by claims, and whether it has both owners."""

    by_plugin: bool
    by_claims: bool
    both: bool

    def lead_on(self, spec: RolloutSpec, tenant: str) -> bool:
        """Whether a tenant has one of them, with something of its limit on it."""
        claims = claims_now(spec, tenant, by_plugin=self.by_plugin)
        split = split_now(spec, tenant) if self.both else None
        return (self.by_plugin and (split is None or split.plugin > 0)) or (
            self.by_claims and claims and (split is None or split.dra > 0)
        )


def _without_a_path(
    catalog: Catalog,
    rollout: kinds.Rollout,
    tier: Tier,
    cluster: Cluster,
    pools: Mapping[str, kinds.NodePool],
) -> Iterator[Diagnostic]:
    """The first standing at which some tenant has no way to new work, and who they are."""
    entitled = [
        tenant.name
        for tenant in catalog.tenants_on(cluster.name)
        if tenant.document.spec.state == "active"
        and any(grant.tier is tier for grant in tenant.grants_on(cluster.name))
    ]
    # What people freeze or drain comes back, and must not wait for a plan that holds without it.
    taking = {name for name, document in pools.items() if document.spec.state != "disabled"}
    for here in reachable(rollout.spec):
        spec = at(rollout.spec, here)
        moved = pools_at(spec, position(spec), pools)
        free = taking - fenced_pools(spec, pools)
        ours = {name for name in pools if _starts_with(pools[name], tier) == "devicePlugin"} - moved
        paths = _Paths(bool(free & ours), bool(free - ours), bool(ours) and len(ours) < len(pools))
        lost = [tenant for tenant in entitled if not paths.lead_on(spec, tenant)]
        if lost and taking:
            stage = max(position(spec), 0) + (here.phase == "fenced" and position(spec) >= 0)
            yield diagnose(
                "ROL002",
                place_of(rollout, "spec", "stages", min(stage, len(spec.stages) - 1), "pools"),
                f"at {here}, {listed(lost[:5])} can get {tier.name} on {cluster.name} neither by "
                "plugin nor by claims",
                help=_help(here, split_now(spec, lost[0])),
            )
            return


def _help(here: Standing, split: Split | None) -> str:
    if split is not None and 0 in (split.plugin, split.dra):
        return f"leave them some by either path in the split of {here.stage}"
    if here.stage == START:
        return "let the first stage leave a pool to the device plugin while its own are drained"
    if here.direction == "rollback":
        return "move pools in more stages, so that one is there while others go back"
    return "name these tenants in the stage before, or move the last pools in a stage of their own"


def begins_too_wide(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL003: the first stage is one pool, named tenants and work that can begin anew."""
    pools = _documents(catalog)
    for rollout in catalog.rollouts.values():
        spec = rollout.spec
        first, faults = spec.stages[0], list[tuple[str, str, str]]()
        count = len(pools_at(spec, 0, pools))
        if first.pools == "*" or count > 1:
            faults.append(("pools", f"{count} pools", "one pool"))
        if first.tenants == "*":
            faults.append(("tenants", "every tenant", "the tenants that try it, by name"))
        if first.workloads != "retryable":
            faults.append(("workloads", "work of any kind", "retryable"))
        for key, found, expected in faults:
            yield diagnose(
                "ROL003",
                place_of(rollout, "spec", "stages", 0, key),
                f"the first stage of {rollout.name} tries it on {found}",
                found=found,
                expected=expected,
                help="what goes wrong must reach few people and nothing that can't begin anew",
            )


def interrupts_what_cannot_begin_anew(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL004: work that isn't retryable moves only where it is said how it goes on."""
    for rollout in catalog.rollouts.values():
        for i, stage in enumerate(rollout.spec.stages):
            if stage.workloads == "any" and rollout.spec.restores is None:
                yield diagnose(
                    "ROL004",
                    place_of(rollout, "spec", "stages", i, "workloads"),
                    f"stage {stage.name} of {rollout.name} moves work that can't begin anew, and "
                    "nothing says how it goes on",
                    help="write `restores`: from which checkpoint, by whom and how long it takes; or "
                    "leave such work out with `workloads: retryable`",
                )
                break


def lacks_its_subject(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL005: a rollout says what it moves to, and nothing that another subject has."""
    for rollout in catalog.rollouts.values():
        spec = rollout.spec
        needed = _NEEDS.get(spec.subject, ())
        given: dict[str, Any] = {
            "sharing": spec.sharing,
            "version": spec.version,
            "gate": spec.gate,
            "replaces": spec.replaces,
        }
        for key in needed:
            if given[key] is None:
                yield diagnose(
                    "ROL005",
                    place_of(rollout, "spec", "subject"),
                    f"{rollout.name} moves {spec.subject} and has no `{key}`",
                    help=f"write `{key}`: what the {_MOVED.get(spec.subject, 'pools')} move to",
                )
        allowed = {*needed, "replaces"} if spec.subject == "sharing" else {*needed}
        for key, value in given.items():
            if value is not None and key not in allowed:
                yield diagnose(
                    "ROL005",
                    place_of(rollout, "spec", key),
                    f"{rollout.name} moves {spec.subject}, which has no `{key}`",
                    help=f"take `{key}` out, or change the subject",
                )


def meets_another(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL006: one rollout a tier at a time."""
    first: dict[str, kinds.Rollout] = {}
    for rollout in catalog.rollouts.values():
        other = first.setdefault(rollout.spec.tier, rollout)
        if other is not rollout:
            yield diagnose(
                "ROL006",
                place_of(rollout, "spec", "tier"),
                f"{rollout.spec.tier} is moved by {other.name} already",
                related=[Related(place_of(other, "spec", "tier"), "the other rollout")],
                help="finish or roll back one, remove it, then begin the other",
            )


def is_named_start(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL007: `start` is the place before the first stage."""
    for rollout in catalog.rollouts.values():
        for i, stage in enumerate(rollout.spec.stages):
            if stage.name == START:
                yield diagnose(
                    "ROL007",
                    place_of(rollout, "spec", "stages", i, "name"),
                    f"a stage of {rollout.name} is named {START}, which means that nothing has moved",
                    help="give the stage another name",
                )


def shares_one_switch(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL009: a driver whose switch is the cluster's can't have pools on both sides."""
    pools = _documents(catalog)
    for rollout, tier in _ownership(catalog):
        if not tier.driver.is_one_switch:
            continue
        for i in range(len(rollout.spec.stages)):
            for cluster in catalog.clusters.values():
                here = {pool.name for pool in cluster.pools_of(tier)}
                moved = here & pools_at(rollout.spec, i, pools)
                if moved and moved != here:
                    yield diagnose(
                        "ROL009",
                        place_of(rollout, "spec", "stages", i, "pools"),
                        f"driver and device plugin of {tier.driver.name} are one switch for all of "
                        f"{cluster.name}, and {listed(sorted(here - moved))} would stay behind",
                        help="move all pools of the cluster in one stage, cluster by cluster",
                    )


def gate_comes_to_no_pool(catalog: Catalog) -> Iterator[Diagnostic]:
    """ROL010: the gate that a rollout brings is one of the kubelet, and dracfg sets it on each cluster."""
    pools = _documents(catalog)
    for rollout in catalog.rollouts.values():
        spec = rollout.spec
        if spec.subject != "featureGate" or spec.gate is None:
            continue
        names = pools_at(spec, len(spec.stages) - 1, pools)
        for name in sorted({pools[name].spec.cluster for name in names} & catalog.clusters.keys()):
            wrong = _no_kubelet_gate(catalog.clusters[name], spec.gate)
            if wrong is not None:
                why, mend = wrong
                yield diagnose("ROL010", place_of(rollout, "spec", "gate"), why, help=mend)


def _no_kubelet_gate(cluster: Cluster, gate: str) -> tuple[str, str] | None:
    """Why a gate can't be brought to the kubelets of a cluster, and what to do."""
    known = feature_matrix().gate(gate)
    if known is None or not known.settable(cluster.minor):
        return (
            f"Kubernetes {cluster.minor} of {cluster.name} has no gate {gate} that can be set",
            f"see `dracfg show cluster/{cluster.name} gates` for those it has",
        )
    if "kubelet" not in known.components:
        return (
            f"{gate} is no gate of the kubelet, so no pool of {cluster.name} can have it by itself",
            "set it in the Cluster's `featureGates`: it holds for the whole cluster at once",
        )
    target = distribution(cluster.document.spec.distribution)
    if target is None or not target.sets_gates or target.name == "kind":
        made = cluster.document.spec.distribution
        return (
            f"dracfg writes no kubelet settings for {made}, so no pool of {cluster.name} gets {gate}",
            "set it where the nodes are made, and say so in the Cluster's `featureGates`",
        )
    return None


RULES: tuple[Rule, ...] = (
    starts_with_claims,
    loses_both_paths,
    begins_too_wide,
    interrupts_what_cannot_begin_anew,
    lacks_its_subject,
    meets_another,
    is_named_start,
    shares_one_switch,
    gate_comes_to_no_pool,
)
