"""What quota lets each tenant have on each cluster, where no field of its own document says it.

Told here are numbers that move because capacity is lent or comes back, because namespaces share
otherwise, because a tier changes its owner, and quota keys that start or stop to count. One cause
gives one line, however many keys and namespaces it reaches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dracfg.check.places import place
from dracfg.diff.change import Change, Impact, change
from dracfg.diff.classes import entitled
from dracfg.diff.counterparts import alike, changed_tenants, clusters, same_platform, tenants
from dracfg.diff.pair import Pair
from dracfg.diff.words import few, plural
from dracfg.kube.quota import quota_keys
from dracfg.link.catalog import Catalog, Cluster, Grant, Tenant, Tier
from dracfg.link.classes import device_classes
from dracfg.lower.quotas import class_limits
from dracfg.lower.units import extended_resources

_MOST_DETAILS = 6

Limits = Mapping[str, Mapping[str, int]]
"""Namespace -> class -> devices or shares."""


def effective_limits(pair: Pair) -> Iterator[Change]:
    """Every cluster that stands on both sides; tenants whose numbers can't have moved are passed over."""
    changed = changed_tenants(pair)
    for before, after in clusters(pair):
        steady = same_platform(before, after)
        if not steady:
            yield from _counted_keys(pair, before, after)
            yield from _handed_over(pair, before, after)
        for old, new in tenants(pair, after.name, changed if steady else None):
            yield from _tenant(before, after, old, new)


# -- keys that count -----------------------------------------------------------------------------


def _counted_keys(pair: Pair, before: Cluster, after: Cluster) -> Iterator[Change]:
    old, new = _keys(pair.base.judgement.catalog, before), _keys(pair.head.judgement.catalog, after)
    common = old.keys() & new.keys()
    started = {name: [key for key in new[name] if key not in old[name]] for name in common}
    stopped = {name: [key for key in old[name] if key not in new[name]] for name in common}
    for kind, moved in (("quota-keys-started", started), ("quota-keys-stopped", stopped)):
        found = {name: keys for name, keys in sorted(moved.items()) if keys}
        if found:
            yield _moved_keys(pair, before, after, kind, found)


def _keys(catalog: Catalog, cluster: Cluster) -> dict[str, tuple[str, ...]]:
    plans = device_classes(catalog, cluster)
    extended = extended_resources(cluster, plans)
    return {
        plan.name: quota_keys(plan.name, plan.extended_name, cluster.minor, extended)
        for plan in plans
    }


def _moved_keys(
    pair: Pair, before: Cluster, after: Cluster, kind: str, moved: Mapping[str, Sequence[str]]
) -> Change:
    patterns = dict.fromkeys(
        key.replace(f"/{name}", "/<class>") for name, keys in moved.items() for key in keys
    )
    catalog = pair.head.judgement.catalog
    users = entitled(catalog, after, frozenset(moved))
    starts = kind == "quota-keys-started"
    return change(
        kind,
        f"quota {'key' if len(patterns) == 1 else 'keys'} {few(patterns)}",
        "not counted" if starts else "counted",
        "counted" if starts else "not counted",
        cluster=after.name,
        namespaces=(p.name for t in users.values() for p in t.places_on(after.name)),
        span=place(after.document, "spec", "kubernetes"),
        details=(
            f"because of {_why(pair, before, after)}",
            f"of {plural(len(moved), 'class')}: {few(moved)}",
            *((f"reaches {few(users)}",) if users else ()),
        ),
    )


def _why(pair: Pair, before: Cluster, after: Cluster) -> str:
    if before.minor != after.minor:
        return f"Kubernetes {before.minor} -> {after.minor}"
    was = extended_resources(before, device_classes(pair.base.judgement.catalog, before))
    now = extended_resources(after, device_classes(pair.head.judgement.catalog, after))
    if was is not now:
        return f"DRAExtendedResource {'on -> off' if was else 'off -> on'}"
    return "the legacy name that a class answers to"


# -- owners --------------------------------------------------------------------------------------


def _handed_over(pair: Pair, before: Cluster, after: Cluster) -> Iterator[Change]:
    """Limits that go over from a plugin's resource to claims, or back, with their tier's owner."""
    here = {tier.name: tier for tier in after.tiers}
    for tier in before.tiers:
        now = here.get(tier.name)
        if now is None or before.owners_of(tier) == after.owners_of(now):
            continue
        old = _by_path(pair.base.judgement.catalog, before, tier)
        new = _by_path(pair.head.judgement.catalog, after, now)
        users = [
            tenant
            for tenant in pair.head.judgement.catalog.tenants_on(after.name)
            if any(grant.tier is now for grant in tenant.grants_on(after.name))
        ]
        less = sum(new.values()) < sum(old.values())
        if old != new:
            yield change(
                "limits-moved",
                f"limits of {tier.name}",
                _paths(old),
                _paths(new),
                impact=Impact.RESTRICTIVE if less else None,
                cluster=after.name,
                namespaces=(p.name for t in users for p in t.places_on(after.name)),
                span=place(after.pools_of(now)[0].document, "spec", "owner", tier.driver.name),
                details=(f"concerns {few(t.name for t in users) or 'no tenant'}",),
            )


