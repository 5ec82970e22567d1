"""Who may hold what of a supply: what is promised, what quota lets through, in which claims.

A claim is charged in every class it names, so alternatives count for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dracfg.link.catalog import Catalog, Cluster, Grant, Part, Policy, Tenant
from dracfg.link.claims import ClaimPlan, claim_plan
from dracfg.link.classes import class_name, device_classes
from dracfg.link.memo import per_catalog
from dracfg.lower.kueuefacts import kueue_facts
from dracfg.model.sharing import Consumable, Partitioned, TimeSliced
from dracfg.model.tenant import Profile
from dracfg.plan.proofs.shapes import Claims, Kind
from dracfg.plan.supply import EXEMPT, Supply

SHARED = (Consumable, Partitioned, TimeSliced)
"""Policies under which claims meet on one device."""


@dataclass(frozen=True, eq=False)
class Holding:
    """One class in a tenant's hands. `claims` are the numbers of devices that one claim of its asks
    for, largest first; 1 is among them where tenants write claims of their own.
    """

    tenant: Tenant
    grant: Grant
    part: Part
    kind: Kind
    guaranteed: int
    limit: int
    claims: tuple[int, ...]
    is_combined: bool
    """Whether some claims ask for other devices beside it, or for ones that agree in an attribute."""
    given_back: bool
    """Whether what it holds above its guarantee is taken back for others."""
    is_left: bool = False
    """Whether it is of claims that a rollout takes back: bound ones stay, and no new ones come."""

    def kept(self, reclaimed: bool) -> int:
        """The most that it holds; with `reclaimed`, after others have asked for their guarantees."""
        return self.guaranteed if reclaimed and self.given_back else self.limit

    @property
    def is_promised(self) -> bool:
        """Whether the guarantee is one: sharing that nothing enforces is advisory."""
        return is_promise(self.grant.policy, self.guaranteed)

    @property
    def what(self) -> str:
        """Its name for people: `gpu`, or `slice 10Gi`."""
        return " ".join(filter(None, (self.grant.name, self.part.name)))

    def demand(self, largest: int | None = None) -> tuple[Claims, ...]:
        """The guarantee as claims: as many of the largest as it holds, then of the next, at last
        single ones. `largest` leaves larger claims out.
        """
        left, found = self.guaranteed, []
        for devices in (*self.claims, 1):
            if largest is not None and devices > largest:
                continue
            if left >= devices:
                found.append(Claims(self.kind, left // devices, devices))
                left %= devices
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Market:
    """A supply with all who may hold of it."""

    supply: Supply
    holdings: tuple[Holding, ...]
    exempt: int
    """Devices that exempt namespaces may hold, wherever they like."""
    foreign: Mapping[str, int] = field(default_factory=dict)
    """Claims of other tiers that may land on these devices: tier → the most of them."""

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        held = dict.fromkeys(holding.kind for holding in self.holdings)
        return (*held, EXEMPT) if self.exempt else tuple(held)

    @cached_property
    def _most(self) -> tuple[Mapping[Kind, int], Mapping[Kind, int]]:
        return self._sum(reclaimed=False), self._sum(reclaimed=True)

    def _sum(self, *, reclaimed: bool) -> Mapping[Kind, int]:
        found = dict.fromkeys(self.kinds, 0)
        for holding in self.holdings:
            found[holding.kind] += holding.kept(reclaimed)
        if self.exempt:
            found[EXEMPT] = self.exempt
        return found

    def most(self, reclaimed: bool) -> Mapping[Kind, int]:
        """The most of each kind that everybody together holds."""
        return self._most[reclaimed]

    @cached_property
    def tenants(self) -> Mapping[str, tuple[Holding, ...]]:
        found: dict[str, tuple[Holding, ...]] = {}
        for holding in self.holdings:
            found[holding.tenant.name] = (*found.get(holding.tenant.name, ()), holding)
        return found

    def guaranteed(self) -> tuple[Claims, ...]:
        """Everything that is promised, as claims, with what exempt namespaces may hold."""
        exempt = (Claims(EXEMPT, self.exempt),) if self.exempt else ()
        promised = (c for h in self.holdings if h.is_promised for c in h.demand())
        return merged((*promised, *exempt))

    @cached_property
    def _everything(self) -> tuple[tuple[Claims, ...], tuple[Claims, ...]]:
        return self._as_claims(reclaimed=False), self._as_claims(reclaimed=True)

    def everything(self, reclaimed: bool) -> tuple[Claims, ...]:
        """The most that everybody together holds, the promised part of it as claims."""
        return self._everything[reclaimed]

    def _as_claims(self, *, reclaimed: bool) -> tuple[Claims, ...]:
        claims: list[Claims] = [Claims(EXEMPT, self.exempt)] if self.exempt else []
        for holding in self.holdings:
            promised = holding.guaranteed if holding.is_promised else 0
            claims += holding.demand() if promised else ()
            claims.append(Claims(holding.kind, holding.kept(reclaimed) - promised))
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
        return any(h.given_back and h.limit > h.guaranteed for h in self.holdings)


def is_promise(policy: Policy, guaranteed: int) -> bool:
    """Whether a number under a policy is a guarantee."""
    spec = policy.spec
    advisory = isinstance(spec, SHARED) and spec.isolation == "none"
    return bool(guaranteed) and spec.guarantee != "none" and not advisory


def merged(claims: tuple[Claims, ...]) -> tuple[Claims, ...]:
    """The same claims, each kind and size once."""
    found: dict[tuple[Kind, int], int] = {}
    for one in claims:
        key = (one.kind, one.devices)
        found[key] = found.get(key, 0) + one.count
    return tuple(Claims(kind, n, devices) for (kind, devices), n in found.items() if n)


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A profile of a tenant, by its position, with its claim on one cluster."""

    tenant: Tenant
    position: int
    plan: ClaimPlan
    cluster: Cluster
    charged: Mapping[str, int]
    """What one claim is charged, by class."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the profiles of tenants ask for.

    `charged` gives by (cluster, tenant) what one claim of each profile is charged, by class. The
    others go by (cluster, tenant, class): `sizes` are the devices of that class in one claim, largest
    first; `shared` holds the classes of claims that several pods share, which are no templates;
    `combined` those of claims with devices of several classes at once, or with constraints.
    """

    charged: Mapping[tuple[str, str], tuple[tuple[Profile, Mapping[str, int]], ...]]
    sizes: Mapping[tuple[str, str, str], tuple[int, ...]]
    shared: frozenset[tuple[str, str, str]]
    combined: frozenset[tuple[str, str, str]]


