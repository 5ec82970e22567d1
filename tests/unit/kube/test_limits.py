"""Limits by minor."""

from __future__ import annotations

import pytest

from dracfg.kube.limits import limits


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("devices_per_claim", (32, 32, 32, 32)),
        ("alternatives_per_request", (8, 8, 8, 8)),
        ("reservations_per_claim", (256, 256, 256, 256)),
        ("taints_per_device", (4, 16, 16, 16)),
        ("attribute_values_per_device", (None, None, 48, 48)),
        ("derived_attributes_per_request", (None, None, None, 32)),
        ("devices_per_slice_with_taints_or_counters", (None, 64, 64, 64)),
        ("shared_counters_per_slice", (32, None, None, None)),
        ("counter_sets_per_slice", (None, 8, 8, 8)),
        ("opaque_parameters_bytes", (10240, 10240, 10240, 10240)),
        ("resource_claims_per_pod_group", (None, None, 4, 4)),
    ],
)
def test_limit(name: str, expected: tuple[int | None, ...]) -> None:
    minors = ("1.34", "1.35", "1.36", "1.37")
    assert tuple(getattr(limits(minor), name) for minor in minors) == expected


def test_unknown_minor() -> None:
    with pytest.raises(KeyError):
        limits("1.33")
