"""Alerts → groups of Prometheus rules, as a plain file and as an object of the Prometheus operator.

What is watched, and from when on it is told, stands in data/alerts.yaml. Here are only the forms; what a
group is about is said by who asks for it, as subjects.
Sources: prometheus/prometheus docs/configuration/alerting_rules.md;
prometheus-operator/prometheus-operator pkg/apis/monitoring/v1 (PrometheusRule).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import Artifact, make, origin_of
from dracfg.lower.namespaces import OWN_NAMESPACE
from dracfg.packaged import read_data

FILE = "alerts.yaml"
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


def alert_group(name: str, subjects: Iterable[Subject]) -> Group:
    """The group of that name in the data: each alert once for every subject that has all its words."""
    facts = read_data("dracfg.lower", "data/alerts.yaml")["groups"][name]
    listed = tuple(subjects)
    rules = [
        rule
        for alert in facts["alerts"]
        for subject in listed
        if subject.scope == alert["of"]
        for rule in _rules(facts["page"], alert, subject)
    ]
    return {"name": f"dracfg-{name}", "rules": rules}


def rule_file(cluster: Cluster, groups: Sequence[Group]) -> tuple[Artifact, ...]:
    """The groups as `promtool check rules` takes them; none where there is no rule."""
    kept = [group for group in groups if group["rules"]]
    return (Artifact({"groups": kept}, FILE, origin_of(cluster.document)),) if kept else ()


def rule_object(cluster: Cluster, groups: Sequence[Group]) -> tuple[Artifact, ...]:
    """The same as a PrometheusRule, where the cluster has the operator."""
    kept = [group for group in groups if group["rules"]]
    if not kept or not cluster.document.spec.addons.prometheus_operator:
        return ()
    origin = origin_of(cluster.document, "spec", "addons", "prometheusOperator")
    made = make(
        RULE_API,
        "PrometheusRule",
        "dracfg",
        origin,
        {"spec": {"groups": kept}},
        namespace=OWN_NAMESPACE,
    )
    return (Artifact(made, FILE, origin),)


def _rules(page: str, alert: Mapping[str, str], subject: Subject) -> Iterator[dict[str, Any]]:
    texts = [alert[key] for key in ("expr", "for", "summary", "todo")]
    if not subject.words.keys() >= {word for text in texts for word in _WORD.findall(text)}:
        return
    expr, held, summary, todo = (
        _WORD.sub(lambda found: subject.words[found[1]], text) for text in texts
    )
    yield {
        "alert": alert["alert"],
        "expr": expr,
        "for": held,
        "labels": {"severity": alert["severity"], **subject.labels},
        "annotations": {
            "summary": summary,
            "description": todo,
            "documentation": f"{page}#{alert['section']}",
        },
    }
