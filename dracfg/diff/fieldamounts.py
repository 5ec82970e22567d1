"""Numbers of devices as people think of them: so many, which is such a part of the pool.

A pool counts with the nodes that are not kept spare, whatever their state. Knows nothing of proofs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from dracfg.diff.change import Change, Flag
from dracfg.diff.fieldplace import Place, Side
from dracfg.diff.fieldtable import ELSE, Row
from dracfg.diff.fieldvalues import size
from dracfg.diff.words import few, plural
from dracfg.link.catalog import Cluster, Part, Policy, Tier
from dracfg.link.parts import sized_capacity
from dracfg.model.base import Spec
from dracfg.model.pool import NodePoolSpec
from dracfg.model.sharing import Consumable
from dracfg.model.tenant import Entitlement

Numbers = Mapping[Hashable, tuple[str, int]]
"""By size: the size as it is written (empty for whole devices), and the number."""


def amounts(place: Place, row: Row, holders: tuple[Spec, Spec]) -> Iterator[Change]:
    """Changes of what an entitlement promises or limits, size by size.

    A limit that follows what is guaranteed is a detail of that; what is promised of a size that is
    not named is nothing.
    """
    before, after = holders
    if not isinstance(before, Entitlement) or not isinstance(after, Entitlement):
        return
    is_limit = row.fill == "guaranteed"
    sides = ((place.base, before), (place.head, after))
    promised = [numbers(entitlement.guaranteed) for _, entitlement in sides]
    limits = [numbers(entitlement.limit) for _, entitlement in sides]
    said = limits if is_limit else promised
    for key in [*said[0], *(key for key in said[1] if key not in said[0])]:
        name = next(one[key][0] for one in said if key in one)
        values = [
            _number(one, key, least if is_limit else {})
            for one, least in zip(said, promised, strict=True)
        ]
        if values[0] == values[1]:
            continue
        kind = row.kinds["raised" if values[1] > values[0] else "lowered"][ELSE]
        texts = [
            _amount(place, side, entitlement, name, value)
            for (side, entitlement), value in zip(sides, values, strict=True)
        ]
        details = [*_parts_of_pools(place, after, name, values[1])]
        flags: list[Flag] = []
        if not is_limit and all(key not in one for one in limits):
            flags.append("quota")
            details.append(f"limit {values[0]:,} -> {values[1]:,}, as much as is guaranteed")
        here = place.entry(name, None, None) if name else place
        yield here.tell(kind, *texts, details=details, flags=flags)


def numbers(said: Any) -> Numbers:
    """What is said of each size; nothing where nothing is said."""
    if said is None:
        return {}
    if isinstance(said, int):
        return {"": ("", said)}
    return {size(name): (name, number) for name, number in said.items()}


def nodes(side: Side, number: int) -> str:
    """Nodes of a pool with the devices that they hold: `12 nodes (96 of a100-40g)`."""
    spec = side.document.spec if side.document is not None else None
    devices = spec.devices if isinstance(spec, NodePoolSpec) else ()
    held = few(f"{number * one.per_node:,} of {one.tier}" for one in devices)
    return f"{plural(number, 'node')} ({held})" if held else plural(number, "node")


def _number(said: Numbers, key: Hashable, least: Numbers) -> int:
    return said[key][1] if key in said else least[key][1] if key in least else 0


def _amount(place: Place, side: Side, entitlement: Entitlement, name: str, number: int) -> str:
    text = f"{number:,} x {name}" if name else plural(number, "device")
    if len(place.clusters) != 1:
        return text
    part = _part_of_pool(side, next(iter(place.clusters)), entitlement, name, number)
    return f"{text} ({part})" if part else text


def _parts_of_pools(
    place: Place, entitlement: Entitlement, name: str, number: int
) -> Iterator[str]:
    """The part of each cluster's pool, where the tenant is on several."""
    if len(place.clusters) > 1:
        for cluster in sorted(place.clusters):
            if part := _part_of_pool(place.head, cluster, entitlement, name, number):
                yield part


def _part_of_pool(
    side: Side, cluster: str, entitlement: Entitlement, name: str, number: int
) -> str | None:
    """`18 % of a100-40g on prod-east`; None where the whole is not known."""
    catalog = side.catalog
    tier, policy = catalog.tiers.get(entitlement.tier), catalog.policies.get(entitlement.sharing)
    if tier is None or policy is None or cluster not in catalog.clusters:
        return None
    devices = _usable(catalog.clusters[cluster], tier, policy)
    taken = _devices(tier, policy, policy.part(name or None), number)
    if not devices or taken is None:
        return None
    percent = 100 * taken / devices
    shown = f"{round(percent)}" if percent >= 1 or not percent else "under 1"
    return f"{shown} % of {tier.name} on {cluster}"


def _usable(cluster: Cluster, tier: Tier, policy: Policy) -> int:
    """Devices of the tier that the policy is in force for, on the nodes that are not kept spare."""
    return sum(
        devices.per_node * max(0, pool.document.spec.nodes - pool.document.spec.spare.nodes)
        for pool, devices in cluster.offers()
        if devices.tier is tier and policy in devices.policies
    )


def _devices(tier: Tier, policy: Policy, part: Part | None, number: int) -> Fraction | None:
    """What so many parts come to in devices; None where that is not to be had from the documents."""
    if part is None:
        return None
    if isinstance(policy.spec, Consumable):
        key = sized_capacity(policy.spec)
        amount, whole = part.capacity.get(key), tier.capacity.get(tier.driver.spelling(key))
        return None if amount is None or not whole else number * amount.exact / whole.exact
    return Fraction(number) if not policy.is_sized else None
