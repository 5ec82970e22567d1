"""What Prometheus recorded of devices in use and of objectives → how full tiers are, and until when.

Read are answers of its range queries (`/api/v1/query_range`), as they are. Each series has a label
`cluster`; a series that an objective is recorded under is a figure of it, with `tier` where it is of
one tier. Every other series is an amount in use of its `tier`, and of the capacity that its label `key`
names, in that capacity's own unit; whole devices without it. Moments of several nodes are to be summed
by the query.
Source: prometheus/prometheus docs/querying/api.md (range vectors).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import ceil
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog
from dracfg.lower.objectives import (
    Measure,
    measures,
    objective_budget,
    recorded_objectives,
)
from dracfg.plan.estimate import DEVICES, Estimate
from dracfg.source.prometheus import NotAnAnswer, Result, results_of

LEAST_POINTS = 10
LEAST_DAYS = 7
"""Points and days from which on a growth is told at all."""
LEAST_FIT = 0.5
"""The share of the variance that a straight line must explain to be called growth."""
MOST_DAYS = 3650
"""Beyond ten years nothing is told of an end."""

_DAY = 86400
_UNIT = 10**9

Word = Literal["met", "missed", "unknown"]


class NotUsage(Exception):
    """What a file lacks to be recorded usage."""


@dataclass(frozen=True, slots=True)
class Series:
    """One recorded series: its labels, and points by rising second."""

    labels: Mapping[str, str]
    points: tuple[tuple[Fraction, Fraction], ...]

    @property
    def name(self) -> str:
        return self.labels.get("__name__", "")


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """What was in use of one key of a tier. Amounts are billionths of its unit, as in an Estimate.

    `growth` is an amount a day, None where too little is recorded or no line fits it; `lasts` are the days
    until what can be promised is in use at that growth.
    """

    estimate: Estimate
    points: int
    first: datetime
    last: datetime
    p50: int
    p95: int
    p99: int
    now: int
    growth: int | None
    lasts: Fraction | None
    why: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Whether an objective was met in what was recorded. `missed` is the share of points above it."""

    measure: Measure
    points: int
    p50: Fraction | None
    p99: Fraction | None
    missed: Fraction | None
    word: Word


def read_series(document: Any) -> Iterator[Series]:
    """The series of an answer of Prometheus. Raises NotUsage for anything else."""
    try:
        for result in results_of(document, "matrix"):
            yield _series(result)
    except NotAnAnswer as reason:
        raise NotUsage(str(reason)) from None


def _series(result: Result) -> Series:
    try:
        points = tuple(_points(result.value))
    except (TypeError, ValueError, InvalidOperation):
        raise NotUsage(f"data.result[{result.number}] has no metric and values") from None
    if "cluster" not in result.labels:
        raise NotUsage(f"data.result[{result.number}] has no label cluster")
    return Series(result.labels, points)


def uses(
    estimates: Iterable[Estimate], series: Iterable[Series]
) -> tuple[tuple[Use, ...], tuple[Series, ...]]:
    """(what was in use, in the order of the estimates; series that are of nothing in the catalog)."""
    recorded = recorded_objectives()
    amounts: dict[tuple[str, str, str], Series] = {}
    for one in series:
        if one.name in recorded or not one.points:
            continue
        labels = one.labels
        place = labels["cluster"], labels.get("tier", ""), labels.get("key", DEVICES)
        if place in amounts:
            raise NotUsage(f"{' '.join(place)} is told by several series; sum them in the query")
        amounts[place] = one
    found = []
    for estimate in estimates:
        supply = estimate.supply
        at = (supply.cluster.name, supply.tier.name, estimate.key)
        if supply.owner == "dra" and at in amounts:
            found.append(_use(estimate, amounts.pop(at)))
    return tuple(found), tuple(amounts.values())


def kept_objectives(catalog: Catalog, series: Iterable[Series]) -> tuple[Kept, ...]:
    """Every objective of the catalog, cluster by cluster, beside what was recorded of it."""
    recorded = recorded_objectives()
    figures = {
        (one.labels["cluster"], one.labels.get("tier", ""), recorded[one.name]): one
        for one in series
        if one.name in recorded
    }
    return tuple(
        _kept(
            measure, figures.get((cluster.name, measure.subject.words.get("tier", ""), measure.key))
        )
        for cluster in catalog.clusters.values()
        for measure in measures(cluster)
    )


def quantile(values: Sequence[Fraction], share: Fraction) -> Fraction:
    """The least value that this share of all does not exceed; ValueError where there is none."""
    if not values:
        raise ValueError("no value has no quantile")
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def _points(values: Sequence[Any]) -> Iterator[tuple[Fraction, Fraction]]:
    for moment, text in values:
        number = Decimal(str(text))
        if number.is_finite():
            yield Fraction(Decimal(str(moment))), Fraction(number)


def _use(estimate: Estimate, series: Series) -> Use:
    values = [value for _, value in series.points]
    growth, lasts, why = _growth(estimate, series)
    return Use(
        estimate=estimate,
        points=len(values),
        first=_moment(series.points[0][0]),
        last=_moment(series.points[-1][0]),
        p50=_nano(quantile(values, Fraction(1, 2))),
        p95=_nano(quantile(values, Fraction(95, 100))),
        p99=_nano(quantile(values, Fraction(99, 100))),
        now=_nano(values[-1]),
        growth=growth,
        lasts=lasts,
        why=why,
    )


def _growth(estimate: Estimate, series: Series) -> tuple[int | None, Fraction | None, str | None]:
    """(amount a day, days until it is used up, why one of them is not told), by least squares."""
    points = series.points
    days = (points[-1][0] - points[0][0]) / _DAY
    if len(points) < LEAST_POINTS or days < LEAST_DAYS:
        need = f"{LEAST_POINTS} points over {LEAST_DAYS} days"
        return None, None, f"growth needs {need}; recorded are {len(points)} over {float(days):.1f}"
    xs = [float(moment - points[0][0]) / _DAY for moment, _ in points]
    ys = [float(value) for _, value in points]
    middle, level = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - middle) ** 2 for x in xs)
    height = sum((y - level) ** 2 for y in ys)
    slope = sum((x - middle) * (y - level) for x, y in zip(xs, ys, strict=True)) / spread
    fit = slope**2 * spread / height if height else 0.0
    if not height or fit < LEAST_FIT:
        return None, None, "no steady growth"
    growth = _nano(Fraction(slope))
    if growth <= 0:
        return growth, None, "use does not grow"
    reached = level + slope * (xs[-1] - middle)
    left = Fraction(max(0.0, float(Fraction(estimate.promiseable, _UNIT)) - reached)) / Fraction(
        slope
    )
    if left > MOST_DAYS:
        return growth, None, "lasts more than ten years"
    return growth, left, None


def _kept(measure: Measure, series: Series | None) -> Kept:
    values = [value for _, value in series.points] if series is not None else []
    if not values:
        return Kept(measure, 0, None, None, None, "unknown")
    missed = Fraction(sum(value > measure.limit for value in values), len(values))
    return Kept(
        measure,
        len(values),
        quantile(values, Fraction(1, 2)),
        quantile(values, Fraction(99, 100)),
        missed,
        "met" if missed <= objective_budget() else "missed",
    )


def _nano(amount: Fraction) -> int:
    return round(amount * _UNIT)


def _moment(seconds: Fraction) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)
