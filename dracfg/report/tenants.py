"""Tenants of the catalog → what each may hold, tier by tier and cluster by cluster; and what they lend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dracfg.audit.offers import Lent
from dracfg.link.catalog import Catalog, Grant, Tenant
from dracfg.plan.promises import is_promise
from dracfg.report.document import Holding, Lending, TenantRights
from dracfg.report.section import Word
from dracfg.show.offers import offers_of


def rights(
    tenant: Tenant, clusters: frozenset[str], verdicts: Mapping[str, Word]
) -> TenantRights | None:
    """What a tenant may hold on some clusters; None where it is on none of them."""
    here = tuple(name for name in tenant.clusters if name in clusters)
    if not here:
        return None
    return TenantRights(
        name=tenant.name,
        description=tenant.document.metadata.description or None,
        state=tenant.document.spec.state,
        clusters=here,
        verdict=verdicts.get(tenant.name),
        holdings=tuple(
            holding
            for grant in tenant.grants
            if grant.cluster.name in clusters
            for holding in _holdings(grant)
        ),
    )


def _holdings(grant: Grant) -> Iterator[Holding]:
    for part in grant.policy.parts:
        numbers = grant.numbers.get(part.name)
        if numbers is not None:
            yield Holding(
                cluster=grant.cluster.name,
                tier=grant.tier.name,
                entitlement=grant.name,
                sharing=grant.policy.name,
                size=part.name or None,
                borrowed_from=grant.lender,
                guaranteed=numbers.guaranteed,
                limit=max(numbers.limit, numbers.guaranteed),
                promised=is_promise(grant.policy, numbers.guaranteed),
            )


def lendings(catalog: Catalog, held: Mapping[str, Iterable[Lent]]) -> Iterator[Lending]:
    """Every offer by giver, with what the audits of clusters show the takers to hold."""
    for giver in catalog.tenants.values():
        for offer in offers_of(catalog, giver):
            yield _lending(giver, offer, held)


def _lending(
    giver: Tenant, offer: Mapping[str, Any], held: Mapping[str, Iterable[Lent]]
) -> Lending:
    size = offer.get("size")
    return Lending(
        giver=giver.name,
        taker=offer["to"],
        entitlement=offer["entitlement"],
        tier=offer.get("tier"),
        sharing=offer.get("sharing"),
        size=size,
        offered=offer["count"],
        accepted=offer["accepted"],
        held={
            cluster: sum(one.held for one in found if _is(one, giver, offer))
            for cluster, found in held.items()
            if any(_is(one, giver, offer) for one in found)
        },
    )


def _is(one: Lent, giver: Tenant, offer: Mapping[str, Any]) -> bool:
    named = (giver.name, offer["to"], offer["entitlement"], offer.get("size") or "")
    return (one.giver, one.taker, one.entitlement, one.size) == named
