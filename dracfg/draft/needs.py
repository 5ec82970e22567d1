"""Asks and quotas → what each namespace should be entitled to of each tier.

Promises no more than there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dracfg.dataclass import dataclass
from dracfg.draft.asks import Ask
from dracfg.draft.decisions import Decision
from dracfg.draft.facts import facts
from dracfg.draft.holdings import make_of
from dracfg.draft.pools import DraftPool, Hardware, PoolPart
from dracfg.draft.recording import Recording
from dracfg.migrate.facts import facts as plugin_facts
from dracfg.plan.workloads import DEFAULT_NAMESPACE
from dracfg.source.fields import maps, text

Offer = tuple[str, str | None]
"""A tier and the policy by which its devices are shared; None for whole ones."""


@dataclass(frozen=True, slots=True)
class Need:
    """What one namespace needs of one offer. `asked` is what its workloads ask for at a time.

    `guaranteed` is as much of that as there is. `counts` are the numbers that single pods ask for.
    """

    namespace: str
    tier: str
    policy: str | None
    asked: int
    guaranteed: int
    limit: int
    counts: tuple[int, ...]
    is_retryable: bool
    questions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """Asks by what they were found to mean; `unserved` are of names that no recorded node serves."""

    by_offer: Mapping[tuple[str, Offer], tuple[Ask, ...]]
    unserved: tuple[Ask, ...]
    questions: Mapping[tuple[str, Offer], tuple[Decision, ...]]

    def of_tier(self, tier: str) -> tuple[Ask, ...]:
        """All that asks for devices of a tier."""
        return tuple(
            ask for (_, offer), asks in self.by_offer.items() if offer[0] == tier for ask in asks
        )


def place_asks(asks: Iterable[Ask], hardware: Hardware, recording: Recording) -> Placed:
    """Each ask at the tier that it gets devices of: by its node, by its selector, else by its name."""
    resources = {tier.name: tier.make.resource for tier in hardware.tiers}
    found: dict[tuple[str, Offer], list[Ask]] = {}
    questions: dict[tuple[str, Offer], list[Decision]] = {}
    unserved: list[Ask] = []
    for ask in asks:
        name = ask.resource.name.removesuffix(plugin_facts().shared_suffix)
        serving = [
            (pool, part)
            for pool in hardware.pools
            for part in pool.parts
            if resources[part.tier] == name and part.owner == "devicePlugin"
        ]
        if not serving:
            unserved.append(ask)
            continue
        reached = _narrowed(ask, serving, recording)
        offers = sorted({(part.tier, part.policy) for _, part in reached}, key=str)
        key = (ask.namespace, offers[0])
        found.setdefault(key, []).append(ask)
        if len(offers) > 1:
            tiers = ", ".join(sorted({tier for tier, _ in offers}))
            questions.setdefault(key, []).append(
                Decision(
                    f"which tier {ask.kind} {ask.name} of {ask.namespace} means",
                    f"it asks for {ask.resource.name} and may get {tiers}; it is counted under "
                    f"{offers[0][0]}",
                    (ask.place,),
                )
            )
    return Placed(
        {key: tuple(listed) for key, listed in found.items()},
        tuple(unserved),
        {key: tuple(listed) for key, listed in questions.items()},
    )


def _narrowed(
    ask: Ask, serving: list[tuple[DraftPool, PoolPart]], recording: Recording
) -> list[tuple[DraftPool, PoolPart]]:
    on_node = [pair for pair in serving if ask.node in pair[0].nodes]
    if on_node:
        return on_node
    fitting = [
        pair
        for pair in serving
        if any(
            ask.selector.items() <= recording.nodes[node].state.labels.items()
            for node in pair[0].nodes
            if node in recording.nodes
        )
    ]
    return fitting or serving


def read_needs(placed: Placed, hardware: Hardware, recording: Recording) -> tuple[Need, ...]:
    """By namespace and tier; the platform's own namespaces have none."""
    asked: dict[tuple[str, Offer], int] = {}
    for key, asks in placed.by_offer.items():
        total = sum(ask.count * ask.pods for ask in asks)
        asked[key] = -(-total // _uncounted(hardware, key[1]))
    for key, count in _claimed(hardware, recording).items():
        asked[key] = asked.get(key, 0) + count
    quotas = _quotas(hardware, recording)
    left = {offer: _units(hardware, offer) for _, offer in (*asked, *quotas)}
    needs = []
    for key in sorted({*asked, *quotas}, key=str):
        namespace, offer = key
        if facts().is_platform(namespace):
            continue
        hard, place, several = quotas.get(key, (None, "", False))
        wanted = asked.get(key, 0)
        bound = wanted if hard is None else min(wanted, hard)
        guaranteed = min(bound, left[offer])
        left[offer] -= guaranteed
        limit = hard if hard is not None else wanted
        limit = max(min(limit, _units(hardware, offer)), guaranteed)
        if limit <= 0:
            continue
        asks = placed.by_offer.get(key, ())
        questions = [*placed.questions.get(key, ())]
        if guaranteed < wanted:
            why = (
                f"its quota is {hard}" if hard is not None and hard < wanted else "no more is left"
            )
            questions.append(
                Decision(
                    f"how much of {offer[0]} {namespace} is promised",
                    f"its workloads ask for {wanted} at a time, and {why}",
                    tuple(ask.place for ask in asks[:3]),
                )
            )
        if several:
            questions.append(
                Decision(
                    f"how much of {offer[0]} {namespace} may have",
                    f"its ResourceQuota counts {hard} over several tiers together; each has that limit "
                    "here",
                    (place,),
                )
            )
        counts = {-(-ask.count // _uncounted(hardware, offer)) for ask in asks}
        needs.append(
            Need(
                namespace,
                offer[0],
                offer[1],
                wanted,
                guaranteed,
                limit,
                tuple(sorted(count for count in counts if 0 < count <= limit)),
                bool(asks) and all(ask.is_retryable for ask in asks),
                tuple(questions),
            )
        )
    return tuple(needs)


def _parts(hardware: Hardware, offer: Offer) -> list[tuple[DraftPool, PoolPart]]:
    return [
        (pool, part)
        for pool in hardware.pools
        for part in pool.parts
        if (part.tier, part.policy) == offer
    ]


def _units(hardware: Hardware, offer: Offer) -> int:
    return sum(len(pool.nodes) * part.units for pool, part in _parts(hardware, offer))


def _uncounted(hardware: Hardware, offer: Offer) -> int:
    """How often the plugin counts a device of which only the devices are told."""
    return max(
        (part.replicas for _, part in _parts(hardware, offer) if part.policy is None), default=1
    )


def _claimed(hardware: Hardware, recording: Recording) -> dict[tuple[str, Offer], int]:
    """Devices that claims hold, by namespace."""
    tiers = {
        (tier.make.driver, tier.make.product, tier.make.partition): tier.name
        for tier in sorted(hardware.tiers, key=lambda tier: tier.make.resource, reverse=True)
    }
    found: dict[tuple[str, Offer], int] = {}
    for item in recording.claims:
        namespace = text(item.data, "metadata", "namespace") or DEFAULT_NAMESPACE
        for result in maps(item.data, "status", "allocation", "devices", "results"):
            where = (str(result.get("driver")), str(result.get("pool")), str(result.get("device")))
            device = recording.inventory.device(*where)
            if device is None:
                continue
            make = make_of(device)
            tier = tiers.get((make.driver, make.product, make.partition))
            if tier is not None:
                key: tuple[str, Offer] = (namespace, (tier, None))
                found[key] = found.get(key, 0) + 1
    return found


def _quotas(
    hardware: Hardware, recording: Recording
) -> dict[tuple[str, Offer], tuple[int, str, bool]]:
    """Namespace and offer -> bound, its place, whether other offers share it. The least bound holds."""
    offers: dict[str, set[Offer]] = {}
    for tier in hardware.tiers:
        for pool in hardware.pools_of(tier.name):
            for part in pool.parts:
                if part.tier == tier.name and tier.make.resource:
                    offers.setdefault(tier.make.resource, set()).add((tier.name, part.policy))
    found: dict[tuple[str, Offer], tuple[int, str, bool]] = {}
    for line in recording.quotas:
        name = line.key.removeprefix("requests.").removesuffix(plugin_facts().shared_suffix)
        meant = offers.get(name, set()) if line.key.startswith("requests.") else set()
        for offer in meant:
            key = (line.namespace, offer)
            if key not in found or line.hard < found[key][0]:
                found[key] = (line.hard, line.place, len(meant) > 1)
    return found
