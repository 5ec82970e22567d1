"""SHR001, SHR002, SHR003: sizes that leave the bounds of their policy, and who names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dracfg.check.rule import Rule, listed
from dracfg.check.uses import entitled
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose, did_you_mean
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Policy, Tenant
from dracfg.link.parts import sized_capacity
from dracfg.link.writers import writers
from dracfg.model import kinds
from dracfg.model.base import Spec, at, at_key
from dracfg.model.sharing import CapacityPolicy, Consumable, NamedSize, Partitioned
from dracfg.model.tenant import AcceptedOffer, Alternative, Amounts, Offer, Request
from dracfg.plan.asks import unserved

Steps = tuple[str | int, ...]

_Named = Request | Alternative | Offer | AcceptedOffer
_STANDS: Mapping[type[Spec], str] = {
    Alternative: "an alternative",
    Offer: "an offer",
    AcceptedOffer: "an accepted offer",
}


def consumables(catalog: Catalog) -> Iterator[tuple[kinds.SharingPolicy, Consumable, Policy]]:
    """Every policy that shares devices by amount."""
    for policy in catalog.policies.values():
        if policy.document is not None and isinstance(policy.spec, Consumable):
            yield policy.document, policy.spec, policy


def written_amounts(
    document: kinds.SharingPolicy, spec: Consumable
) -> Iterator[tuple[str, str, Quantity, Span]]:
    """(size, capacity, amount, place) of every amount that a size states itself."""
    for i, size in enumerate(spec.sizes):
        if isinstance(size, NamedSize):
            for key, amount in size.capacity.items():
                yield size.name, key, amount, at(document, "spec", "sizes", i, "capacity", key)
        else:
            yield str(size), sized_capacity(spec), size, at(document, "spec", "sizes", i)


def leaves_the_bounds(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR001: a size must keep to min, max and step of every capacity that it states."""
    for document, spec, _ in consumables(catalog):
        for size, key, amount, place in written_amounts(document, spec):
            bounds = spec.capacity.get(key)
            if bounds is None or bounds.min > bounds.max or legal(amount, bounds):
                continue
            near = nearest(amount, bounds)
            named = size if size == str(amount) else f"{size} ({amount} of {key})"
            yield diagnose(
                "SHR001",
                place,
                f"size {named} is not one that {document.name} allows",
                related=[Related(at_key(document, "spec", "capacity", key), "the bounds")],
                found=str(amount),
                expected=_range(bounds),
                help=f"use {listed((str(a) for a in near), 'or')}",
                fix=str(near[0]) if len(near) == 1 else None,
            )


def legal(amount: Quantity, bounds: CapacityPolicy) -> bool:
    """Whether an amount keeps to the bounds of a policy; steps are counted from min."""
    if not bounds.min <= amount <= bounds.max:
        return False
    return not bounds.step or (amount.nano - bounds.min.nano) % bounds.step.nano == 0


def nearest(amount: Quantity, bounds: CapacityPolicy) -> tuple[Quantity, ...]:
    """The legal amounts next to one that isn't: one at an end of the range, else two."""
    if amount <= bounds.min:
        return (bounds.min,)
    if not bounds.step:
        return (bounds.max,)
    steps = (min(amount, bounds.max).nano - bounds.min.nano) // bounds.step.nano
    below = bounds.min + bounds.step * steps
    above = below + bounds.step
    return (below, above) if amount < bounds.max and above <= bounds.max else (below,)


def _range(bounds: CapacityPolicy) -> str:
    steps = f" in steps of {bounds.step}" if bounds.step else ""
    return f"{bounds.min} to {bounds.max}{steps}"


def names_an_unknown_size(catalog: Catalog) -> Iterator[Diagnostic]:
    """SHR002 and SHR003: who names a size names one of the policy, and only where there are sizes."""
    for tenant in catalog.tenants.values():
        for i, entitlement in enumerate(tenant.document.spec.entitlements):
            policy = catalog.policies[entitlement.sharing]
            yield from _amounts(
                tenant, ("entitlements", i, "guaranteed"), entitlement.guaranteed, policy
            )
            if entitlement.limit is not None:
                yield from _amounts(tenant, ("entitlements", i, "limit"), entitlement.limit, policy)
    for tenant in unserved(catalog):
        yield from _sizes(catalog, tenant, _in_profiles(tenant.document))
    for tenant in writers(catalog, "offers", "accepted_offers"):
        yield from _sizes(catalog, tenant, _in_offers(tenant.document))


