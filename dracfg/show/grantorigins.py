"""Numbers of quotas and rights of namespaces → the entitlements, offers and shares behind them."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.kube.quota import quota_keys
from dracfg.link.catalog import Catalog, Cluster, Grant, Part, Place, Tenant
from dracfg.link.classes import admin_class_name, class_name, device_classes
from dracfg.lower.artifact import Origin, origin_of
from dracfg.model.tenant import Amounts
from dracfg.show.document import entry_index
from dracfg.show.subjects import Emitted

Steps = tuple[str | int, ...]


def quota_origins(catalog: Catalog, emitted: Emitted, steps: Steps) -> tuple[Origin, ...]:
    """A key of `spec.hard`: the entitlements that reach it, what is lent of them, and the shares.

    Where nothing reaches it, the tenant's entitlements as a whole: none of them grants the class.
    """
    origin, cluster = emitted.artifact.origin, emitted.cluster
    tenant = catalog.tenants.get(origin.name)
    if cluster is None or tenant is None:
        return ()
    match steps:
        case ("spec", "hard", str(key)):
            pass
        case _:
            return ()
    if tenant.document.spec.state == "removed":
        return (origin_of(tenant.document, "spec", "state"),)
    names = _classes_of_key(catalog, cluster, key)
    found = [*_by_plugin(tenant, cluster, key)]
    for name in names:
        found += class_grant_origins(catalog, cluster, tenant, name)
    if not found:
        return (origin_of(tenant.document, "spec", "entitlements"),)
    return (*found, *_shares(tenant, tenant.places_on(cluster.name)))


def class_grant_origins(
    catalog: Catalog, cluster: Cluster, tenant: Tenant, name: str
) -> tuple[Origin, ...]:
    """The entitlements, accepted offers and admin access by which a tenant reaches a class."""
    found: list[Origin] = []
    for grant in tenant.grants_on(cluster.name):
        for part in grant.policy.parts:
            reached = class_name(grant.tier.name, grant.policy, part)
            if part.name in grant.on("dra") and reached == name:
                found += _amount_origins(catalog, tenant, grant, part)
    for i, access in enumerate(tenant.document.spec.admin_access):
        found += [
            origin_of(tenant.document, "spec", "adminAccess", i, "tiers", j)
            for j, tier in enumerate(access.tiers)
            if admin_class_name(tier) == name
        ]
    return tuple(found)


def grant_origins(tenant: Tenant, grant: Grant) -> tuple[Origin, ...]:
    """The entries of the tenant's document that a grant comes from."""
    document = tenant.document
    if grant.lender is None:
        return tuple(
            origin_of(document, "spec", "entitlements", i)
            for i, entitlement in enumerate(document.spec.entitlements)
            if entitlement.name == grant.name
        )
    return tuple(
        origin_of(document, "spec", "acceptedOffers", i)
        for i, accepted in enumerate(document.spec.accepted_offers)
        if f"{accepted.from_}-{accepted.entitlement}" == grant.name
    )


def _classes_of_key(catalog: Catalog, cluster: Cluster, key: str) -> tuple[str, ...]:
    return tuple(
        plan.name
        for plan in device_classes(catalog, cluster)
        if key in quota_keys(plan.name, plan.extended_name, cluster.minor, True)
    )


def _by_plugin(tenant: Tenant, cluster: Cluster, key: str) -> Iterator[Origin]:
    for grant in tenant.grants_on(cluster.name):
        resource = grant.tier.legacy_resource
        if "devicePlugin" in grant.owners and key == f"requests.{resource}":
            for origin in grant_origins(tenant, grant):
                limited = grant.lender is None and getattr(grant.source, "limit", None) is not None
                yield origin.at("limit" if limited else "guaranteed")


def _amount_origins(catalog: Catalog, tenant: Tenant, grant: Grant, part: Part) -> Iterator[Origin]:
    """The numbers of one part: the limit, else what is guaranteed; then the offers that move it."""
    spec = tenant.document.spec
    if grant.lender is not None:
        for origin in grant_origins(tenant, grant):
            position = entry_index(origin)
            if grant.policy.part(spec.accepted_offers[position].size) is part:
                yield origin.at("count")
        yield from _offer_origins(catalog.tenants.get(grant.lender), tenant, grant, part)
        return
    for origin in grant_origins(tenant, grant):
        position = entry_index(origin)
        entitlement = spec.entitlements[position]
        for field, amounts in (
            ("limit", entitlement.limit),
            ("guaranteed", entitlement.guaranteed),
        ):
            steps = _steps_to(amounts, grant, part)
            if steps is not None:
                yield origin.at(field, *steps)
                break
    yield from _offer_origins(tenant, None, grant, part)


def _steps_to(amounts: Amounts | None, grant: Grant, part: Part) -> tuple[str, ...] | None:
    """The way from an entitlement's amounts to those of a part; None where they don't name it."""
    if amounts is None or isinstance(amounts, int):
        return None if amounts is None else ()
    written = (text for text in amounts if grant.policy.part(text) is part)
    return next(((text,) for text in written), None)


def _offer_origins(
    giver: Tenant | None, taker: Tenant | None, grant: Grant, part: Part
) -> Iterator[Origin]:
    """The giver's offers of a part: all of them, or those to one taker."""
    if giver is None:
        return
    for i, offer in enumerate(giver.document.spec.offers):
        name = offer.entitlement if taker is None else f"{giver.name}-{offer.entitlement}"
        meant = taker is None or offer.to == taker.name
        if meant and name == grant.name and grant.policy.part(offer.size) is part:
            yield origin_of(giver.document, "spec", "offers", i, "count")


def _shares(tenant: Tenant, places: tuple[Place, ...]) -> Iterator[Origin]:
    """The shares by which a number is split; one namespace alone has all of it."""
    if len(places) > 1:
        for place in places:
            position = tenant.document.spec.namespaces.index(place.namespace)
            yield origin_of(tenant.document, "spec", "namespaces", position, "share")
