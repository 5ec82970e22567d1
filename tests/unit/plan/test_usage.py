"""Recorded use: quantiles, growth, the day on which a tier is full, and objectives that were met."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.plan.estimate import estimates
from dracfg.plan.usage import NotUsage, Series, Use, kept_objectives, quantile, read_series, uses
from dracfg.source.composer import compose

DAY = 86400
CATALOG = """
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: east}
spec:
  kubernetes: "1.36"
  distribution: generic
  gitops: {engine: plain}
  objectives: {allocationP99: 30s}
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
  objectives: {preparationP99: 10s}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: a100-east}
spec:
  cluster: east
  nodes: 6
  nodeSelector: {pool: a100}
  devices: [{tier: a100, perNode: 8}]
  owner: {gpu.example.org: dra}
  spare: {nodes: 1}
---
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  access: {use: [{group: vision-eng}]}
  namespaces: [{name: vision-train, clusters: [east]}]
  entitlements: [{name: gpu, tier: a100, guaranteed: 24}]
  profiles: [{name: train, requests: [{name: gpu, entitlement: gpu}]}]
"""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    documents, _ = compose("all.yaml", CATALOG)
    parsed = parse(documents)
    found, _ = index(parsed.documents)
    return link(found, parsed.poisoned).catalog


def answered(
    values: list[float], *, name: str = "devices_in_use", step: int = DAY, **labels: str
) -> Any:
    """What Prometheus answers: a moment in seconds, a value as text."""
    return {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [
                {
                    "metric": {"__name__": name, "cluster": "east", **labels},
                    "values": [[1_790_000_000 + i * step, str(v)] for i, v in enumerate(values)],
                }
            ],
        },
    }


def used(catalog: Catalog, values: list[float], **more: Any) -> Use:
    series = list(read_series(answered(values, tier="a100", **more)))
    (found,), lost = uses(estimates(catalog), series)
    assert lost == ()
    return found


def test_a_tier_that_grows_is_full_on_a_day(catalog: Catalog) -> None:
    # 40 devices can be promised: 48 less 8 on the spare node. From 10 on, one more a day.
    found = used(catalog, [10 + day for day in range(11)])
    assert found.estimate.promiseable == 40 * 10**9
    assert found.estimate.promised == 24 * 10**9
    assert (found.now, found.growth) == (20 * 10**9, 10**9)
    assert found.lasts is not None
    assert round(found.lasts, 6) == 20
    assert found.why is None


@pytest.mark.parametrize(
    ("values", "step", "growth", "why"),
    [
        ([10, 11, 12], DAY, None, "growth needs 10 points over 7 days; recorded are 3 over 2.0"),
        (
            list(range(20)),
            3600,
            None,
            "growth needs 10 points over 7 days; recorded are 20 over 0.8",
        ),
        ([10, 30] * 6, DAY, None, "no steady growth"),
        ([12] * 12, DAY, None, "no steady growth"),
        ([30 - day for day in range(12)], DAY, -(10**9), "use does not grow"),
        ([10 + day / 1000 for day in range(12)], DAY, 10**6, "lasts more than ten years"),
    ],
)
def test_what_keeps_an_end_from_being_told(
    catalog: Catalog, values: list[float], step: int, growth: int | None, why: str
) -> None:
    found = used(catalog, values, step=step)
    assert (found.growth, found.lasts, found.why) == (growth, None, why)


def test_a_tier_that_is_past_full_lasts_no_day(catalog: Catalog) -> None:
    assert used(catalog, [30 + 2 * day for day in range(11)]).lasts == 0


def test_quantiles_are_values_that_were_recorded(catalog: Catalog) -> None:
    found = used(catalog, [float(n) for n in range(1, 101)], step=60)
    assert [n // 10**9 for n in (found.p50, found.p95, found.p99)] == [50, 95, 99]


@given(st.lists(st.integers(0, 1000), min_size=1), st.fractions(Fraction(1, 100), 1))
def test_a_quantile_is_the_least_that_enough_do_not_exceed(
    values: list[int], share: Fraction
) -> None:
    numbers = [Fraction(value) for value in values]
    found = quantile(numbers, share)
    assert sum(number <= found for number in numbers) >= share * len(numbers)
    assert sum(number < found for number in numbers) < share * len(numbers)


def test_series_of_nothing_in_the_catalog_are_told(catalog: Catalog) -> None:
    series = list(read_series(answered([1.0], tier="h100")))
    found, lost = uses(estimates(catalog), series)
    assert found == ()
    assert [one.labels["tier"] for one in lost] == ["h100"]


def test_one_key_is_told_by_one_series(catalog: Catalog) -> None:
    series = [*read_series(answered([1.0], tier="a100"))] * 2
    with pytest.raises(NotUsage, match="east a100 devices is told by several series"):
        uses(estimates(catalog), series)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({}, "no answer of a range query"),
        ([], "no answer of a range query"),
        ({"data": {"resultType": "vector", "result": []}}, "no answer of a range query"),
        (
            {"data": {"resultType": "matrix", "result": [{"metric": {}}]}},
            r"result\[0\] has no metric",
        ),
        (
            {"data": {"resultType": "matrix", "result": [{"metric": {"tier": "a"}, "values": []}]}},
            r"result\[0\] has no label cluster",
        ),
        (
            {"data": {"resultType": "matrix", "result": [{"metric": {}, "values": [["x", "1"]]}]}},
            r"result\[0\] has no metric",
        ),
    ],
)
def test_what_is_no_record(document: Any, why: str) -> None:
    with pytest.raises(NotUsage, match=why):
        list(read_series(document))


def test_a_value_that_is_no_number_is_left_out() -> None:
    document = answered([1.0, 2.0], tier="a100")
    document["data"]["result"][0]["values"][0][1] = "NaN"
    (series,) = read_series(document)
    assert [value for _, value in series.points] == [2]


@pytest.mark.parametrize(
    ("slow", "word"), [(0, "met"), (1, "met"), (2, "missed")]
)  # of 100 points, one may be above
def test_an_objective_has_a_budget(catalog: Catalog, slow: int, word: str) -> None:
    values = [31.0] * slow + [30.0] * (100 - slow)
    series = list(read_series(answered(values, name="dracfg:allocation_seconds:p99")))
    first, second = kept_objectives(catalog, series)
    assert (first.measure.key, first.word, first.points) == ("allocationP99", word, 100)
    assert first.missed == Fraction(slow, 100)
    assert (second.measure.key, second.word) == ("preparationP99", "unknown")


def test_an_objective_of_a_tier_is_its_own(catalog: Catalog) -> None:
    series = list(read_series(answered([11.0], name="dracfg:preparation_seconds:p99", tier="a100")))
    first, second = kept_objectives(catalog, series)
    assert (first.word, second.word) == ("unknown", "missed")
    assert isinstance(series[0], Series)
    assert uses(estimates(catalog), series) == ((), ())
