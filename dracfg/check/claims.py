"""CAP002, CAP004, CAP006: claims that are too large, over quota, or aligned without pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import gcd

from dracfg.check.rule import Rule, listed
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.kube.limits import limits
from dracfg.link.catalog import Catalog, Cluster, Grant, Place, Tenant
from dracfg.link.claims import Ask, ClaimPlan, plans_of
from dracfg.link.memo import per_catalog
from dracfg.link.writers import writers
from dracfg.lower.quotas import class_limits
from dracfg.lower.tenancy import profile_places
from dracfg.model.base import at
from dracfg.model.tenant import Entitlement, Profile, Request
from dracfg.plan.asks import asks
from dracfg.plan.promises import Planned, planned


def limits_in(catalog: Catalog, tenant: Tenant, place: Place) -> Mapping[str, int]:
    """What the quota of a tenant's namespace lets through of each class."""
    return _limits(catalog, tenant, place.cluster, place.namespace.share)


@per_catalog
def _limits(catalog: Catalog, tenant: Tenant, cluster: str, share: int) -> Mapping[str, int]:
    """The same for all namespaces with one share."""
    like = next(one for one in tenant.places_on(cluster) if one.namespace.share == share)
    return class_limits(catalog.clusters[cluster], tenant, like)


def count_of(tenant: Tenant, position: int, profile: Profile, request: str) -> Span:
    """Where a request's count stands, or the request's name where the count is left out."""
    for j, known in enumerate(profile.requests):
        if known.name == request:
            key = "count" if "count" in known.model_fields_set else "name"
            return at(tenant.document, "spec", "profiles", position, "requests", j, key)
    return at(tenant.document, "spec", "profiles", position, "name")


