"""PriorityClasses, and how many pods of each a namespace may have."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.kube.objects import schema_faults
from dracfg.link.catalog import Catalog
from dracfg.lower.priorities import priority_artifacts, priority_quotas

PRIORITIES = """\
  priorities:
    - {name: urgent, value: 1000}
    - {name: patient, value: -5, preempts: false}
"""


@pytest.fixture
def with_priorities(platform: str) -> str:
    first, mark, rest = platform.partition("---")
    return f"{first}{PRIORITIES}{mark}{rest}"


def pods(catalog: Catalog) -> dict[tuple[str, str], str]:
    found = priority_quotas(catalog.clusters["east"], catalog.tenants["vision"])
    return {
        (
            quota.object["metadata"]["namespace"],
            quota.object["spec"]["scopeSelector"]["matchExpressions"][0]["values"][0],
        ): quota.object["spec"]["hard"]["pods"]
        for quota in found
    }


def test_classes_say_whether_they_preempt(catalog_of: Any, with_priorities: str) -> None:
    made = [a.object for a in priority_artifacts(catalog_of(with_priorities).clusters["east"])]
    assert [(o["metadata"]["name"], o["value"], o["preemptionPolicy"]) for o in made] == [
        ("urgent", 1000, "PreemptLowerPriority"),
        ("patient", -5, "Never"),
    ]
    assert all(schema_faults(thing, minor) == () for thing in made for minor in ("1.34", "1.37"))


def test_kueue_gets_the_same_numbers(catalog_of: Any, with_priorities: str) -> None:
    text = with_priorities.replace("  priorities:", '  addons: {kueue: "0.18"}\n  priorities:')
    made = [a.object for a in priority_artifacts(catalog_of(text).clusters["east"])]
    queued = [o for o in made if o["kind"] == "WorkloadPriorityClass"]
    assert [(o["apiVersion"], o["metadata"]["name"], o["value"]) for o in queued] == [
        ("kueue.x-k8s.io/v1beta2", "urgent", 1000),
        ("kueue.x-k8s.io/v1beta2", "patient", -5),
    ]


def test_who_was_not_given_a_priority_has_no_pod_of_it(
    catalog_of: Any, with_priorities: str, vision: str
) -> None:
    assert set(pods(catalog_of(with_priorities, vision)).values()) == {"0"}


def test_an_entitlement_bounds_the_pods_of_its_priority(
    catalog_of: Any, with_priorities: str, vision: str
) -> None:
    text = vision.replace("guaranteed: 16}", "guaranteed: 16, limit: 20, priority: urgent}")
    assert pods(catalog_of(with_priorities, text)) == {
        ("vision-train", "urgent"): "20",
        ("vision-train", "patient"): "0",
        ("vision-monitor", "urgent"): "0",
        ("vision-monitor", "patient"): "0",
    }


def test_a_profile_gives_its_priority_to_what_it_names(
    catalog_of: Any, with_priorities: str, vision: str
) -> None:
    text = vision.replace("- name: either", "- name: either\n      priority: patient")
    assert pods(catalog_of(with_priorities, text))["vision-train", "patient"] == "10"


def test_pods_that_share_a_claim_count_each(
    catalog_of: Any, with_priorities: str, vision: str
) -> None:
    text = vision.replace("guaranteed: 16}", "guaranteed: 16, priority: urgent}")
    text += "  sharedClaims: [{name: all, profile: train, namespace: vision-train, pods: 5}]\n"
    assert pods(catalog_of(with_priorities, text))["vision-train", "urgent"] == "20"


def test_a_removed_tenant_has_none(catalog_of: Any, with_priorities: str, vision: str) -> None:
    text = vision.replace("guaranteed: 16}", "guaranteed: 16, priority: urgent}")
    text = text.replace("spec:\n", "spec:\n  state: removed\n", 1)
    assert set(pods(catalog_of(with_priorities, text)).values()) == {"0"}