@per_catalog
def asked(catalog: Catalog) -> Asked:
    """What every profile asks for on every cluster where it can be emitted."""
    charged: dict[tuple[str, str], list[tuple[Profile, Mapping[str, int]]]] = {}
    sizes: dict[tuple[str, str, str], set[int]] = {}
    shared: set[tuple[str, str, str]] = set()
    combined: set[tuple[str, str, str]] = set()
    for made in claim_plans(catalog):
        cluster, tenant, plan = made.cluster, made.tenant, made.plan
        by_pods = {claim.profile for claim in tenant.document.spec.shared_claims}
        taken = made.charged
        charged.setdefault((cluster.name, tenant.name), []).append((plan.profile, taken))
        for name, devices in taken.items():
            key = (cluster.name, tenant.name, name)
            sizes.setdefault(key, set()).add(devices)
            if plan.profile.name in by_pods:
                shared.add(key)
            several = len(plan.requests) > 1 and len({one.origin for one in plan.requests}) > 1
            if several or plan.constraints:
                combined.add(key)
    ordered = {key: tuple(sorted(found, reverse=True)) for key, found in sizes.items()}
    profiles = {key: tuple(found) for key, found in charged.items()}
    return Asked(profiles, ordered, frozenset(shared), frozenset(combined))


def market(
    catalog: Catalog, supply: Supply, asked_for: Asked, strangers: Sequence[Supply] = ()
) -> Market:
    """A supply and its holdings, in the order of tenants and their entitlements.

    `strangers` are supplies of other tiers whose claims may take devices of this one.
    """
    exempt = sum(entry.devices for entry in supply.cluster.document.spec.exempt_namespaces)
    foreign: dict[str, int] = {}
    for other in strangers:
        most = sum(holding.limit for holding in _all_holdings(catalog, other, asked_for))
        foreign[other.tier.name] = foreign.get(other.tier.name, 0) + most
    return Market(
        supply,
        tuple(_all_holdings(catalog, supply, asked_for)),
        exempt if supply.owner == "dra" else 0,
        {name: most for name, most in foreign.items() if most},
    )


