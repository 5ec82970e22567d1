"""SHR023: so many shares are that many devices, never a share that many times the size."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, listed
from dracfg.check.uses import entitled
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog, Part, Policy, Tenant, Tier
from dracfg.link.writers import writers
from dracfg.model.base import at
from dracfg.model.tenant import Alternative, Profile, Request

Steps = tuple[str | int, ...]


def is_not_one_large_share(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR023: `count` above one of a size, where the profile does not say that devices differ."""
    for tenant in writers(catalog, "count", "any_of"):
        known = entitled(catalog, tenant)
        for i, profile in enumerate(tenant.document.spec.profiles):
            for steps, request, wanted in _multiples(("spec", "profiles", i), profile):
                if any(request in distinct.requests for distinct in profile.distinct):
                    continue
                behind = known.get(wanted.entitlement or "")
                if behind is None:
                    continue
                part = behind[1].part(wanted.size)
                if behind[1].is_consumable and part is not None:
                    yield _several(tenant, profile, steps, request, wanted.count, *behind, part)


def _multiples(
    above: Steps, profile: Profile
) -> Iterator[tuple[Steps, str, Request | Alternative]]:
    """(place, request, what is wanted several times of one entitlement) over all alternatives."""
    for j, request in enumerate(profile.requests):
        if request.any_of is None and request.count > 1:
            yield (*above, "requests", j), request.name, request
        for k, alternative in enumerate(request.any_of or ()):
            if alternative.count > 1:
                yield (*above, "requests", j, "anyOf", k), request.name, alternative


def _several(
    tenant: Tenant,
    profile: Profile,
    steps: Steps,
    request: str,
    count: int,
    tier: Tier,
    policy: Policy,
    part: Part,
) -> Diagnostic:
    each = listed(f"{amount} of {key}" for key, amount in part.capacity.items() if amount)
    total = listed(f"{amount * count} of {key}" for key, amount in part.capacity.items() if amount)
    is_paired = any(request in a.requests and len(a.requests) > 1 for a in profile.align)
    both = (
        f"{count} shares with {each}, on one device of {tier.name} or on several, "
        f"never for one share with {total}"
        if is_paired
        else f"{count} different devices of {tier.name} with {each} on each, "
        f"never for {total} on one"
    )
    return diagnose(
        "SHR023",
        at(tenant.document, *steps, "count"),
        f"{request} asks for {both}",
        found=str(count),
        help=f"for one share use a size of {policy.name} that has {total}; if {count} devices are "
        f"meant, say so: distinct: [{{requests: [{request}], by: <attribute>}}]",
    )


TENANT_RULES: tuple[Rule, ...] = (is_not_one_large_share,)