def _sizes(
    catalog: Catalog, tenant: Tenant, written: Iterable[tuple[Steps, _Named, str]]
) -> Iterator[Diagnostic]:
    """Judges what is written: (place, what stands there, entitlement as profiles call it)."""
    known = entitled(catalog, tenant)
    for steps, named, name in written:
        if name in known and known[name][1].part(named.size) is None:
            yield _size(tenant, steps, named, known[name][1])


def _in_profiles(document: kinds.Tenant) -> Iterator[tuple[Steps, _Named, str]]:
    for i, profile in enumerate(document.spec.profiles):
        for j, request in enumerate(profile.requests):
            if request.any_of is None:
                yield ("profiles", i, "requests", j), request, request.entitlement or ""
            for k, other in enumerate(request.any_of or ()):
                yield ("profiles", i, "requests", j, "anyOf", k), other, other.entitlement


def _in_offers(document: kinds.Tenant) -> Iterator[tuple[Steps, _Named, str]]:
    for i, offer in enumerate(document.spec.offers):
        yield ("offers", i), offer, offer.entitlement
    for i, accepted in enumerate(document.spec.accepted_offers):
        yield ("acceptedOffers", i), accepted, f"{accepted.from_}-{accepted.entitlement}"


def _amounts(
    tenant: Tenant, steps: Steps, amounts: Amounts, policy: Policy
) -> Iterator[Diagnostic]:
    document = tenant.document
    if isinstance(amounts, int):
        if policy.is_sized:
            names = _names(policy)
            yield diagnose(
                "SHR003",
                at(document, "spec", *steps),
                f"{policy.name} hands out {_what(policy)}s, so a number of each is needed",
                related=_policy_place(policy),
                found=str(amounts),
                expected=f"numbers by {_what(policy)}: {', '.join(names)}",
                help=f"write {{{names[0]}: {amounts}}}",
                fix=f"{{{names[0]}: {amounts}}}" if len(names) == 1 else None,
            )
    elif not policy.is_sized:
        total = sum(amounts.values())
        yield diagnose(
            "SHR003",
            at_key(document, "spec", *steps),
            f"{policy.name} hands out whole devices, so one number is needed",
            related=_policy_place(policy),
            expected="a number",
            help=f"write {total}, or name a policy that has sizes",
        )
    else:
        for text in amounts:
            if policy.part(text) is None:
                yield _unknown_size(policy, at_key(document, "spec", *steps, text), text)


def _size(tenant: Tenant, above: Steps, named: _Named, policy: Policy) -> Diagnostic:
    """Of a size, or of one that is left out, by which the policy has no part."""
    document, size = tenant.document, named.size
    if size is None:
        names = _names(policy)
        what = f"request {named.name}" if isinstance(named, Request) else _STANDS[type(named)]
        return diagnose(
            "SHR003",
            at(document, "spec", *above, "entitlement"),
            f"{what} must name a {_what(policy)} of {policy.name}",
            related=_policy_place(policy),
            expected=", ".join(names),
            help=f"add `size: {names[0]}`",
        )
    if not policy.is_sized:
        return diagnose(
            "SHR003",
            at(document, "spec", *above, "size"),
            f"{policy.name} hands out whole devices, it has no sizes",
            related=_policy_place(policy),
            found=str(size),
            help="remove the size, or name an entitlement with sizes",
        )
    return _unknown_size(policy, at(document, "spec", *above, "size"), str(size))


def _unknown_size(policy: Policy, span: Span, text: str) -> Diagnostic:
    names = _names(policy)
    digits = _digits(text)
    fix = did_you_mean(text, [name for name in names if _digits(name) == digits])
    help_ = f"did you mean {fix}?" if fix else f"use {listed(names, 'or')}, or add it to the policy"
    return diagnose(
        "SHR002",
        span,
        f"{policy.name} has no {_what(policy)} {text}",
        related=_policy_place(policy),
        found=text,
        expected=", ".join(names),
        help=help_,
        fix=fix,
    )


def _digits(text: str) -> str:
    """The digits of a size: another number is another size, not a slip of the pen."""
    return "".join(character for character in text if character.isdigit())


def _names(policy: Policy) -> list[str]:
    return [part.name for part in policy.parts]


def _what(policy: Policy) -> str:
    return "partition" if isinstance(policy.spec, Partitioned) else "size"


def _policy_place(policy: Policy) -> list[Related]:
    if policy.document is None:
        return []
    key = "partitions" if isinstance(policy.spec, Partitioned) else "sizes"
    has = key in policy.document.spec.read_from.entries
    place = at_key(policy.document, "spec", key if has else "mode")
    return [Related(place, f"the {key}" if has else f"mode of {policy.name}")]


RULES: tuple[Rule, ...] = (leaves_the_bounds,)
TENANT_RULES: tuple[Rule, ...] = (names_an_unknown_size,)
