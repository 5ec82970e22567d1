"""Numbers of claims and templates that quota lets through."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.link.catalog import Catalog
from dracfg.lower.quotas import CLAIMS, TEMPLATES, class_limits, object_numbers


def numbers(catalog: Catalog, namespace: str, templates: int = 0) -> tuple[int, int]:
    tenant = catalog.tenants["vision"]
    place = next(place for place in tenant.places if place.name == namespace)
    cluster = catalog.clusters["east"]
    limits = class_limits(cluster, tenant, place)
    found = object_numbers(cluster, tenant, place, limits, templates)
    return found[CLAIMS], found[TEMPLATES]


def test_claims_follow_from_the_limits_with_a_margin(
    catalog_of: Any, platform: str, vision: str
) -> None:
    catalog = catalog_of(platform, vision)
    tenant = catalog.tenants["vision"]
    limits = class_limits(catalog.clusters["east"], tenant, tenant.places[0])
    assert sum(limits.values()) == 18 + 8
    assert numbers(catalog, "vision-train")[0] == 26 + 10


def test_an_exporter_has_a_claim_on_every_node(catalog_of: Any, platform: str, vision: str) -> None:
    assert numbers(catalog_of(platform, vision), "vision-monitor")[0] == 8 + 10


def test_templates_have_room_for_retired_ones(catalog_of: Any, platform: str, vision: str) -> None:
    catalog = catalog_of(platform, vision)
    assert numbers(catalog, "vision-train")[1] == 2 * (1 + 3) + 10
    assert numbers(catalog, "vision-train", templates=30)[1] == 30 + 10
    own = catalog_of(platform, vision.replace("spec:\n", "spec:\n  ownClaims: true\n", 1))
    assert numbers(own, "vision-train")[1] == 2 * (1 + 3) + 10 + 50


@pytest.mark.parametrize("standing", [0, 4])
def test_a_removed_tenant_gets_nothing_new(
    catalog_of: Any, platform: str, vision: str, standing: int
) -> None:
    text = vision.replace("spec:\n", "spec:\n  state: removed\n", 1)
    assert numbers(catalog_of(platform, text), "vision-train", standing) == (0, standing)
