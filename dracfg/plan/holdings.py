"""Who holds what of every supply: worked out tenant by tenant, and once for a tenant of two catalogs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Policy, Tenant
from dracfg.link.classes import class_name, classes_by_name
from dracfg.link.grouping import grouped_by
from dracfg.link.memo import per_catalog
from dracfg.link.outlines import outlined
from dracfg.lower.kueuefacts import kueue_facts
from dracfg.model.pool import Owner
from dracfg.plan.asks import Asks, asks
from dracfg.plan.promises import Holding, Holdings, is_promise
from dracfg.plan.supply import Supply, supplies

_Row = tuple[int, int, str, str, str, str, int, int, tuple[int, ...], bool, bool, bool, bool, bool]
"""The number of a supply, and what a tenant holds of it: a Holding's own fields, things by their names."""


_Handed = tuple[tuple[tuple[str, str], ...], bool]
"""(part, class) of what is handed out under a policy, and whether numbers of it are promises."""


@dataclass(frozen=True, slots=True)
class _Stall:
    """A supply by its position, with all but the tenants that decides who holds of it.

    `classes` are the names of all classes of the cluster.
    """

    number: int
    cluster: str
    tier: str
    owner: Owner
    kinds: tuple[str, ...]
    classes: tuple[str, ...]
    is_queued: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where holdings may go, by (cluster, tier). `key` is the same where all of them are."""

    stalls: Mapping[tuple[str, str], tuple[_Stall, ...]]
    key: str
    _handed: dict[tuple[int, str], _Handed] = field(default_factory=dict)

    @classmethod
    def of(cls, stalls: Iterable[_Stall]) -> _Places:
        listed = tuple(stalls)
        digest = hashlib.sha256(repr(listed).encode()).hexdigest()
        return cls(
            grouped_by(listed, lambda one: (one.cluster, one.tier)), f"{__name__}.held {digest}"
        )

    def handed(self, stall: _Stall, policy: Policy) -> _Handed:
        """What a stall hands out under a policy, in the order of the policy's parts."""
        key = stall.number, policy.name
        if key not in self._handed:
            by_plugin = stall.owner == "devicePlugin"
            names = [
                (part.name, stall.tier if by_plugin else class_name(stall.tier, policy, part))
                for part in policy.parts
            ]
            parts = tuple(one for one in names if one[1] in stall.kinds)
            self._handed[key] = parts, is_promise(policy, 1)
        return self._handed[key]


@per_catalog
def holdings(catalog: Catalog) -> Mapping[Supply, Holdings]:
    """All who hold of each supply of the catalog, in the order of tenants and their entitlements."""
    every = supplies(catalog)
    places = _Places.of(_stall(catalog, *numbered) for numbered in enumerate(every))
    found: list[list[tuple[Holding, Tenant]]] = [[] for _ in every]
    alike: dict[_Row, Holding] = {}
    for tenant in catalog.tenants.values():
        for row in _held(catalog, tenant, places):
            holding = alike.get(row)
            if holding is None:
                holding = alike[row] = _holding(catalog, tenant, every[row[0]], row)
            found[row[0]].append((holding, tenant))
    return {supply: Holdings(own) for supply, own in zip(every, found, strict=True)}


def _stall(catalog: Catalog, number: int, supply: Supply) -> _Stall:
    cluster = supply.cluster
    return _Stall(
        number,
        cluster.name,
        supply.tier.name,
        supply.owner,
        tuple(supply.kinds),
        tuple(sorted(classes_by_name(catalog, cluster))),
        is_queued=kueue_facts(cluster.document.spec.addons.kueue) is not None,
    )


def _holding(catalog: Catalog, tenant: Tenant, supply: Supply, row: _Row) -> Holding:
    _, position, name, policy_name, part_name, kind, *_ = row
    policy = catalog.policies[policy_name]
    part = next(part for part in policy.parts if part.name == part_name)
    return Holding(tenant, position, name, policy, part, supply.kinds[kind], *row[6:])


def _held(catalog: Catalog, tenant: Tenant, places: _Places) -> tuple[_Row, ...]:
    """What a tenant holds of each supply, kept with it: most of two catalogs are the same tenants."""
    return outlined(tenant, places.key, lambda: tuple(_rows(catalog, tenant, places)))


def _rows(catalog: Catalog, tenant: Tenant, places: _Places) -> Iterator[_Row]:
    spec = tenant.document.spec
    known: dict[str, Asks] = {}
    for position, grant in enumerate(tenant.grants if spec.state != "removed" else ()):
        cluster, tier = grant.cluster, grant.tier
        is_on_both = len(grant.owners) > 1 and grant.by_plugin is None
        for stall in places.stalls.get((cluster.name, tier.name), ()):
            numbered = grant.on(stall.owner)
            if not numbered:
                continue
            if cluster.name not in known:
                known[cluster.name] = asks(catalog, tenant, cluster)
            asked_for = known[cluster.name]
            by_plugin, is_left = stall.owner == "devicePlugin", stall.owner not in grant.owners
            # Kueue counts templates; claims that a tenant writes by hand are outside of its queues.
            by_kueue = stall.is_queued and not by_plugin and not is_left and not spec.own_claims
            parts, promises = places.handed(stall, grant.policy)
            for part, name in parts:
                numbers = numbered.get(part)
                if numbers is None:
                    continue
                guaranteed = 0 if is_left else numbers.guaranteed
                yield (
                    stall.number,
                    position,
                    grant.name,
                    grant.policy.name,
                    part,
                    name,
                    guaranteed,
                    max(numbers.limit, numbers.guaranteed),
                    _claims(asked_for.sizes.get(name, ()), own=spec.own_claims),
                    name in asked_for.combined,
                    by_kueue and name not in asked_for.shared,
                    promises and guaranteed > 0,
                    is_left,
                    is_on_both,
                )


def _claims(sizes: tuple[int, ...], *, own: bool) -> tuple[int, ...]:
    """The sizes of a tenant's claims: those of its profiles, and 1 of what it may write itself."""
    return (*sizes, 1) if 1 not in sizes and (own or not sizes) else sizes
