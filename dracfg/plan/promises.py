"""Who may hold what of a supply: what is promised, what quota lets through, in which claims.

A claim is charged in every class it names, so alternatives count for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import overload

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Grant, Part, Policy, Tenant
from dracfg.link.claims import ClaimPlan, plans_of
from dracfg.link.grouping import grouped, grouped_by
from dracfg.link.memo import per_catalog
from dracfg.model.sharing import Consumable, Partitioned, TimeSliced
from dracfg.model.tenant import Profile
from dracfg.plan.proofs.shapes import Claims, Kind
from dracfg.plan.supply import EXEMPT, Supply

SHARED = (Consumable, Partitioned, TimeSliced)
"""Policies under which claims meet on one device."""

Sort = tuple[str, int, int, tuple[int, ...], bool, bool]
"""(kind, guaranteed, limit, devices of its claims, given back, promised) of a holding."""


@dataclass(frozen=True, eq=False)
class Holding:
    """One class in a tenant's hands. `claims` are the numbers of devices that one claim of its asks
    for, largest first; 1 is among them where tenants write claims of their own.

    `position` and `name` are its grant's. The grant itself is the tenant's, which may not be linked yet.
    """

    tenant: Tenant
    position: int
    name: str
    policy: Policy
    part: Part
    kind: Kind
    guaranteed: int
    limit: int
    claims: tuple[int, ...]
    is_combined: bool
    """Whether some claims ask for other devices beside it, or for ones that agree in an attribute."""
    given_back: bool
    """Whether what it holds above its guarantee is taken back for others."""
    is_promised: bool
    """Whether the guarantee is one: sharing that nothing enforces is advisory."""
    is_left: bool = False
    """Whether it is of claims that a rollout takes back: bound ones stay, and no new ones come."""
    is_on_both: bool = False
    """Whether both owners may hand it out, and nothing says how much of it each."""

    @property
    def grant(self) -> Grant:
        return self.tenant.grants[self.position]

    @cached_property
    def sort(self) -> Sort:
        """All that sums and claims of the market go by: holdings of one sort add up alike."""
        numbers = self.guaranteed, self.limit, self.claims
        return self.kind.name, *numbers, self.given_back, self.is_promised

    def held_by(self, tenant: Tenant) -> Holding:
        """The same in the hands of a tenant."""
        other = object.__new__(Holding)
        vars(other).update(vars(self), tenant=tenant)
        return other

    def kept(self, reclaimed: bool) -> int:
        """The most that it holds; with `reclaimed`, after others have asked for their guarantees."""
        return self.guaranteed if reclaimed and self.given_back else self.limit

    @property
    def what(self) -> str:
        """Its name for people: `gpu`, or `slice 10Gi`."""
        return " ".join(filter(None, (self.name, self.part.name)))

    def demand(self, largest: int | None = None) -> tuple[Claims, ...]:
        """The guarantee as claims: as many of the largest as it holds, then of the next, at last
        single ones. `largest` leaves larger claims out.
        """
        return self.demand_for(self.guaranteed, largest)

    def demand_for(self, devices: int, largest: int | None = None) -> tuple[Claims, ...]:
        """So many devices as claims, in the same way."""
        left, found = devices, []
        for size in (*self.claims, 1):
            if largest is not None and size > largest:
                continue
            if left >= size:
                found.append(Claims(self.kind, left // size, size))
                left %= size
        return tuple(found)


class Holdings(Sequence[Holding]):
    """Holdings that are made when somebody looks at them one by one: many differ in the tenant alone.

    `alike` has one of those each, by its first tenant, with their number, in the order of the first.
    """

    def __init__(self, held: Sequence[tuple[Holding, Tenant]]) -> None:
        """`held` are the first holding of a kind and who holds the like."""
        self.held = held
        self.alike: Mapping[Holding, int] = Counter([holding for holding, _ in held])

    @overload
    def __getitem__(self, index: int) -> Holding: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Holding]: ...

    def __getitem__(self, index: int | slice) -> Holding | Sequence[Holding]:
        return self._all[index]

    def __iter__(self) -> Iterator[Holding]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self.held)

    @cached_property
    def _all(self) -> tuple[Holding, ...]:
        return tuple(
            holding if holding.tenant is tenant else holding.held_by(tenant)
            for holding, tenant in self.held
        )


@dataclass(frozen=True, eq=False)
class Market:
    """A supply with all who may hold of it."""

    supply: Supply
    holdings: Sequence[Holding]
    exempt: int
    """Devices that exempt namespaces may hold, wherever they like."""
    foreign: Mapping[str, int] = field(default_factory=dict)
    """Claims of other tiers that may land on these devices: tier → the most of them."""

    @cached_property
    def _alike(self) -> tuple[tuple[Holding, int], ...]:
        """One holding of each sort and how many there are, the sorts in the order of their first.

        Of many tenants few differ in their numbers, and what is summed here goes by nothing else.
        """
        first: dict[Sort, Holding] = {}
        found: Counter[Sort] = Counter()
        for holding, number in self._listed.items():
            first.setdefault(holding.sort, holding)
            found[holding.sort] += number
        return tuple((first[sort], number) for sort, number in found.items())

    @property
    def _listed(self) -> Mapping[Holding, int]:
        listed = self.holdings
        return listed.alike if isinstance(listed, Holdings) else dict.fromkeys(listed, 1)

    @property
    def different(self) -> Iterable[Holding]:
        """Holdings that differ in more than the tenant, in the order of the first, by that one."""
        return self._listed.keys()

    @property
    def held(self) -> Iterable[tuple[Holding, Tenant]]:
        """A holding of each kind, as often as there is one, with who has it: few of them are his own."""
        listed = self.holdings
        return listed.held if isinstance(listed, Holdings) else ((h, h.tenant) for h in listed)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        held = dict.fromkeys(holding.kind for holding, _ in self._alike)
        return (*held, EXEMPT) if self.exempt else tuple(held)

    @cached_property
    def promised(self) -> tuple[Holding, ...]:
        """The holdings with a guarantee that is one."""
        return tuple(holding for holding in self.holdings if holding.is_promised)

    @cached_property
    def _most(self) -> tuple[Mapping[Kind, int], Mapping[Kind, int]]:
        return self._sum(reclaimed=False), self._sum(reclaimed=True)

    def _sum(self, *, reclaimed: bool) -> Mapping[Kind, int]:
        found = dict.fromkeys(self.kinds, 0)
        for holding, number in self._alike:
            found[holding.kind] += holding.kept(reclaimed) * number
        if self.exempt:
            found[EXEMPT] = self.exempt
        return found

    def most(self, reclaimed: bool) -> Mapping[Kind, int]:
        """The most of each kind that everybody together holds."""
        return self._most[reclaimed]

    def sums(self) -> Iterator[tuple[Kind, int, int]]:
        """(kind, what of it is promised, what quota lets through) in parts that add up to the whole."""
        for holding, number in self._alike:
            promised = holding.guaranteed if holding.is_promised else 0
            yield holding.kind, promised * number, holding.limit * number

    @cached_property
    def tenants(self) -> Mapping[str, tuple[Holding, ...]]:
        return grouped_by(self.holdings, lambda holding: holding.tenant.name)

    @cached_property
    def _guaranteed(self) -> tuple[Claims, ...]:
        exempt = (Claims(EXEMPT, self.exempt),) if self.exempt else ()
        promised = (c for h, n in self._alike if h.is_promised for c in times(n, h.demand()))
        return merged((*promised, *exempt))

    def guaranteed(self) -> tuple[Claims, ...]:
        """Everything that is promised, as claims, with what exempt namespaces may hold."""
        return self._guaranteed

    @cached_property
    def _everything(self) -> tuple[tuple[Claims, ...], tuple[Claims, ...]]:
        return self._as_claims(reclaimed=False), self._as_claims(reclaimed=True)

    def everything(self, reclaimed: bool) -> tuple[Claims, ...]:
        """The most that everybody together holds, the promised part of it as claims."""
        return self._everything[reclaimed]

    def _as_claims(self, *, reclaimed: bool) -> tuple[Claims, ...]:
        claims: list[Claims] = [Claims(EXEMPT, self.exempt)] if self.exempt else []
        for holding, number in self._alike:
            promised = holding.guaranteed if holding.is_promised else 0
            claims += times(number, holding.demand()) if promised else ()
            claims.append(Claims(holding.kind, (holding.kept(reclaimed) - promised) * number))
        return merged(tuple(claims))

    def beside(self, tenant: str, reclaimed: bool) -> Mapping[Kind, int]:
        """What all others may hold beside a tenant."""
        found = dict(self.most(reclaimed))
        for holding in self.tenants.get(tenant, ()):
            found[holding.kind] -= holding.kept(reclaimed)
        return found

    @cached_property
    def takes_back(self) -> bool:
        """Whether anybody's borrowing is taken back."""
        return any(h.given_back and h.limit > h.guaranteed for h, _ in self._alike)


