"""Recorded use and objectives as data, beside the capacity plan."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from dracfg.lower.objectives import decimal, shown
from dracfg.plan.estimate import Estimate, planning_figure
from dracfg.plan.usage import Kept, Series, Use
from dracfg.source.times import format_time


def usage_document(found: Iterable[Use]) -> list[dict[str, Any]]:
    """`{cluster, tier, key, points, first, last, p50, p95, p99, now, promised, promiseable, share,
    growthPerDay, lastsDays, why}`.

    Amounts are rounded down to the unit of the catalog, `share` and `growthPerDay` are of what can be
    promised, and `why` says what keeps growth or its end from being told.
    """
    return [_use(one) for one in found]


def objectives_document(found: Iterable[Kept]) -> list[dict[str, Any]]:
    """`{cluster, tier, objective, limit, points, p50, p99, missedShare, verdict}`; tier is null for a
    whole cluster, figures are numbers in seconds, shares or counts."""
    return [
        {
            "cluster": one.measure.subject.words["cluster"],
            "tier": one.measure.subject.words.get("tier"),
            "objective": one.measure.key,
            "limit": shown(one.measure),
            "points": one.points,
            "p50": _number(one.p50),
            "p99": _number(one.p99),
            "missedShare": _number(one.missed),
            "verdict": one.word,
        }
        for one in found
    ]


def lost_document(found: Iterable[Series]) -> list[dict[str, str]]:
    """The labels of series that are of no tier of the catalog."""
    return [dict(sorted(one.labels.items())) for one in found]


def _use(one: Use) -> dict[str, Any]:
    estimate = one.estimate
    promiseable = estimate.promiseable
    return {
        "cluster": estimate.supply.cluster.name,
        "tier": estimate.supply.tier.name,
        "key": estimate.key,
        "points": one.points,
        "first": format_time(one.first),
        "last": format_time(one.last),
        "p50": _amount(estimate, one.p50),
        "p95": _amount(estimate, one.p95),
        "p99": _amount(estimate, one.p99),
        "now": _amount(estimate, one.now),
        "promised": estimate.show(estimate.promised),
        "promiseable": estimate.show(promiseable),
        "share": f"{one.now / promiseable:.2f}" if promiseable else None,
        "growthPerDay": _growth(one),
        "lastsDays": None if one.lasts is None else int(one.lasts),
        "why": one.why,
    }


def _amount(estimate: Estimate, amount: int) -> str:
    """Rounded down to the unit that the catalog writes the key in."""
    return str(planning_figure(1, estimate.like, Fraction(amount, estimate.like.nano)))


def _growth(one: Use) -> str | None:
    promiseable = one.estimate.promiseable
    if one.growth is None or not promiseable:
        return None
    return f"{one.growth / promiseable:+.2%}"


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(decimal(value))
