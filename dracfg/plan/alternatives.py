"""The same entitlements by other ways of sharing: whole devices, partitions, shares by amount.

Each way says how many devices the guarantees need, how much of those nobody is promised, and how many
nodes would have to be added. A share becomes the smallest size or partition that holds its amounts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Part, Policy, Tier
from dracfg.link.linker import applies
from dracfg.link.parts import whole_policy
from dracfg.model.sharing import Consumable, Exclusive, Partitioned
from dracfg.plan.promises import Holding, Market
from dracfg.plan.proofs.blocking import non_blocking
from dracfg.plan.proofs.fits import fits
from dracfg.plan.proofs.mends import smallest
from dracfg.plan.proofs.shapes import Claims, Counts, Group, Kind, Others, Pool
from dracfg.plan.proofs.verdict import Proven
from dracfg.plan.supply import enforced_shares

Mode = Literal["exclusive", "partitioned", "consumable"]
Word = Literal["proven", "refuted", "unknown"]

_STATES = 2_000
_PARTS = "parts of "


@dataclass(frozen=True, slots=True)
class Way:
    """One way of sharing. `why_not` says which share has no like there; then the rest is empty.

    `devices` and `nodes` are the fewest that were shown to carry all guarantees. `lost` is the part
    of those devices' capacity that nobody is promised. The verdicts are for the nodes there are.
    """

    mode: Mode
    policy: str
    devices: int | None = None
    nodes: int | None = None
    nodes_to_add: int | None = None
    lost: float | None = None
    fits: Word | None = None
    non_blocking: Word | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class _Device:
    """What one device offers under a policy, and the kind that stands for each holding."""

    keys: tuple[str, ...]
    capacity: Counts
    kinds: Mapping[Holding, Kind]
    policy: Policy

    def group(self, tier: Tier, nodes: int, per_node: int) -> Group:
        return Group("nodes", nodes, per_node, self.capacity, enforced_shares(self.policy, tier))


def alternatives(catalog: Catalog, market: Market) -> tuple[Way, ...]:
    """The guarantees of a market whole, and under every policy of the catalog that its tier allows."""
    tier = market.supply.tier
    policies = [whole_policy(), *(p for p in catalog.policies.values() if not p.is_whole)]
    return tuple(
        _way(market, policy)
        for policy in policies
        if isinstance(policy.spec, Exclusive | Partitioned | Consumable) and applies(policy, tier)
    )


def _way(market: Market, policy: Policy) -> Way:
    mode: Mode = policy.spec.mode  # type: ignore[assignment]
    promised = [holding for holding in market.holdings if holding.is_promised]
    kinds: dict[Holding, Kind] = {}
    for holding in market.holdings:
        part = _covering(policy, market.supply.tier, needs(holding))
        if part is None and holding.is_promised:
            return Way(mode, policy.name, why_not=f"nothing holds {holding.what}")
        if part is not None:
            kinds[holding] = _kind(policy, market.supply.tier, part)
    device = _Device(*_offer(policy, market.supply.tier), kinds, policy)
    return _counted(market, mode, device, promised)


def needs(holding: Holding) -> Mapping[str, int]:
    """What one share of a holding is an amount of, by published key; a whole device is all of it."""
    tier, part = holding.grant.tier, holding.part
    if part.partition is not None:
        return {tier.driver.spelling(key): q.nano for key, q in part.partition.consumes.items()}
    if part.capacity:
        return {tier.driver.spelling(key): q.nano for key, q in part.capacity.items()}
    return {key: q.nano for key, q in tier.capacity.items()}


def _covering(policy: Policy, tier: Tier, wanted: Mapping[str, int]) -> Part | None:
    """The smallest part that holds at least the amounts that it is measured in."""
    if not policy.is_sized:
        return policy.parts[0]
    sizes = {part.name: _sizes(tier, part) for part in policy.parts}
    large = [
        part
        for part in policy.parts
        if set(sizes[part.name]) & set(wanted)
        and all(sizes[part.name][key] >= wanted[key] for key in sizes[part.name] if key in wanted)
    ]
    return min(large, key=lambda part: sorted(sizes[part.name].items()), default=None)


def _sizes(tier: Tier, part: Part) -> Mapping[str, int]:
    amounts = part.partition.consumes if part.partition is not None else part.capacity
    return {tier.driver.spelling(key): quantity.nano for key, quantity in amounts.items()}


def _offer(policy: Policy, tier: Tier) -> tuple[tuple[str, ...], Counts]:
    if isinstance(policy.spec, Consumable):
        keys = tuple(sorted(tier.driver.spelling(key) for key in policy.spec.capacity))
        return keys, tuple(tier.capacity[key].nano for key in keys)
    if isinstance(policy.spec, Partitioned):
        counters = tier.document.spec.device.counters
        bounded = [p for p in policy.spec.partitions if p.per_device is not None]
        keys = (*sorted(counters), *(f"{_PARTS}{p.name}" for p in bounded))
        amounts = [counters[key].nano for key in sorted(counters)]
        return keys, (*amounts, *(p.per_device or 0 for p in bounded))
    return (), ()


def _kind(policy: Policy, tier: Tier, part: Part) -> Kind:
    if not policy.is_sized:
        return Kind("device", whole=True)
    keys, _ = _offer(policy, tier)
    sizes = _sizes(tier, part)
    if part.partition is not None:
        sizes = {key: quantity.nano for key, quantity in part.partition.consumes.items()}
        sizes[f"{_PARTS}{part.name}"] = 1
    return Kind(part.name, tuple(sizes.get(key, 0) for key in keys))


def _counted(market: Market, mode: Mode, device: _Device, promised: list[Holding]) -> Way:
    tier = market.supply.tier
    groups = market.supply.pool.groups
    per_node = max((group.per_node for group in market.supply.restored.groups), default=1)
    usable = sum(group.nodes for group in groups)
    shares = [Claims(device.kinds[h], h.guaranteed) for h in promised]
    claims = [Claims(device.kinds[h], c.count, c.devices) for h in promised for c in h.demand()]
    most = sum(claim.shares for claim in shares)

    def on(nodes: int, each: int, demand: list[Claims]) -> bool:
        pool = Pool((device.group(tier, nodes, each),), device.keys)
        return isinstance(fits(pool, demand, _STATES), Proven)

    devices = smallest(1, max(most, 1), lambda number: on(number, 1, shares))
    nodes = smallest(1, max(most, 1), lambda number: on(number, per_node, claims))
    there = Pool((device.group(tier, usable, per_node),), device.keys)
    return Way(
        mode=mode,
        policy=device.policy.name,
        devices=devices,
        nodes=nodes,
        nodes_to_add=None if nodes is None else max(0, nodes - usable),
        lost=None if devices is None else _lost(tier, promised, devices),
        fits=fits(there, claims, _STATES).word,
        non_blocking=_blocking(market, device, there),
    )


def _lost(tier: Tier, promised: list[Holding], devices: int) -> float | None:
    """The part of the first capacity that shares are measured in; None where there is none."""
    key = next((key for h in promised for key in needs(h) if key in tier.capacity), None)
    if key is None or not tier.capacity[key]:
        return None
    used = sum(needs(h).get(key, 0) * h.guaranteed for h in promised)
    return round(1 - used / (devices * tier.capacity[key].nano), 4)


def _blocking(market: Market, device: _Device, pool: Pool) -> Word:
    """The worst verdict over the guarantees, with everybody else at their limits."""
    words = {_never_refused(market, device, pool, h) for h in market.holdings if h.is_promised}
    worst: tuple[Word, ...] = ("refuted", "unknown", "proven")
    return next((word for word in worst if word in words), "proven")


def _never_refused(market: Market, device: _Device, pool: Pool, holding: Holding) -> Word:
    held: dict[Kind, int] = {}
    for other in market.holdings:
        kind = device.kinds.get(other)
        number = other.limit if other is not holding else holding.guaranteed - 1
        if kind is not None and number:
            held[kind] = held.get(kind, 0) + number
    others = Others(tuple(held), tuple(held.values()))
    return non_blocking(pool, Claims(device.kinds[holding], 1), others, _STATES).word


def ways_document(found: Iterator[Way] | tuple[Way, ...]) -> list[dict[str, object]]:
    """The ways as data; what does not apply is left out."""
    return [
        {
            key: value
            for key, value in {
                "mode": way.mode,
                "policy": way.policy,
                "devices": way.devices,
                "nodes": way.nodes,
                "nodesToAdd": way.nodes_to_add,
                "lost": way.lost,
                "fits": way.fits,
                "nonBlocking": way.non_blocking,
                "whyNot": way.why_not or None,
            }.items()
            if value is not None
        }
        for way in found
    ]
