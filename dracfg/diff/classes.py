"""Device classes that come, go, open or close on a cluster, with who may use them.

A class comes with a tier's pool or with a size of its policy: one cause, one line for all classes of
the tier. What quota lets through is told here too where a class is new, since everybody without an
entitlement stands at 0 from the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.check.places import place
from dracfg.diff.change import Change, Impact, change
from dracfg.diff.counterparts import clusters, same_platform
from dracfg.diff.pair import Pair
from dracfg.diff.words import bounded, few, plural
from dracfg.diff.workloads import classes_of, recorded
from dracfg.link.catalog import Catalog, Cluster, Tenant
from dracfg.link.classes import ClassPlan, class_name, device_classes
from dracfg.lower.units import RETIRED


def class_changes(pair: Pair) -> Iterator[Change]:
    """Classes of clusters that stand on both sides."""
    for before, after in clusters(pair):
        if same_platform(before, after):
            continue
        old = _by_name(pair.base.judgement.catalog, before)
        new = _by_name(pair.head.judgement.catalog, after)
        yield from _added(pair, after, [plan for name, plan in new.items() if name not in old])
        yield from _removed(
            pair, before, after, [plan for name, plan in old.items() if name not in new]
        )
        yield from _opened_or_closed(pair, after, old, new)


def entitled(catalog: Catalog, cluster: Cluster, names: frozenset[str]) -> dict[str, Tenant]:
    """The tenants with a number for some of the classes, by name."""
    return {
        tenant.name: tenant
        for tenant in catalog.tenants_on(cluster.name)
        if any(
            class_name(grant.tier.name, grant.policy, part) in names
            for grant in tenant.grants_on(cluster.name)
            if grant.uses_claims
            for part in grant.policy.parts
            if part.name in grant.numbers
        )
    }


def _by_name(catalog: Catalog, cluster: Cluster) -> dict[str, ClassPlan]:
    return {plan.name: plan for plan in device_classes(catalog, cluster) if not plan.admin}


def _by_tier(plans: Iterable[ClassPlan]) -> dict[str, list[ClassPlan]]:
    found: dict[str, list[ClassPlan]] = {}
    for plan in plans:
        found.setdefault(plan.tier.name, []).append(plan)
    return found


def _named(plans: Sequence[ClassPlan]) -> str:
    word = "class" if len(plans) == 1 else "classes"
    return f"{word} {few((plan.name for plan in plans), 3)}"


def _namespaces(tenants: Iterable[Tenant], cluster: Cluster) -> tuple[str, ...]:
    return tuple(place.name for tenant in tenants for place in tenant.places_on(cluster.name))


def _added(pair: Pair, cluster: Cluster, plans: Sequence[ClassPlan]) -> Iterator[Change]:
    catalog = pair.head.judgement.catalog
    for tier, own in _by_tier(plans).items():
        users = entitled(catalog, cluster, frozenset(plan.name for plan in own))
        everybody = catalog.tenants_on(cluster.name)
        others = sum(len(t.places_on(cluster.name)) for t in everybody if t.name not in users)
        details = [f"entitled: {few(users)}" if users else "no tenant is entitled to it"]
        if others:
            details.append(f"quota is 0 in {plural(others, 'namespace')} of other tenants")
        yield change(
            "class-added",
            _named(own),
            None,
            f"{plural(len(own), 'class')} of {tier}",
            cluster=cluster.name,
            namespaces=_namespaces(users.values(), cluster),
            span=place(own[0].tier.document, "metadata", "name"),
            details=details,
        )


def _removed(
    pair: Pair, before: Cluster, after: Cluster, plans: Sequence[ClassPlan]
) -> Iterator[Change]:
    if not plans:
        return
    live = recorded(pair, after)
    kept = _retired(pair, after)
    for tier, own in _by_tier(plans).items():
        names = frozenset(plan.name for plan in own)
        users = entitled(pair.base.judgement.catalog, before, names)
        holders = tuple(held.ref for held in live.claims if names & classes_of(held))
        shown, more = bounded(holders)
        details = [f"entitled until now: {few(users)}"] if users else []
        if still := sorted(names & kept):
            details.append(f"kept for retired templates: {few(still)}")
        if holders:
            details.append(f"held by {plural(len(holders), 'live claim')} until they end")
        yield change(
            "class-removed",
            _named(own),
            f"{plural(len(own), 'class')} of {tier}",
            None,
            impact=Impact.DESTRUCTIVE if holders and not names <= kept else None,
            cluster=after.name,
            namespaces=_namespaces(users.values(), before),
            span=place(own[0].tier.document, "metadata", "name"),
            gone=True,
            details=(*details, *more),
            workloads=shown,
        )


def _retired(pair: Pair, cluster: Cluster) -> frozenset[str]:
    """Classes that stay because retired templates name them."""
    return frozenset(
        artifact.object["metadata"]["name"]
        for unit in pair.head.judgement.units
        if unit.path.startswith(f"{cluster.name}/platform")
        for artifact in unit.artifacts
        if artifact.file.startswith(f"{RETIRED}/") and artifact.object["kind"] == "DeviceClass"
    )


def _opened_or_closed(
    pair: Pair, cluster: Cluster, old: Mapping[str, ClassPlan], new: Mapping[str, ClassPlan]
) -> Iterator[Change]:
    """Tiers of which every pool lets nothing in any more, or some pool does again."""
    moved = [
        plan for name, plan in new.items() if name in old and plan.closed is not old[name].closed
    ]
    for tier, own in _by_tier(moved).items():
        users = entitled(pair.head.judgement.catalog, cluster, frozenset(plan.name for plan in own))
        pools = list(cluster.pools_of(own[0].tier))
        states = few(f"{pool.name} {pool.state}" for pool in pools)
        closed = own[0].closed
        yield change(
            "class-closed" if closed else "class-reopened",
            _named(own),
            "new claims are let in" if closed else "new claims are refused",
            "new claims are refused" if closed else "new claims are let in",
            cluster=cluster.name,
            namespaces=_namespaces(users.values(), cluster),
            span=place(pools[0].document, "spec", "state"),
            details=(f"pools of {tier}: {states}", f"concerns {few(users) or 'no tenant'}"),
        )
