"""`rebalance`: the live claims under older numbers of a policy → in which order they may be made anew.

Each step is proven on the recorded state, after the steps before it: what ends finds its place again
under the new numbers, wherever the scheduler puts it, and every guarantee that had room has room. What can't
be proven is no step. Nothing is sent to a cluster: a plan names what people do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from dracfg.allocate.claimobjects import ClaimObjects, read_claims
from dracfg.audit.dump import read_dump
from dracfg.audit.view import View, view_of
from dracfg.check.jointclaims import joint_features
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Policy, Tier
from dracfg.link.rebalance import fits_numbers, may_move, policy_of, reached
from dracfg.lower.artifact import Unit
from dracfg.model.kinds import Rollout
from dracfg.plan.assurance import markets
from dracfg.plan.library import Library, library
from dracfg.plan.site import recorded_site
from dracfg.plan.workloads import PodGroup, pod_groups
from dracfg.rollout.controllers import Controllers
from dracfg.rollout.rebalanceproof import Landing, Prover, Unproven, unmet
from dracfg.rollout.rebalancerooms import Room
from dracfg.rollout.rebalancework import Held, Waiting, Work, held_work
from dracfg.source.records import Record

NEEDED = ("ResourceClaim", "Pod", "ResourceSlice", "Node")
"""Kinds without which nothing can be proven."""

Verdict = Literal["proven", "unknown"]


class CannotPlan(Exception):
    """Why there is no plan at all."""


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of work that may end. `now`: where the rollout stands it may."""

    work: Work
    stage: str
    now: bool
    landings: tuple[Landing, ...]


@dataclass(frozen=True, slots=True)
class Blocked:
    """Work that no step moves, since it isn't proven."""

    work: Work
    stage: str
    why: str


@dataclass(frozen=True, slots=True)
class Short:
    """A guarantee that has not all of its room before any step; `after` is what lacks after the last."""

    room: Room
    devices: int
    after: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of the claims of one cluster. `resizes` says of the driver whether shares resize in place.

    `kept` counts the devices that were kept free for guarantees at each step. `turned` is False where the
    policy has not the numbers that the way of the rollout leads to; then there is no step.
    """

    rollout: Rollout
    cluster: Cluster
    tier: Tier
    policy: Policy
    older: Mapping[str, int]
    resizes: str
    turned: bool
    kept: int = 0
    steps: tuple[Step, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    short: tuple[Short, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Whether all that may be moved is proven to be, and every guarantee holds meanwhile."""
        return "unknown" if self.blocked or self.short or not self.turned else "proven"


def plan_rebalance(
    catalog: Catalog, units: Sequence[Unit], rollout: Rollout, records: Sequence[Record]
) -> Plan:
    """The plan of the recorded cluster. Raises CannotPlan."""
    tier, policy = catalog.tiers.get(rollout.spec.tier), policy_of(catalog, rollout)
    if tier is None or policy is None:
        raise CannotPlan(f"{rollout.name} names no policy with versions: run dracfg check")
    cluster = _recorded(catalog, rollout, tier, policy, records)
    dump, _ = read_dump(records, cluster.minor)
    missing = [kind for kind in NEEDED if kind not in dump.recorded]
    if missing:
        raise CannotPlan(f"the record holds no {', no '.join(missing)}")
    view = view_of(dump, catalog, cluster)
    known = _library(catalog, cluster, units, records)
    items = [item for record in records for item in record.objects]
    pools = tuple(pool for pool in cluster.pools if tier in (one.tier for one in pool.devices))
    held = held_work(view, rollout, known, Controllers.of(items), pools)
    found = Plan(
        rollout,
        cluster,
        tier,
        policy,
        held.older,
        tier.driver.fact("resizesShareInPlace"),
        fits_numbers(rollout.spec, policy),
        waiting=held.waiting,
    )
    if not found.turned:
        return found
    site = recorded_site(cluster, dump.inventory, dump.nodes)
    rooms = tuple(_rooms(catalog, view, held, tier))
    features = joint_features(catalog, units)[cluster.name]
    claims = (held.claim for held in dump.claims.values())
    prover = Prover(site, known, features, _groups(records), claims, rooms)
    return _ordered(found, held.work, prover, rooms)


