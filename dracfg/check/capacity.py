"""CAP001, CAP003, CAP005: numbers of devices that can't be split, promised or spared.

What devices can carry together is proven elsewhere; here each number is judged by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import gcd

from dracfg.check.rule import Rule, listed
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Grant, Place, Tenant
from dracfg.link.grants import split
from dracfg.link.writers import writers
from dracfg.model.base import at
from dracfg.model.tenant import Amounts, Entitlement


def splits_in_fractions(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP001: a tenant's number must come out in whole devices in each of its namespaces."""
    for tenant in catalog.tenants.values():
        steps = {name: _step(tenant.places_on(name)) for name in tenant.clusters}
        if all(step == 1 for step in steps.values()):
            continue
        for grant in tenant.grants:
            step = steps[grant.cluster.name]
            for name, numbers in grant.numbers.items() if step != 1 else ():
                for key, number in (("guaranteed", numbers.guaranteed), ("limit", numbers.limit)):
                    whole = not number or (step and number % step == 0)
                    place = None if whole else _written(tenant, grant, key, name)
                    if place is not None:
                        yield from _fractions(tenant, grant, number, place)


def _step(places: Sequence[Place]) -> int:
    """Multiples of it come out whole in each of the namespaces; 0 where none gets anything."""
    return _whole(tuple([place.namespace.share for place in places]))


@cache
def _whole(shares: tuple[int, ...]) -> int:
    return sum(shares) // gcd(*shares) if any(shares) else 0


def _written(tenant: Tenant, grant: Grant, key: str, part: str) -> tuple[str | int, ...] | None:
    """Where a number of a grant stands in the tenant's document; None where it is a default."""
    spec, source = tenant.document.spec, grant.source
    if not isinstance(source, Entitlement):
        for i, accepted in enumerate(spec.accepted_offers):
            named = grant.policy.part(accepted.size)
            same = (accepted.from_, accepted.entitlement) == (source.from_, source.entitlement)
            if key == "limit" and same and named is not None and named.name == part:
                return "spec", "acceptedOffers", i, "count"
        return None
    amounts = source.guaranteed if key == "guaranteed" else source.limit
    place = ("spec", "entitlements", spec.entitlements.index(source), key)
    if isinstance(amounts, int):
        return place
    for text in amounts or ():
        named = grant.policy.part(text)
        if named is not None and named.name == part:
            return *place, text
    return None


def _fractions(
    tenant: Tenant, grant: Grant, number: int, written: tuple[str | int, ...]
) -> Iterator[Diagnostic]:
    cluster = grant.cluster.name
    places = tenant.places_on(cluster)
    total, step = sum(place.namespace.share for place in places), _step(places)
    if not step:
        yield diagnose(
            "CAP001",
            at(tenant.document, *written),
            f"no namespace on {cluster} gets anything of {grant.name}: every share is 0",
            help="give one of the namespaces a share of 1 or more",
        )
        return
    below, above = number // step * step, -(-number // step) * step
    namespaces = tenant.document.spec.namespaces
    lent = sum(o.count for o in tenant.document.spec.offers if o.entitlement == grant.name)
    plus = f" (plus the {lent} that are offered to others)" if lent and not grant.lender else ""
    yield diagnose(
        "CAP001",
        at(tenant.document, *written),
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
    for tenant in writers(catalog, "limit"):
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


RULES: tuple[Rule, ...] = (spares_everything,)
TENANT_RULES: tuple[Rule, ...] = (splits_in_fractions, limits_below_guarantees)