def is_promise(policy: Policy, guaranteed: int) -> bool:
    """Whether a number under a policy is a guarantee."""
    spec = policy.spec
    if not guaranteed or spec.guarantee == "none":
        return False
    return not (isinstance(spec, SHARED) and spec.isolation == "none")


def times(number: int, claims: Iterable[Claims]) -> Iterator[Claims]:
    """The claims of so many who ask for the same."""
    return (Claims(one.kind, one.count * number, one.devices) for one in claims)


def merged(claims: tuple[Claims, ...]) -> tuple[Claims, ...]:
    """The same claims, each kind and size once."""
    found: dict[tuple[Kind, int], int] = {}
    for one in claims:
        key = (one.kind, one.devices)
        found[key] = found.get(key, 0) + one.count
    return tuple(Claims(kind, n, devices) for (kind, devices), n in found.items() if n)


def market(
    supply: Supply, held: Mapping[Supply, Sequence[Holding]], strangers: Sequence[Supply] = ()
) -> Market:
    """A supply with those who hold of it; `held` are the holdings of every supply.

    `strangers` are supplies of other tiers whose claims may take devices of this one.
    """
    exempt = sum(entry.devices for entry in supply.cluster.document.spec.exempt_namespaces)
    foreign: dict[str, int] = {}
    for other in strangers:
        most = sum(holding.limit for holding in held[other])
        foreign[other.tier.name] = foreign.get(other.tier.name, 0) + most
    return Market(
        supply,
        held[supply],
        exempt if supply.owner == "dra" else 0,
        {name: most for name, most in foreign.items() if most},
    )


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A profile of a tenant, by its position, with its claim on one cluster."""

    tenant: Tenant
    position: int
    plan: ClaimPlan
    cluster: Cluster


@per_catalog
def claim_plans(catalog: Catalog) -> tuple[Planned, ...]:
    """Every profile, on each cluster where it can be emitted."""
    return tuple(planned(catalog, catalog.clusters.values(), catalog.tenants.values()))


def planned(
    catalog: Catalog,
    clusters: Iterable[Cluster],
    tenants: Iterable[Tenant],
    is_wanted: Callable[[Profile], bool] = lambda _: True,
) -> Iterator[Planned]:
    """The profiles of these tenants that are wanted, on each of the clusters where they can be emitted."""
    by_cluster = grouped(tenants, lambda tenant: tenant.clusters)
    for cluster in clusters:
        for tenant in by_cluster.get(cluster.name, ()):
            wanted = [*map(is_wanted, tenant.document.spec.profiles)]
            if not any(wanted):
                continue
            for position, plan in enumerate(plans_of(catalog, cluster, tenant)):
                if plan is not None and wanted[position]:
                    yield Planned(tenant, position, plan, cluster)
