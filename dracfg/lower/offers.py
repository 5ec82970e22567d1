"""What tenants lend each other → a record on the cluster, for whoever audits who holds what.

An offer moves numbers between quotas and lets nobody reach a foreign claim; that is done where
grants are linked. Here it is only written down.
"""

from __future__ import annotations

import json
from typing import Any

from dracfg.link.catalog import Catalog, Cluster, Grant, Tenant
from dracfg.link.classes import class_name
from dracfg.lower.artifact import Artifact, Origin, origin_of
from dracfg.lower.namespaces import OWN_NAMESPACE
from dracfg.lower.sync import make_synced

FILE = "offers.yaml"
NAME = "dracfg-offers"
KEY = "offers.json"


def offer_artifacts(catalog: Catalog, cluster: Cluster) -> tuple[Artifact, ...]:
    """The ConfigMap of all accepted offers that hold on the cluster; none without an offer.

    `offers.json` is a list of `{from, to, entitlement, size, count, policy, policyVersion, classes,
    namespaces: {from, to}}`, by giver, taker, entitlement and size; a size is `-` where there is
    none, a version `-` for whole devices. `classes` are those through which the taker gets it.
    """
    found: list[tuple[dict[str, Any], Origin]] = []
    for tenant in catalog.tenants_on(cluster.name):
        if tenant.document.spec.state == "removed":
            continue
        for grant in tenant.grants_on(cluster.name):
            if grant.lender is not None:
                found += _of_grant(catalog, cluster, tenant, grant)
    if not found:
        return ()
    found.sort(key=lambda one: [one[0][key] for key in ("from", "to", "entitlement", "size")])
    text = json.dumps([entry for entry, _ in found], indent=1, ensure_ascii=False) + "\n"
    origin = origin_of(cluster.document)
    body = {"data": {KEY: text}}
    made = make_synced(cluster, "v1", "ConfigMap", NAME, origin, body, namespace=OWN_NAMESPACE)
    return (Artifact(made, FILE, origin, tuple(dict.fromkeys(via for _, via in found))),)


def _of_grant(
    catalog: Catalog, cluster: Cluster, taker: Tenant, grant: Grant
) -> list[tuple[dict[str, Any], Origin]]:
    giver = catalog.tenants.get(grant.lender or "")
    if giver is None:
        return []
    found = []
    for i, accepted in enumerate(taker.document.spec.accepted_offers):
        part = grant.policy.part(accepted.size)
        same = f"{accepted.from_}-{accepted.entitlement}" == grant.name
        if not same or part is None or part.name not in grant.numbers:
            continue
        entry = {
            "from": giver.name,
            "to": taker.name,
            "entitlement": accepted.entitlement,
            "size": part.name or "-",
            "count": accepted.count,
            "policy": grant.policy.name,
            "policyVersion": grant.policy.version or "-",
            "classes": [class_name(grant.tier.name, grant.policy, part)],
            "namespaces": {
                "from": _namespaces(giver, cluster),
                "to": _namespaces(taker, cluster),
            },
        }
        found.append((entry, origin_of(taker.document, "spec", "acceptedOffers", i)))
    return found


def _namespaces(tenant: Tenant, cluster: Cluster) -> list[str]:
    return sorted(place.name for place in tenant.places_on(cluster.name))
