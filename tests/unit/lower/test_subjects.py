"""Words of alerts and dashboards: what a cluster exports, what is declared, and whose a namespace is."""

from __future__ import annotations

import pytest

from dracfg.lower.subjects import (
    catalogued,
    cluster_subject,
    driver_subject,
    tier_subject,
    watched_tiers,
)
from dracfg.lower.tenancy import Tenancy
from dracfg.lower.tierplaces import place_group
from tests.unit.lower.conftest import CatalogOf

CLAIM_METRICS = {"claimAllocated", "claimReserved", "devicesPublished"}


@pytest.mark.parametrize("said", [False, True])
def test_what_must_be_told_to_be_exported(catalog_of: CatalogOf, platform: str, said: bool) -> None:
    text = platform.replace(
        "  distribution: kubeadm\n", "  distribution: kubeadm\n  addons: {claimMetrics: true}\n"
    )
    cluster = catalog_of(text if said else platform).clusters["east"]
    words = cluster_subject(cluster).words
    assert (words.keys() & CLAIM_METRICS) == (CLAIM_METRICS if said else set())


@pytest.mark.parametrize(
    ("minor", "gates", "known"),
    [
        ("1.35", "", False),
        ("1.36", "", True),
        ("1.36", "  featureGates: {DRADeviceBindingConditions: false}\n", False),
    ],
)
def test_a_metric_needs_its_gate(
    catalog_of: CatalogOf, platform: str, minor: str, gates: str, known: bool
) -> None:
    text = platform.replace('"1.36"\n', f'"{minor}"\n{gates}')
    words = cluster_subject(catalog_of(text).clusters["east"]).words
    assert ("bindings" in words) is known
    assert ("bindingSeconds" in words) is known


def test_the_drivers_own_word_comes_first(catalog_of: CatalogOf, platform: str) -> None:
    told = platform.replace(
        "  distribution: kubeadm\n", "  distribution: kubeadm\n  addons: {claimMetrics: true}\n"
    )
    own = told.replace("shareable: true}", "shareable: true, deviceMetrics: {published: mine}}")
    found = []
    for text in (platform, told, own):
        catalog = catalog_of(text)
        driver = catalog.drivers["gpu.example.org"]
        found.append(driver_subject(catalog.clusters["east"], driver).words.get("published"))
    assert found == [None, 'kube_resourceslice_devices_total{driver="gpu.example.org"}', "mine"]


def test_devices_are_counted_where_dra_hands_them_out(catalog_of: CatalogOf, platform: str) -> None:
    catalog = catalog_of(platform)
    driver = catalog.drivers["gpu.example.org"]
    assert catalogued(catalog.clusters["east"], driver) == 4 * 8 + 4 * 4
    first, _, rest = platform.partition("owner: {gpu.example.org: dra}")
    half = catalog_of(f"{first}owner: {{gpu.example.org: devicePlugin}}{rest}")
    left = catalogued(half.clusters["east"], half.drivers["gpu.example.org"])
    assert left == 4 * 4
    assert [tier.name for tier in watched_tiers(half.clusters["east"])] == ["l40s"]


def test_a_tier_has_the_words_of_its_driver(catalog_of: CatalogOf, platform: str) -> None:
    catalog = catalog_of(platform)
    subject = tier_subject(catalog.clusters["east"], catalog.tiers["a100"])
    assert subject.labels == {"cluster": "east", "driver": "gpu.example.org", "tier": "a100"}
    assert subject.words["tierPlaces"] == 'dracfg:tier_namespace:info{tier="a100"}'
    assert subject.words["devices"] == "48"


def test_places_are_those_of_profiles(catalog_of: CatalogOf, platform: str, vision: str) -> None:
    catalog = catalog_of(platform, vision)
    tenant = catalog.tenants["vision"]
    places = Tenancy(catalog, catalog.clusters["east"], tenant).tiers
    assert places == {
        "vision-monitor": ("a100", "l40s"),
        "vision-train": ("a100", "l40s"),
    }
    group = place_group(tenant, places)
    assert [rule["expr"] for rule in group["rules"]] == ["vector(1)"] * 4


def test_a_tenant_that_left_has_no_place(catalog_of: CatalogOf, platform: str, vision: str) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  state: removed\n"))
    left = Tenancy(catalog, catalog.clusters["east"], catalog.tenants["vision"])
    assert left.tiers == {}
