"""Who holds what of every supply: worked out tenant by tenant, and once for a tenant of two catalogs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.classes import class_name, classes_by_name
from dracfg.link.memo import per_catalog
from dracfg.lower.kueuefacts import kueue_facts
from dracfg.model.pool import Owner
from dracfg.plan.asks import Asks, asks
from dracfg.plan.promises import Holding, is_promise
from dracfg.plan.proofs.shapes import Kind
from dracfg.plan.supply import Supply, supplies

_REMEMBERED = "_holdings"


@dataclass(frozen=True, slots=True)
class _Stall:
    """A supply by its position, with all but the tenants that decides who holds of it.

    `classes` are the names of all classes of the cluster.
    """

    number: int
    cluster: Cluster
    tier: str
    owner: Owner
    kinds: tuple[tuple[str, Kind], ...]
    classes: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where holdings of a tier on a cluster may go. `is_queued` says whether Kueue counts claims."""

    number: int
    owner: Owner
    kinds: Mapping[str, Kind]
    is_queued: bool


_Places = Mapping[tuple[str, str], list[_Place]]
"""By (cluster, tier)."""


@per_catalog
def holdings(catalog: Catalog) -> Mapping[Supply, tuple[Holding, ...]]:
    """All who hold of each supply of the catalog, in the order of tenants and their entitlements."""
    every = supplies(catalog)
    stalls = (
        _Stall(
            number,
            supply.cluster,
            supply.tier.name,
            supply.owner,
            tuple(supply.kinds.items()),
            frozenset(classes_by_name(catalog, supply.cluster)),
        )
        for number, supply in enumerate(every)
    )
    places = _places(tuple(stalls))
    found: list[list[Holding]] = [[] for _ in every]
    for tenant in catalog.tenants.values():
        for number, holding in _held(catalog, tenant, places):
            found[number].append(holding)
    return {supply: tuple(own) for supply, own in zip(every, found, strict=True)}


@lru_cache(maxsize=8)
def _places(stalls: tuple[_Stall, ...]) -> _Places:
    """The same object for catalogs that offer the same, so that what tenants hold there is the same."""
    found: dict[tuple[str, str], list[_Place]] = {}
    for stall in stalls:
        is_queued = kueue_facts(stall.cluster.document.spec.addons.kueue) is not None
        place = _Place(stall.number, stall.owner, dict(stall.kinds), is_queued)
        found.setdefault((stall.cluster.name, stall.tier), []).append(place)
    return found


def _held(catalog: Catalog, tenant: Tenant, places: _Places) -> tuple[tuple[int, Holding], ...]:
    """(number of the supply, what the tenant holds of it), kept with the tenant as long as it lives.

    Most of two catalogs that are held against each other are the same tenants.
    """
    memory = vars(tenant)
    known: tuple[_Places, tuple[tuple[int, Holding], ...]] | None = memory.get(_REMEMBERED)
    if known is None or known[0] is not places:
        known = memory[_REMEMBERED] = (places, tuple(_holdings(catalog, tenant, places)))
    return known[1]


def _holdings(catalog: Catalog, tenant: Tenant, places: _Places) -> Iterator[tuple[int, Holding]]:
    spec = tenant.document.spec
    known: dict[str, Asks] = {}
    for grant in tenant.grants if spec.state != "removed" else ():
        cluster, tier = grant.cluster, grant.tier
        for place in places.get((cluster.name, tier.name), ()):
            numbered = grant.on(place.owner)
            if not numbered:
                continue
            if cluster.name not in known:
                known[cluster.name] = asks(catalog, tenant, cluster)
            asked_for = known[cluster.name]
            by_plugin, is_left = place.owner == "devicePlugin", place.owner not in grant.owners
            # Kueue counts templates; claims that a tenant writes by hand are outside of its queues.
            by_kueue = place.is_queued and not by_plugin and not is_left and not spec.own_claims
            for part in grant.policy.parts:
                numbers = numbered.get(part.name)
                if numbers is None:
                    continue
                name = tier.name if by_plugin else class_name(tier.name, grant.policy, part)
                kind = place.kinds.get(name)
                if kind is None:
                    continue
                guaranteed = 0 if is_left else numbers.guaranteed
                holding = Holding(
                    tenant=tenant,
                    grant=grant,
                    part=part,
                    kind=kind,
                    guaranteed=guaranteed,
                    limit=max(numbers.limit, numbers.guaranteed),
                    claims=_claims(asked_for.sizes.get(name, ()), own=spec.own_claims),
                    is_combined=name in asked_for.combined,
                    given_back=by_kueue and name not in asked_for.shared,
                    is_promised=is_promise(grant.policy, guaranteed),
                    is_left=is_left,
                )
                yield place.number, holding


def _claims(sizes: tuple[int, ...], *, own: bool) -> tuple[int, ...]:
    """The sizes of a tenant's claims: those of its profiles, and 1 of what it may write itself."""
    return (*sizes, 1) if 1 not in sizes and (own or not sizes) else sizes
