"""Tenants → their namespaces and grants, cluster by cluster; offers move numbers between tenants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import cast

from dracfg.link.catalog import Catalog, Cluster, Grant, Place, Policy, Tenant, Tier
from dracfg.link.index import Index
from dracfg.link.numbers import ByPart, Numbers
from dracfg.link.paths import on_paths
from dracfg.link.references import References
from dracfg.model import kinds
from dracfg.model.tenant import Amounts, Entitlement, Offer

_Stated = int | tuple[tuple[str, int], ...]
"""Amounts as a document states them: one number, or one for each size."""


def link_tenants(
    index: Index, platform: Catalog, kept: Mapping[str, Tenant], references: References
) -> dict[str, Tenant]:
    """Every tenant whose references all lead somewhere; those that are `kept` are not linked again."""
    every = cast("Mapping[str, kinds.Tenant]", index.by_kind["Tenant"])
    linked = _linked(_left_to_link(every, kept), every, platform, references)
    if not kept:
        return linked
    both = {**linked, **kept}
    return {name: both[name] for name in every if name in both}


def link_tenant(name: str, every: Mapping[str, kinds.Tenant], platform: Catalog) -> Tenant:
    """One of `every` tenants, of which it is known that all its references lead somewhere."""
    needed = (name, *(one.from_ for one in every[name].spec.accepted_offers))
    return _linked({one: every[one] for one in needed}, every, platform, References(set()))[name]


def _linked(
    documents: Mapping[str, kinds.Tenant],
    every: Mapping[str, kinds.Tenant],
    platform: Catalog,
    references: References,
) -> dict[str, Tenant]:
    """The tenants of some documents, those that they borrow from among them."""
    clusters, tiers, policies = platform.clusters, platform.tiers, platform.policies
    places = {name: _places(document, clusters, references) for name, document in documents.items()}
    own = {
        name: _own_grants(document, places[name], clusters, tiers, policies, references)
        for name, document in documents.items()
    }
    for name, document in documents.items():
        _follow_others(document, every, tiers, references)
        if places[name] is None or own[name] is None:
            references.poison("Tenant", name)
    known = {
        name: (places[name] or (), own[name] or ())
        for name in documents
        if ("Tenant", name) not in references.poisoned
    }
    lenders = {
        name: grants for name, grants in own.items() if documents[name].spec.state != "removed"
    }
    return {
        name: Tenant(
            name,
            documents[name],
            held,
            on_paths(
                (
                    *_lent(documents[name], grants),
                    *_borrowed(documents[name], held, lenders),
                ),
                platform.rollouts.values(),
            ),
        )
        for name, (held, grants) in known.items()
    }


def _left_to_link(
    documents: Mapping[str, kinds.Tenant], kept: Mapping[str, Tenant]
) -> Mapping[str, kinds.Tenant]:
    """The documents of tenants that are not kept, and of whom they borrow from."""
    if not kept:
        return documents
    new = documents.keys() - kept.keys()
    lenders = {one.from_ for name in new for one in documents[name].spec.accepted_offers}
    return {name: documents[name] for name in documents if name in new or name in lenders}


def split(limit: int, place: Place, places: tuple[Place, ...]) -> Fraction:
    """The part of a cluster-wide number that one of a tenant's namespaces gets, by `share`."""
    total = sum(other.namespace.share for other in places)
    return Fraction(limit * place.namespace.share, total) if total else Fraction(0)


def whole_part(limit: int, place: Place, places: tuple[Place, ...]) -> int:
    """The whole devices in that part."""
    share = place.namespace.share
    if len(places) == 1:
        return limit if share else 0
    total = sum([other.namespace.share for other in places])
    return limit * share // total if total else 0


def _places(
    document: kinds.Tenant, clusters: Mapping[str, Cluster], references: References
) -> tuple[Place, ...] | None:
    places = []
    tenant, complete = document.name, True
    for i, namespace in enumerate(document.spec.namespaces):
        for j, name in enumerate(namespace.clusters):
            if name in clusters:
                places.append(Place(tenant, name, namespace, i))
            else:
                steps = ("spec", "namespaces", i, "clusters", j)
                references.follow("Cluster", name, clusters, document, *steps)
                complete = False
    return tuple(places) if complete else None


