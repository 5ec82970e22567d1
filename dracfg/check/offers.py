"""TEN010, TEN011, TEN012, TEN016: capacity that crosses tenants, which both must say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Policy, Tenant
from dracfg.link.writers import writers
from dracfg.model.base import at
from dracfg.model.tenant import Amounts, Offer


def _own_policy(catalog: Catalog, tenant: Tenant, entitlement: str) -> Policy | None:
    for known in tenant.document.spec.entitlements:
        if known.name == entitlement:
            return catalog.policies[known.sharing]
    return None


def _same_part(policy: Policy, one: str | int | None, other: str | int | None) -> bool:
    part = policy.part(one)
    return part is not None and part is policy.part(other)


def is_not_accepted(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN010: an offer that the other tenant doesn't mirror, or can't use."""
    for tenant in writers(catalog, "offers"):
        for i, offer in enumerate(tenant.document.spec.offers):
            taker = catalog.tenants.get(offer.to)
            policy = _own_policy(catalog, tenant, offer.entitlement)
            if taker is None or policy is None or policy.part(offer.size) is None:
                continue
            steps = ("spec", "offers", i)
            for j, accepted in enumerate(taker.document.spec.accepted_offers):
                same = (accepted.from_, accepted.entitlement) == (tenant.name, offer.entitlement)
                if not same or not _same_part(policy, offer.size, accepted.size):
                    continue
                if accepted.count != offer.count:
                    there = at(taker.document, "spec", "acceptedOffers", j, "count")
                    yield diagnose(
                        "TEN010",
                        at(tenant.document, *steps, "count"),
                        f"{tenant.name} offers {offer.count} and {taker.name} accepts {accepted.count}",
                        related=[Related(there, f"{accepted.count} accepted")],
                        found=str(offer.count),
                        expected=str(accepted.count),
                        help=f"write {offer.count} in both, or {accepted.count}",
                    )
                break
            else:
                yield _unanswered(tenant, taker, i, offer)
            yield from _out_of_reach(tenant, taker, i, offer)


def _unanswered(tenant: Tenant, taker: Tenant, position: int, offer: Offer) -> Diagnostic:
    size = f", size: {offer.size}" if offer.size is not None else ""
    return diagnose(
        "TEN010",
        at(tenant.document, "spec", "offers", position, "to"),
        f"{taker.name} doesn't accept {offer.count} of {offer.entitlement} from {tenant.name}",
        related=[Related(at(taker.document, "metadata", "name"), "no such accepted offer")],
        help=f"add `{{from: {tenant.name}, entitlement: {offer.entitlement}{size}, "
        f"count: {offer.count}}}` to its acceptedOffers",
    )


def _out_of_reach(
    tenant: Tenant, taker: Tenant, position: int, offer: Offer
) -> Iterator[Diagnostic]:
    held = {grant.cluster.name for grant in tenant.grants if grant.name == offer.entitlement}
    if held and not held & set(taker.clusters):
        yield diagnose(
            "TEN010",
            at(tenant.document, "spec", "offers", position, "to"),
            f"{taker.name} has no namespace on {listed(sorted(held), 'or')}, "
            f"where {offer.entitlement} is",
            related=[
                Related(at(taker.document, "spec", "namespaces", 0, "clusters"), "its clusters")
            ],
            help="offer to a tenant that works there",
        )


