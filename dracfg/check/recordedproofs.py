"""CAP052: a guarantee was proven on devices that the record of its cluster does not show.

Proofs count nodes and devices as the catalog has them. They hold for the record where each node that
they count on has one of its own there, with as many devices of the tier that publish as much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.allocate.devices import Device
from dracfg.allocate.inventory import Inventory
from dracfg.check.drift import pool_nodes
from dracfg.check.guarantees import number_place
from dracfg.check.rule import listed
from dracfg.check.tierdevices import TierDevices
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.model.base import at
from dracfg.plan.assurance import markets
from dracfg.plan.promises import Market
from dracfg.plan.proofs.shapes import Group
from dracfg.plan.site import recorded_site

_MOST_POOLS = 5


def check_recorded_proofs(
    catalog: Catalog, inventories: Mapping[str, Inventory]
) -> tuple[Diagnostic, ...]:
    """Every tier with guarantees on a cluster of which devices are recorded."""
    recorded = {name: one for name, one in inventories.items() if one.pools}
    by_tier: dict[tuple[str, str], list[Market]] = {}
    for market in markets(catalog) if recorded else ():
        supply = market.supply
        if supply.cluster.name in recorded and supply.owner == "dra":
            by_tier.setdefault((supply.cluster.name, supply.tier.name), []).append(market)
    seen: dict[str, _Seen] = {}
    found: list[Diagnostic] = []
    for (name, _), own in by_tier.items():
        if any(holding.is_promised for market in own for holding in market.holdings):
            if name not in seen:
                seen[name] = _seen(catalog, catalog.clusters[name], recorded[name])
            found += _compared(own, seen[name])
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is recorded of one cluster: by tier and node, how many devices count.

    Partitions stand by themselves in `parts`. Nodes in quarantine and of closed pools are left out;
    `pools` holds those of each pool by labels, and is None where labels are not recorded.
    """

    whole: Mapping[str, Mapping[str, int]]
    parts: Mapping[str, Mapping[str, int]]
    pools: Mapping[str, frozenset[str]] | None

    def fullest(self, tier: str, pools: Iterable[str], *, in_parts: bool) -> list[int]:
        """The devices of each node of the pools, most first."""
        held = (self.parts if in_parts else self.whole).get(tier, {})
        names = set(held)
        if self.pools is not None:
            names &= frozenset().union(*(self.pools[name] for name in pools))
        return sorted((held[name] for name in names), reverse=True)


def _seen(catalog: Catalog, cluster: Cluster, inventory: Inventory) -> _Seen:
    site = recorded_site(cluster, inventory, {})
    known = TierDevices(catalog, cluster)
    usable = {(pool.driver, pool.name) for pool in inventory.pools if pool.usable}
    whole: dict[str, Counter[str]] = {}
    parts: dict[str, Counter[str]] = {}
    for device in inventory.devices:
        plan, node = known.plan(device), device.nodes.node_name
        if plan is None or node is None:
            continue
        of = whole if plan.part.partition is None else parts
        held = of.setdefault(plan.tier.name, Counter())
        if (device.driver, device.pool) in usable and node not in site.kept_out:
            held[node] += plan.part.partition is not None or _is_full(device, plan.tier)
    return _Seen(whole, parts, pool_nodes(cluster, inventory))


def _is_full(device: Device, tier: Tier) -> bool:
    """Whether the device publishes all that the tier says."""
    published = {key: device.capacity_fact(key) for key in tier.capacity}
    return all(
        fact is not None and fact.value >= tier.capacity[key] for key, fact in published.items()
    )


def _compared(own: Sequence[Market], seen: _Seen) -> Iterator[Diagnostic]:
    """One finding for a tier: pool by pool where nodes have labels, else over all of them."""
    tier = own[0].supply.tier.name
    # A driver of which nothing is recorded, and a class that takes nothing, are INV022.
    if tier not in seen.whole and tier not in seen.parts:
        return
    wanted: dict[tuple[tuple[str, ...], bool], Counter[int]] = {}
    names = tuple(dict.fromkeys(_pool_of(g) for market in own for g in market.supply.pool.groups))
    for market in own:
        in_parts = any(plan.part.partition is not None for plan in market.supply.classes.values())
        for group in market.supply.pool.groups:
            pools = names if seen.pools is None else (_pool_of(group),)
            per_node = group.per_node * (_parts(market, group) if in_parts else 1)
            wanted.setdefault((pools, in_parts), Counter())[per_node] += group.nodes
    short = [
        (pools, missing)
        for (pools, in_parts), counted in wanted.items()
        for missing in [_missing(counted, seen.fullest(tier, pools, in_parts=in_parts))]
        if missing is not None
    ]
    if short:
        yield _void(own, short)


def _parts(market: Market, group: Group) -> int:
    """The partitions that a device of the group publishes at least."""
    return sum(
        plan.part.partition.per_device or 1
        for name, plan in market.supply.classes.items()
        if plan.part.partition is not None and (group.admits is None or name in group.admits)
    )


def _pool_of(group: Group) -> str:
    """The pool of a group; nodes with devices in quarantine are a group of their own."""
    return group.name.partition(" ")[0]


def _missing(counted: Mapping[int, int], there: Sequence[int]) -> str | None:
    """What the record lacks of so many nodes by their devices; None where it lacks nothing."""
    wanted = [needs for needs, nodes in sorted(counted.items(), reverse=True) for _ in range(nodes)]
    there = [*there, *([0] * (len(wanted) - len(there)))]
    short = [needs for has, needs in zip(there, wanted, strict=False) if has < needs]
    if not short:
        return None
    devices = "1 device" if short[0] == 1 else f"{short[0]} devices"
    return f"{len(wanted) - len(short)} of {len(wanted)} nodes, of {devices} and more"


def _void(own: Sequence[Market], short: Sequence[tuple[Sequence[str], str]]) -> Diagnostic:
    supply = own[0].supply
    first = max(
        (holding for market in own for holding in market.holdings if holding.is_promised),
        key=lambda holding: holding.guaranteed,
    )
    pools = {pool.name: pool for market in own for pool in market.supply.pools}
    named = dict.fromkeys(name for names, _ in short for name in names)
    what = listed(f"{missing}, in {listed(names)}" for names, missing in short)
    return diagnose(
        "CAP052",
        number_place(first),
        f"guarantees of {supply.tier.name} on {supply.cluster.name} are proven in the catalog's "
        f"numbers, and the record shows {what}",
        label=f"{first.guaranteed} of {first.what}",
        related=[
            Related(at(pools[name].document, "spec", "nodes"), "the proof counts on these")
            for name in list(named)[:_MOST_POOLS]
        ],
        help="bring nodes and devices back and record them again, or correct `nodes` and `perNode` "
        "of the pool and `capacity` of the tier",
    )
