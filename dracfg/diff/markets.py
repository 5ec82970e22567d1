"""The markets of both sides, where what people hold that are linked alike on both is made out once.

Knows which tenants stayed by their being the same objects, as linking one state after another leaves
them; nothing of what a difference means.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from dracfg.diff.counterparts import linked_otherwise
from dracfg.link.catalog import Catalog
from dracfg.link.memo import per_catalog
from dracfg.plan.assurance import markets
from dracfg.plan.promises import Market

Place = tuple[str, str, str]
"""Cluster, tier and owner."""
Markets = Mapping[Place, list[Market]]


def markets_by_place(before: Catalog, after: Catalog) -> tuple[Markets, Markets]:
    """The markets of two catalogs by cluster, tier and owner."""
    return _by_place(_markets_before(before, after)), _by_place(markets(after))


def _by_place(listed: Iterable[Market]) -> Markets:
    found: dict[Place, list[Market]] = {}
    for market in listed:
        supply = market.supply
        place = supply.cluster.name, supply.tier.name, supply.owner
        found.setdefault(place, []).append(market)
    return found


@per_catalog
def _markets_before(before: Catalog, after: Catalog) -> tuple[Market, ...]:
    """The markets of the earlier catalog.

    What a tenant holds is told by the tenant as it is linked, and by the supply. Supplies come of the
    clusters and their classes; tenants add none but those of admin access, which give nothing out. So
    over the same clusters markets differ by what tenants hold that are not the same on both sides.
    """
    if before.clusters is not after.clusters:
        return markets(before)
    apart = linked_otherwise(before, after)
    gone, come = (_alone(catalog, apart) for catalog in (before, after))
    parts = zip(markets(after), markets(gone), markets(come), strict=True)
    return tuple(_instead(whole, had, has) for whole, had, has in parts)


def _alone(catalog: Catalog, names: Collection[str]) -> Catalog:
    """The catalog with these tenants alone."""
    tenants = {name: one for name, one in catalog.tenants.items() if name in names}
    return replace(catalog, tenants=tenants)


def _instead(whole: Market, had: Market, has: Market) -> Market:
    """A market with what some tenants `had` of it instead of what these and others now hold."""
    names = has.tenants.keys() | had.tenants.keys()
    stayed = [holding for holding in whole.holdings if holding.tenant.name not in names]
    foreign = {
        tier: whole.foreign.get(tier, 0) - has.foreign.get(tier, 0) + had.foreign.get(tier, 0)
        for tier in sorted(whole.foreign.keys() | had.foreign.keys())
    }
    return replace(
        whole,
        holdings=tuple(sorted((*stayed, *had.holdings), key=lambda one: one.tenant.name)),
        foreign={tier: most for tier, most in foreign.items() if most},
    )