def is_not_offered(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN011."""
    for tenant in writers(catalog, "accepted_offers"):
        for i, accepted in enumerate(tenant.document.spec.accepted_offers):
            giver = catalog.tenants.get(accepted.from_)
            if giver is None:
                continue
            policy = _own_policy(catalog, giver, accepted.entitlement)
            if policy is not None and policy.part(accepted.size) is None:
                continue
            offered = policy is not None and any(
                (offer.to, offer.entitlement) == (tenant.name, accepted.entitlement)
                and _same_part(policy, offer.size, accepted.size)
                for offer in giver.document.spec.offers
            )
            if not offered:
                size = f", size: {accepted.size}" if accepted.size is not None else ""
                yield diagnose(
                    "TEN011",
                    at(tenant.document, "spec", "acceptedOffers", i, "from"),
                    f"{giver.name} doesn't offer {accepted.count} of {accepted.entitlement} "
                    f"to {tenant.name}",
                    related=[Related(at(giver.document, "metadata", "name"), "no such offer")],
                    help=f"add `{{entitlement: {accepted.entitlement}{size}, "
                    f"count: {accepted.count}, to: {tenant.name}}}` to its offers",
                )


def offers_too_much(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN012: what is lent comes out of the lender's guarantee; once for all offers of one part."""
    for tenant in writers(catalog, "offers"):
        lent: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for i, offer in enumerate(tenant.document.spec.offers):
            policy = _own_policy(catalog, tenant, offer.entitlement)
            part = policy.part(offer.size) if policy is not None else None
            if part is not None:
                lent.setdefault((offer.entitlement, part.name), []).append((i, offer.count))
        for (name, part_name), offers in lent.items():
            policy = _own_policy(catalog, tenant, name)
            for j, entitlement in enumerate(tenant.document.spec.entitlements):
                if entitlement.name == name and policy is not None:
                    has = _number(entitlement.guaranteed, policy, part_name)
                    if has is not None and sum(count for _, count in offers) > has:
                        yield _offered_too_much(
                            tenant, j, f"{name} {part_name}".strip(), has, offers
                        )


def _offered_too_much(
    tenant: Tenant, entitlement: int, what: str, has: int, offers: list[tuple[int, int]]
) -> Diagnostic:
    """TEN012, at the first of the offers (position, count) with which they exceed what there is."""
    sums = list(accumulate(count for _, count in offers))
    first = next(k for k, lent in enumerate(sums) if lent > has)
    position, count = offers[first]
    rest = has - sums[first] + count
    after = [at(tenant.document, "spec", "offers", i, "count") for i, _ in offers[first + 1 :]]
    later = f"the {'one' if len(after) == 1 else 'ones'} after it"
    place = at(tenant.document, "spec", "entitlements", entitlement, "guaranteed")
    return diagnose(
        "TEN012",
        at(tenant.document, "spec", "offers", position, "count"),
        f"{tenant.name} offers {sums[-1]} of {what} and is guaranteed {has}",
        related=[
            Related(place, f"{has} are guaranteed"),
            *(Related(span, "nothing is left for this one") for span in after),
        ],
        found=str(sums[-1]),
        expected=f"at most {has}",
        help=(
            f"offer {rest} here at most{f', and remove {later}' if after else ''}"
            if rest > 0
            else f"remove this offer{f' and {later}' if after else ''}"
        ),
    )


def _number(amounts: Amounts, policy: Policy, part: str) -> int | None:
    """What an entitlement says of a part; None where it says it in the wrong form."""
    if isinstance(amounts, int) == policy.is_sized:
        return None
    if isinstance(amounts, int):
        return amounts
    named = ((policy.part(text), count) for text, count in amounts.items())
    return sum(count for known, count in named if known is not None and known.name == part)


def borrows_a_taken_name(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN016: profiles call what is borrowed `<lender>-<entitlement>`."""
    for tenant in writers(catalog, "accepted_offers"):
        spec = tenant.document.spec
        taken: dict[str, tuple[tuple[str | int, ...], str]] = {
            entitlement.name: (("spec", "entitlements", i, "name"), "")
            for i, entitlement in enumerate(spec.entitlements)
        }
        for i, accepted in enumerate(spec.accepted_offers):
            name = f"{accepted.from_}-{accepted.entitlement}"
            place = ("spec", "acceptedOffers", i, "entitlement")
            other, lender = taken.setdefault(name, (place, accepted.from_))
            if lender != accepted.from_:
                yield diagnose(
                    "TEN016",
                    at(tenant.document, *place),
                    f"what is borrowed here is called {name}, and so is something else",
                    related=[Related(at(tenant.document, *other), f"{name} already")],
                    help="rename the entitlement, here or at the lender",
                )


TENANT_RULES: tuple[Rule, ...] = (
    is_not_accepted,
    is_not_offered,
    offers_too_much,
    borrows_a_taken_name,
)
