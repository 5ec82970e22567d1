"""Tenants in linked form: what each has on each cluster, and what its workloads may name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dracfg.link.catalog import Catalog, Cluster, Grant, Part, Place, Tenant
from dracfg.link.claims import Ask, ClaimPlan, ClaimRequest, claim_plan
from dracfg.link.classes import ClassPlan, class_name, device_classes
from dracfg.link.grants import split
from dracfg.lower.artifact import Unit
from dracfg.lower.templates import PROFILE, TEMPLATES_FILE
from dracfg.model.tenant import Profile
from dracfg.show.document import Document, linked, plain, present


def tenant_document(catalog: Catalog, tenant: Tenant, units: Iterable[Unit]) -> Document:
    """`kind: LinkedTenant`: state, access, and by cluster namespaces, grants, profiles and claims.

    `guaranteed` and `limit` hold for a cluster; `byNamespace` is the limit as quota splits it. A
    grant's numbers are what is left to the tenant once it has lent `lent` to others.
    """
    spec = tenant.document.spec
    listed = tuple(units)
    clusters = [catalog.clusters[name] for name in tenant.clusters]
    return linked(
        "LinkedTenant",
        tenant.document,
        state=spec.state,
        access=plain(spec.access),
        ownClaims=spec.own_claims,
        clusters=[_cluster(catalog, tenant, cluster, listed) for cluster in clusters],
        offers=[plain(offer) for offer in spec.offers],
        acceptedOffers=[plain(offer) for offer in spec.accepted_offers],
        adminAccess=[plain(access) for access in spec.admin_access],
    )


def _cluster(
    catalog: Catalog, tenant: Tenant, cluster: Cluster, units: tuple[Unit, ...]
) -> Document:
    classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
    return {
        "name": cluster.name,
        "namespaces": [_namespace(place) for place in tenant.places_on(cluster.name)],
        "grants": [_grant(tenant, grant) for grant in tenant.grants_on(cluster.name)],
        "profiles": [*_profiles(tenant, cluster, classes, _templates(tenant, cluster, units))],
        "sharedClaims": [
            plain(shared)
            for shared in tenant.document.spec.shared_claims
            if any(place.name == shared.namespace for place in tenant.places_on(cluster.name))
        ],
    }


def _namespace(place: Place) -> Document:
    namespace = place.namespace
    return present(
        name=place.name,
        share=namespace.share,
        managedBy=namespace.managed_by,
        labels=dict(namespace.labels) or None,
    )


def _grant(tenant: Tenant, grant: Grant) -> Document:
    return present(
        name=grant.name,
        borrowedFrom=grant.lender,
        tier=grant.tier.name,
        sharing=grant.policy.name,
        owners=sorted(grant.owners),
        amounts=[
            _amount(tenant, grant, part)
            for part in grant.policy.parts
            if part.name in grant.numbers
        ],
    )


def _amount(tenant: Tenant, grant: Grant, part: Part) -> Document:
    numbers = grant.numbers[part.name]
    places = tenant.places_on(grant.cluster.name)
    removed = tenant.document.spec.state == "removed"
    return present(
        size=part.name or None,
        **{"class": class_name(grant.tier.name, grant.policy, part) if grant.uses_claims else None},
        guaranteed=numbers.guaranteed,
        limit=numbers.limit,
        lent=_lent(tenant, grant, part) or None,
        byNamespace={
            place.name: 0 if removed else int(split(numbers.limit, place, places))
            for place in places
        },
    )


def _lent(tenant: Tenant, grant: Grant, part: Part) -> int:
    if grant.lender is not None:
        return 0
    return sum(
        offer.count
        for offer in tenant.document.spec.offers
        if offer.entitlement == grant.name and grant.policy.part(offer.size) is part
    )


def _profiles(
    tenant: Tenant, cluster: Cluster, classes: dict[str, ClassPlan], templates: list[Document]
) -> Iterator[Document]:
    """Profiles of which the cluster has all that they need."""
    for profile in tenant.document.spec.profiles:
        plan = claim_plan(tenant, profile, cluster, classes)
        if plan is not None:
            yield _profile(profile, plan, templates)


def _profile(profile: Profile, plan: ClaimPlan, templates: list[Document]) -> Document:
    return {
        "name": profile.name,
        "revision": profile.revision,
        "devices": plan.devices,
        "requests": [_request(request) for request in plan.requests],
        "constraints": [
            {
                "requests": list(constraint.requests),
                "distinctAttribute" if constraint.distinct else "matchAttribute": (
                    constraint.attribute
                ),
            }
            for constraint in plan.constraints
        ],
        "templates": [
            {"namespace": template["namespace"], "name": template["name"]}
            for template in templates
            if template["profile"] == profile.name
        ],
    }


def _request(request: ClaimRequest) -> Document:
    if request.has_alternatives:
        return {
            "name": request.name,
            "firstAvailable": [{"name": ask.name, **_ask(ask)} for ask in request.asks],
        }
    return {"name": request.name, **_ask(request.asks[0])}


def _ask(ask: Ask) -> Document:
    return present(
        **{"class": ask.plan.name},
        count=ask.count,
        grant=ask.grant.name,
        size=ask.part.name or None,
    )


def _templates(tenant: Tenant, cluster: Cluster, units: tuple[Unit, ...]) -> list[Document]:
    """The templates in force on the cluster: `{profile, namespace, name}`."""
    path = f"{cluster.name}/tenants/{tenant.name}"
    return [
        {
            "profile": artifact.object["metadata"]["labels"].get(PROFILE),
            "namespace": artifact.object["metadata"]["namespace"],
            "name": artifact.object["metadata"]["name"],
        }
        for unit in units
        if unit.path == path or unit.path.startswith(f"{path}.")
        for artifact in unit.artifacts
        if artifact.file == TEMPLATES_FILE
    ]
