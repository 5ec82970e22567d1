"""Objectives of tiers and clusters → recorded figures and the alerts on how fast their budget burns.

How each is measured stands in data/objectives.yaml. A figure is recorded, compared with its objective
minute by minute, and the minutes that miss it use up the budget: so an objective needs no bucket of a
histogram of its own. What can't be measured has no rule; `measures` says why, for rules over the catalog.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.kube.metrics import metric_name, metrics
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Cluster, Tier
from dracfg.lower.alerts import Group, Subject, filled, missing_words, runbook_of, runbooks
from dracfg.lower.subjects import cluster_subject, tier_subject, watched_tiers
from dracfg.model.objectives import DeviceMetrics, Objectives, WorkloadMetrics
from dracfg.packaged import read_data
from dracfg.source.times import parse_length

MISSED = "dracfg:objective:missed"
"""1 while a figure misses its objective, else 0; labels objective, cluster, and tier where there is one."""

Lack = Literal["minor", "declared", "never"]
"""Why an objective can't be measured: the minor or a gate of it, a name that nobody declares, or that no
metric tells tiers, or anything at all, apart."""


@dataclass(frozen=True, slots=True)
class Measure:
    """An objective of a cluster, or of one tier on it, and how it is measured.

    `limit` is in seconds, a share, or a count. `expr` is None where it can't be measured; then `lack` says
    why and `missing` names the words without a value. `bound` is the greatest figure that the metric tells.
    """

    key: str
    title: str
    unit: str
    limit: Fraction
    record: str
    subject: Subject
    expr: str | None
    lack: Lack | None = None
    missing: tuple[str, ...] = ()
    bound: Fraction | None = None


def measures(cluster: Cluster) -> Iterator[Measure]:
    """Every objective that holds on the cluster: its own, then those of its tiers by name."""
    if cluster.objectives is not None:
        yield from _measures(cluster, cluster.objectives, cluster_subject(cluster))
    for tier in watched_tiers(cluster):
        if tier.objectives is not None:
            yield from tier_measures(cluster, tier)


def tier_measures(cluster: Cluster, tier: Tier) -> Iterator[Measure]:
    """The objectives of one tier on a cluster."""
    if tier.objectives is not None:
        yield from _measures(cluster, tier.objectives, tier_subject(cluster, tier))


def objective_groups(cluster: Cluster) -> tuple[Group, ...]:
    """What is recorded, then what is told, of all objectives that can be measured."""
    found = [one for one in measures(cluster) if one.expr is not None]
    if not found:
        return ()
    recorded = [rule for one in found for rule in _records(one)]
    page = runbooks(cluster)
    told = [rule for burn in _facts()["burns"] for one in found for rule in _burns(page, burn, one)]
    return (
        {"name": "dracfg-objectives", "interval": "1m", "rules": recorded},
        {"name": "dracfg-objectives-burn", "rules": told},
    )


def limits(objectives: Objectives) -> Mapping[str, Fraction]:
    """The objectives that a document states, by key: lengths in seconds, shares and counts as they are."""
    stated = {
        field.alias or name: getattr(objectives, name)
        for name, field in type(objectives).model_fields.items()
    }
    return {key: _limit(said) for key, said in stated.items() if said is not None}


def shown(measure: Measure) -> str:
    """The objective as people write it: `30s`, `0.01`, `2`."""
    return f"{decimal(measure.limit)}{'s' if measure.unit == 'seconds' else ''}"


def objective_budget() -> Fraction:
    """The share of minutes in which an objective may be missed."""
    return Fraction(str(_facts()["budget"]))


def recorded_objectives() -> Mapping[str, str]:
    """The key of an objective by the name of the series that its figure is recorded under."""
    return {fact["record"]: key for key, fact in _facts()["objectives"].items()}


def decimal(number: Fraction) -> str:
    """An exact decimal without exponent, as PromQL reads it."""
    text = f"{Decimal(number.numerator) / Decimal(number.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _limit(said: str | Quantity) -> Fraction:
    if isinstance(said, Quantity):
        return Fraction(said.nano, 10**9)
    return Fraction(str(parse_length(said).total_seconds()))


def _measures(cluster: Cluster, objectives: Objectives, subject: Subject) -> Iterator[Measure]:
    facts = _facts()["objectives"]
    for key, limit in limits(objectives).items():
        fact = facts[key]
        base = Measure(key, fact["title"], fact["unit"], limit, fact["record"], subject, None)
        text = fact.get(subject.scope)
        if text is None:
            yield replace(base, lack="never")
            continue
        expr = filled(text, subject.words)
        if expr is not None:
            yield replace(base, expr=expr, bound=_bound(cluster, subject, fact))
            continue
        missing = missing_words(text, subject.words)
        lack: Lack = "declared" if _is_declared(missing) else "minor"
        yield replace(base, lack=lack, missing=missing)


def _is_declared(words: tuple[str, ...]) -> bool:
    """Whether one of the words is a name that only a document can give, or a count of the catalog."""
    fields = (*DeviceMetrics.model_fields.values(), *WorkloadMetrics.model_fields.values())
    return bool({"devices", *(field.alias or "" for field in fields)} & set(words))


def _bound(cluster: Cluster, subject: Subject, fact: Mapping[str, Any]) -> Fraction | None:
    """The last bucket of the histogram, where the figure comes from one and it is known."""
    name = metric_name(fact["metric"], cluster.minor) if "metric" in fact else None
    if name is None or f"<{fact['metric']}>" not in fact[subject.scope]:
        return None
    bound = metrics(cluster.minor)[name].bound
    return None if bound is None else Fraction(str(bound))


def _records(measure: Measure) -> Iterator[dict[str, Any]]:
    labels = _series(measure)
    at = _selector(labels)
    # NaN is the quantile of a histogram without an observation, and no figure.
    yield {"record": measure.record, "expr": f"({measure.expr}) >= 0", "labels": labels}
    yield {
        "record": MISSED,
        "expr": f"{measure.record}{at} > bool {decimal(measure.limit)}",
        "labels": labels | {"objective": measure.key},
    }


def _burns(page: str, burn: Mapping[str, Any], measure: Measure) -> Iterator[dict[str, Any]]:
    labels = _series(measure)
    missed = f"{MISSED}{_selector(labels | {'objective': measure.key})}"
    budget = objective_budget()
    pairs = []
    for pair in burn["pairs"]:
        share = decimal(Fraction(str(pair["factor"])) * budget)
        pairs.append(
            f"avg_over_time({missed}[{pair['long']}]) > {share} "
            f"and avg_over_time({missed}[{pair['short']}]) > {share}"
        )
    of = labels.get("tier") or "all claims"
    yield {
        "alert": burn["alert"],
        "expr": " or ".join(f"({pair})" for pair in pairs) if len(pairs) > 1 else pairs[0],
        "for": burn["for"],
        "labels": {
            "severity": burn["severity"],
            "audience": "platform",
            **measure.subject.labels,
            "objective": measure.key,
        },
        "annotations": {
            "summary": f"{measure.title} of {of} on {labels['cluster']} misses its objective of "
            f"{shown(measure)} too often",
            "description": "See which segment takes the time on the cluster's dashboard, then the alerts "
            "of that segment.",
            "runbook_url": runbook_of(page, burn["alert"]),
        },
    }


def _series(measure: Measure) -> dict[str, str]:
    """The labels of recorded series; a release in them would begin a new series with each upgrade."""
    return {k: v for k, v in measure.subject.labels.items() if k in ("cluster", "tier")}


def _selector(labels: Mapping[str, str]) -> str:
    inner = ", ".join(f'{name}="{value}"' for name, value in labels.items())
    # Series of all claims have no tier, those of tiers do.
    return f"{{{inner}}}" if "tier" in labels else f'{{{inner}, tier=""}}'


@cache
def _facts() -> Mapping[str, Any]:
    facts: Mapping[str, Any] = read_data("dracfg.lower", "data/objectives.yaml")
    return facts
