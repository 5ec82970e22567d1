"""The record of what tenants lend each other."""

from __future__ import annotations

import json
from typing import Any

from dracfg.kube.objects import schema_faults
from dracfg.lower.offers import offer_artifacts

LENDER = "  offers: [{entitlement: slice, size: 10Gi, count: 3, to: search}]\n"
TAKER = """
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: search}
spec:
  namespaces: [{name: search-b, clusters: [east]}, {name: search-a, clusters: [east]}]
  acceptedOffers: [{from: vision, entitlement: slice, size: 10Gi, count: 3}]
"""


def test_there_is_no_record_without_an_offer(catalog_of: Any, platform: str, vision: str) -> None:
    catalog = catalog_of(platform, vision)
    assert offer_artifacts(catalog, catalog.clusters["east"]) == ()


def test_an_offer_is_recorded_with_all_that_an_audit_asks(
    catalog_of: Any, platform: str, vision: str
) -> None:
    catalog = catalog_of(platform, vision + LENDER, TAKER)
    (artifact,) = offer_artifacts(catalog, catalog.clusters["east"])
    assert (artifact.file, artifact.object["metadata"]["namespace"]) == (
        "offers.yaml",
        "dracfg-system",
    )
    assert "immutable" not in artifact.object
    assert json.loads(artifact.object["data"]["offers.json"]) == [
        {
            "from": "vision",
            "to": "search",
            "entitlement": "slice",
            "size": "10Gi",
            "count": 3,
            "policy": "slices",
            "policyVersion": catalog.policies["slices"].version,
            "classes": ["l40s-slices-10gi"],
            "namespaces": {
                "from": ["vision-monitor", "vision-train"],
                "to": ["search-a", "search-b"],
            },
        }
    ]
    assert [str(origin) for origin in artifact.via] == [
        "all.yaml#Tenant/search/spec/acceptedOffers/0"
    ]
    assert schema_faults(artifact.object, "1.36") == ()


def test_a_removed_taker_holds_nothing(catalog_of: Any, platform: str, vision: str) -> None:
    taker = TAKER.replace("spec:\n", "spec:\n  state: removed\n", 1)
    catalog = catalog_of(platform, vision + LENDER, taker)
    assert offer_artifacts(catalog, catalog.clusters["east"]) == ()
