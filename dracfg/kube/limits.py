"""Limits of the Kubernetes API around DRA, by minor.

The numbers lie in data/limits.yaml with the minor since which each holds and their sources. It may
not know which object is being judged.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.features import feature_matrix
from dracfg.packaged import read_data

__all__ = ["Limits", "limits"]

WORD_START = re.compile(r"(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one minor allows at most; None where the minor has no such limit or no such field.

    Counts, unless the name ends in bytes, seconds, length (characters) or cost (CEL cost units).
    """

    requests_per_claim: int
    constraints_per_claim: int
    configs_per_claim: int
    request_names_per_constraint: int
    alternatives_per_request: int
    selectors_per_request: int
    selectors_per_class: int
    configs_per_class: int
    devices_per_claim: int
    configs_per_allocation: int
    reservations_per_claim: int
    tolerations_per_request: int
    derived_attributes_per_request: int | None
    opaque_parameters_bytes: int
    cel_expression_bytes: int
    cel_expression_cost: int
    derived_attributes_cost_per_claim: int | None
    devices_per_slice: int
    devices_per_slice_with_taints_or_counters: int | None
    devices_per_slice_with_list_attributes: int | None
    attributes_and_capacities_per_device: int
    attribute_values_per_device: int | None
    attribute_text_length: int
    taints_per_device: int
    binding_conditions_per_device: int
    shared_counters_per_slice: int | None
    consumed_counters_per_device: int | None
    consumed_counters_per_slice: int | None
    counter_sets_per_slice: int | None
    counters_per_set: int | None
    counter_consumptions_per_device: int | None
    counters_per_consumption: int | None
    compatibility_groups_per_consumption: int | None
    request_policy_values: int
    resource_claims_per_pod_group: int | None
    extended_resource_devices_per_pod: int
    scheduler_filter_seconds: int
    binding_seconds: int
    quota_key_prefix_length: int
    quota_key_name_length: int
    match_conditions_per_policy: int
    policy_evaluation_cost: int
    message_expression_bytes: int


@cache
def limits(minor: str) -> Limits:
    """The limits of a supported minor; KeyError for any other."""
    minors = feature_matrix().minors
    if minor not in minors:
        raise KeyError(minor)
    reached = minors[: minors.index(minor) + 1]
    values: dict[str, Any] = {}
    for name, entry in _entries().items():
        held = [entry["since"][known] for known in reached if known in entry["since"]]
        values[WORD_START.sub("_", name).lower()] = held[-1] if held else None
    return Limits(**values)


@cache
def _entries() -> dict[str, Any]:
    entries: dict[str, Any] = read_data("dracfg.kube", "data/limits.yaml")["limits"]
    return entries
