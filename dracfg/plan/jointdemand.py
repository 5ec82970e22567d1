"""What claims with several requests, or with devices that agree in an attribute, add up to.

The same claims of all tenants of a cluster are one demand, since all of them may be there at once.
Knows no device.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Grant, Tenant
from dracfg.link.claims import ClaimPlan, ClaimRequest, claim_plan
from dracfg.link.classes import device_classes
from dracfg.link.memo import per_catalog
from dracfg.link.outlines import outline
from dracfg.lower.quotas import class_limits
from dracfg.lower.selectors import request_selectors
from dracfg.lower.tenancy import profile_places
from dracfg.model.tenant import Profile
from dracfg.plan.asks import charges
from dracfg.plan.promises import is_promise

_Shape = tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Asker:
    """A tenant's profile, and how many of its claims the tenant is guaranteed.

    That number is what its guarantees come to and its namespaces' quota lets through. `unpromised`
    is the entitlement of a request that is guaranteed to the tenant by nothing; then it is 0.
    """

    tenant: Tenant
    profile: Profile
    claims: int
    unpromised: str | None = None


@dataclass(slots=True, eq=False)
class JointDemand:
    """Claims of one shape on one cluster; `plan` is that of the first asker."""

    cluster: Cluster
    plan: ClaimPlan
    askers: list[Asker] = field(default_factory=list)

    @property
    def claims(self) -> int:
        return sum(asker.claims for asker in self.askers)

    @property
    def largest(self) -> Asker:
        return max(self.askers, key=lambda asker: asker.claims)

    @property
    def is_non_blocking(self) -> bool:
        """Whether every request is for what must never be refused; else the claim may be."""
        return all(
            ask.grant.policy.spec.guarantee == "nonBlocking"
            for request in self.plan.requests
            for ask in request.asks
        )


@per_catalog
def joint_demands(catalog: Catalog) -> tuple[JointDemand, ...]:
    """The demands of every cluster, in the order of tenants and their profiles."""
    return tuple(
        demand for cluster in catalog.clusters.values() for demand in _on(catalog, cluster)
    )


def _on(catalog: Catalog, cluster: Cluster) -> Iterator[JointDemand]:
    found: dict[_Shape, JointDemand] = {}
    asking = [
        (tenant, profile)
        for tenant in catalog.tenants_on(cluster.name)
        if asks_jointly(tenant)
        for profile in tenant.document.spec.profiles
        if is_joint(profile) and profile_places(tenant, profile, cluster.name)
    ]
    classes = {one.name: one for one in device_classes(catalog, cluster)} if asking else {}
    for tenant, profile in asking:
        plan = claim_plan(tenant, profile, cluster, classes)
        if plan is not None:
            demand = found.setdefault(_shape(plan), JointDemand(cluster, plan))
            demand.askers.append(_asker(cluster, tenant, plan))
    yield from found.values()


@outline
def asks_jointly(tenant: Tenant) -> bool:
    """Whether some profile of a tenant is joint."""
    spec = tenant.document.spec
    return spec.state != "removed" and any(map(is_joint, spec.profiles))


def is_joint(profile: Profile) -> bool:
    """Whether a claim of the profile is more than devices of one entitlement, any of them."""
    return len(profile.requests) > 1 or bool(profile.align or profile.distinct)


def _asker(cluster: Cluster, tenant: Tenant, plan: ClaimPlan) -> Asker:
    for request in plan.requests:
        if not any(_guaranteed(ask.grant, ask.part.name) for ask in request.asks):
            return Asker(tenant, plan.profile, 0, request.asks[0].grant.name)
    charged = charges(plan)
    promised: dict[str, dict[str, int]] = {}
    for request in plan.requests:
        for ask in request.asks:
            number = _guaranteed(ask.grant, ask.part.name)
            if number:
                promised.setdefault(ask.plan.name, {})[ask.grant.name] = number
    by_guarantee = min(sum(grants.values()) // charged[name] for name, grants in promised.items())
    by_quota = sum(
        min(limits.get(name, 0) // number for name, number in charged.items())
        for place in profile_places(tenant, plan.profile, cluster.name)
        for limits in [class_limits(cluster, tenant, place)]
    )
    return Asker(tenant, plan.profile, min(by_guarantee, by_quota))


def _guaranteed(grant: Grant, part: str) -> int:
    numbers = grant.on("dra").get(part)
    number = numbers.guaranteed if numbers is not None else 0
    return number if is_promise(grant.policy, number) else 0


def _shape(plan: ClaimPlan) -> _Shape:
    """What two claims have in common that fit wherever the other does; names are not part of it."""
    position = {request.name: i for i, request in enumerate(plan.requests)}
    return (
        tuple(map(_request_shape, plan.requests)),
        tuple(
            (
                tuple(position[name] for name in one.requests if name in position),
                one.attribute,
                one.distinct,
            )
            for one in plan.constraints
        ),
    )


def _request_shape(request: ClaimRequest) -> _Shape:
    asks = tuple((ask.plan.name, ask.count, tuple(request_selectors(ask))) for ask in request.asks)
    return asks, request.tolerations
