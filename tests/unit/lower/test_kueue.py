"""Queues and quotas of Kueue, and what its Configuration must say."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dracfg.link.catalog import Catalog
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.lower.kueue import (
    cluster_queues,
    counted_classes,
    kueue_artifacts,
    kueue_configuration,
    local_queues,
)
from dracfg.lower.kueuefacts import kueue_facts


def with_kueue(platform: str, version: str) -> str:
    first, mark, rest = platform.partition("---")
    return f'{first}  addons: {{kueue: "{version}"}}\n{mark}{rest}'


def counted(catalog: Catalog) -> tuple[ClassPlan, ...]:
    cluster = catalog.clusters["east"]
    return counted_classes(catalog, cluster, device_classes(catalog, cluster))


def queue(catalog: Catalog) -> dict[str, Any]:
    (found,) = cluster_queues(catalog.clusters["east"], catalog.tenants["vision"], counted(catalog))
    spec: dict[str, Any] = found.object["spec"]
    return spec


def quotas(group: dict[str, Any]) -> dict[str, dict[str, str]]:
    (flavor,) = group["flavors"]
    assert [one["name"] for one in flavor["resources"]] == group["coveredResources"]
    return {
        one["name"].removeprefix("devices.dracfg.dev/"): {
            key: value for key, value in one.items() if key != "name"
        }
        for one in flavor["resources"]
    }


def test_without_the_add_on_there_is_nothing(catalog_of: Any, platform: str, vision: str) -> None:
    catalog = catalog_of(platform, vision)
    cluster, tenant = catalog.clusters["east"], catalog.tenants["vision"]
    assert kueue_artifacts(catalog, cluster, counted(catalog)) == ()
    assert cluster_queues(cluster, tenant, counted(catalog)) == ()
    assert local_queues(cluster, tenant, counted(catalog)) == ()
    assert kueue_configuration(cluster, counted(catalog)) is None


def test_guarantees_are_nominal_and_the_rest_is_borrowed(
    catalog_of: Any, platform: str, vision: str
) -> None:
    text = vision.replace("guaranteed: 16}", "guaranteed: 16, limit: 20}")
    spec = queue(catalog_of(with_kueue(platform, "0.19"), text))
    assert quotas(spec["resourceGroups"][0]) == {
        "a100": {"nominalQuota": "18", "borrowingLimit": "4"},
        "l40s-slices-10gi": {"nominalQuota": "8", "borrowingLimit": "0"},
    }
    assert spec["cohortName"] == "dracfg-devices"
    assert spec["preemption"]["reclaimWithinCohort"] == "Any"
    assert spec["namespaceSelector"] == {"matchLabels": {"dracfg.dev/tenant": "vision"}}


def test_only_whole_devices_that_nobody_is_promised_are_lent_to_all(
    catalog_of: Any, platform: str, vision: str
) -> None:
    catalog = catalog_of(with_kueue(platform, "0.19"), vision)
    flavor, cohort = kueue_artifacts(catalog, catalog.clusters["east"], counted(catalog))
    assert quotas(cohort.object["spec"]["resourceGroups"][0]) == {"a100": {"nominalQuota": "14"}}
    assert flavor.object["metadata"]["name"] == "dracfg-devices"
    tight = catalog_of(with_kueue(platform, "0.19"), vision.replace(": 16}", ": 30}"))
    _, cohort = kueue_artifacts(tight, tight.clusters["east"], counted(tight))
    assert cohort.object["spec"] == {}


@pytest.mark.parametrize(
    ("state", "policy"), [("active", "None"), ("frozen", "Hold"), ("draining", "Hold")]
)
def test_a_tenant_on_its_way_out_starts_nothing(
    catalog_of: Any, platform: str, vision: str, state: str, policy: str
) -> None:
    text = vision.replace("spec:\n", f"spec:\n  state: {state}\n", 1)
    assert queue(catalog_of(with_kueue(platform, "0.19"), text))["stopPolicy"] == policy


def test_a_removed_tenant_has_no_queue(catalog_of: Any, platform: str, vision: str) -> None:
    text = vision.replace("spec:\n", "spec:\n  state: removed\n", 1)
    catalog = catalog_of(with_kueue(platform, "0.19"), text)
    assert counted(catalog) == ()
    assert local_queues(catalog.clusters["east"], catalog.tenants["vision"], ()) == ()


def test_every_namespace_has_a_queue(catalog_of: Any, platform: str, vision: str) -> None:
    catalog = catalog_of(with_kueue(platform, "0.19"), vision)
    found = local_queues(catalog.clusters["east"], catalog.tenants["vision"], counted(catalog))
    assert [
        (a.object["metadata"]["namespace"], a.object["spec"]["clusterQueue"]) for a in found
    ] == [
        ("vision-train", "dracfg-vision"),
        ("vision-monitor", "dracfg-vision"),
    ]


@pytest.mark.parametrize(
    ("version", "api", "gates"),
    [
        ("0.14", "v1beta1", {"DynamicResourceAllocation": True}),
        ("0.17.3", "v1beta2", {"DynamicResourceAllocation": True}),
        ("0.18", "v1beta2", None),
        ("0.19", "v1beta2", None),
    ],
)
def test_each_version_gets_its_own_words(
    catalog_of: Any,
    platform: str,
    vision: str,
    version: str,
    api: str,
    gates: dict[str, bool] | None,
) -> None:
    catalog = catalog_of(with_kueue(platform, version), vision)
    text = kueue_configuration(catalog.clusters["east"], counted(catalog))
    assert text is not None
    assert "rollout restart" in text
    said = yaml.safe_load(text)
    assert said["apiVersion"] == f"config.kueue.x-k8s.io/{api}"
    assert said.get("featureGates") == gates
    assert said["resources"]["deviceClassMappings"] == [
        {"name": "devices.dracfg.dev/a100", "deviceClassNames": ["a100"]},
        {"name": "devices.dracfg.dev/l40s-slices-10gi", "deviceClassNames": ["l40s-slices-10gi"]},
    ]
    assert ("cohort" in queue(catalog)) is (api == "v1beta1")


@pytest.mark.parametrize(("version", "gates"), [("0.18", True), ("0.19", False)])
def test_a_class_with_an_extended_name_is_counted_by_that_alone(
    catalog_of: Any, platform: str, vision: str, version: str, gates: bool
) -> None:
    text = platform.replace(
        "  match: {attributes: {model: A100}}\n",
        "  match: {attributes: {model: A100}}\n"
        "  legacyResource: example.org/gpu\n  takesOverLegacyName: true\n",
    )
    catalog = catalog_of(with_kueue(text, version), vision)
    said = yaml.safe_load(kueue_configuration(catalog.clusters["east"], counted(catalog)) or "")
    names = [entry["deviceClassNames"] for entry in said["resources"]["deviceClassMappings"]]
    assert names == [["l40s-slices-10gi"]]
    assert "example.org/gpu" in quotas(queue(catalog)["resourceGroups"][0])
    assert ("KueueDRAIntegrationExtendedResource" in said.get("featureGates", {})) is gates


def test_what_kueue_refuses_ends_with_a_release() -> None:
    before, after = kueue_facts("0.18.1"), kueue_facts("0.18.2")
    assert before is not None
    assert after is not None
    assert set(before.refused) - set(after.refused) == {"constraints", "config"}
    assert "firstAvailable" in after.refused


@pytest.mark.parametrize("version", [None, "0.13", "0.20"])
def test_nothing_is_known_of_others(version: str | None) -> None:
    assert kueue_facts(version) is None
