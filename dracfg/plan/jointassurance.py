"""A verdict for the claims that ask for several things at once: fits, and nonBlocking where promised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dracfg.allocate.inventory import Inventory
from dracfg.allocate.structured import Features
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog
from dracfg.plan.asks import charges
from dracfg.plan.assurance import crowded, markets, undecidable
from dracfg.plan.jointdemand import JointDemand
from dracfg.plan.jointplacement import Filling, JointPlacement
from dracfg.plan.jointproofs import Fits, JointProver, NonBlocking
from dracfg.plan.jointrest import crowded_out
from dracfg.plan.jointsite import Grounds, grounds
from dracfg.plan.promises import Market
from dracfg.plan.proofs.verdict import Proven, Unknown


@dataclass(frozen=True, slots=True, eq=False)
class JointAssurance:
    """The answer to one question about joint claims of one shape.

    `fits` asks whether all that are guaranteed lie on devices together, beside all else that is
    guaranteed; `nonBlocking` whether one of them is ever refused. `modelled` says that no recorded
    devices were asked.
    """

    demand: JointDemand
    question: Literal["fits", "nonBlocking"]
    verdict: Fits | NonBlocking
    modelled: bool


def joint_assurances(
    catalog: Catalog,
    demands: Sequence[JointDemand],
    inventories: Mapping[str, Inventory],
    features: Mapping[str, Features],
) -> Iterator[JointAssurance]:
    """Every demand with a guarantee; those of a market of which nothing can be proven are left out."""
    wanted = [demand for demand in demands if demand.claims]
    known = markets(catalog, inventories) if wanted else ()
    for cluster in catalog.clusters.values():
        own = [demand for demand in wanted if demand.cluster is cluster]
        if not own:
            continue
        found = grounds(cluster, inventories.get(cluster.name))
        prover = JointProver(found, features[cluster.name], [one.plan for one in own])
        here = [one for one in known if one.supply.cluster is cluster]
        for demand in own:
            concerned = _concerned(demand, here)
            if not any(undecidable(catalog, market) for market in concerned):
                yield from _assured(demand, prover, found, concerned)


def _concerned(demand: JointDemand, here: Sequence[Market]) -> list[Market]:
    """The markets of the classes that the claims name."""
    names = {ask.plan.name for request in demand.plan.requests for ask in request.asks}
    return [market for market in here if names & set(market.supply.classes)]


def _assured(
    demand: JointDemand, prover: JointProver, found: Grounds, concerned: Sequence[Market]
) -> Iterator[JointAssurance]:
    modelled = found.recorded is None
    mixed = next((crowded(market) for market in concerned if market.foreign), None)
    verdict = mixed or prover.fits(demand.plan, demand.claims)
    if isinstance(verdict, Proven):
        verdict = _beside(demand, verdict.certificate, found, concerned)
    yield JointAssurance(demand, "fits", verdict, modelled)
    if demand.is_non_blocking and isinstance(verdict, Proven):
        held = sum(sum(market.most(False).values()) for market in concerned)
        others = held - sum(charges(demand.plan).values())
        refused = prover.non_blocking(demand.plan, others)
        yield JointAssurance(demand, "nonBlocking", refused, modelled)


def _beside(
    demand: JointDemand,
    placement: JointPlacement,
    found: Grounds,
    concerned: Sequence[Market],
) -> Fits:
    """The placement, where the other guarantees have room beside it."""
    used, leaves = _used(demand, placement, found)
    for market in concerned:
        if crowded_out(demand, market, used, leaves=leaves):
            return Unknown(
                f"beside them no room was found for what else is guaranteed of {market.supply.name}",
                1,
                "guarantee less, or add nodes",
            )
    return Proven(placement)


def _used(
    demand: JointDemand, placement: JointPlacement, found: Grounds
) -> tuple[Mapping[str, Sequence[Filling]], bool]:
    """The nodes used of each pool, and whether they are known one by one.

    Where it is not said which nodes are spare, or what pool a node is of, each pool that holds such
    claims is taken to lose as many nodes as all of them use.
    """
    used = placement.used(demand.claims)
    pools = {one.node: found.pool(one.node) for one in used}
    if placement.spare or not all(pools.values()):
        return {pool.name: used for pool in found.serving(demand.plan)}, False
    by_pool: dict[str, list[Filling]] = {}
    for one in used:
        pool = pools[one.node]
        if pool is not None:
            by_pool.setdefault(pool.name, []).append(one)
    return by_pool, True
