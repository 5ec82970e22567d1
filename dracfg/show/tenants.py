"""Tenants in linked form: what each has on each cluster, and what its workloads may name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.dataclass import dataclass
from dracfg.kube.quota import quota_keys
from dracfg.link.catalog import Catalog, Cluster, Grant, Part, Place, Tenant
from dracfg.link.claims import Ask, ClaimPlan, ClaimRequest
from dracfg.link.classes import ClassPlan, admin_class_name, class_name, device_classes
from dracfg.link.grants import split
from dracfg.lower.artifact import Artifact, Unit
from dracfg.lower.rights import claims_by_namespace, namespace_labels, rights
from dracfg.lower.templates import PROFILE, TEMPLATES_FILE
from dracfg.lower.tenancy import Tenancy
from dracfg.lower.units import extended_resources
from dracfg.model.tenant import Entitlement, Profile
from dracfg.show.document import Document, linked, plain, present
from dracfg.show.offers import accepted_offers_of, offers_of
from dracfg.show.queues import kueue_of, priorities_of


@dataclass(frozen=True, slots=True)
class _Here:
    """A tenant on one cluster; `extended` says whether DRAExtendedResource is on there."""

    tenancy: Tenancy
    artifacts: Sequence[Artifact]
    extended: bool

    @property
    def tenant(self) -> Tenant:
        return self.tenancy.tenant

    @property
    def cluster(self) -> Cluster:
        return self.tenancy.cluster

    @property
    def classes(self) -> Mapping[str, ClassPlan]:
        return self.tenancy.classes

    @property
    def places(self) -> tuple[Place, ...]:
        return self.tenancy.places

    @property
    def templates(self) -> list[Document]:
        """The templates in force: `{profile, namespace, name}`; for admin access by the class."""
        found = [a.object["metadata"] for a in self.artifacts if a.file == TEMPLATES_FILE]
        return [
            {
                "profile": metadata["labels"].get(PROFILE),
                "namespace": metadata["namespace"],
                "name": metadata["name"],
            }
            for metadata in found
        ]


def tenant_document(catalog: Catalog, tenant: Tenant, units: Iterable[Unit]) -> Document:
    """`kind: LinkedTenant`: state, access, offers of both sides, and what it has by cluster.

    `guaranteed` and `limit` hold for a cluster; `byNamespace` is the limit as quota splits it. A
    grant's numbers are what is left to the tenant once it has lent `lent` to others. Workloads
    reach devices through templates, shared claims, `class`, and where there is one through
    `extendedResource` or `legacyResource`; `quotaKeys` are the keys that charge for them.
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
        offers=offers_of(catalog, tenant),
        acceptedOffers=accepted_offers_of(catalog, tenant),
    )


def _cluster(
    catalog: Catalog, tenant: Tenant, cluster: Cluster, units: tuple[Unit, ...]
) -> Document:
    classes = device_classes(catalog, cluster)
    here = _Here(
        Tenancy(catalog, cluster, tenant),
        _artifacts(tenant, cluster, units),
        extended_resources(cluster, classes),
    )
    return present(
        name=cluster.name,
        namespaces=[*_namespaces(here)],
        grants=[_grant(here, grant) for grant in tenant.grants_on(cluster.name)],
        profiles=[*_profiles(here)],
        sharedClaims=[
            plain(shared)
            for shared in tenant.document.spec.shared_claims
            if any(place.name == shared.namespace for place in here.places)
        ],
        adminAccess=[*_admin_access(here)],
        priorities=priorities_of(cluster, tenant),
        kueue=kueue_of(catalog, cluster, tenant, classes),
    )


def _artifacts(tenant: Tenant, cluster: Cluster, units: tuple[Unit, ...]) -> list[Artifact]:
    """What the tenant's own units on the cluster hold."""
    path = f"{cluster.name}/tenants/{tenant.name}"
    return [
        artifact
        for unit in units
        if unit.path == path or unit.path.startswith(f"{path}.")
        for artifact in unit.artifacts
    ]