def _own_grants(
    document: kinds.Tenant,
    places: tuple[Place, ...] | None,
    clusters: Mapping[str, Cluster],
    tiers: Mapping[str, Tier],
    policies: Mapping[str, Policy],
    references: References,
) -> tuple[Grant, ...] | None:
    grants = []
    tenant, complete = document.name, places is not None
    here = [clusters[name] for name in sorted({place.cluster for place in places or ()})]
    for i, entitlement in enumerate(document.spec.entitlements):
        steps = ("spec", "entitlements", i)
        tier = references.follow("HardwareTier", entitlement.tier, tiers, document, *steps, "tier")
        policy = references.follow(
            "SharingPolicy", entitlement.sharing, policies, document, *steps, "sharing"
        )
        if tier is None or policy is None:
            complete = False
            continue
        numbers = _numbers(entitlement, policy)
        grants += [
            Grant(
                name=entitlement.name,
                tenant=tenant,
                cluster=cluster,
                tier=tier,
                policy=policy,
                numbers=numbers,
                owners=owners,
                source=entitlement,
            )
            for cluster in here
            if (owners := cluster.owners_of(tier))
        ]
    return tuple(grants) if complete else None


def _numbers(entitlement: Entitlement, policy: Policy) -> ByPart:
    """Numbers by the part's name; sizes that the policy lacks are left to the rules."""
    limit = entitlement.limit
    return _by_part(
        policy, _stated(entitlement.guaranteed), None if limit is None else _stated(limit)
    )


def _stated(amounts: Amounts) -> _Stated:
    return amounts if isinstance(amounts, int) else tuple(amounts.items())


@lru_cache(maxsize=4096)
def _by_part(policy: Policy, guaranteed: _Stated, limit: _Stated | None) -> ByPart:
    """Of many tenants few differ in their numbers."""
    promised = _amounts(guaranteed, policy)
    most = promised | (_amounts(limit, policy) if limit is not None else {})
    return {name: Numbers(promised.get(name, 0), number) for name, number in most.items()}


def _amounts(stated: _Stated, policy: Policy) -> dict[str, int]:
    if isinstance(stated, int):
        return {} if policy.is_sized else {"": stated}
    found = ((policy.part(text), count) for text, count in stated)
    return {part.name: count for part, count in found if part is not None}


def _follow_others(
    document: kinds.Tenant,
    documents: Mapping[str, kinds.Tenant],
    tiers: Mapping[str, Tier],
    references: References,
) -> None:
    """Names of other tenants and of tiers; a wrong one is a finding and poisons nobody."""
    spec = document.spec
    for i, offer in enumerate(spec.offers):
        references.follow("Tenant", offer.to, documents, document, "spec", "offers", i, "to")
    for i, accepted in enumerate(spec.accepted_offers):
        steps = ("spec", "acceptedOffers", i, "from")
        references.follow("Tenant", accepted.from_, documents, document, *steps)
    for i, access in enumerate(spec.admin_access):
        for j, tier in enumerate(access.tiers):
            steps_ = ("spec", "adminAccess", i, "tiers", j)
            references.follow("HardwareTier", tier, tiers, document, *steps_)


def _lent(document: kinds.Tenant, grants: tuple[Grant, ...]) -> tuple[Grant, ...]:
    """Grants less what their tenant has offered to others."""
    offers = document.spec.offers
    return tuple([_without(grant, offers) for grant in grants]) if offers else grants


def _without(grant: Grant, offers: Iterable[Offer]) -> Grant:
    numbers = dict(grant.numbers)
    for offer in offers:
        part = grant.policy.part(offer.size)
        if offer.entitlement == grant.name and part is not None and part.name in numbers:
            before = numbers[part.name]
            numbers[part.name] = Numbers(
                max(0, before.guaranteed - offer.count), max(0, before.limit - offer.count)
            )
    return replace(grant, numbers=numbers)


def _borrowed(
    document: kinds.Tenant, places: tuple[Place, ...], own: Mapping[str, tuple[Grant, ...] | None]
) -> list[Grant]:
    """Grants from accepted offers, on the clusters that giver and taker have in common.

    A giver that is removed has nothing left to lend.
    """
    if not document.spec.accepted_offers:
        return []
    here = {place.cluster for place in places}
    found: dict[tuple[str, str], Grant] = {}
    for accepted in document.spec.accepted_offers:
        for grant in own.get(accepted.from_) or ():
            part = grant.policy.part(accepted.size)
            if grant.name != accepted.entitlement or grant.cluster.name not in here or part is None:
                continue
            name = f"{accepted.from_}-{accepted.entitlement}"
            before = found.get((name, grant.cluster.name))
            numbers = dict(before.numbers) if before else {}
            numbers[part.name] = Numbers(accepted.count, accepted.count)
            found[name, grant.cluster.name] = Grant(
                name=name,
                tenant=document.name,
                cluster=grant.cluster,
                tier=grant.tier,
                policy=grant.policy,
                numbers=numbers,
                owners=grant.owners,
                source=accepted,
                lender=accepted.from_,
            )
    return list(found.values())
