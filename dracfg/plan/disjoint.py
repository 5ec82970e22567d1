"""Which tiers of a cluster can never take the same device, and what says so.

Proven by the classes' conditions, or on what is recorded of the cluster. Admin classes take nothing
and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Literal

from dracfg.allocate.inventory import Inventory
from dracfg.allocate.selection import Selection
from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster, Tier
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.link.memo import per_catalog
from dracfg.lower.selectors import class_selectors
from dracfg.plan.apart import apart

Inventories = Mapping[str, Inventory]
"""What is recorded, by the cluster's name."""

NOTHING_RECORDED: Inventories = MappingProxyType({})

_Pairs = Sequence[tuple[ClassPlan, ClassPlan]]


@dataclass(frozen=True, slots=True, eq=False)
class TierProof:
    """What is known of two tiers of a cluster.

    `by` says what keeps them apart: `expressions`, `inventory`, or None where nothing does. `words`
    are what was found: the attributes that tell them apart, or the devices that both take.
    """

    cluster: Cluster
    tiers: tuple[Tier, Tier]
    by: Literal["expressions", "inventory"] | None
    words: tuple[str, ...]


def tier_proofs(
    catalog: Catalog, inventories: Inventories = NOTHING_RECORDED
) -> Iterator[TierProof]:
    """What is known of every two tiers, cluster by cluster; `inventories` are by the cluster's name."""
    for cluster in catalog.clusters.values():
        inventory = inventories.get(cluster.name)
        for proof, left in _by_expressions(catalog, cluster):
            if not left or inventory is None:
                yield proof
            else:
                yield _recorded(cluster, proof.tiers, left, inventory)


@per_catalog
def _by_expressions(catalog: Catalog, cluster: Cluster) -> tuple[tuple[TierProof, _Pairs], ...]:
    """What conditions alone prove of every two tiers, with the classes that they don't keep apart."""
    by_tier: dict[str, list[ClassPlan]] = {}
    for plan in device_classes(catalog, cluster):
        if not plan.admin:
            by_tier.setdefault(plan.tier.name, []).append(plan)
    alike = {name: _distinct(plans) for name, plans in by_tier.items()}
    return tuple(
        _proof(cluster, alike[one], alike[other]) for one, other in combinations(sorted(alike), 2)
    )


def _distinct(plans: Iterable[ClassPlan]) -> list[ClassPlan]:
    """One class of those with the same selectors."""
    return list({tuple(class_selectors(plan)): plan for plan in plans}.values())


def _proof(
    cluster: Cluster, first: list[ClassPlan], second: list[ClassPlan]
) -> tuple[TierProof, _Pairs]:
    tiers = (first[0].tier, second[0].tier)
    left: list[tuple[ClassPlan, ClassPlan]] = []
    words: dict[str, None] = {}
    for one in first:
        for other in second:
            difference = apart(one, other)
            if difference is None:
                left.append((one, other))
            else:
                words[difference] = None
    if left:
        return TierProof(cluster, tiers, None, ()), left
    return TierProof(cluster, tiers, "expressions", tuple(words)), ()


def _recorded(
    cluster: Cluster,
    tiers: tuple[Tier, Tier],
    pairs: _Pairs,
    inventory: Inventory,
) -> TierProof:
    """A record decides where each of the classes finds devices in it, and all for certain."""
    selection = Selection(cluster.minor)
    driver = tiers[0].driver.name
    devices = [device for device in inventory.devices if device.driver == driver]
    shared: dict[str, None] = {}
    certain = all(pool.complete for pool in inventory.pools_of(driver))
    for pair in pairs:
        outcomes = [[selection.select(plan, device).outcome for device in devices] for plan in pair]
        certain = certain and all(
            True in seen and all(isinstance(outcome, bool) for outcome in seen) for seen in outcomes
        )
        shared |= {
            f"{device.pool}/{device.name}": None
            for device, one, other in zip(devices, *outcomes, strict=True)
            if one is True and other is True
        }
    if certain and not shared:
        return TierProof(cluster, tiers, "inventory", (f"{len(devices)} recorded devices",))
    return TierProof(cluster, tiers, None, tuple(shared))
