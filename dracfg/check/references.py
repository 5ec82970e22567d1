"""REF005, REF007: names inside a document that lead nowhere, and requests that ask for nothing.

References between documents are followed by the linker; here a document is its own world, beside
what its tenant has borrowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.check.rule import Rule, suggestion
from dracfg.check.uses import entitled
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog, Tier
from dracfg.link.claims import offered_value
from dracfg.link.driver import Driver
from dracfg.link.moves import stages_of
from dracfg.link.writers import writers
from dracfg.model import kinds
from dracfg.model.base import Spec, at, at_key
from dracfg.model.sharing import Consumable, NamedSize
from dracfg.model.tenant import Alternative, Profile, Request
from dracfg.model.tier import AttributeParameter, Parameter
from dracfg.plan.asks import unserved

Steps = tuple[str | int, ...]


def leads_nowhere(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF005 in documents of tenants: what requests ask for."""
    for tenant in unserved(catalog):
        entitlements = entitlement_names(tenant.document)
        for i, profile in enumerate(tenant.document.spec.profiles):
            for j, request in enumerate(profile.requests):
                if request.any_of is not None or request.entitlement not in entitlements:
                    above = ("spec", "profiles", i, "requests", j)
                    yield from _wanted(tenant.document, above, request, entitlements)