def _all_holdings(catalog: Catalog, supply: Supply, asked_for: Asked) -> Iterator[Holding]:
    for tenant, grant in _grants(catalog).get((supply.cluster.name, supply.tier.name), ()):
        yield from _holdings(supply, tenant, grant, asked_for)


@per_catalog
def _grants(catalog: Catalog) -> Mapping[tuple[str, str], list[tuple[Tenant, Grant]]]:
    """What tenants that are not removed have of each tier, by (cluster, tier)."""
    found: dict[tuple[str, str], list[tuple[Tenant, Grant]]] = {}
    for tenant in catalog.tenants.values():
        for grant in tenant.grants if tenant.document.spec.state != "removed" else ():
            found.setdefault((grant.cluster.name, grant.tier.name), []).append((tenant, grant))
    return found


def charges(plan: ClaimPlan) -> Mapping[str, int]:
    """Devices by class that one claim is charged: of alternatives, the most of each class."""
    found: dict[str, int] = {}
    for request in plan.requests:
        most: dict[str, int] = {}
        for ask in request.asks:
            most[ask.plan.name] = max(most.get(ask.plan.name, 0), ask.count)
        for name, devices in most.items():
            found[name] = found.get(name, 0) + devices
    return found


@per_catalog
def claim_plans(catalog: Catalog) -> tuple[Planned, ...]:
    """Every profile, on each cluster where it can be emitted."""
    return tuple(_plans(catalog))


def _plans(catalog: Catalog) -> Iterator[Planned]:
    for cluster in catalog.clusters.values():
        classes = {plan.name: plan for plan in device_classes(catalog, cluster)}
        for tenant in catalog.tenants_on(cluster.name):
            for position, profile in enumerate(tenant.document.spec.profiles):
                plan = claim_plan(tenant, profile, cluster, classes)
                if plan is not None:
                    yield Planned(tenant, position, plan, cluster, charges(plan))


def _holdings(supply: Supply, tenant: Tenant, grant: Grant, asked_for: Asked) -> Iterator[Holding]:
    cluster, by_plugin = supply.cluster, supply.owner == "devicePlugin"
    is_left = supply.owner not in grant.owners
    numbered = grant.on(supply.owner)
    for part in grant.policy.parts:
        numbers = numbered.get(part.name)
        if numbers is None:
            continue
        name = supply.tier.name if by_plugin else class_name(grant.tier.name, grant.policy, part)
        if name not in supply.kinds:
            continue
        key = (cluster.name, tenant.name, name)
        yield Holding(
            tenant=tenant,
            grant=grant,
            part=part,
            kind=supply.kinds[name],
            guaranteed=0 if is_left else numbers.guaranteed,
            limit=max(numbers.limit, numbers.guaranteed),
            claims=_claims(tenant, asked_for.sizes.get(key, ())),
            is_combined=key in asked_for.combined,
            given_back=not by_plugin
            and not is_left
            and key not in asked_for.shared
            and _is_queued(tenant, cluster),
            is_left=is_left,
        )


def _claims(tenant: Tenant, sizes: tuple[int, ...]) -> tuple[int, ...]:
    own = {1} if tenant.document.spec.own_claims or not sizes else set()
    return tuple(sorted({*sizes, *own}, reverse=True))


def _is_queued(tenant: Tenant, cluster: Cluster) -> bool:
    """Whether Kueue counts the tenant's claims, and takes back what was borrowed.

    It counts templates; claims that a tenant writes by hand are outside of its queues.
    """
    facts = kueue_facts(cluster.document.spec.addons.kueue)
    return facts is not None and not tenant.document.spec.own_claims
