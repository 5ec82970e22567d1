"""The capacity plan as data: figures, proofs with what they rest on, and other ways of sharing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog
from dracfg.plan.alternatives import alternatives as ways_of
from dracfg.plan.alternatives import ways_document
from dracfg.plan.assurance import Assurance, assured, markets
from dracfg.plan.disjoint import NOTHING_RECORDED, Inventories
from dracfg.plan.estimate import Estimate, estimate, planning_figure
from dracfg.plan.promises import Market
from dracfg.plan.proofs.verdict import Refuted


def capacity_plan(
    catalog: Catalog,
    target: Fraction | None = None,
    *,
    alternatives: bool = False,
    inventories: Inventories = NOTHING_RECORDED,
) -> dict[str, Any]:
    """The plan as a document: `tiers[]` with figures, overcommit and proofs, cluster by cluster.

    With a target utilisation each figure says what planning by it alone would come to. Other ways of
    sharing stand beside a tier where a proof fails, with `alternatives` beside each.
    """
    known = markets(catalog, inventories)
    return {"tiers": [_document(catalog, market, target, alternatives) for market in known]}


def _document(
    catalog: Catalog, market: Market, target: Fraction | None, always: bool
) -> dict[str, Any]:
    supply = market.supply
    proofs = tuple(assured(catalog, market))
    failed = any(isinstance(proof.verdict, Refuted) for proof in proofs)
    ways = ways_of(catalog, market) if always or failed else ()
    found = {
        "cluster": supply.cluster.name,
        "tier": supply.tier.name,
        "owner": supply.owner,
        "pools": [pool.name for pool in supply.pools],
        "figures": [estimate_document(one, target) for one in estimate(market)],
        "proofs": [proof_document(proof) for proof in proofs],
    }
    return found | ({"alternatives": ways_document(ways)} if ways else {})


def estimate_document(found: Estimate, target: Fraction | None = None) -> dict[str, Any]:
    """One figure: amounts as the catalog writes them."""
    ratio = found.overcommit
    planned = None
    if target is not None:
        device = Quantity(found.a_device, found.like.format)
        planned = str(planning_figure(found.devices, device, target))
    return {
        "key": found.key,
        "planned": planned,
        "devices": found.devices,
        "aDevice": found.show(found.a_device),
        "physical": found.show(found.physical),
        "deductions": [
            {"name": d.name, "amount": found.show(d.amount), "why": d.why}
            for d in found.deductions
            if d.amount
        ],
        "promiseable": found.show(found.promiseable),
        "promised": found.show(found.promised),
        "limit": found.show(found.limit),
        "overcommit": None if ratio is None else f"{float(ratio):.2f}",
    }


def proof_document(found: Assurance) -> dict[str, Any]:
    """One proof with what it rests on."""
    return {
        "tenant": found.holding.tenant.name,
        "entitlement": found.holding.what,
        "guaranteed": found.holding.guaranteed,
        "question": found.question,
        "devices": found.devices,
        "verdict": found.verdict.word,
        "afterReclaim": found.reclaimed,
        "conditional": found.is_conditional,
        "restsOn": [
            {"what": ground.what, "stage": ground.stage, "accepted": ground.accepted}
            for ground in found.basis
        ],
    }
