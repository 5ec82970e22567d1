"""Rows of panels and objectives of a cluster → Grafana dashboards, as files and as ConfigMaps.

What is shown stands in data/dashboards.yaml, over the same words as alerts. The sidecar of Grafana's chart
takes ConfigMaps with the label `grafana_dashboard`.
Sources: grafana/grafana-foundation-sdk (dashboard, timeseries, prometheus targets);
grafana/helm-charts charts/grafana/values.yaml (sidecar.dashboards.label).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from dracfg.link.catalog import Cluster
from dracfg.link.parts import digest
from dracfg.lower.alerts import Subject, filled
from dracfg.lower.artifact import Artifact, origin_of
from dracfg.lower.namespaces import OWN_NAMESPACE
from dracfg.lower.objectives import Measure, decimal, measures, shown
from dracfg.lower.subjects import cluster_subject, driver_subjects, tier_subject, watched_tiers
from dracfg.lower.sync import make_synced
from dracfg.packaged import read_data

FILE = "dashboards.yaml"
LABEL = "grafana_dashboard"
SCHEMA = 39
"""The version of the dashboard's schema, that of Grafana 10.4; later ones migrate it when they load it."""

Json = dict[str, Any]

# Braces around the name would be filled in by Flux.
_SOURCE: Json = {"type": "prometheus", "uid": "$datasource"}
_WIDTH, _HEIGHT, _COLUMNS = 8, 8, 24
_UID_LENGTH = 40
_UNITS = {"seconds": "s", "share": "percentunit", "count": "short"}


def dashboards(cluster: Cluster) -> Mapping[str, Json]:
    """The dashboards of a cluster by name; none where no claim ever gets a device."""
    tiers = watched_tiers(cluster)
    if not tiers:
        return {}
    subjects = (
        cluster_subject(cluster),
        *driver_subjects(cluster),
        *(tier_subject(cluster, tier) for tier in tiers),
    )
    return {
        f"dracfg-{name}": _dashboard(cluster, name, fact, subjects)
        for name, fact in _facts().items()
    }


def dashboard_texts(cluster: Cluster) -> dict[str, str]:
    """The same as files to import, by name."""
    return {f"{name}.json": _text(made) for name, made in dashboards(cluster).items()}


def dashboard_objects(cluster: Cluster) -> tuple[Artifact, ...]:
    """The same as ConfigMaps, where the cluster has Grafana's sidecar."""
    if not cluster.document.spec.addons.grafana:
        return ()
    origin = origin_of(cluster.document, "spec", "addons", "grafana")
    return tuple(
        Artifact(
            make_synced(
                cluster,
                "v1",
                "ConfigMap",
                f"{name}-dashboard",
                origin,
                {"data": {f"{name}.json": _text(made)}},
                namespace=OWN_NAMESPACE,
                labels={LABEL: "1"},
            ),
            FILE,
            origin,
        )
        for name, made in dashboards(cluster).items()
    )


@cache
def _facts() -> Mapping[str, Any]:
    facts: Mapping[str, Any] = read_data("dracfg.lower", "data/dashboards.yaml")["dashboards"]
    return facts


def _text(made: Json) -> str:
    return f"{json.dumps(made, indent=1, ensure_ascii=False)}\n"


def _dashboard(
    cluster: Cluster, name: str, fact: Mapping[str, Any], subjects: Sequence[Subject]
) -> Json:
    rows = [*_objective_rows(cluster), *_rows(fact["rows"], subjects)]
    return {
        "uid": _uid(name, cluster.name),
        "title": filled(fact["title"], subjects[0].words),
        "tags": ["dracfg", cluster.name],
        "timezone": "utc",
        "editable": False,
        "graphTooltip": 1,
        "schemaVersion": SCHEMA,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [
                {"type": "datasource", "name": "datasource", "label": "Prometheus",
                 "query": "prometheus"}
            ]
        },
        "panels": list(_placed(rows)),
    }  # fmt: skip


def _uid(name: str, cluster: str) -> str:
    """The address of the dashboard, the same after each compile; Grafana takes 40 characters."""
    uid = f"dracfg-{name}-{cluster}"
    return uid if len(uid) <= _UID_LENGTH else f"dracfg-{name}-{digest([cluster])}"


def _rows(
    facts: Sequence[Mapping[str, Any]], subjects: Sequence[Subject]
) -> Iterator[tuple[str, list[Json]]]:
    for row in facts:
        for subject in subjects:
            if subject.scope != row["of"]:
                continue
            panels = [made for fact in row["panels"] if (made := _panel(fact, subject))]
            title = filled(row["title"], subject.words)
            if panels and title is not None:
                yield title, panels


def _panel(fact: Mapping[str, Any], subject: Subject) -> Json | None:
    queries = {
        legend: expr
        for legend, text in fact["queries"].items()
        if (expr := filled(text, subject.words)) is not None
    }
    title = filled(fact["title"], subject.words)
    if not queries or title is None:
        return None
    return _made(title, fact["unit"], queries)


def _objective_rows(cluster: Cluster) -> Iterator[tuple[str, list[Json]]]:
    panels = [_objective(one) for one in measures(cluster) if one.expr is not None]
    if panels:
        yield "Objectives", panels


def _objective(measure: Measure) -> Json:
    tier = measure.subject.words.get("tier", "")
    series = f'{measure.record}{{cluster="{measure.subject.words["cluster"]}", tier="{tier}"}}'
    limit = decimal(measure.limit)
    queries = {"now": series, f"objective {shown(measure)}": f"vector({limit})"}
    title = f"{tier or 'All claims'}: {measure.title}"
    return _made(title, _UNITS[measure.unit], queries)


def _made(title: str, unit: str, queries: Mapping[str, str]) -> Json:
    return {
        "type": "timeseries",
        "title": title,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": _reference(i), "datasource": _SOURCE, "expr": expr, "legendFormat": legend}
            for i, (legend, expr) in enumerate(queries.items())
        ],
    }


def _reference(position: int) -> str:
    return chr(ord("A") + position)


def _placed(rows: Sequence[tuple[str, list[Json]]]) -> Iterator[Json]:
    """Panels with their numbers and places: rows one below another, three panels beside each other."""
    number, top = 0, 0
    for title, panels in rows:
        number += 1
        place = {"x": 0, "y": top, "w": _COLUMNS, "h": 1}
        row = {"id": number, "type": "row", "title": title, "collapsed": False, "panels": []}
        yield {**row, "gridPos": place}
        top += 1
        for i, panel in enumerate(panels):
            number += 1
            line, column = divmod(i, _COLUMNS // _WIDTH)
            place = {"x": column * _WIDTH, "y": top + line * _HEIGHT, "w": _WIDTH, "h": _HEIGHT}
            yield {"id": number, **panel, "gridPos": place}
        top += -(-len(panels) * _WIDTH // _COLUMNS) * _HEIGHT
