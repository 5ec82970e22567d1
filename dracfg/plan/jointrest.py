"""What is promised beside joint claims: whether it lies on what they leave of each tier.

The nodes that the claims are placed on are taken away, but for the devices there that they leave
alone. What remains has to hold every other guarantee, tier by tier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dracfg.link.claims import ClaimPlan
from dracfg.plan.asks import charges
from dracfg.plan.jointdemand import JointDemand
from dracfg.plan.jointplacement import Filling
from dracfg.plan.promises import Market, merged
from dracfg.plan.proofs.fits import fits
from dracfg.plan.proofs.shapes import Claims, Group, Pool
from dracfg.plan.proofs.verdict import Proven
from dracfg.plan.supply import EXEMPT


def crowded_out(
    demand: JointDemand,
    market: Market,
    used: Mapping[str, Sequence[Filling]],
    *,
    leaves: bool,
) -> bool:
    """Whether no room was found in a market for what else is promised there.

    `used` are the nodes that joint claims take of each pool; `leaves` says whether devices that
    they leave alone on those nodes count.
    """
    groups: list[Group] = []
    supply = market.supply
    names = [group.name for group in supply.pool.groups]
    for group in supply.pool.groups:
        own = used.get(group.name, ())
        nodes = sum(one.nodes for one in own)
        if nodes > group.nodes:
            return True
        groups.append(replace(group, nodes=group.nodes - nodes))
        if leaves and names.count(group.name) == 1:
            groups += _left(group, market, demand.plan, own)
    rest = _rest(demand, market)
    if isinstance(fits(Pool(tuple(groups), supply.pool.keys), rest), Proven):
        return False
    return isinstance(fits(supply.pool, market.guaranteed()), Proven)


def _left(group: Group, market: Market, plan: ClaimPlan, own: Sequence[Filling]) -> Iterator[Group]:
    """The devices of used nodes that no claim touches."""
    tiers = {
        request.name: {ask.plan.tier.name for ask in request.asks} for request in plan.requests
    }
    for one in own:
        touched = {
            result.device_id
            for claim in one.claims
            for result in claim.results
            if market.supply.tier.name in tiers[result.request.partition("/")[0]]
        }
        if len(touched) < group.per_node:
            yield replace(group, nodes=one.nodes, per_node=group.per_node - len(touched))


def _rest(demand: JointDemand, market: Market) -> tuple[Claims, ...]:
    """Everything promised in a market but the joint claims; all of it where they have alternatives."""
    fixed = not any(request.has_alternatives for request in demand.plan.requests)
    charged = charges(demand.plan) if fixed else {}
    placed: dict[tuple[str, str], int] = {}
    for asker in demand.askers:
        for name, devices in charged.items():
            key = asker.tenant.name, name
            placed[key] = placed.get(key, 0) + asker.claims * devices
    left: list[Claims] = []
    for holding in market.promised:
        key = holding.tenant.name, holding.kind.name
        gone = min(placed.get(key, 0), holding.guaranteed)
        placed[key] = placed.get(key, 0) - gone
        left += holding.demand_for(holding.guaranteed - gone)
    exempt = (Claims(EXEMPT, market.exempt),) if market.exempt else ()
    return merged((*left, *exempt))
