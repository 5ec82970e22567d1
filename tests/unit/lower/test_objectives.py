"""Objectives: what they come to, how they are measured, and what is recorded of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dracfg.kube.features import feature_matrix
from dracfg.kube.metrics import metrics
from dracfg.lower.objectives import MISSED, decimal, limits, measures, objective_groups
from dracfg.model.objectives import Objectives
from dracfg.packaged import read_data
from tests.unit.lower.conftest import CatalogOf

FACTS = read_data("dracfg.lower", "data/objectives.yaml")
CLUSTER = """
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec:
  kubernetes: "MINOR"
  distribution: generic
  gitops: {engine: plain}
  objectives: {allocationP99: 1m30s, rejectionRate: 0.005, unavailableDevices: 0.1}
---
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.example.org}
spec: {attributes: {model: string}}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: a100}
spec:
  driver: gpu.example.org
  match: {attributes: {model: A100}}
  objectives: {statusConvergenceP99: 10s, rejectionRate: 0.01, restartsPerDay: 2}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: a100-east}
spec:
  cluster: east
  nodes: 2
  nodeSelector: {pool: a100}
  devices: [{tier: a100, perNode: 8}]
  owner: {gpu.example.org: dra}
"""


def test_every_objective_of_the_language_is_measured_somehow() -> None:
    keys = {field.alias for field in Objectives.model_fields.values()}
    assert keys == FACTS["objectives"].keys()
    for fact in FACTS["objectives"].values():
        assert {"cluster", "tier"} & fact.keys()
        assert fact["unit"] in ("seconds", "share", "count")
    records = [fact["record"] for fact in FACTS["objectives"].values()]
    assert len(records) == len(set(records))


@pytest.mark.parametrize("minor", feature_matrix().minors)
def test_a_bound_is_of_a_metric_of_the_minor(minor: str) -> None:
    purposes = {purpose for metric in metrics(minor).values() for purpose in metric.purposes}
    for fact in FACTS["objectives"].values():
        assert fact.get("metric", "schedulingSeconds") in purposes | {"bindingSeconds"}


def test_lengths_are_seconds_and_shares_are_exact(catalog_of: CatalogOf) -> None:
    cluster = catalog_of(CLUSTER.replace("MINOR", "1.36")).clusters["east"]
    assert cluster.objectives is not None
    assert limits(cluster.objectives) == {
        "allocationP99": Fraction(90),
        "rejectionRate": Fraction(5, 1000),
        "unavailableDevices": Fraction(1, 10),
    }
    assert [decimal(Fraction(n)) for n in (90, Fraction(5, 1000), Fraction(144, 1000))] == [
        "90", "0.005", "0.144",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("minor", "lacks"),
    [
        ("1.35", {"unavailableDevices": "never", "statusConvergenceP99": "minor",
                  "restartsPerDay": "declared", "rejectionRate": "never"}),
        ("1.36", {"unavailableDevices": "never", "restartsPerDay": "declared",
                  "rejectionRate": "never"}),
    ],
)  # fmt: skip
def test_what_can_not_be_measured_says_why(
    catalog_of: CatalogOf, minor: str, lacks: dict[str, str]
) -> None:
    cluster = catalog_of(CLUSTER.replace("MINOR", minor)).clusters["east"]
    found = list(measures(cluster))
    assert {one.key: one.lack for one in found if one.lack is not None} == lacks
    assert all((one.expr is None) == (one.lack is not None) for one in found)


def test_figures_are_recorded_before_they_are_compared(catalog_of: CatalogOf) -> None:
    cluster = catalog_of(CLUSTER.replace("MINOR", "1.37")).clusters["east"]
    recorded, told = objective_groups(cluster)
    names = [rule["record"] for rule in recorded["rules"]]
    assert names == [
        "dracfg:allocation_seconds:p99", MISSED,
        "dracfg:claims_refused:ratio", MISSED,
        "dracfg:status_convergence_seconds:p99", MISSED,
    ]  # fmt: skip
    assert recorded["rules"][1]["expr"].endswith("> bool 90")
    assert recorded["rules"][4]["labels"] == {"cluster": "east", "tier": "a100"}
    assert len(told["rules"]) == 3 * len(FACTS["burns"])
    assert "[1h]) > 0.144 and" in told["rules"][0]["expr"]
    assert told["rules"][2]["labels"]["tier"] == "a100"


def test_no_objective_no_rule(catalog_of: CatalogOf) -> None:
    text = CLUSTER.replace("MINOR", "1.37")
    bare = "\n".join(line for line in text.split("\n") if "objectives:" not in line)
    assert objective_groups(catalog_of(bare).clusters["east"]) == ()
