"""Roles of drivers and schedulers that others install."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.kube.objects import schema_faults
from dracfg.lower.thirdparty import third_party_roles


def test_a_driver_writes_slices_and_only_its_own_part_of_status(
    catalog_of: Any, platform: str
) -> None:
    driver, _ = third_party_roles(catalog_of(platform).clusters["east"])
    assert driver["metadata"]["name"] == "dracfg-driver-gpu.example.org"
    granular = [rule for rule in driver["rules"] if "resourceclaims/driver" in rule["resources"]]
    assert granular == [
        {
            "verbs": ["associated-node:update", "associated-node:patch"],
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceclaims/driver"],
            "resourceNames": ["gpu.example.org"],
        }
    ]
    resources = {resource for rule in driver["rules"] for resource in rule["resources"]}
    assert "resourceclaims/binding" not in resources


def test_a_scheduler_binds_cluster_wide_and_writes_no_slices(
    catalog_of: Any, platform: str
) -> None:
    _, scheduler = third_party_roles(catalog_of(platform).clusters["east"])
    verbs: dict[str, set[str]] = {}
    for rule in scheduler["rules"]:
        assert "resourceNames" not in rule
        for resource in rule["resources"]:
            verbs.setdefault(resource, set()).update(rule["verbs"])
    assert verbs["resourceclaims/binding"] == {"update", "patch"}
    assert verbs["resourceslices"] == {"get", "list", "watch"}
    assert "resourceclaims/driver" not in verbs


def test_a_driver_whose_account_is_known_is_bound(catalog_of: Any, platform: str) -> None:
    text = platform.replace(
        "spec: {attributes: {model",
        "spec: {serviceAccount: {namespace: gpu, name: d}, attributes: {model",
    )
    role, binding, _ = third_party_roles(catalog_of(text).clusters["east"])
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "d", "namespace": "gpu"}]
    assert schema_faults(binding, "1.36") == ()


def test_a_cluster_of_plugins_has_none(catalog_of: Any, platform: str) -> None:
    plugins = platform.replace("gpu.example.org: dra", "gpu.example.org: devicePlugin")
    assert third_party_roles(catalog_of(plugins).clusters["east"]) == ()


@pytest.mark.parametrize("minor", ["1.34", "1.37"])
def test_objects_fit_the_schema(catalog_of: Any, platform: str, minor: str) -> None:
    for role in third_party_roles(catalog_of(platform).clusters["east"]):
        assert schema_faults(role, minor) == ()
