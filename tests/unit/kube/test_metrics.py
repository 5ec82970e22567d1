"""Metrics by minor, and the segments of an SLO."""

from __future__ import annotations

import pytest

from dracfg.kube.features import feature_matrix
from dracfg.kube.metrics import Moment, metric_name, metrics, slo_segments

MINORS = feature_matrix().minors
CREATES = "dynamic_resource_allocation_resourceclaim_creates_total"


@pytest.mark.parametrize(
    ("purpose", "names"),
    [
        ("claimsCreated", ("resourceclaim_controller_creates_total",) * 3 + (CREATES,)),
        (
            "claims",
            ("resourceclaim_controller_resource_claims",) * 3
            + ("dynamic_resource_allocation_resource_claims",),
        ),
        (
            "claimsCreatedByScheduler",
            (None, *("scheduler_resourceclaim_creates_total",) * 2, CREATES),
        ),
        (
            "bindings",
            (None, None, *("scheduler_dra_bindingconditions_allocations_total",) * 2),
        ),
        ("prepareSeconds", ("dra_operations_duration_seconds",) * 4),
        ("nothing", (None,) * 4),
    ],
)
def test_name(purpose: str, names: tuple[str | None, ...]) -> None:
    assert tuple(metric_name(purpose, minor) for minor in MINORS) == names


def test_labels_of_a_minor() -> None:
    name = "resourceclaim_controller_resource_claims"
    assert metrics("1.34")[name].labels == ("allocated", "admin_access")
    assert metrics("1.35")[name].labels == ("allocated", "admin_access", "source")


def test_two_components_share_a_name_in_1_37() -> None:
    assert metrics("1.37")[CREATES].components == ("kube-controller-manager", "kube-scheduler")


def test_names_that_only_the_kep_lists_are_not_known() -> None:
    for minor in MINORS:
        known = metrics(minor)
        assert "resourceclaim_controller_create_total" not in known
        assert "dra_operations_seconds" not in known


@pytest.mark.parametrize("minor", MINORS)
def test_a_minor_is_consistent(minor: str) -> None:
    served: dict[str, str] = {}
    for metric in metrics(minor).values():
        assert metric.components
        assert set(metric.values) <= set(metric.labels)
        assert metric.gate is None or feature_matrix().gate(metric.gate) is not None
        if metric.components != ("kube-state-metrics",):
            # kube-state-metrics has a gauge that ends in _total.
            assert (metric.type == "counter") == metric.name.endswith("_total")
        assert metric.bound is None or metric.type == "histogram"
        for purpose in metric.purposes:
            assert served.setdefault(purpose, metric.name) == metric.name


def test_unknown_minor() -> None:
    with pytest.raises(KeyError):
        metrics("1.33")


def test_segments_in_order() -> None:
    segments = slo_segments()
    assert list(segments) == ["created", "allocated", "bound", "prepared", "ready"]
    assert segments["created"].start == Moment("Pod", "metadata.creationTimestamp")
    assert segments["ready"].end == Moment("Pod", condition="Ready")


def test_the_end_of_an_allocation_waits_for_a_gate() -> None:
    allocated = slo_segments()["allocated"]
    assert allocated.gate == "DRADeviceBindingConditions"
    assert allocated.fallback == Moment("Pod", condition="PodScheduled")


def test_a_segment_ends_at_a_moment_or_is_measured_by_a_metric() -> None:
    for segment in slo_segments().values():
        assert (segment.end is None) == (segment.metric is not None)
        if segment.metric is not None:
            assert all(metric_name(segment.metric, minor) for minor in MINORS)
