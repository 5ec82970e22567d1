"""CAP001, CAP003, CAP005: numbers of devices that can't be split, promised or spared.

What devices can carry together is proven elsewhere; here each number is judged by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Grant, Tenant
from dracfg.link.grants import split
from dracfg.model.base import at
from dracfg.model.tenant import Amounts, Entitlement


def splits_in_fractions(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP001: a tenant's number must come out in whole devices in each of its namespaces."""
    for tenant in catalog.tenants.values():
        for grant in tenant.grants:
            for part in grant.policy.parts:
                numbers = grant.numbers.get(part.name)
                if numbers is None:
                    continue
                for key, number in (("guaranteed", numbers.guaranteed), ("limit", numbers.limit)):
                    span = _written(tenant, grant, key, part.name)
                    if span is not None and number:
                        yield from _fractions(tenant, grant, number, span)


def _written(tenant: Tenant, grant: Grant, key: str, part: str) -> Span | None:
    """Where a number of a grant stands in the tenant's document; None where it is a default."""
    spec, source = tenant.document.spec, grant.source
    if not isinstance(source, Entitlement):
        for i, accepted in enumerate(spec.accepted_offers):
            named = grant.policy.part(accepted.size)
            same = (accepted.from_, accepted.entitlement) == (source.from_, source.entitlement)
            if key == "limit" and same and named is not None and named.name == part:
                return at(tenant.document, "spec", "acceptedOffers", i, "count")
        return None
    amounts = source.guaranteed if key == "guaranteed" else source.limit
    place = ("spec", "entitlements", spec.entitlements.index(source), key)
    if isinstance(amounts, int):
        return at(tenant.document, *place)
    for text in amounts or ():
        named = grant.policy.part(text)
        if named is not None and named.name == part:
            return at(tenant.document, *place, text)
    return None


def _fractions(tenant: Tenant, grant: Grant, number: int, span: Span) -> Iterator[Diagnostic]:
    cluster = grant.cluster.name
    places = tenant.places_on(cluster)
    shares = [place.namespace.share for place in places]
    total = sum(shares)
    if not total:
        yield diagnose(
            "CAP001",
            span,
            f"no namespace on {cluster} gets anything of {grant.name}: every share is 0",
            help="give one of the namespaces a share of 1 or more",
        )
        return
    if all(split(number, place, places).denominator == 1 for place in places):
        return
    step = total // gcd(*shares)
    below, above = number // step * step, -(-number // step) * step
    namespaces = tenant.document.spec.namespaces
    lent = sum(o.count for o in tenant.document.spec.offers if o.entitlement == grant.name)
    plus = f" (plus the {lent} that are offered to others)" if lent and not grant.lender else ""
    yield diagnose(
        "CAP001",
        span,
        f"{number} of {grant.name} don't come out in whole devices on {cluster}",
        label=listed(f"{p.name} {float(split(number, p, places)):g}" for p in places),
        related=[
            Related(
                at(
                    tenant.document,
                    "spec",
                    "namespaces",
                    namespaces.index(place.namespace),
                    "share",
                ),
                f"{place.name} has share {place.namespace.share} of {total}",
            )
            for place in places
            if "share" in place.namespace.model_fields_set
        ],
        found=str(number),
        expected=f"a multiple of {step}",
        help=f"use {listed((str(n) for n in (below, above) if n), 'or')}{plus}",
    )


def limits_below_guarantees(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP003: quota that lets through less than is promised."""
    for tenant in catalog.tenants.values():
        for i, entitlement in enumerate(tenant.document.spec.entitlements):
            policy = catalog.policies[entitlement.sharing]
            for text, most in _by_part(entitlement.limit).items():
                part = policy.part(text or None)
                for other, number in _by_part(entitlement.guaranteed).items():
                    if part is not None and policy.part(other or None) is part and most < number:
                        yield _below(tenant, i, text, most, other, number)


def _by_part(amounts: Amounts | None) -> Mapping[str, int]:
    if amounts is None:
        return {}
    return {"": amounts} if isinstance(amounts, int) else amounts


def _below(
    tenant: Tenant, position: int, text: str, most: int, promised: str, number: int
) -> Diagnostic:
    place = ("spec", "entitlements", position)
    name = tenant.document.spec.entitlements[position].name
    guarantee = at(tenant.document, *place, "guaranteed", *filter(None, (promised,)))
    return diagnose(
        "CAP003",
        at(tenant.document, *place, "limit", *filter(None, (text,))),
        f"the limit of {name} is below what is guaranteed",
        related=[Related(guarantee, f"{number} are guaranteed")],
        found=str(most),
        expected=f"{number} or more",
        help=f"raise the limit to {number}, or guarantee {most}",
    )


def spares_everything(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP005: spare nodes are kept out of every promise, so some other node must remain."""
    for pool in catalog.pools.values():
        spec = pool.document.spec
        if spec.spare.nodes and spec.spare.nodes >= spec.nodes:
            yield diagnose(
                "CAP005",
                at(pool.document, "spec", "spare", "nodes"),
                f"pool {pool.name} keeps all of its nodes spare",
                related=[Related(at(pool.document, "spec", "nodes"), f"it has {spec.nodes}")],
                found=str(spec.spare.nodes),
                expected=f"less than {spec.nodes}",
                help=f"spare {max(spec.nodes - 1, 0)} nodes at most, or add nodes",
            )


RULES: tuple[Rule, ...] = (splits_in_fractions, limits_below_guarantees, spares_everything)
