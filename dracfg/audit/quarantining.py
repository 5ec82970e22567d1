"""What a quarantine of one device would be and do: the entry to commit, what it breaks, who stays.

Counts whole devices of the tier against what is guaranteed of it; shares by their capacity.
"""

from __future__ import annotations

from dracfg.audit.view import Holding, View
from dracfg.audit.words import named
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Tier
from dracfg.lower.quarantine import quarantined
from dracfg.source.times import format_time


def entry(view: View, holding: Holding, reason: str) -> str:
    """The entry of `NodePool.quarantine`, as flow YAML."""
    driver, pool, device = holding.id
    words = reason.replace('"', "'") or "reported unhealthy"
    parts = [f"node: {holding.node}"] if holding.node is not None else []
    parts += [f"driver: {driver}", f"pool: {pool}", f"device: {device}", f'reason: "{words}"']
    if view.dump.at is not None:
        parts.append(f'since: "{format_time(view.dump.at)[:10]}"')
    return f"{{{', '.join(parts)}}}"


def breaks(view: View, holding: Holding) -> str | None:
    """Which guarantees could not be kept without the device; None where none, or where unknown."""
    tier, cluster = view.tier(holding), view.cluster
    if tier is None or cluster is None or view.catalog is None:
        return None
    usable = 0
    for pool, devices in cluster.offers():
        if devices.tier is tier and pool.owner(tier.driver) == "dra":
            taken = quarantined(cluster, pool)
            spec = pool.document.spec
            nodes = max(spec.nodes - spec.spare.nodes - taken.nodes, 0)
            usable += max(nodes * devices.per_node - taken.devices.get(tier.name, 0), 0)
    promised: dict[str, int] = {}
    for tenant in view.catalog.tenants_on(cluster.name):
        for grant in tenant.grants_on(cluster.name):
            if grant.tier is tier and grant.policy.is_whole:
                number = sum(numbers.guaranteed for numbers in grant.numbers.values())
                promised[tenant.name] = promised.get(tenant.name, 0) + number
    total = sum(promised.values())
    if total <= usable - 1:
        return _shares_broken(view, tier, usable - 1 - total)
    names = named(sorted(name for name, number in promised.items() if number))
    return f"without it {usable - 1:,} devices are left for {total:,} guaranteed to {names}"


def _shares_broken(view: View, tier: Tier, left: int) -> str | None:
    """The same for shares, on the devices that whole guarantees leave."""
    if view.cluster is None or view.catalog is None:
        return None
    promised: dict[str, Quantity] = {}
    tenants: dict[str, None] = {}
    for tenant in view.catalog.tenants_on(view.cluster.name):
        for grant in tenant.grants_on(view.cluster.name):
            if grant.tier is not tier or not grant.policy.is_consumable:
                continue
            for part in grant.policy.parts:
                numbers = grant.numbers.get(part.name)
                if numbers is None or not numbers.guaranteed:
                    continue
                tenants[tenant.name] = None
                for key, amount in part.capacity.items():
                    spelled = tier.driver.spelling(key)
                    before = promised.get(spelled, Quantity.of(0))
                    promised[spelled] = before + numbers.guaranteed * amount
    for key, amount in promised.items():
        room = max(left, 0) * tier.capacity.get(key, Quantity.of(0))
        if amount > room:
            return f"without it {room} of {key} is left for {amount} guaranteed to {named(tenants)}"
    return None


def stays(view: View, holding: Holding) -> str:
    """Whom the taint would leave where they are."""
    held = view.by_device.get(holding.id, ())
    pods = sorted({pod.ref for one in held for pod in one.pods if not pod.finished})
    if not pods:
        return "no pod is known to use it"
    extended = sorted(
        {
            pod.ref
            for one in held
            for pod in one.pods
            if any(not claim.name and claim.claim == one.claim.claim.name for claim in pod.claims)
        }
    )
    verb = "stay" if len(pods) > 1 else "stays"
    text = f"{named(pods)} {verb}, as a quarantine evicts only with `evict: true`"
    if extended:
        text += f", and not even then {named(extended)}, whose claim is of extended resources"
    return text
