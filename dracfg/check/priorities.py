"""TEN056-058: priorities that are not there, and promises that count on preemption.

Whether the scheduler gives devices of preempted pods to others hangs on the minor. Where it does
not, a priority decides only who goes first, and a guarantee must hold without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from dracfg.check.rule import Rule, listed, suggestion
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Grant, Part, Policy, Tenant, Tier
from dracfg.link.writers import writers
from dracfg.lower.kueuefacts import kueue_facts
from dracfg.model.base import at
from dracfg.model.cluster import Priority
from dracfg.model.sharing import Consumable, Partitioned, TimeSliced
from dracfg.model.tenant import Entitlement
from dracfg.packaged import read_data

_RESERVED = "system-"
_MOST_VICTIMS = 4


def is_not_described(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN056: a tenant's priority must be one of each cluster on which it would have it."""
    for tenant in writers(catalog, "priority"):
        spec = tenant.document.spec
        named = [(e.priority, ("entitlements", i)) for i, e in enumerate(spec.entitlements)]
        named += [(p.priority, ("profiles", i)) for i, p in enumerate(spec.profiles)]
        for name, steps in named:
            if name is None:
                continue
            for cluster in (catalog.clusters[one] for one in tenant.clusters):
                known = {one.name for one in cluster.document.spec.priorities}
                if name in known:
                    continue
                help_, fix = suggestion(name, known)
                yield diagnose(
                    "TEN056",
                    at(tenant.document, "spec", *steps, "priority"),
                    f"{cluster.name} has no priority {name}",
                    related=[Related(at(cluster.document, "metadata", "name"), "the cluster")],
                    found=name,
                    help=help_ or f"add {{name: {name}, value: …}} to priorities of {cluster.name}",
                    fix=fix,
                )


