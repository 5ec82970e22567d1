"""LIV044, LIV046, LIV047, LIV063, LIV064: who holds devices, against who may.

Admission and quota keep to these bounds for what is made under them; what is older than they are,
or was made around them, is found here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dracfg.audit.finding import LiveFinding, LiveRule, live, related
from dracfg.audit.view import Holding, View
from dracfg.audit.words import claim_object, claims_of, count, device_name, device_object, named
from dracfg.link.catalog import Place, Tenant
from dracfg.link.classes import admin_class_name
from dracfg.lower.quotas import class_limits
from dracfg.model.base import at
from dracfg.model.sharing import Consumable, Partitioned, TimeSliced


def strangers_meet(view: View) -> Iterator[LiveFinding]:
    """LIV044: shares of several tenants on one device whose policy keeps them apart."""
    for key, held in view.by_device.items():
        sharing = [holding for holding in held if holding.takes and not holding.result.admin_access]
        tenants: dict[str, Holding] = {}
        for holding in sharing:
            tenants.setdefault(view.tenant_name(holding.claim) or "nobody's", holding)
        if len(tenants) < 2:
            continue
        strict = next((h for h in sharing if _keeps_apart(view, h)), None)
        policy = view.policy(strict) if strict is not None else None
        if strict is None or policy is None or policy.document is None:
            continue
        first, second = list(tenants.values())[:2]
        yield live(
            "LIV044",
            "needsPerson",
            second.span(),
            f"{named(tenants)} meet on {device_name(key)}, and policy {policy.name} keeps tenants apart",
            label=second.claim.ref,
            related=[
                *related(first.span(), first.claim.ref),
                *related(at(policy.document, "spec", "tenancy"), "says so"),
            ],
            found=named(f"{name}: ShareID {h.result.share_id}" for name, h in tenants.items()),
            expected="shares of one tenant",
            step="ask one of them to move; give each tenant a pool under a tier or policy of its own, or "
            "approve that they meet",
            objects=[device_object(key), *(claim_object(h.claim) for h in tenants.values())],
        )


def _keeps_apart(view: View, holding: Holding) -> bool:
    policy = view.policy(holding)
    return (
        policy is not None
        and isinstance(policy.spec, Consumable | Partitioned | TimeSliced)
        and policy.spec.tenancy in ("sameTenant", "group")
    )


def removed_and_holding(view: View) -> Iterator[LiveFinding]:
    """LIV046: a tenant in state removed with claims that live."""
    by_tenant: dict[str, tuple[Tenant, list[str], list[Holding]]] = {}
    for _, claim in sorted(view.dump.claims.items()):
        tenant = view.tenant(claim.claim.namespace)
        if tenant is None or tenant.document.spec.state != "removed":
            continue
        _, refs, held = by_tenant.setdefault(tenant.name, (tenant, [], []))
        refs.append(claim.ref)
        held += view.by_claim.get(claim.ref, ())
    for name, (tenant, refs, held) in sorted(by_tenant.items()):
        yield live(
            "LIV046",
            "notRetryable",
            at(tenant.document, "spec", "state"),
            f"tenant {name} is removed and still has {count(len(refs), 'claim')}",
            label=f"{count(len(held), 'device')} held",
            related=related(held[0].span(), held[0].claim.ref) if held else (),
            found=named(refs),
            expected="no claim",
            step="set the state back to draining until its last claim has ended",
            objects=[f"Tenant/{name}", *(f"ResourceClaim/{ref}" for ref in refs)],
        )


def without_rights(view: View) -> Iterator[LiveFinding]:
    """LIV047: devices that are held in a namespace which no tenant names, beyond what is exempt."""
    if view.cluster is None or view.cluster.document.spec.unmanaged_namespaces == "warn":
        return
    exempt = {one.name: one for one in view.cluster.document.spec.exempt_namespaces}
    by_space: dict[str, list[Holding]] = {}
    for holding in view.holdings:
        space = holding.claim.claim.namespace
        if holding.takes and view.tenant(space) is None:
            by_space.setdefault(space, []).append(holding)
    for space, held in sorted(by_space.items()):
        entry = exempt.get(space)
        if entry is not None and len(held) <= entry.devices:
            continue
        bound = (
            f"namespace {space} is exempt for {count(entry.devices, 'device')}"
            if entry is not None
            else f"no tenant names namespace {space}"
        )
        yield live(
            "LIV047",
            "notRetryable",
            held[0].claim.span("metadata", "namespace"),
            f"{bound}, and its claims hold {len(held)}",
            label=claims_of(held),
            found=named(sorted({h.result.driver for h in held})),
            expected=f"{entry.devices} or less" if entry is not None else "nothing",
            step="give the namespace to a tenant, or list it in `exemptNamespaces` with a bound; claims "
            "that are older than the policies stay until their pods end",
            objects=[f"Namespace/{space}", *(claim_object(holding.claim) for holding in held)],
        )


def beyond_entitlements(view: View) -> Iterator[LiveFinding]:
    """LIV063: a class that the tenant may not name. LIV064: more of a class than its limit."""
    if view.cluster is None:
        return
    spaces: dict[str, list[Holding]] = {}
    for holding in view.holdings:
        spaces.setdefault(holding.claim.claim.namespace, []).append(holding)
    for space, held in sorted(spaces.items()):
        tenant = view.tenant(space)
        if tenant is None or tenant.document.spec.state == "removed":
            continue
        place = next(p for p in tenant.places_on(view.cluster.name) if p.name == space)
        limits = class_limits(view.cluster, tenant, place)
        watched = _watched(tenant, place)
        counts: Counter[str] = Counter()
        by_class: dict[str, list[Holding]] = {}
        for holding in held:
            name = holding.class_name
            if name is None or name in watched:
                continue
            counts[name] += 1
            by_class.setdefault(name, []).append(holding)
        for name, number in sorted(counts.items()):
            yield from _beyond(tenant, place, name, number, limits.get(name), by_class[name])


def _watched(tenant: Tenant, place: Place) -> frozenset[str]:
    return frozenset(
        admin_class_name(tier)
        for access in tenant.document.spec.admin_access
        if access.namespace == place.name
        for tier in access.tiers
    )


def _beyond(
    tenant: Tenant, place: Place, name: str, number: int, limit: int | None, held: list[Holding]
) -> Iterator[LiveFinding]:
    if limit is not None and number <= limit:
        return
    code = "LIV063" if limit is None else "LIV064"
    message = (
        f"tenant {tenant.name} holds {count(number, 'device')} of class {name}, which it is not "
        "entitled to"
        if limit is None
        else f"namespace {place.name} of tenant {tenant.name} holds {number} of class {name}, beyond "
        f"its limit of {limit}"
    )
    yield live(
        code,
        "notRetryable",
        held[-1].claim.span("spec", "devices", "requests"),
        message,
        label=claims_of(held),
        related=related(at(tenant.document, "metadata", "name"), "entitled here"),
        found=str(number),
        expected="0" if limit is None else f"{limit} or less",
        step="nothing is evicted: raise the limit, or ask the tenant to end claims; new ones are refused"
        if limit is not None
        else "grant the entitlement, or ask the tenant to move to a class that it has",
        objects=[f"Tenant/{tenant.name}", *(claim_object(holding.claim) for holding in held)],
    )


RULES: tuple[LiveRule, ...] = (
    strangers_meet,
    removed_and_holding,
    without_rights,
    beyond_entitlements,
)