def _by_path(catalog: Catalog, cluster: Cluster, tier: Tier) -> dict[str, int]:
    """Limits of all tenants by the way in which they are counted."""
    total: Counter[str] = Counter()
    ways = {"devicePlugin": tier.legacy_resource or "the device plugin", "dra": "claims"}
    for tenant in catalog.tenants_on(cluster.name):
        for grant in tenant.grants_on(cluster.name):
            if grant.tier is tier and tenant.document.spec.state != "removed":
                for owner in grant.owners:
                    total[ways[owner]] += sum(n.limit for n in grant.on(owner).values())
    return dict(total)


def _paths(limits: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} by {way}" for way, number in sorted(limits.items())) or "none"


# -- tenants -------------------------------------------------------------------------------------


def _tenant(before: Cluster, after: Cluster, old: Tenant, new: Tenant) -> Iterator[Change]:
    if "removed" in (old.document.spec.state, new.document.spec.state):
        return
    yield from _lent(before, after, old, new)
    yield from _shared_otherwise(before, after, old, new)


def _lent(before: Cluster, after: Cluster, old: Tenant, new: Tenant) -> Iterator[Change]:
    """Numbers of an entitlement that nobody has rewritten: something is lent, or has come back."""
    was = {grant.name: grant for grant in old.grants_on(before.name)}
    for grant in new.grants_on(after.name):
        other = was.get(grant.name)
        if other is None or grant.owners != other.owners or not alike(other.source, grant.source):
            continue
        for part in grant.policy.parts:
            then, now = other.numbers.get(part.name), grant.numbers.get(part.name)
            if then is None or now is None or then.limit == now.limit:
                continue
            what = " ".join(filter(None, ("entitlement", grant.name, part.name)))
            yield change(
                "limit-lent" if now.limit < then.limit else "limit-returned",
                what,
                f"limit {then.limit:,}",
                f"limit {now.limit:,}",
                cluster=after.name,
                tenant=new.name,
                namespaces=(p.name for p in new.places_on(after.name)),
                span=place(new.document, "spec", "offers"),
                details=_offers(new, grant, part.name) or ("nothing of it is lent any more",),
            )
    for name, grant in was.items():
        if grant.lender is not None and new.grant(after.name, name) is None:
            yield from _withdrawn(after, new, grant)


def _offers(tenant: Tenant, grant: Grant, part: str) -> tuple[str, ...]:
    return tuple(
        f"{offer.count:,} of it lent to {offer.to}"
        for offer in tenant.document.spec.offers
        if offer.entitlement == grant.name
        and (named := grant.policy.part(offer.size)) is not None
        and named.name == part
    )


def _withdrawn(cluster: Cluster, tenant: Tenant, grant: Grant) -> Iterator[Change]:
    """What was borrowed and is gone, though the tenant's own document still accepts it."""
    accepted = tenant.document.spec.accepted_offers
    if any(f"{one.from_}-{one.entitlement}" == grant.name for one in accepted):
        yield change(
            "limit-withdrawn",
            f"borrowed {grant.name}",
            ", ".join(f"limit {n.limit:,} {part}".strip() for part, n in grant.numbers.items()),
            None,
            cluster=cluster.name,
            tenant=tenant.name,
            namespaces=(p.name for p in tenant.places_on(cluster.name)),
            span=place(tenant.document, "spec", "acceptedOffers"),
            details=(f"{grant.lender} has nothing left to lend",),
        )


def _shared_otherwise(
    before: Cluster, after: Cluster, old: Tenant, new: Tenant
) -> Iterator[Change]:
    """Limits that are split over a tenant's namespaces in another way."""
    was = {p.name: p.namespace.share for p in old.places_on(before.name)}
    now = {p.name: p.namespace.share for p in new.places_on(after.name)}
    if was == now:
        return
    here, there = _limits(before, old), _limits(after, new)
    reached = was.keys() & now.keys()
    details, worse = [], False
    for name in sorted({n for limits in there.values() for n in limits}):
        rows = {ns: (here[ns].get(name, 0), there[ns].get(name, 0)) for ns in sorted(reached)}
        rows |= {ns: (0, there[ns].get(name, 0)) for ns in sorted(now.keys() - was.keys())}
        moved = {ns: row for ns, row in rows.items() if row[0] != row[1]}
        worse = worse or any(was_ > is_ for was_, is_ in moved.values())
        if moved:
            told = few(f"{ns} {was_:,} -> {is_:,}" for ns, (was_, is_) in moved.items())
            details.append(f"{name}: {told}")
    if details:
        yield change(
            "quota-shared-otherwise",
            "quota of its namespaces",
            _ratio(was),
            _ratio(now),
            impact=None if worse else Impact.ADDITIVE,
            cluster=after.name,
            tenant=new.name,
            namespaces=sorted(now),
            span=place(new.document, "spec", "namespaces"),
            details=_cut(details, "class"),
        )


def _limits(cluster: Cluster, tenant: Tenant) -> Limits:
    return {p.name: class_limits(cluster, tenant, p) for p in tenant.places_on(cluster.name)}


def _cut(details: Sequence[str], what: str) -> tuple[str, ...]:
    more = len(details) - _MOST_DETAILS
    return (*details[:_MOST_DETAILS], *((f"and {plural(more, what)} more",) if more > 0 else ()))


def _ratio(shares: Mapping[str, int]) -> str:
    return few(f"{name} {share}" for name, share in sorted(shares.items()))
