"""What the profiles of one tenant ask for on one cluster, as numbers by class.

A claim is charged in every class it names, so alternatives count for each. Knows no supply.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Grant, Policy, Tenant
from dracfg.link.claims import ClaimPlan, claim_plan
from dracfg.link.classes import ClassPlan, class_name, classes_by_name
from dracfg.link.memo import per_catalog
from dracfg.link.writers import writers
from dracfg.model.tenant import Profile


@dataclass(frozen=True, slots=True, eq=False)
class Asks:
    """What a tenant's claims on a cluster may be.

    `charged` gives what one claim of a profile is charged, by class: by the profile's position, where it
    can be emitted there. `sizes` are the devices of a class in one claim, largest first; `shared` holds
    the classes of claims that several pods share, which are no templates; `combined` those of claims
    with devices of several classes at once, or with constraints.
    """

    charged: Mapping[int, Mapping[str, int]]
    sizes: Mapping[str, tuple[int, ...]]
    shared: frozenset[str]
    combined: frozenset[str]


def charges(plan: ClaimPlan) -> Mapping[str, int]:
    """Devices by class that one claim is charged: of alternatives, the most of each class."""
    found: dict[str, int] = {}
    for request in plan.requests:
        most: dict[str, int] = {}
        for ask in request.asks:
            most[ask.plan.name] = max(most.get(ask.plan.name, 0), ask.count)
        for name, devices in most.items():
            found[name] = found.get(name, 0) + devices
    return found


@per_catalog
def asks(catalog: Catalog, tenant: Tenant, cluster: Cluster) -> Asks:
    """What every profile asks for on the cluster, where it can be emitted there.

    Of the cluster's classes nothing matters but their names. What requests are charged needs no claim to
    be made up, but where they are aligned: then a request stands for so many pairs.
    """
    classes = classes_by_name(catalog, cluster)
    grants = {grant.name: grant for grant in reversed(tenant.grants_on(cluster.name))}
    spec = tenant.document.spec
    by_pods = {claim.profile for claim in spec.shared_claims}
    charged: dict[int, Mapping[str, int]] = {}
    sizes: dict[str, tuple[int, ...]] = {}
    shared: set[str] = set()
    combined: set[str] = set()
    for position, profile in enumerate(spec.profiles):
        plan = claim_plan(tenant, profile, cluster, classes) if profile.align else None
        taken = charges(plan) if plan is not None else _sum(profile, grants, classes)
        if taken is None:
            continue
        charged[position] = taken
        for name, devices in taken.items():
            known = sizes.get(name)
            if known is None:
                sizes[name] = (devices,)
            elif devices not in known:
                sizes[name] = tuple(sorted((*known, devices), reverse=True))
        if profile.name in by_pods:
            shared.update(taken)
        if _is_combined(profile, plan):
            combined.update(taken)
    return Asks(charged, sizes, frozenset(shared), frozenset(combined))


@per_catalog
def unserved(catalog: Catalog) -> tuple[Tenant, ...]:
    """The tenants of which something in a profile may not be there.

    Of all others one cluster serves every profile: each request names one entitlement, the only one of
    its name, and a part that its policy has.
    """
    unclear = {tenant.name for tenant in writers(catalog, "any_of", "accepted_offers")}
    return tuple(
        tenant
        for tenant in catalog.tenants.values()
        if tenant.name in unclear or not _is_served(catalog, tenant)
    )


def _is_served(catalog: Catalog, tenant: Tenant) -> bool:
    spec = tenant.document.spec
    if len({entitlement.name for entitlement in spec.entitlements}) < len(spec.entitlements):
        return False
    return any(
        len(asks(catalog, tenant, catalog.clusters[name]).charged) == len(spec.profiles)
        for name in tenant.clusters
    )


def _is_combined(profile: Profile, plan: ClaimPlan | None) -> bool:
    """Whether a claim is of several requests or has constraints; the plan is that of aligned ones."""
    if len(profile.requests) > 1 and len({request.name for request in profile.requests}) > 1:
        return True
    return bool(profile.distinct if plan is None else plan.constraints)


def _sum(
    profile: Profile, grants: Mapping[str, Grant], classes: Mapping[str, ClassPlan]
) -> Mapping[str, int] | None:
    """The charges of a claim, or None where a request finds nothing that it may ask for."""
    found: dict[str, int] = {}
    for request in profile.requests:
        most: dict[str, int] = {}
        for wanted in request.any_of or (request,):
            grant = grants.get(wanted.entitlement or "")
            if grant is None:
                continue
            name, count = _class(grant.tier.name, grant.policy, wanted.size), wanted.count
            if name in classes and count > most.get(name, 0):
                most[name] = count
        if not most:
            return None
        if not found:
            found = most
            continue
        for name, devices in most.items():
            found[name] = found.get(name, 0) + devices
    return found


@lru_cache(maxsize=1024)
def _class(tier: str, policy: Policy, size: str | int | None) -> str:
    """The class of a tier that a size of a policy means, wherever there is one; else empty."""
    part = policy.part(size)
    return class_name(tier, policy, part) if part is not None else ""
