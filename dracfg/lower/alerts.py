"""Alerts → groups of Prometheus rules, as a plain file and as an object of the Prometheus operator.

What is watched, and from when on it is told, stands in data/alerts.yaml. Here are only the forms; what a
group is about is said by who asks for it, as subjects.
Sources: prometheus/prometheus docs/configuration/alerting_rules.md, recording_rules.md;
prometheus-operator/prometheus-operator pkg/apis/monitoring/v1 (PrometheusRule).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import Artifact, Origin, origin_of
from dracfg.lower.namespaces import OWN_NAMESPACE
from dracfg.lower.sync import make_synced
from dracfg.packaged import read_data

FILE = "alerts.yaml"
PAGE = "docs/alerts.md"
"""Has a section for every alert; clusters say where it is published."""
RULE_API = "monitoring.coreos.com/v1"

Group = dict[str, Any]
"""A group of a Prometheus rule file."""
Scope = Literal["cluster", "driver", "tier"]

_WORD = re.compile(r"<([A-Za-z]+)>")


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that alerts are made for. `words` fill the places of the data, `labels` go on each alert."""

    scope: Scope
    labels: Mapping[str, str]
    words: Mapping[str, str]


def alert_group(name: str, subjects: Iterable[Subject], page: str = PAGE) -> Group:
    """The group of that name in the data: each alert once for every subject that has all its words."""
    listed = tuple(subjects)
    rules = [
        rule
        for alert in _groups()[name]["alerts"]
        for subject in listed
        if subject.scope == alert["of"]
        for rule in _rules(page, alert, subject)
    ]
    return {"name": f"dracfg-{name}", "rules": rules}


def runbooks(cluster: Cluster) -> str:
    """Where the sections of alerts are found: the cluster's own word, else the page of dracfg."""
    return cluster.document.spec.runbooks or PAGE


def rule_file(file: str, origin: Origin, groups: Iterable[Group]) -> tuple[Artifact, ...]:
    """The groups as `promtool check rules` takes them; none where there is no rule."""
    kept = _kept(groups)
    return (Artifact({"groups": kept}, file, origin),) if kept else ()


def rule_object(cluster: Cluster, groups: Iterable[Group]) -> tuple[Artifact, ...]:
    """The same as a PrometheusRule, where the cluster has the operator."""
    kept = _kept(groups)
    if not kept or not cluster.document.spec.addons.prometheus_operator:
        return ()
    origin = origin_of(cluster.document, "spec", "addons", "prometheusOperator")
    made = make_synced(
        cluster,
        RULE_API,
        "PrometheusRule",
        "dracfg",
        origin,
        {"spec": {"groups": kept}},
        namespace=OWN_NAMESPACE,
    )
    return (Artifact(made, FILE, origin),)


def filled(text: str, words: Mapping[str, str]) -> str | None:
    """The text with its words filled in; None where one of them has no value."""
    if missing_words(text, words):
        return None
    return _WORD.sub(lambda found: words[found[1]], text)


def missing_words(text: str, words: Mapping[str, str]) -> tuple[str, ...]:
    """The words of a text that have no value, each once."""
    return tuple(dict.fromkeys(word for word in _WORD.findall(text) if word not in words))


def runbook_of(page: str, alert: str) -> str:
    """The address of an alert's section: headings become anchors in lower case."""
    return f"{page}#{alert.lower()}"


@cache
def _groups() -> Mapping[str, Any]:
    groups: Mapping[str, Any] = read_data("dracfg.lower", "data/alerts.yaml")["groups"]
    return groups


def _kept(groups: Iterable[Group]) -> list[Group]:
    return [group for group in groups if group["rules"]]


def _rules(page: str, alert: Mapping[str, str], subject: Subject) -> Iterator[dict[str, Any]]:
    texts = [filled(alert[key], subject.words) for key in ("expr", "for", "summary", "todo")]
    if None in texts:
        return
    expr, held, summary, todo = texts
    yield {
        "alert": alert["alert"],
        "expr": expr,
        "for": held,
        "labels": {
            "severity": alert["severity"],
            "audience": alert["audience"],
            **subject.labels,
        },
        "annotations": {
            "summary": summary,
            "description": todo,
            "runbook_url": runbook_of(page, alert["alert"]),
        },
    }
