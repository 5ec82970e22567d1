"""Which extended resource names stand for which devices of the catalog.

Knows no workload: an item is a name with amounts, and a class either is what it means or is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Part, Policy, Tier
from dracfg.link.claims import Ask
from dracfg.link.classes import class_name
from dracfg.link.parts import sized_capacity
from dracfg.migrate.demand import Item
from dracfg.migrate.facts import IMPLICIT, facts
from dracfg.model.sharing import Consumable, Partitioned, TimeSliced


def legacy_names(tier: Tier) -> tuple[str, ...]:
    """What device plugins call whole devices of a tier: its own word, the driver's, the preset's."""
    if tier.legacy_resource is not None:
        return (tier.legacy_resource,)
    said = tier.driver.document.spec.device_plugin
    preset = tier.driver.preset
    listed = said.resources if said is not None else ()
    if not listed and preset is not None:
        listed = preset.device_plugin.resources
    known = facts()
    return tuple(
        name
        for name in listed
        if name not in known.qualities and not name.endswith(known.shared_suffix)
    )


def tiers_meant(catalog: Catalog, item: Item) -> Iterator[Tier]:
    """The tiers that a name may stand for, by whatever policy."""
    for tier in catalog.tiers.values():
        names = legacy_names(tier)
        partitions = tuple(name for one in names for name in facts().partitions.get(one, ()))
        if (
            item.name.removesuffix(facts().shared_suffix) in names
            or any(_begins(item.name, pattern) for pattern in partitions)
            or f"{item.name}-".startswith(f"{IMPLICIT}{tier.name}-")
        ):
            yield tier


def meets(ask: Ask, item: Item) -> bool:
    """Whether what a request asks for is what a name with its amounts means."""
    return stands_for(ask.grant.tier, ask.grant.policy, ask.part, item)


def stands_for(tier: Tier, policy: Policy, part: Part, item: Item) -> bool:
    """Whether a class, given by what it is made of, is what a name with its amounts means.

    A share without a size may be of any.
    """
    if item.name.startswith(IMPLICIT):
        return item.name == IMPLICIT + class_name(tier.name, policy, part)
    names = legacy_names(tier)
    if isinstance(policy.spec, Partitioned):
        patterns = [pattern for name in names for pattern in facts().partitions.get(name, ())]
        return item.name in {pattern.format(partition=part.name) for pattern in patterns}
    plain = item.name.removesuffix(facts().shared_suffix)
    if plain not in names:
        return False
    if isinstance(policy.spec, TimeSliced):
        return item.is_share
    if isinstance(policy.spec, Consumable):
        by = tier.driver.spelling(sized_capacity(policy.spec))
        known = [key for key in item.amounts if tier.driver.spelling(key) == by]
        equal = all(holds_amount(tier, part, item, key) for key in known)
        return equal and (bool(known) or item.is_share)
    return not item.is_share and not item.amounts


def holds_amount(tier: Tier, part: Part, item: Item, key: str) -> bool:
    """Whether a part is of just that much of a capacity as is meant of each device."""
    amount = _amount(part, tier, key)
    return amount is not None and amount == _meant(tier, key, item)


def _amount(part: Part, tier: Tier, key: str) -> Fraction | None:
    spelled = tier.driver.spelling(key)
    for own, amount in part.capacity.items():
        if tier.driver.spelling(own) == spelled:
            return amount.exact
    return None


def _meant(tier: Tier, key: str, item: Item) -> Fraction | None:
    text = item.amounts[key]
    try:
        amount = Quantity.parse(text.removesuffix("%")).exact
    except ValueError:
        return None
    if not text.endswith("%"):
        return amount
    whole = tier.capacity.get(tier.driver.spelling(key))
    return None if whole is None else whole.exact * amount / 100


def _begins(name: str, pattern: str) -> bool:
    head, _, tail = pattern.partition("{partition}")
    return bool(head) and name.startswith(head) and name.endswith(tail) and "/" in head