def claims_too_many(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP002: one claim holds a limited number of devices, all its requests together."""
    for cluster in catalog.clusters.values():
        most = limits(cluster.minor).devices_per_claim
        for tenant in catalog.tenants_on(cluster.name):
            for position, taken in asks(catalog, tenant, cluster).charged.items():
                if sum(taken.values()) <= most:  # a claim is charged for no less than it holds
                    continue
                plan = plans_of(catalog, cluster, tenant)[position]
                if plan is not None and plan.devices > most:
                    yield _too_many(tenant, position, plan, most)


def _too_many(tenant: Tenant, position: int, plan: ClaimPlan, most: int) -> Diagnostic:
    devices: Counter[str] = Counter()
    for request in plan.requests:
        devices[request.origin] += request.devices
    largest = max(devices, key=lambda name: devices[name])
    return diagnose(
        "CAP002",
        count_of(tenant, position, plan.profile, largest),
        f"profile {plan.profile.name} asks for {plan.devices} devices in one claim",
        found=str(plan.devices),
        expected=f"at most {most}",
        help=f"ask for {most} at most, and let the workload run more pods",
    )


@dataclass(slots=True)
class _Charge:
    """What quota charges a claim with for one class; `ask` is the largest of its requests."""

    devices: int
    origin: str
    ask: Ask


def exceeds_its_quota(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP004: a claim that its namespace's quota could never let through."""
    for cluster in catalog.clusters.values():
        for tenant in catalog.tenants_on(cluster.name):
            if tenant.document.spec.state == "removed":
                continue
            # Nothing is refused if the namespace with the least share lets the largest claims through.
            least = min(tenant.places_on(cluster.name), key=lambda place: place.namespace.share)
            allowed = limits_in(catalog, tenant, least)
            largest = asks(catalog, tenant, cluster).sizes
            if any(sizes[0] > allowed.get(name, 0) for name, sizes in largest.items()):
                yield from _refused(catalog, tenant, cluster)


def _refused(catalog: Catalog, tenant: Tenant, cluster: Cluster) -> Iterator[Diagnostic]:
    for made in planned(catalog, [cluster], [tenant]):
        for place in profile_places(tenant, made.plan.profile, cluster.name):
            allowed = limits_in(catalog, tenant, place)
            for name, charge in _charges(made.plan).items():
                # Numbers that could not be understood are a finding of their own, and a tenant that
                # a rollout has not reached, or only in part, has claims in a later stage.
                grant = charge.ask.grant
                in_force = grant.numbers and grant.uses_claims and grant.by_plugin is None
                if in_force and charge.devices > allowed.get(name, 0):
                    yield _over_quota(made, place, charge, allowed.get(name, 0))


def emitted_in(profile: Profile, namespace: str) -> bool:
    """Whether a profile is meant for a namespace."""
    return profile.namespaces is None or namespace in profile.namespaces


def _charges(plan: ClaimPlan) -> dict[str, _Charge]:
    """By class. Quota counts the largest alternative of each class, and every class of them."""
    charges: dict[str, _Charge] = {}
    for request in plan.requests:
        largest: dict[str, Ask] = {}
        for ask in request.asks:
            if ask.plan.name not in largest or largest[ask.plan.name].count < ask.count:
                largest[ask.plan.name] = ask
        for name, ask in largest.items():
            charge = charges.setdefault(name, _Charge(0, request.origin, ask))
            charge.devices += ask.count
            if charge.ask.count < ask.count:
                charge.origin, charge.ask = request.origin, ask
    return charges


def _over_quota(made: Planned, place: Place, charge: _Charge, allowed: int) -> Diagnostic:
    grant, profile = charge.ask.grant, made.plan.profile
    what = " ".join(filter(None, (grant.name, charge.ask.part.name)))
    places = made.tenant.places_on(place.cluster)
    total, share = sum(other.namespace.share for other in places), place.namespace.share
    limit = grant.numbers.get(charge.ask.part.name)
    others = [
        other.name
        for other in places
        if limit is not None
        and limit.limit * other.namespace.share >= charge.devices * total > 0
        and other is not place
    ]
    ways = []
    if share:
        step = total // gcd(*(other.namespace.share for other in places))
        least = -(-charge.devices * total // (share * step)) * step
        ways.append(f"raise the limit of {what} to {least}")
    else:
        ways.append(f"give {place.name} a share")
    if others:
        ways.append(f"write `namespaces: [{', '.join(others)}]` in the profile")
    if allowed:
        ways.append(f"ask for {allowed} at most")
    return diagnose(
        "CAP004",
        count_of(made.tenant, made.position, profile, charge.origin),
        f"profile {profile.name} needs {charge.devices} of {what}, "
        f"and the quota of {place.name} on {place.cluster} is {allowed}",
        related=[
            Related(
                _source(made.tenant, grant),
                f"{place.name} has {share} of {total} shares in a limit of {limit.limit if limit else 0}",
            )
        ],
        found=str(charge.devices),
        expected=f"at most {allowed}",
        help=listed(ways, "or"),
    )


def _source(tenant: Tenant, grant: Grant) -> Span:
    """The entitlement, or the accepted offer, that a grant comes from."""
    spec, source = tenant.document.spec, grant.source
    if isinstance(source, Entitlement):
        return at(tenant.document, "spec", "entitlements", spec.entitlements.index(source), "name")
    place = ("acceptedOffers", spec.accepted_offers.index(source), "entitlement")
    return at(tenant.document, "spec", *place)


def aligns_unequal_counts(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP006: aligned requests become pairs, one device of each."""
    for tenant in writers(catalog, "align"):
        for i, profile in enumerate(tenant.document.spec.profiles):
            requests = {request.name: request for request in profile.requests}
            for align in profile.align:
                named = [requests[name] for name in align.requests if name in requests]
                if len(named) > 1:
                    yield from _unequal(tenant, i, profile, named)
                    yield from _plural_alternatives(tenant, i, profile, named)


def _unequal(
    tenant: Tenant, position: int, profile: Profile, named: list[Request]
) -> Iterator[Diagnostic]:
    first = named[0]
    for other in named[1:]:
        if other.count != first.count:
            place = count_of(tenant, position, profile, first.name)
            yield diagnose(
                "CAP006",
                count_of(tenant, position, profile, other.name),
                f"{first.name} and {other.name} are aligned in pairs, so their counts must be equal",
                related=[Related(place, f"{first.name} asks for {first.count}")],
                found=str(other.count),
                expected=str(first.count),
                help=f"ask for {first.count} of both, or for {other.count} of both",
                fix=str(first.count) if "count" in other.model_fields_set else None,
            )


def _plural_alternatives(
    tenant: Tenant, position: int, profile: Profile, named: list[Request]
) -> Iterator[Diagnostic]:
    for request in named:
        j = profile.requests.index(request)
        for k, alternative in enumerate(request.any_of or ()):
            if alternative.count > 1:
                place = ("spec", "profiles", position, "requests", j, "anyOf", k, "count")
                yield diagnose(
                    "CAP006",
                    at(tenant.document, *place),
                    f"{request.name} is aligned, so each alternative of it is one device",
                    found=str(alternative.count),
                    expected="1",
                    help="ask for 1, or take the request out of `align`",
                    fix="1",
                )


TENANT_RULES: tuple[Rule, ...] = (claims_too_many, exceeds_its_quota, aligns_unequal_counts)
