"""Where policies meet tiers: the pools on which DRA hands out a tier under a policy.

A rule that judges a policy by a tier's devices asks here once for each pair, however many pools
have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.link.catalog import Catalog, Policy, Pool, Tenant, Tier
from dracfg.link.driver import Driver
from dracfg.link.memo import per_catalog
from dracfg.model.base import at
from dracfg.model.tenant import Alternative, Request


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A policy in force for a tier on a pool. `place` is where the pool lists the policy."""

    pool: Pool
    tier: Tier
    policy: Policy
    place: Span


def uses(catalog: Catalog) -> Iterator[Use]:
    """Every policy in force, pool by pool; pools whose plugin hands the tier out have none."""
    for pool in catalog.pools.values():
        for i, devices in enumerate(pool.devices):
            if pool.owner(devices.tier.driver) != "dra":
                continue
            for policy in devices.policies:
                place = listing(pool, i, policy.name)
                yield Use(pool, devices.tier, policy, place)


def pairs(catalog: Catalog) -> Iterator[Use]:
    """The first use of each (tier, policy)."""
    seen: set[tuple[str, str]] = set()
    for use in uses(catalog):
        key = (use.tier.name, use.policy.name)
        if key not in seen:
            seen.add(key)
            yield use


@per_catalog
def entitled(catalog: Catalog, tenant: Tenant) -> Mapping[str, tuple[Tier, Policy]]:
    """What stands behind each name that a profile of the tenant may use, own names winning.

    Names are the tenant's entitlements and `<lender>-<entitlement>`; one that leads nowhere is
    left out.
    """
    known: dict[str, tuple[Tier, Policy]] = {}
    for accepted in tenant.document.spec.accepted_offers:
        lender = catalog.tenants.get(accepted.from_)
        for entitlement in lender.document.spec.entitlements if lender is not None else ():
            if entitlement.name == accepted.entitlement:
                known[f"{accepted.from_}-{accepted.entitlement}"] = (
                    catalog.tiers[entitlement.tier],
                    catalog.policies[entitlement.sharing],
                )
    for entitlement in tenant.document.spec.entitlements:
        tier, policy = catalog.tiers[entitlement.tier], catalog.policies[entitlement.sharing]
        known[entitlement.name] = (tier, policy)
    return known


def drivers_of(
    known: Mapping[str, tuple[Tier, Policy]], requests: Iterable[Request]
) -> tuple[Driver, ...]:
    """The drivers behind some requests, alternatives included; `known` as `entitled` gives it."""
    found: dict[str, Driver] = {}
    for request in requests:
        wanted: tuple[Request | Alternative, ...] = request.any_of or (request,)
        for one in wanted:
            tier, _ = known.get(one.entitlement or "", (None, None))
            if tier is not None:
                found[tier.driver.name] = tier.driver
    return tuple(found.values())


def listing(pool: Pool, entry: int, policy: str) -> Span:
    """Where a pool lists a policy for one of its devices; the tier's name where nothing is listed."""
    spec = pool.document.spec
    own = spec.devices[entry].sharing
    if own is not None:
        return at(pool.document, "spec", "devices", entry, "sharing", own.index(policy))
    if "sharing" in spec.model_fields_set:
        return at(pool.document, "spec", "sharing", spec.sharing.index(policy))
    return at(pool.document, "spec", "devices", entry, "tier")
