"""What a proof rests on, drawn: the packing that fits, or the arrangement that blocks."""

from __future__ import annotations

from dracfg.picture.blocked import draw_blocking
from dracfg.picture.bound import draw_bound
from dracfg.picture.drawing import Drawing
from dracfg.picture.packed import demand_of, draw_packing
from dracfg.plan.assurance import QUESTIONS, Assurance
from dracfg.plan.proofs.blocking import Arrangement
from dracfg.plan.proofs.lowerbounds import PerNode, Volume
from dracfg.plan.proofs.verdict import Proven, Refuted


def arrangement(proof: Assurance, ident: str) -> str | None:
    """The packing of a proof that something fits, the arrangement of one that a claim is blocked, or
    the sum that is more than there is, as `<svg>` text; None where nothing of it can be drawn.
    """
    drawing = Drawing(ident, "arrangement")
    verdict = proof.verdict
    if isinstance(verdict, Refuted) and isinstance(verdict.reason, Arrangement):
        height, description = draw_blocking(drawing, proof, verdict.reason)
    elif isinstance(verdict, Refuted) and isinstance(verdict.reason, Volume | PerNode):
        height, description = draw_bound(drawing, proof, verdict.reason)
    elif isinstance(verdict, Proven) and isinstance(verdict.certificate, tuple):
        demand = demand_of(proof, verdict.certificate)
        if demand is None:
            return None
        height, description = draw_packing(drawing, proof, demand, verdict.certificate)
    else:
        return None
    return drawing.closed(height, _title(proof), description)


def _title(proof: Assurance) -> str:
    several = f" in claims for {proof.devices:,} devices" if proof.devices > 1 else ""
    after = ", after reclaim" if proof.reclaimed else ""
    holding = proof.holding
    return (
        f"{QUESTIONS[proof.question]}: {proof.verdict.word}{after}. {holding.tenant.name} "
        f"{holding.what}{several}, {proof.market.supply.name}"
    )
