"""Tiers and sharing policies in linked form: what a device is, and the parts it is handed out in."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.link.catalog import Catalog, Part, Policy, Pool, PoolDevices, Tier
from dracfg.link.classes import class_name, device_classes
from dracfg.link.parts import policy_numbers
from dracfg.lower.selectors import tier_expression
from dracfg.show.clusters import class_document
from dracfg.show.document import Document, linked, plain, present, shown


def tier_document(catalog: Catalog, tier: Tier) -> Document:
    """`kind: LinkedTier`: the match and its CEL, one device as published, pools and classes."""
    spec = tier.document.spec
    return linked(
        "LinkedTier",
        tier.document,
        driver=present(name=tier.driver.name, version=tier.driver.document.spec.version),
        match=plain(spec.match),
        expression=tier_expression(tier),
        device={
            **plain(spec.device),
            "capacity": {key: str(amount) for key, amount in tier.capacity.items()},
        },
        legacyResource=spec.legacy_resource,
        takesOverLegacyName=spec.takes_over_legacy_name,
        expose=list(spec.expose),
        deviceMetadata=None if spec.device_metadata is None else plain(spec.device_metadata),
        reclaim=None if spec.reclaim is None else plain(spec.reclaim),
        pools=[
            {
                "name": pool.name,
                "cluster": pool.cluster,
                "state": pool.state,
                "owner": pool.owner(tier.driver),
                "nodes": pool.document.spec.nodes,
                "perNode": devices.per_node,
                "sharing": [policy.name for policy in devices.policies],
            }
            for pool, devices in _offers(catalog)
            if devices.tier is tier
        ],
        classes=[
            {"cluster": cluster.name, **class_document(plan)}
            for cluster in catalog.clusters.values()
            for plan in device_classes(catalog, cluster)
            if plan.tier is tier
        ],
    )


def policy_document(catalog: Catalog, policy: Policy) -> Document:
    """`kind: LinkedPolicy`: its numbers and their version, its parts, and where it is in force.

    The built-in policy has neither place nor version.
    """
    uses = [
        {"pool": pool.name, "cluster": pool.cluster, "tier": devices.tier.name}
        for pool, devices in _offers(catalog)
        if policy in devices.policies and pool.owner(devices.tier.driver) == "dra"
    ]
    tiers = sorted({use["tier"] for use in uses})
    fields = {
        **plain(policy.spec),
        "version": policy.version or None,
        "numbers": policy_numbers(policy.spec),
        "parts": [_part(policy, part, tiers) for part in policy.parts],
        "pools": uses,
    }
    if policy.document is None:
        return shown("LinkedPolicy", name=policy.name, builtIn=True, **fields)
    return linked("LinkedPolicy", policy.document, **fields)


def _part(policy: Policy, part: Part, tiers: list[str]) -> Document:
    """`size` is what tenants write, `suffix` what stands behind the policy's name in class names."""
    return present(
        size=part.name or None,
        suffix=part.suffix or None,
        capacity={key: str(amount) for key, amount in part.capacity.items()} or None,
        partition=None if part.partition is None else plain(part.partition),
        classes=[class_name(tier, policy, part) for tier in tiers],
    )


def _offers(catalog: Catalog) -> Iterator[tuple[Pool, PoolDevices]]:
    for pool in catalog.pools.values():
        for devices in pool.devices:
            yield pool, devices
