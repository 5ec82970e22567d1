"""The devices that a container asks for → the profile of its tenant that holds exactly these.

A profile fits where each of its requests is for something that is asked for, in the same number.
Knows no file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Tenant
from dracfg.link.claims import ClaimPlan, ClaimRequest
from dracfg.lower.templates import PROFILE, template_artifacts
from dracfg.lower.tenancy import Tenancy
from dracfg.migrate.demand import Item
from dracfg.migrate.names import meets, stands_for, tiers_meant


@dataclass(frozen=True, slots=True, eq=False)
class Offering:
    """A profile that a tenant's workloads can use on a cluster; `templates` go by namespace."""

    name: str
    cluster: str
    plan: ClaimPlan
    templates: Mapping[str, str]

    @property
    def is_plain(self) -> bool:
        """Whether it asks for devices and nothing else of them."""
        plan = self.plan
        special = any(
            request.tolerations or any(ask.chosen is not None for ask in request.asks)
            for request in plan.requests
        )
        return not (plan.constraints or plan.config or special)

    @property
    def holds(self) -> str:
        """`8 of a100-40g and 8 of cx7-400g`."""
        numbers: dict[str, int] = defaultdict(int)
        for request in self.plan.requests:
            name = " or ".join(dict.fromkeys(ask.plan.name for ask in request.asks))
            numbers[name] += request.devices
        return " and ".join(f"{number} of {name}" for name, number in numbers.items())

    @property
    def beside(self) -> str:
        """What it asks of the devices beyond their number, in words; empty where nothing."""
        words = [
            f"{'different' if one.distinct else 'equal'} in {one.attribute}"
            for one in self.plan.constraints
        ]
        words += [f"with parameters of {config.driver}" for _, config in self.plan.config]
        return ", ".join(dict.fromkeys(words))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The template to name, and how its claim is called in the pod."""

    profile: str
    template: str
    claim: str
    beside: str = ""
    exact: bool = True


@dataclass(frozen=True, slots=True)
class NoneFits:
    """No profile holds the devices. `nearest` says which comes close, `missing` what to write."""

    nearest: str
    missing: str


@dataclass(frozen=True, slots=True)
class SeveralFit:
    """Several profiles hold the devices, or one has other template names from cluster to cluster."""

    profiles: tuple[str, ...]
    clusters: tuple[str, ...] = ()


Fit = Chosen | NoneFits | SeveralFit


def offerings(catalog: Catalog, tenant: Tenant, clusters: Iterable[str]) -> tuple[Offering, ...]:
    """The profiles of a tenant on some clusters, where claims are open to it."""
    found: list[Offering] = []
    for name in clusters:
        tenancy = Tenancy(catalog, catalog.clusters[name], tenant)
        names: dict[str, dict[str, str]] = defaultdict(dict)
        for artifact in template_artifacts(tenancy):
            metadata = artifact.object["metadata"]
            names[metadata["labels"][PROFILE]][metadata["namespace"]] = metadata["name"]
        found += [
            Offering(plan.profile.name, name, plan, names[plan.profile.name])
            for plan in tenancy.plans
            if plan is not None and _is_open(plan) and names[plan.profile.name]
        ]
    return tuple(found)


def fit(
    items: Sequence[Item],
    offered: Sequence[Offering],
    namespace: str | None,
    wanted: Sequence[str] = (),
) -> Chosen | SeveralFit | None:
    """The profile for some devices; None where none fits.

    `namespace` is that of the pod where the tenant has it. `wanted` names the profiles that a person
    chose: of these one that holds more than is asked for will do.
    """
    here = [one for one in offered if namespace is None or namespace in one.templates]
    if wanted:
        here = [one for one in here if one.name in wanted]
    fitting = [one for one in here if _is_exact(one.plan, items)]
    plain = [one for one in fitting if one.is_plain]
    candidates = plain or fitting
    exact = bool(candidates)
    if not candidates and wanted:
        candidates = [one for one in here if _is_enough(one.plan, items)]
    profiles = tuple(dict.fromkeys(one.name for one in candidates))
    if len(profiles) != 1:
        return SeveralFit(profiles) if profiles else None
    templates = {
        template
        for one in candidates
        for place, template in one.templates.items()
        if namespace is None or place == namespace
    }
    if len(templates) > 1:
        return SeveralFit(profiles, tuple(one.cluster for one in candidates))
    first = candidates[0]
    return Chosen(
        first.name, templates.pop(), first.plan.requests[0].origin, first.beside, exact=exact
    )


def nearest(
    catalog: Catalog, tenant: Tenant, items: Sequence[Item], offered: Sequence[Offering]
) -> NoneFits:
    """What comes close to some devices, and what would have to be added to the tenant."""
    best = max(offered, key=lambda one: _closeness(one.plan, items), default=None)
    near = ""
    if best is not None and _closeness(best.plan, items)[0]:
        near = f"profile {best.name} holds {best.holds}"
    requests = []
    for number, item in enumerate(items):
        grant = next(_grants(tenant, item, offered), None)
        if grant is None:
            tiers = ", ".join(sorted(tier.name for tier in tiers_meant(catalog, item)))
            missing = f"an entitlement to what {item.name} means ({tiers}), and a profile with it"
            return NoneFits(near, missing)
        entitlement, size = grant
        name = "gpu" if len(items) == 1 else f"devices-{number}"
        said = [f"name: {name}", f"entitlement: {entitlement}"]
        said += [f"size: {size}"] if size else []
        said += [f"count: {item.count}"] if item.count != 1 else []
        requests.append(f"{{{', '.join(said)}}}")
    return NoneFits(near, f"a profile with `requests: [{', '.join(requests)}]`")


def _grants(tenant: Tenant, item: Item, offered: Sequence[Offering]) -> Iterator[tuple[str, str]]:
    clusters = {one.cluster for one in offered} or set(tenant.clusters)
    for grant in tenant.grants:
        if grant.cluster.name in clusters:
            for part in grant.policy.parts:
                if stands_for(grant.tier, grant.policy, part, item):
                    yield grant.name, part.name


def _is_open(plan: ClaimPlan) -> bool:
    return all(ask.grant.uses_claims for request in plan.requests for ask in request.asks)


def _given(
    plan: ClaimPlan, items: Sequence[Item]
) -> tuple[dict[int, int], tuple[ClaimRequest, ...]]:
    """How many devices a claim has for each item, and the requests that are for none of them."""
    given: dict[int, int] = dict.fromkeys(range(len(items)), 0)
    others = []
    for request in plan.requests:
        counts = {ask.count for ask in request.asks}
        place = next(
            (i for i, item in enumerate(items) if all(meets(ask, item) for ask in request.asks)),
            None,
        )
        if place is None or len(counts) != 1:
            others.append(request)
        else:
            given[place] += counts.pop()
    return given, tuple(others)


def _is_exact(plan: ClaimPlan, items: Sequence[Item]) -> bool:
    given, others = _given(plan, items)
    return not others and all(given[i] == item.count for i, item in enumerate(items))


def _is_enough(plan: ClaimPlan, items: Sequence[Item]) -> bool:
    given, _ = _given(plan, items)
    return all(item.count is not None and given[i] >= item.count for i, item in enumerate(items))


def _closeness(plan: ClaimPlan, items: Sequence[Item]) -> tuple[int, int, int]:
    given, others = _given(plan, items)
    met = sum(number > 0 for number in given.values())
    off = sum(abs(given[i] - (item.count or 0)) for i, item in enumerate(items))
    return met, -off, -len(others)