def _namespaces(here: _Here) -> Iterator[Document]:
    """Each namespace with the labels and annotations that carry its rights."""
    claims = claims_by_namespace(artifact.object for artifact in here.artifacts)
    noted = rights(here.tenancy, claims)
    for place in here.places:
        yield {
            "name": place.name,
            "share": place.namespace.share,
            "managedBy": place.namespace.managed_by,
            "labels": namespace_labels(here.cluster, here.tenant, place),
            "annotations": noted[place.name],
        }


def _grant(here: _Here, grant: Grant) -> Document:
    source = grant.source
    return present(
        name=grant.name,
        borrowedFrom=grant.lender,
        tier=grant.tier.name,
        sharing=grant.policy.name,
        owners=sorted(grant.owners),
        priority=source.priority if isinstance(source, Entitlement) else None,
        pools=[
            pool.name
            for pool, devices in here.cluster.offers()
            if devices.tier is grant.tier
            and any(policy.name == grant.policy.name for policy in devices.policies)
        ],
        legacyResource=_legacy_resource(grant),
        amounts=[
            _amount(here, grant, part) for part in grant.policy.parts if part.name in grant.numbers
        ],
    )


def _legacy_resource(grant: Grant) -> str | None:
    """What pods ask a device plugin for."""
    return grant.tier.legacy_resource if "devicePlugin" in grant.owners else None


def _amount(here: _Here, grant: Grant, part: Part) -> Document:
    numbers = grant.numbers[part.name]
    name = class_name(grant.tier.name, grant.policy, part) if grant.uses_claims else None
    plan = here.classes.get(name or "")
    removed = here.tenant.document.spec.state == "removed"
    return present(
        size=part.name or None,
        **{"class": name},
        closed=True if plan is not None and plan.closed else None,
        extendedResource=None if plan is None else plan.extended_name,
        guaranteed=numbers.guaranteed,
        limit=numbers.limit,
        lent=_lent(here.tenant, grant, part) or None,
        byNamespace={
            place.name: 0 if removed else int(split(numbers.limit, place, here.places))
            for place in here.places
        },
        quotaKeys=[*_quota_keys(here, grant, plan)],
    )


def _quota_keys(here: _Here, grant: Grant, plan: ClassPlan | None) -> Iterator[str]:
    keys: dict[str, None] = {}
    if plan is not None:
        listed = quota_keys(plan.name, plan.extended_name, here.cluster.minor, here.extended)
        keys = dict.fromkeys(listed)
    legacy = _legacy_resource(grant)
    if legacy is not None:
        keys[f"requests.{legacy}"] = None
    yield from keys


def _lent(tenant: Tenant, grant: Grant, part: Part) -> int:
    if grant.lender is not None:
        return 0
    return sum(
        offer.count
        for offer in tenant.document.spec.offers
        if offer.entitlement == grant.name and grant.policy.part(offer.size) is part
    )


def _profiles(here: _Here) -> Iterator[Document]:
    """Profiles of which the cluster has all that they need."""
    for plan in here.tenancy.plans:
        if plan is not None:
            yield _profile(plan.profile, plan, here.templates)


def _admin_access(here: _Here) -> Iterator[Document]:
    """What the tenant may watch, by tier, with the template that does."""
    for access in here.tenant.document.spec.admin_access:
        for tier in access.tiers:
            name = admin_class_name(tier)
            if name in here.classes and any(p.name == access.namespace for p in here.places):
                yield {
                    "namespace": access.namespace,
                    "tier": tier,
                    "reason": access.reason,
                    "class": name,
                    "templates": [
                        template["name"]
                        for template in here.templates
                        if template["profile"] == name and template["namespace"] == access.namespace
                    ],
                }


def _profile(profile: Profile, plan: ClaimPlan, templates: list[Document]) -> Document:
    return present(
        name=profile.name,
        revision=profile.revision,
        priority=profile.priority,
        reads=[plain(one) for one in profile.reads] or None,
        devices=plan.devices,
        requests=[_request(request) for request in plan.requests],
        constraints=[
            {
                "requests": list(constraint.requests),
                "distinctAttribute" if constraint.distinct else "matchAttribute": (
                    constraint.attribute
                ),
            }
            for constraint in plan.constraints
        ],
        templates=[
            {"namespace": template["namespace"], "name": template["name"]}
            for template in templates
            if template["profile"] == profile.name
        ],
    )


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
