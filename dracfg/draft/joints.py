"""Pods that ask for devices of several tiers → what comes together, and whether a claim can align it."""

from __future__ import annotations

from collections.abc import Mapping

from dracfg.dataclass import dataclass
from dracfg.draft.asks import Ask
from dracfg.draft.facts import facts
from dracfg.draft.needs import Offer, Placed
from dracfg.draft.pools import DraftTier, Hardware
from dracfg.link.presets import load_preset, preset_names


@dataclass(frozen=True, slots=True)
class Joint:
    """Numbers of devices by tier and policy that pods of a namespace ask for together."""

    namespace: str
    counts: tuple[tuple[Offer, int], ...]
    who: str
    place: str

    @property
    def tiers(self) -> tuple[str, ...]:
        return tuple(tier for (tier, _), _ in self.counts)

    @property
    def is_even(self) -> bool:
        """Whether there are as many of each, so that they can be had in pairs."""
        return len({count for _, count in self.counts}) == 1


def read_joints(placed: Placed) -> tuple[Joint, ...]:
    """Every combination once, with the first that asks for it."""
    pods: dict[tuple[str, str], dict[Offer, Ask]] = {}
    for (namespace, offer), asks in placed.by_offer.items():
        for ask in asks:
            pods.setdefault((namespace, ask.pod), {})[offer] = ask
    found: dict[tuple[str, tuple[tuple[Offer, int], ...]], Joint] = {}
    for (namespace, _), offers in pods.items():
        if len({tier for tier, _ in offers}) < 2:
            continue
        counts = tuple((offer, offers[offer].count) for offer in sorted(offers, key=str))
        first = offers[counts[0][0]]
        joint = Joint(namespace, counts, f"{first.kind} {first.name}", first.place)
        found.setdefault((namespace, counts), joint)
    return tuple(found.values())


def tiers_of_pods(placed: Placed) -> Mapping[tuple[str, str], frozenset[str]]:
    """The tiers that the same pods ask for, by namespace and `Ask.pod`."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for (namespace, (tier, _)), asks in placed.by_offer.items():
        for ask in asks:
            key = namespace, ask.pod
            found[key] = found.get(key, frozenset()) | {tier}
    return found


def common_attribute(joint: Joint, hardware: Hardware) -> str | None:
    """An attribute of the place of a device that the drivers of all of its tiers publish."""
    tiers = [tier for tier in hardware.tiers if tier.name in joint.tiers]
    for name in facts().places:
        if all(_publishes(tier, name) for tier in tiers):
            return name
    return None


def _publishes(tier: DraftTier, attribute: str) -> bool:
    """By what is recorded of its devices, else by what is known of their driver."""
    published = tier.sample.published
    if published is not None:
        return published.attribute(attribute) is not None
    driver = tier.make.driver
    return driver in preset_names() and attribute in load_preset(driver).attributes