def leads_nowhere_in_a_profile(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF005 in documents of tenants: requests and namespaces that profiles name."""
    for tenant in writers(catalog, "align", "distinct", "config", "reads", "namespaces"):
        for i, profile in enumerate(tenant.document.spec.profiles):
            yield from _in_profile(tenant.document, ("spec", "profiles", i), profile)


def chooses_what_is_not_offered(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF005 in documents of tenants: parameters of tiers, and values of them."""
    for tenant in writers(catalog, "choose", "any_of"):
        tiers = {name: tier for name, (tier, _) in entitled(catalog, tenant).items()}
        for i, profile in enumerate(tenant.document.spec.profiles):
            yield from _chosen(tenant.document, ("spec", "profiles", i), profile, tiers)


def leads_nowhere_beside_profiles(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF005 in documents of tenants: what is shared, watched and lent."""
    for tenant in writers(catalog, "shared_claims", "admin_access", "offers"):
        yield from _own_names(tenant.document)


def leads_nowhere_in_the_catalog(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF005 in documents of the platform."""
    for rollout in catalog.rollouts.values():
        stages = stages_of(rollout.spec)
        yield from _unknown(rollout, ("spec", "stage"), rollout.spec.stage, "stage", stages)
    for policy in catalog.policies.values():
        if policy.document is not None and isinstance(policy.spec, Consumable):
            yield from _named_sizes(policy.document, policy.spec)
    for driver in catalog.drivers.values():
        yield from _capacities(driver)


def entitlement_names(document: kinds.Tenant) -> tuple[str, ...]:
    """What profiles may name: the tenant's entitlements, and `<lender>-<entitlement>`."""
    spec = document.spec
    names = [entitlement.name for entitlement in spec.entitlements]
    names += [f"{accepted.from_}-{accepted.entitlement}" for accepted in spec.accepted_offers]
    return tuple(dict.fromkeys(names))


def _wanted(
    document: kinds.Tenant, above: Steps, request: Request, entitlements: Sequence[str]
) -> Iterator[Diagnostic]:
    if request.entitlement is not None:
        steps = (*above, "entitlement")
        yield from _unknown(document, steps, request.entitlement, "entitlement", entitlements)
    for k, alternative in enumerate(request.any_of or ()):
        steps = (*above, "anyOf", k, "entitlement")
        name = alternative.entitlement
        yield from _unknown(document, steps, name, "entitlement", entitlements)


def _in_profile(document: kinds.Tenant, above: Steps, profile: Profile) -> Iterator[Diagnostic]:
    known = [request.name for request in profile.requests]
    named = (
        *((("align", j), align.requests) for j, align in enumerate(profile.align)),
        *((("distinct", j), distinct.requests) for j, distinct in enumerate(profile.distinct)),
        *((("config", j), config.requests) for j, config in enumerate(profile.config)),
        *((("reads", j), reads.requests) for j, reads in enumerate(profile.reads)),
    )
    for place, requests in named:
        for k, name in enumerate(requests):
            steps = (*above, *place, "requests", k)
            what = f"request of profile {profile.name}"
            yield from _unknown(document, steps, name, what, known)
    namespaces = [namespace.name for namespace in document.spec.namespaces]
    for j, name in enumerate(profile.namespaces or ()):
        yield from _unknown(document, (*above, "namespaces", j), name, _NAMESPACE, namespaces)


_NAMESPACE = "namespace of this tenant"


def _chosen(
    document: kinds.Tenant, above: Steps, profile: Profile, tiers: Mapping[str, Tier]
) -> Iterator[Diagnostic]:
    """Parameters, and values of them, that the tier behind a request does not have."""
    for j, request in enumerate(profile.requests):
        if not request.choose and request.any_of is None:
            continue
        wanted: list[tuple[Steps, Request | Alternative]] = [(("requests", j), request)]
        wanted += [
            (("requests", j, "anyOf", k), alternative)
            for k, alternative in enumerate(request.any_of or ())
        ]
        for place, one in wanted:
            tier = tiers.get(one.entitlement or "")
            if tier is None:
                continue
            known, what = tier.document.spec.parameters, f"parameter of tier {tier.name}"
            for name, value in one.choose.items():
                steps = (*above, *place, "choose", name)
                yield from _unknown(document, steps, name, what, known, is_key=True)
                parameter = known.get(name)
                if parameter is not None and offered_value(parameter, value) is None:
                    yield _not_offered(document, steps, value, parameter)


def _not_offered(
    document: kinds.Tenant, steps: Steps, value: str | int, parameter: Parameter
) -> Diagnostic:
    known = [str(one) for one in parameter.values]
    help_, fix = None, None
    if isinstance(parameter, AttributeParameter):  # an amount is no misspelling of another one
        help_, fix = suggestion(str(value), known)
    return diagnose(
        "REF005",
        at(document, *steps),
        f"{value!r} is no value of parameter {steps[-1]}",
        found=str(value),
        help=help_ or f"choose one of {', '.join(known)}",
        fix=fix,
    )


def _own_names(document: kinds.Tenant) -> Iterator[Diagnostic]:
    spec = document.spec
    profiles = [profile.name for profile in spec.profiles]
    namespaces = [namespace.name for namespace in spec.namespaces]
    entitlements = [entitlement.name for entitlement in spec.entitlements]
    for i, claim in enumerate(spec.shared_claims):
        above = ("spec", "sharedClaims", i)
        yield from _unknown(document, (*above, "profile"), claim.profile, "profile", profiles)
        yield from _unknown(
            document, (*above, "namespace"), claim.namespace, _NAMESPACE, namespaces
        )
    for i, access in enumerate(spec.admin_access):
        steps = ("spec", "adminAccess", i, "namespace")
        yield from _unknown(document, steps, access.namespace, _NAMESPACE, namespaces)
    for i, offer in enumerate(spec.offers):
        steps = ("spec", "offers", i, "entitlement")
        yield from _unknown(document, steps, offer.entitlement, "own entitlement", entitlements)


def _named_sizes(document: kinds.SharingPolicy, spec: Consumable) -> Iterator[Diagnostic]:
    for i, size in enumerate(spec.sizes):
        if not isinstance(size, NamedSize):
            continue
        for key in size.capacity:
            if key not in spec.capacity:
                steps = ("spec", "sizes", i, "capacity", key)
                yield from _unknown(
                    document, steps, key, "capacity of this policy", spec.capacity, is_key=True
                )


def _capacities(driver: Driver) -> Iterator[Diagnostic]:
    spec, preset = driver.document.spec, driver.preset
    for field, keys in (("units", spec.units), ("enforces", spec.enforces)):
        for key in keys:
            fact = preset.capacity_fact(key, spec.version) if preset is not None else None
            if fact is None and driver.spelling(key) not in driver.capacities:
                steps, what = ("spec", field, key), "capacity of this driver"
                yield from _unknown(
                    driver.document, steps, key, what, driver.capacities, is_key=True
                )


def _unknown(
    document: Spec,
    steps: Steps,
    name: str,
    what: str,
    known: Iterable[str],
    *,
    is_key: bool = False,
) -> Iterator[Diagnostic]:
    names = tuple(known)
    if name not in names:
        help_, fix = suggestion(name, names)
        span = at_key(document, *steps) if is_key else at(document, *steps)
        yield diagnose(
            "REF005",
            span,
            f"no {what} is named {name!r}",
            found=name,
            help=help_ or f"remove it: there is no {what}",
            fix=fix,
        )


def asks_for_nothing(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF007: a request names one entitlement, or alternatives, and not both."""
    for tenant in unserved(catalog):
        for i, profile in enumerate(tenant.document.spec.profiles):
            for j, request in enumerate(profile.requests):
                if request.any_of is not None or request.entitlement is None:
                    place = ("spec", "profiles", i, "requests", j)
                    yield from _request(tenant.document, place, request)


def _request(document: kinds.Tenant, place: Steps, request: Request) -> Iterator[Diagnostic]:
    """Of a request that does not just name an entitlement."""
    if request.any_of is None:
        if request.entitlement is None:
            yield diagnose(
                "REF007",
                at(document, *place, "name"),
                f"request {request.name} names neither an entitlement nor alternatives",
                help="write `entitlement: <name>`, or `anyOf:` with two or more of them",
            )
        return
    for key in ("entitlement", "count", "size", "choose"):
        if key in request.model_fields_set:
            yield diagnose(
                "REF007",
                at_key(document, *place, key),
                f"{key} beside anyOf has no effect",
                help=f"write {key} in each alternative, or remove anyOf",
            )


RULES: tuple[Rule, ...] = (leads_nowhere_in_the_catalog,)
TENANT_RULES: tuple[Rule, ...] = (
    leads_nowhere,
    leads_nowhere_in_a_profile,
    chooses_what_is_not_offered,
    leads_nowhere_beside_profiles,
    asks_for_nothing,
)
