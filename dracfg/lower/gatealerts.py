"""Limits at which rollouts must be halted → alerts on a cluster, one for each gate that a query answers.

A gate that documents alone answer has no alert: `dracfg rollout status` says it. What is halted, or on its
way back, need not be told to halt. Knows where a rollout stands by its document alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.gates import (
    Lacks,
    asked_gates,
    clusters_asked,
    in_units,
    query_of,
    rollout_gates,
    words_of,
)
from dracfg.lower.alerts import Group, filled, runbook_of
from dracfg.packaged import read_data

GROUP = "dracfg-rollout"
PAGE = "docs/rollouts.md"
"""Has a section on the alert."""


def gate_alerts(catalog: Catalog, cluster: Cluster) -> Group:
    """The group of a cluster; without a rule where no rollout has something to measure there."""
    return {"name": GROUP, "rules": list(_rules(catalog, cluster))}


def _rules(catalog: Catalog, cluster: Cluster) -> Iterator[dict[str, Any]]:
    for _, rollout in sorted(catalog.rollouts.items()):
        if rollout.spec.direction != "forward":
            continue
        words = words_of(catalog, rollout, cluster)
        for gate in asked_gates(rollout_gates(catalog, rollout.spec), "forward"):
            query = query_of(gate, words)
            asked = cluster in clusters_asked(catalog, rollout.spec, gate)
            if not asked or gate.halt is None or isinstance(query, Lacks):
                continue
            labels = {
                "cluster": cluster.name,
                "tier": rollout.spec.tier,
                "rollout": rollout.name,
                "stage": rollout.spec.stage,
                "gate": gate.name,
            }
            own = {
                "query": query,
                "limit": f"{in_units(gate.halt):.15g}",
                "unit": "s" if gate.in_seconds else "",
            }
            yield _rule(labels, labels | own)


def _rule(labels: Mapping[str, str], words: Mapping[str, str]) -> dict[str, Any]:
    facts = _facts()
    return {
        "alert": facts["alert"],
        "expr": filled(facts["expr"], words),
        "for": facts["for"],
        "labels": {"severity": facts["severity"], "audience": facts["audience"], **labels},
        "annotations": {
            "summary": filled(facts["summary"], words),
            "description": filled(facts["todo"], words),
            "runbook_url": runbook_of(PAGE, facts["alert"]),
        },
    }


@cache
def _facts() -> Mapping[str, str]:
    facts: Mapping[str, str] = read_data("dracfg.lower", "data/gatealerts.yaml")
    return facts
