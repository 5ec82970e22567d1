"""The facts of a report as inline SVG, in the order of the sections that they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from dracfg.dataclass import dataclass
from dracfg.link.gates import rollout_gates
from dracfg.picture import (
    arrangement,
    columns_of,
    heatmap,
    joint_arrangement,
    matrix,
    stageline,
    waterfall,
)
from dracfg.plan.assurance import Assurance
from dracfg.plan.jointassurance import JointAssurance
from dracfg.report.document import Report
from dracfg.report.gathering import Facts

MOST_DRAWN = 60
"""Pictures of one kind; what there is more of stands in tables alone."""
MOST_TENANTS = 24
"""Tenants up to which the matrix is drawn as well as listed."""
_ACROSS = 9


@dataclass(frozen=True, slots=True)
class Pictures:
    """SVG by position in the report's lists; `matrix` is None where there are too many tenants."""

    waterfalls: Mapping[int, str] = field(default_factory=dict)
    heatmaps: Mapping[int, str] = field(default_factory=dict)
    evidence: Mapping[int, str] = field(default_factory=dict)
    stagelines: Mapping[int, str] = field(default_factory=dict)
    matrix: str | None = None


def draw(facts: Facts, report: Report) -> Pictures:
    """Every picture of a page; refuted proofs are drawn before those that hold."""
    catalog = facts.judged.catalog
    pools = {name: pool.document for name, pool in catalog.pools.items()}
    tenants = [tenant.name for tenant in report.tenants if tenant.holdings]
    columns = columns_of(facts.markets) if len(tenants) <= MOST_TENANTS else ()
    drawn = sorted(
        (i for i, one in enumerate(report.evidence) if one.devices or _is_joint(facts, i)),
        key=lambda i: report.evidence[i].form not in ("arrangement", "bound"),
    )
    evidence = {
        i: svg for i in drawn[:MOST_DRAWN] if (svg := _proof(facts.proofs.asked[i], i)) is not None
    }
    return Pictures(
        waterfalls={
            i: waterfall(one, f"capacity-{i}") for i, one in enumerate(facts.estimates[:MOST_DRAWN])
        },
        heatmaps={
            i: heatmap(one.name, one.entries, f"devices-{i}")
            for i, one in enumerate(facts.pools[:MOST_DRAWN])
        },
        evidence=evidence,
        stagelines={
            i: stageline(one, pools, f"rollout-{i}", rollout_gates(catalog, one.spec))
            for i, one in enumerate(list(catalog.rollouts.values())[:MOST_DRAWN])
        },
        matrix=matrix(columns, tenants, "tenants-by-tiers", across=_ACROSS) if columns else None,
    )


def _is_joint(facts: Facts, place: int) -> bool:
    return isinstance(facts.proofs.asked[place], JointAssurance)


def _proof(found: Assurance | JointAssurance, place: int) -> str | None:
    ident = f"evidence-{place}"
    if isinstance(found, JointAssurance):
        return joint_arrangement(found, ident)
    return arrangement(found, ident)
