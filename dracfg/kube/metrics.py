"""Metrics of Kubernetes around DRA by minor, and the segments of a claim's way to a running pod.

The facts lie in data/metrics.yaml with their sources. It may not know of dashboards, alerts or a
cluster's gates: it says what a minor exports and what a metric waits for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.kube.features import feature_matrix
from dracfg.packaged import read_data

__all__ = ["Metric", "Moment", "Segment", "metric_name", "metrics", "slo_segments"]

MetricType = Literal["counter", "gauge", "histogram"]
MetricStage = Literal["alpha", "beta", "stable", "unknown"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as one minor exports it.

    `components` are the programs that do, `values` the label values that concern DRA, `gate` the
    Kubernetes gate without which it stays empty, `bound` the seconds of a histogram's last bucket
    where they are known. What is `declared` is exported only when a component is told to.
    """

    name: str
    components: tuple[str, ...]
    purposes: tuple[str, ...]
    type: MetricType
    stage: MetricStage
    labels: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]] = field(compare=False)
    gate: str | None
    bound: float | None
    declared: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that an object tells: in a field, or when a condition became true."""

    kind: str
    field: str | None = None
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of time between two moments.

    `end` is None where no object tells it; then `metric` is the purpose of the histogram that
    measures the stretch. With a `gate` the end exists only while that Kubernetes gate is on, and
    `fallback` is the moment to take else.
    """

    name: str
    start: Moment
    end: Moment | None
    metric: str | None
    gate: str | None
    fallback: Moment | None


@cache
def metrics(minor: str) -> Mapping[str, Metric]:
    """What a supported minor exports, by name; KeyError for any other minor."""
    minors = feature_matrix().minors
    if minor not in minors:
        raise KeyError(minor)
    reached = set(minors[: minors.index(minor) + 1])
    return {
        name: _metric(name, entry, reached)
        for name, entry in _document()["metrics"].items()
        if entry["since"] in reached and entry.get("until") not in reached
    }


def metric_name(purpose: str, minor: str) -> str | None:
    """The name under which a minor exports what serves a purpose; None where nothing does.

    Raises KeyError for a minor that is not supported.
    """
    exported = metrics(minor).values()
    return next((metric.name for metric in exported if purpose in metric.purposes), None)


@cache
def slo_segments() -> Mapping[str, Segment]:
    """The segments by name, in the order in which a claim passes through them."""
    return {name: _segment(name, entry) for name, entry in _document()["segments"].items()}


def _metric(name: str, entry: Mapping[str, Any], reached: set[str]) -> Metric:
    return Metric(
        name=name,
        components=tuple(c for c, since in entry["components"].items() if since in reached),
        purposes=tuple(entry["purposes"]),
        type=entry["type"],
        stage=entry["stage"],
        labels=tuple(label for label, since in entry["labels"].items() if since in reached),
        values={label: tuple(known) for label, known in entry.get("values", {}).items()},
        gate=entry.get("gate"),
        bound=entry.get("bound"),
        declared=entry.get("declared", False),
    )


def _segment(name: str, entry: Mapping[str, Any]) -> Segment:
    return Segment(
        name=name,
        start=Moment(**entry["from"]),
        end=Moment(**entry["to"]) if "to" in entry else None,
        metric=entry.get("metric"),
        gate=entry.get("gate"),
        fallback=Moment(**entry["fallback"]) if "fallback" in entry else None,
    )


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = read_data("dracfg.kube", "data/metrics.yaml")
    return document
