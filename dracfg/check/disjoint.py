"""TEN054: classes of different tiers must never take the same device, else no quota bounds it."""

from __future__ import annotations

from dracfg.check.rule import listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.model.base import at
from dracfg.plan.disjoint import NOTHING_RECORDED, Inventories, TierProof, tier_proofs

_MOST_DEVICES = 3


def check_disjoint(
    catalog: Catalog, inventories: Inventories = NOTHING_RECORDED
) -> tuple[Diagnostic, ...]:
    """TEN054 for each pair of tiers that is not proven disjoint, once for all clusters."""
    found: dict[Diagnostic, None] = {}
    for proof in tier_proofs(catalog, inventories):
        if proof.by is None:
            found[_overlap(proof)] = None
    return tuple(found)


def _overlap(proof: TierProof) -> Diagnostic:
    first, second = proof.tiers
    shown = list(proof.words[:_MOST_DEVICES])
    if len(proof.words) > _MOST_DEVICES:
        shown.append(f"{len(proof.words) - _MOST_DEVICES} more")
    found = (
        f"both take {listed(shown)}" if shown else "nothing in their matches keeps devices apart"
    )
    return diagnose(
        "TEN054",
        at(second.document, "metadata", "name"),
        f"devices of {second.name} may be devices of {first.name} as well, so that the quota of "
        f"neither bounds them: {found}",
        related=[Related(at(first.document, "metadata", "name"), "the other tier")],
        help="match both on one attribute with different values, such as productName, "
        "or on capacity bounds that don't meet",
    )
