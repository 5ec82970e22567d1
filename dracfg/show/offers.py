"""What tenants lend each other, as either of the two sees it: both sides, and whether they agree."""

from __future__ import annotations

from dracfg.link.catalog import Catalog, Policy, Tenant
from dracfg.model.tenant import AcceptedOffer, Entitlement, Offer
from dracfg.show.document import Document, present


def offers_of(catalog: Catalog, tenant: Tenant) -> list[Document]:
    """What the tenant lends: `accepted` is how many the taker takes, 0 where it says nothing.

    `takenAs` is what the taker's profiles call it.
    """
    return [_offer(catalog, tenant, offer) for offer in tenant.document.spec.offers]


def accepted_offers_of(catalog: Catalog, tenant: Tenant) -> list[Document]:
    """What the tenant borrows: `offered` is how many the giver gives, 0 where it says nothing."""
    return [
        _accepted(catalog, tenant, accepted) for accepted in tenant.document.spec.accepted_offers
    ]


def _offer(catalog: Catalog, giver: Tenant, offer: Offer) -> Document:
    taker = catalog.tenants.get(offer.to)
    entitlement = _entitlement(giver, offer.entitlement)
    answers = taker.document.spec.accepted_offers if taker is not None else ()
    return present(
        to=offer.to,
        **_what(entitlement, offer),
        count=offer.count,
        accepted=sum(
            answer.count for answer in answers if _agree(catalog, giver, offer, offer.to, answer)
        ),
        takenAs=f"{giver.name}-{offer.entitlement}",
    )


def _accepted(catalog: Catalog, taker: Tenant, accepted: AcceptedOffer) -> Document:
    giver = catalog.tenants.get(accepted.from_)
    return present(
        **{"from": accepted.from_},
        **_what(_entitlement(giver, accepted.entitlement), accepted),
        count=accepted.count,
        offered=0
        if giver is None
        else sum(
            offer.count
            for offer in giver.document.spec.offers
            if _agree(catalog, giver, offer, taker.name, accepted)
        ),
        takenAs=f"{accepted.from_}-{accepted.entitlement}",
    )


def _what(entitlement: Entitlement | None, said: Offer | AcceptedOffer) -> Document:
    return present(
        entitlement=said.entitlement,
        tier=None if entitlement is None else entitlement.tier,
        sharing=None if entitlement is None else entitlement.sharing,
        size=None if said.size is None else str(said.size),
    )


def _agree(
    catalog: Catalog, giver: Tenant, offer: Offer, taker: str, accepted: AcceptedOffer
) -> bool:
    """Whether both sides speak of the same thing; sizes are compared as quantities."""
    if (offer.to, accepted.from_) != (taker, giver.name):
        return False
    entitlement = _entitlement(giver, offer.entitlement)
    if entitlement is None or offer.entitlement != accepted.entitlement:
        return False
    policy: Policy = catalog.policies[entitlement.sharing]
    part = policy.part(offer.size)
    return part is not None and part is policy.part(accepted.size)


def _entitlement(tenant: Tenant | None, name: str) -> Entitlement | None:
    known = () if tenant is None else tenant.document.spec.entitlements
    return next((entitlement for entitlement in known if entitlement.name == name), None)
