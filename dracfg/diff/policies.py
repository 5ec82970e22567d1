"""Sharing policies whose numbers changed: which templates, tenants and live claims a new version refuses.

A claim carries the version of the policy that it was made under and is judged by that one until it
ends; so nothing that lives is touched, and what is refused is the next claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.check.places import place
from dracfg.check.rule import listed
from dracfg.dataclass import dataclass
from dracfg.diff.change import Change, Impact, change
from dracfg.diff.pair import Pair
from dracfg.diff.words import bounded, few, plural
from dracfg.diff.workloads import recorded
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Part, Policy, Tenant
from dracfg.model.sharing import Consumable


@dataclass(frozen=True, slots=True)
class _Reach:
    """Who has something that the new version refuses: `tenant/profile`, namespaces, tenants, claims."""

    profiles: tuple[str, ...]
    namespaces: tuple[str, ...]
    tenants: tuple[str, ...]
    claims: tuple[str, ...]
    kept: int
    """Live claims under the old version, refused or not."""


def policy_changes(pair: Pair) -> Iterator[Change]:
    """Policies of both sides whose version differs."""
    before, after = pair.base.judgement.catalog, pair.head.judgement.catalog
    for name, old in before.policies.items():
        new = after.policies.get(name)
        if new is None or new.document is None or old.version == new.version:
            continue
        refused = refusals(old, new)
        reach = _reach(pair, before, old, refused)
        shown, more = bounded(reach.claims)
        yield change(
            "policy-version",
            f"SharingPolicy {name}",
            f"version {old.version}",
            f"version {new.version}",
            impact=Impact.RESTRICTIVE if refused else None,
            namespaces=reach.namespaces,
            span=place(new.document, "spec"),
            details=(*_refused(refused, reach), _living(reach, old), *more),
            workloads=shown,
        )


def refusals(old: Policy, new: Policy) -> Mapping[str, str]:
    """Part of the old version -> why the new one refuses a claim for it; parts that stay are left out."""
    found = {}
    for part in old.parts:
        reason = _refusal(part, new)
        if reason is not None:
            found[part.name] = reason
    return found


def _refusal(part: Part, new: Policy) -> str | None:
    if not new.is_sized:
        return f"the policy is {new.spec.mode} now and has no sizes" if part.name else None
    if not part.name:
        return f"the policy is {new.spec.mode} now: a claim names one of {_sizes(new)}"
    same = new.part(part.name)
    if same is None:
        return _out_of_bounds(part, new) or f"sizes are {_sizes(new)}"
    for key, amount in part.capacity.items():
        now = same.capacity.get(key)
        if now is not None and now != amount:
            return f"it is {now} of {key} now, and was {amount}"
    return None


def _sizes(policy: Policy) -> str:
    return listed((part.name for part in policy.parts), "or")


def _out_of_bounds(part: Part, new: Policy) -> str | None:
    """The bound that a size breaks, which says more than that it is not listed."""
    if not isinstance(new.spec, Consumable):
        return None
    for key, amount in part.capacity.items():
        bounds = new.spec.capacity.get(key)
        if bounds is None:
            continue
        if amount < bounds.min:
            return f"the least is {bounds.min} of {key}"
        if amount > bounds.max:
            return f"the most is {bounds.max} of {key}"
        if bounds.step is not None and _is_between(amount, bounds.min, bounds.step):
            return f"{key} goes in steps of {bounds.step}"
    return None


def _is_between(amount: Quantity, least: Quantity, step: Quantity) -> bool:
    return bool(step.nano and (amount.nano - least.nano) % step.nano)


def _reach(pair: Pair, catalog: Catalog, old: Policy, refused: Mapping[str, str]) -> _Reach:
    profiles, namespaces, tenants = [], [], []
    for tenant in catalog.tenants.values():
        own = _grants(tenant, old)
        named = [p for p in _named(tenant, own, old) if p[1] & refused.keys()]
        entitled = any(part in refused for parts in own.values() for part in parts)
        if named or entitled:
            tenants.append(tenant.name)
            namespaces += [p.name for p in tenant.places]
        profiles += [f"{tenant.name}/{name}" for name, _ in named]
    claims, kept = [], 0
    for cluster in pair.head.judgement.catalog.clusters.values():
        for held in recorded(pair, cluster).claims:
            notes = [n for n in held.notes.values() if n.policy == old.name]
            notes = [n for n in notes if n.version == old.version]
            kept += bool(notes)
            if any(("" if n.size == "-" else n.size) in refused for n in notes):
                claims.append(held.ref)
    return _Reach(
        tuple(profiles),
        tuple(dict.fromkeys(namespaces)),
        tuple(tenants),
        tuple(claims),
        kept,
    )


def _grants(tenant: Tenant, policy: Policy) -> Mapping[str, tuple[str, ...]]:
    """Entitlements, own and borrowed, of a policy -> the parts that they have a number for."""
    found: dict[str, dict[str, None]] = {}
    for grant in tenant.grants:
        if grant.policy is policy:
            held = found.setdefault(grant.name, {})
            held.update((name, None) for name, n in grant.numbers.items() if n.limit)
    return {name: tuple(parts) for name, parts in found.items()}


def _named(
    tenant: Tenant, own: Mapping[str, tuple[str, ...]], policy: Policy
) -> Iterator[tuple[str, frozenset[str]]]:
    """(profile, the parts of the policy that it asks for)."""
    for profile in tenant.document.spec.profiles:
        parts = set()
        for request in profile.requests:
            for wanted in request.any_of or (request,):
                part = policy.part(wanted.size) if wanted.entitlement in own else None
                if part is not None:
                    parts.add(part.name)
        if parts:
            yield profile.name, frozenset(parts)


def _refused(refused: Mapping[str, str], reach: _Reach) -> Iterator[str]:
    for name, reason in refused.items():
        yield f"refuses {name or 'what was asked for without a size'}: {reason}"
    if not refused:
        yield "every size that could be asked for still can"
        return
    if reach.profiles:
        yield f"templates of {few(reach.profiles)} are refused"
    if reach.tenants:
        yield f"entitled to what is refused: {few(reach.tenants)}"
    if reach.claims:
        yield f"{plural(len(reach.claims), 'live claim')} would be refused if made again"


def _living(reach: _Reach, old: Policy) -> str:
    count = f" ({plural(reach.kept, 'claim')} of the record)" if reach.kept else ""
    return f"live claims stay under version {old.version} until they end{count}"
