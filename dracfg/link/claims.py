"""Profiles → claims in neutral form: which classes, how many, held together by which constraints.

k aligned pairs become k request pairs with a constraint each, since one constraint over all
devices would force them onto a single PCIe root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Cluster, Grant, Part, Tenant, Tier
from dracfg.link.classes import ClassPlan, class_name, classes_by_name
from dracfg.link.memo import per_catalog
from dracfg.model.tenant import Alternative, Profile, ProfileConfig, Request, Toleration
from dracfg.model.tier import (
    AttributeMatch,
    AttributeParameter,
    CapacityParameter,
    CapacityRange,
    Match,
    Parameter,
)


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """So many devices of one class. `name` is the subrequest's where there are alternatives.

    `chosen` is what the request asks of the class's devices by the tier's parameters, or None.
    """

    name: str
    plan: ClassPlan
    grant: Grant
    part: Part
    count: int
    chosen: Match | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ClaimRequest:
    """One request of a claim. `origin` is the profile's request that it came from."""

    name: str
    origin: str
    asks: tuple[Ask, ...]
    has_alternatives: bool
    tolerations: tuple[Toleration, ...]

    @property
    def devices(self) -> int:
        """The most devices that it can be given."""
        return max(ask.count for ask in self.asks)


@dataclass(frozen=True, slots=True)
class Constraint:
    """An attribute in which the devices of some requests agree, or in which all differ."""

    requests: tuple[str, ...]
    attribute: str
    distinct: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ClaimPlan:
    """What one claim of a profile asks for on one cluster."""

    profile: Profile
    requests: tuple[ClaimRequest, ...]
    constraints: tuple[Constraint, ...]
    config: tuple[tuple[tuple[str, ...], ProfileConfig], ...]

    @property
    def devices(self) -> int:
        return sum(request.devices for request in self.requests)


@per_catalog
def plans_of(catalog: Catalog, cluster: Cluster, tenant: Tenant) -> tuple[ClaimPlan | None, ...]:
    """The claim of each of a tenant's profiles on a cluster, as `claim_plan` says, in their order."""
    classes = classes_by_name(catalog, cluster)
    grants = _grants(tenant, cluster)
    return tuple(_plan(profile, grants, classes) for profile in tenant.document.spec.profiles)


def claim_plan(
    tenant: Tenant, profile: Profile, cluster: Cluster, classes: Mapping[str, ClassPlan]
) -> ClaimPlan | None:
    """The claim of a profile on a cluster, or None where something it needs is not there.

    An alternative that the cluster lacks is left out: naming a class that does not exist would
    make the whole pod unschedulable.
    """
    return _plan(profile, _grants(tenant, cluster), classes)


def _grants(tenant: Tenant, cluster: Cluster) -> Mapping[str, Grant]:
    """What the tenant's profiles may name on a cluster; of two with the same name the first."""
    return {grant.name: grant for grant in reversed(tenant.grants_on(cluster.name))}


def _plan(
    profile: Profile, grants: Mapping[str, Grant], classes: Mapping[str, ClassPlan]
) -> ClaimPlan | None:
    counts = _paired_counts(profile)
    requests: list[ClaimRequest] = []
    names: dict[str, tuple[str, ...]] = {}
    for request in profile.requests:
        asks = _asks(request, grants, classes)
        if not asks:
            return None
        pairs = counts.get(request.name, 0)
        names[request.name] = _names(request.name, pairs)
        if pairs:
            asks = tuple(_single(ask) for ask in asks)
        alternatives = request.any_of is not None
        requests += [
            ClaimRequest(name, request.name, asks, alternatives, request.tolerations)
            for name in names[request.name]
        ]
    return ClaimPlan(
        profile,
        tuple(requests),
        tuple(_constraints(profile, names)) if profile.align or profile.distinct else (),
        tuple(
            (tuple(n for r in config.requests for n in names.get(r, ())), config)
            for config in profile.config
        ),
    )


def _asks(
    request: Request, grants: Mapping[str, Grant], classes: Mapping[str, ClassPlan]
) -> tuple[Ask, ...]:
    if request.any_of is None:
        ask = _ask(request.name, request, grants, classes)
        return () if ask is None else (ask,)
    found = (
        _ask(alternative_name(alternative, i), alternative, grants, classes)
        for i, alternative in enumerate(request.any_of)
    )
    return tuple(ask for ask in found if ask is not None)


def alternative_name(alternative: Alternative, position: int) -> str:
    """The subrequest's name: as written, or the entitlement's with the position."""
    return alternative.name or f"{alternative.entitlement}-{position}"[-63:].lstrip("-")


def _ask(
    name: str,
    wanted: Request | Alternative,
    grants: Mapping[str, Grant],
    classes: Mapping[str, ClassPlan],
) -> Ask | None:
    grant = grants.get(wanted.entitlement or "")
    part = grant.policy.part(wanted.size) if grant is not None else None
    if grant is None or part is None:
        return None
    plan = classes.get(class_name(grant.tier.name, grant.policy, part))
    if plan is None:
        return None
    return Ask(name, plan, grant, part, wanted.count, _chosen(wanted, grant.tier))


def _chosen(wanted: Request | Alternative, tier: Tier) -> Match | None:
    """What the chosen values ask of a device; choices that a rule refuses are left out."""
    if not wanted.choose:
        return None
    attributes: dict[str, AttributeMatch] = {}
    capacity: dict[str, CapacityRange] = {}
    for name, value in wanted.choose.items():
        parameter = tier.document.spec.parameters.get(name)
        offered = None if parameter is None else offered_value(parameter, value)
        if isinstance(parameter, AttributeParameter) and isinstance(offered, str | int):
            attributes[parameter.attribute] = offered
        elif isinstance(parameter, CapacityParameter) and isinstance(offered, Quantity):
            least = capacity.get(parameter.capacity, CapacityRange()).min
            most = offered if least is None else max(least, offered)
            capacity[parameter.capacity] = CapacityRange(min=most)
    return Match(attributes=attributes, capacity=capacity) if attributes or capacity else None


def offered_value(parameter: Parameter, value: str | int) -> str | int | Quantity | None:
    """The value of a parameter that a request means; amounts are equal however they are written."""
    if isinstance(parameter, AttributeParameter):
        return value if value in parameter.values else None
    try:
        amount = Quantity.parse(str(value))
    except ValueError:
        return None
    return next((known for known in parameter.values if known == amount), None)


def _single(ask: Ask) -> Ask:
    return replace(ask, count=1)


def _paired_counts(profile: Profile) -> dict[str, int]:
    """How many pairs each request takes part in; only for requests aligned with others."""
    if not profile.align:
        return {}
    counts = {request.name: request.count for request in profile.requests}
    return {
        name: counts[name]
        for align in profile.align
        if len(align.requests) > 1
        for name in align.requests
        if counts.get(name, 0) > 1
    }


def _names(request: str, pairs: int) -> tuple[str, ...]:
    return tuple(f"{request}-{i}" for i in range(pairs)) if pairs else (request,)


def _constraints(profile: Profile, names: Mapping[str, tuple[str, ...]]) -> list[Constraint]:
    found = []
    for align in profile.align:
        columns = [names[name] for name in align.requests if name in names]
        if len(columns) == 1:
            found.append(Constraint(columns[0], align.by))
        else:
            found += [Constraint(row, align.by) for row in zip(*columns, strict=False)]
    for distinct in profile.distinct:
        listed = tuple(n for name in distinct.requests for n in names.get(name, ()))
        found.append(Constraint(listed, distinct.by, distinct=True))
    return found