def _ordered(plan: Plan, work: Iterable[Work], prover: Prover, rooms: Sequence[Room]) -> Plan:
    """Stage by stage, what frees most first; what isn't proven is asked again after each step."""
    spec = plan.rollout.spec
    back = spec.direction == "rollback"
    steps: list[Step] = []
    blocked: list[Blocked] = []
    by_stage: dict[int, list[Work]] = {}
    for one in work:
        by_stage.setdefault(one.stage, []).append(one)
    for stage, listed in sorted(by_stage.items(), reverse=back):
        name, now = spec.stages[stage].name, may_move(spec, stage)
        pending = sorted(listed, key=lambda one: (_grows(one), one.controller))
        while pending:
            reasons: dict[int, str] = {}
            for number, one in enumerate(pending):
                found = prover.prove(one)
                if not isinstance(found, Unproven):
                    steps.append(Step(one, name, now, found))
                    del pending[number]
                    break
                reasons[number] = found.why
            else:
                blocked += [Blocked(one, name, reasons[n]) for n, one in enumerate(pending)]
                break
    after = prover.lacking()
    short = tuple(Short(room, devices, after[room]) for room, devices in prover.short.items())
    kept = sum(room.devices for room in rooms) - sum(one.devices for one in short)
    return replace(plan, kept=kept, steps=tuple(steps), blocked=tuple(blocked), short=short)


def _grows(work: Work) -> int:
    """By how much more than before the claims ask for, over all capacities; below 0 where they shrink."""
    total = 0
    for one in work.renewed:
        for result in one.held.results:
            total -= sum(amount.nano for amount in result.consumed_capacity.values())
        for request in one.spec.requests:
            for ask in (request.exactly, *request.first_available[:1]):
                if ask is not None:
                    total += ask.count * sum(amount.nano for amount in ask.capacity.values())
    return total


def _recorded(
    catalog: Catalog, rollout: Rollout, tier: Tier, policy: Policy, records: Iterable[Record]
) -> Cluster:
    """The cluster of whose pools nodes are recorded."""
    labels = [
        item.data.get("metadata", {}).get("labels") or {}
        for record in records
        for item in record.objects
        if item.data["kind"] == "Node"
    ]
    found = [
        cluster
        for cluster in reached(catalog, rollout, tier, policy)
        if any(
            pool.document.spec.node_selector.items() <= own.items()
            for pool in cluster.pools_of(tier)
            for own in labels
        )
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(cluster.name for cluster in found)
    raise CannotPlan(
        f"recorded nodes belong to pools of {names}: give the record of one cluster at a time"
        if found
        else f"the record holds no Node of a pool that {rollout.name} reaches"
    )


def _library(
    catalog: Catalog, cluster: Cluster, units: Iterable[Unit], records: Iterable[Record]
) -> Library:
    """Classes and templates as they are emitted now."""
    recorded, _ = read_claims(records, cluster.minor)
    spaces = [
        place.name
        for tenant in catalog.tenants_on(cluster.name)
        for place in tenant.places_on(cluster.name)
    ]
    found, _ = library(
        catalog, cluster, units, ClaimObjects(), recorded, namespaces=spaces, extended=False
    )
    return found


def _groups(records: Iterable[Record]) -> dict[tuple[str, str], PodGroup]:
    """What recorded pods ask of nodes, by (namespace, name)."""
    return {
        (group.namespace, group.name): group
        for record in records
        for group in pod_groups(record)
        if group.kind == "Pod"
    }


def _rooms(catalog: Catalog, view: View, held: Held, tier: Tier) -> Iterable[Room]:
    """What is guaranteed of the tiers that the work touches, and not held by anybody."""
    has = _holds(view, held)
    tiers = {tier} | {
        ask.plan.tier
        for work in held.work
        for one in work.renewed
        for request in one.plan.requests
        for ask in request.asks
    }
    for market in markets(catalog):
        supply = market.supply
        if supply.cluster is not view.cluster or supply.owner != "dra" or supply.tier not in tiers:
            continue
        for holding in market.holdings:
            plan = supply.classes.get(holding.kind.name)
            if holding.is_promised and plan is not None:
                room = unmet(holding, has.get((holding.tenant.name, holding.kind.name), 0), plan)
                if room is not None:
                    yield room


def _holds(view: View, held: Held) -> dict[tuple[str, str], int]:
    """Devices by tenant and class; work that moves counts as what it comes to.

    A claim with alternatives counts for none of them: more room is kept than may be needed, never less.
    """
    anew = {one.held.ref: one.plan for work in held.work for one in work.renewed}
    found: dict[tuple[str, str], int] = {}
    for ref, holdings in view.by_claim.items():
        tenant = view.tenant_name(holdings[0].claim)
        plan = anew.get(ref)
        if plan is not None:
            asks = [r.asks[0] for r in plan.requests if not r.has_alternatives]
            counts = [(ask.plan.name, ask.count) for ask in asks]
        else:
            counts = [(one.class_name, 1) for one in holdings if one.class_name and one.takes]
        for name, number in counts:
            if tenant is not None and name is not None:
                found[tenant, name] = found.get((tenant, name), 0) + number
    return found