def is_reserved(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN057: names that start with system- are Kubernetes' own, and a name stands once."""
    for cluster in catalog.clusters.values():
        first: dict[str, int] = {}
        for i, priority in enumerate(cluster.document.spec.priorities):
            place = at(cluster.document, "spec", "priorities", i, "name")
            if priority.name.startswith(_RESERVED):
                yield diagnose(
                    "TEN057",
                    place,
                    f"Kubernetes keeps priorities named {_RESERVED}… for itself",
                    help=f"call it {priority.name.removeprefix(_RESERVED) or 'high'}",
                )
            other = first.setdefault(priority.name, i)
            if other != i:
                there = at(cluster.document, "spec", "priorities", other, "name")
                yield diagnose(
                    "TEN057",
                    place,
                    f"{cluster.name} has a priority {priority.name} already",
                    related=[Related(there, "the first one")],
                    help="rename one of them",
                )


def counts_on_preemption(catalog: Catalog) -> Iterator[Diagnostic]:
    """TEN058: what others may hold by their limits must not be what a guarantee is made of."""
    for cluster in catalog.clusters.values():
        priorities = {one.name: one for one in cluster.document.spec.priorities}
        if not priorities or _frees_devices(cluster):
            continue
        for tenant in catalog.tenants_on(cluster.name):
            for grant in tenant.grants_on(cluster.name):
                priority = _priority(grant, priorities)
                promised = any(numbers.guaranteed for numbers in grant.numbers.values())
                keeps = priority is not None and priority.preempts and promised
                if priority is not None and keeps and grant.policy.spec.guarantee != "none":
                    yield from _relying(catalog, cluster, tenant, grant, priority)


def _frees_devices(cluster: Cluster) -> bool:
    """Whether something takes devices back: the scheduler, or Kueue for what it queues."""
    scheduler: bool = _facts()["freesDevices"][cluster.minor]
    return scheduler or kueue_facts(cluster.document.spec.addons.kueue) is not None


def _priority(grant: Grant, priorities: dict[str, Priority]) -> Priority | None:
    name = grant.source.priority if isinstance(grant.source, Entitlement) else None
    return priorities.get(name) if name is not None else None


def _relying(
    catalog: Catalog, cluster: Cluster, tenant: Tenant, grant: Grant, priority: Priority
) -> Iterator[Diagnostic]:
    supply, met = _devices(cluster, grant)
    own = sum(
        (
            _share(grant.tier, grant, part) * grant.numbers[part.name].guaranteed
            for part in grant.policy.parts
            if part.name in grant.numbers
        ),
        Fraction(0),
    )
    others = {
        other.name: need
        for other in catalog.tenants_on(cluster.name)
        if other is not tenant and (need := _need(cluster, other, grant.tier, met))
    }
    taken = sum(others.values(), Fraction(0))
    if taken + own <= supply or not others:
        return
    victims = sorted(others.items(), key=lambda item: (-item[1], item[0]))[:_MOST_VICTIMS]
    facts = _facts()
    if not isinstance(grant.source, Entitlement):
        return
    position = tenant.document.spec.entitlements.index(grant.source)
    place = ("spec", "entitlements", position)
    described = cluster.document.spec.priorities.index(priority)
    yield diagnose(
        "TEN058",
        at(tenant.document, *place, "priority"),
        f"{grant.name} is promised {_text(own)} of the {_text(supply)} devices of "
        f"{grant.tier.name} on {cluster.name}, of which others may hold {_text(taken)}: "
        f"{listed(f'{name} {_text(need)}' for name, need in victims)}. Kubernetes {cluster.minor} "
        "gives nobody the devices of pods that it preempts, and they stay taken for up to "
        f"{facts['grace']} s of termination grace plus the driver's unprepare, which the kubelet "
        f"repeats every {facts['unprepare']} s",
        related=[
            Related(at(cluster.document, "spec", "priorities", described, "name"), "the priority"),
            Related(at(tenant.document, *place, "guaranteed"), "the promise"),
        ],
        help="lower the limits of the others, guarantee less, or run Kueue on the cluster, "
        "which takes back what is borrowed",
    )


def _devices(cluster: Cluster, grant: Grant) -> tuple[Fraction, frozenset[Policy]]:
    """What claims of a grant can count on, and the policies under which others take the same.

    Devices of open pools that DRA hands out under the grant's policy, less the spare nodes.
    """
    devices = 0
    policies: set[Policy] = set()
    for pool, held in cluster.offers():
        if held.tier is not grant.tier or grant.policy not in held.policies:
            continue
        if pool.owner(grant.tier.driver) == "dra" and not pool.is_closed:
            spec = pool.document.spec
            devices += max(0, spec.nodes - spec.spare.nodes) * held.per_node
            policies.update(held.policies)
    return Fraction(devices), frozenset(policies)


def _need(cluster: Cluster, tenant: Tenant, tier: Tier, policies: frozenset[Policy]) -> Fraction:
    """Devices that a tenant's limits come to at least; sizes by volume, wherever they lie."""
    if tenant.document.spec.state == "removed":
        return Fraction(0)
    return sum(
        (
            _share(tier, grant, part) * grant.numbers[part.name].limit
            for grant in tenant.grants_on(cluster.name)
            if grant.tier is tier and grant.uses_claims and grant.policy in policies
            for part in grant.policy.parts
            if part.name in grant.numbers
        ),
        Fraction(0),
    )


def _share(tier: Tier, grant: Grant, part: Part) -> Fraction:
    """The part of a device that one claim takes at least."""
    spec = grant.policy.spec
    if isinstance(spec, TimeSliced):
        return Fraction(1, spec.replicas)
    if isinstance(spec, Consumable):
        offered = tier.capacity
        taken = {tier.driver.spelling(key): amount for key, amount in part.capacity.items()}
    elif isinstance(spec, Partitioned) and part.partition is not None:
        offered = tier.document.spec.device.counters
        taken = part.partition.consumes
    else:
        return Fraction(1)
    parts = [
        Fraction(amount.nano, offered[key].nano)
        for key, amount in taken.items()
        if offered.get(key)
    ]
    return max(parts, default=Fraction(0))


def _text(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else f"{float(number):.1f}"


@cache
def _facts() -> dict[str, Any]:
    document: dict[str, Any] = read_data("dracfg.check", "data/preemption.yaml")
    return document


RULES: tuple[Rule, ...] = (is_reserved, counts_on_preemption)
TENANT_RULES: tuple[Rule, ...] = (is_not_described,)
