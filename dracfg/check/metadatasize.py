"""How large a metadata file can get: the devices that profiles ask for, with every exposed attribute.

An upper bound by the API's own limits; attributes beyond the allow-list are not counted, as nobody
knows them.
"""

from __future__ import annotations

import json
from typing import Any

from dracfg.link.catalog import Catalog
from dracfg.link.claims import claim_plan
from dracfg.link.classes import device_classes
from dracfg.link.exposure import GROUP, Exposure

_WIDEST: dict[str, Any] = {
    "string": "x" * 64,
    "version": "1" * 64,
    "int": -(2**63),
    "bool": False,
}
"""The longest value of each scalar type (kubernetes/api resource/v1/types.go: 64 characters)."""


def largest_file(catalog: Catalog, exposure: Exposure) -> int:
    """The most bytes that a file of the tier can have on the cluster, in all versions that it holds.

    Indented as the library of 1.36 writes it.
    """
    devices = _most_devices(catalog, exposure)
    if not devices:
        return 0
    attributes = {
        key: {kind: [_WIDEST[kind[:-1]]] * 8 if kind not in _WIDEST else _WIDEST[kind]}
        for key, kind in exposure.attributes.items()
        if kind != "unknown"
    }
    device: dict[str, Any] = {
        "driver": exposure.tier.driver.name,
        "pool": "x" * 63,
        "name": "x" * 63,
        "attributes": attributes,
    }
    if exposure.settings.network_data:
        device["networkData"] = {
            "interfaceName": "x" * 15,
            "ips": ["x" * 43] * 2,
            "hardwareAddress": "x" * 17,
        }
    name = "x" * 63
    document = {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "DeviceMetadata",
        "metadata": {"name": name * 2, "namespace": name, "uid": "x" * 36, "generation": 1},
        "podClaimName": name,
        "requests": [{"name": f"{name}/{name}", "devices": [device] * devices}],
    }
    return (len(json.dumps(document, indent=2)) + 1) * len(exposure.versions)


def _most_devices(catalog: Catalog, exposure: Exposure) -> int:
    """The most devices of the tier that one request of a profile can get on the cluster."""
    cluster = exposure.cluster
    classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
    most = 0
    for tenant in catalog.tenants_on(cluster.name):
        for profile in tenant.document.spec.profiles:
            plan = claim_plan(tenant, profile, cluster, classes)
            for request in plan.requests if plan is not None else ():
                counts = (ask.count for ask in request.asks if ask.grant.tier is exposure.tier)
                most = max(most, *counts, 0)
    return most
