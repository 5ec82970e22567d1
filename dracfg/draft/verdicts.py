"""For each legacy resource: stay with the device plugin or move to claims, with reasons that are counted.

A move needs something that the workloads gain by it, and nothing that stands in its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dracfg.dataclass import dataclass
from dracfg.draft.asks import Ask, Trait
from dracfg.draft.joints import tiers_of_pods
from dracfg.draft.needs import Need, Placed
from dracfg.draft.pools import DraftTier, Hardware
from dracfg.draft.resources import Names, Resource
from dracfg.draft.scalars import counted
from dracfg.link.presets import Preset

LEAST = (1, 34)
"""The first minor that serves resource.k8s.io/v1."""

_GAINS: Mapping[Trait, str] = {
    "attributes": "devices chosen by labels of nodes, which a claim says of the device itself",
    "alternatives": "alternatives, which `anyOf` of a profile says in order",
    "sharing": "shares, which a sharing policy bounds and counts",
    "alignment": "several kinds of device at once, which a claim can align",
    "configuration": "variables of the plugin, in place of which the driver takes parameters",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of one resource on one make of hardware. `tier` is None where no node serves it."""

    resource: str
    driver: str
    tier: str | None
    moves: bool
    gains: tuple[str, ...]
    obstacles: tuple[str, ...]
    losses: tuple[str, ...]
    pods: int
    place: str
    unused: tuple[Trait, ...] = ()
    """What claims can say and none of its workloads says; none where it has no workload."""

    @property
    def word(self) -> str:
        """`move` or `stay`."""
        return "move" if self.moves else "stay"


def read_verdicts(
    hardware: Hardware,
    placed: Placed,
    needs: Sequence[Need],
    names: Names,
    minor: tuple[int, int] | None,
) -> tuple[Verdict, ...]:
    """One for each tier that a plugin serves, then one for each name that no recorded node serves."""
    judged: list[tuple[DraftTier, Resource, list[str]]] = []
    for tier in hardware.tiers:
        resource = names.resource(tier.make.resource) if tier.make.resource else None
        served = [
            pool
            for pool in hardware.pools_of(tier.name)
            if any(part.tier == tier.name and part.owner == "devicePlugin" for part in pool.parts)
        ]
        if resource is None or not served:
            continue
        own = [need for need in needs if need.tier == tier.name]
        obstacles = [*_of_driver(resource, minor)]
        if resource.has_dra:
            obstacles += _of_pools(resource, tier, hardware, own)
        judged.append((tier, resource, obstacles))
    stays = frozenset(tier.name for tier, _, obstacles in judged if obstacles)
    beside = tiers_of_pods(placed)
    found = []
    for tier, resource, obstacles in judged:
        asks = placed.of_tier(tier.name)
        others = [
            (ask, beside[ask.namespace, ask.pod] - {tier.name})
            for ask in asks
            if "alignment" in ask.traits
        ]
        aligned = [ask for ask, tiers in others if tiers - stays]
        left = [(ask, tiers & stays) for ask, tiers in others if tiers & stays]
        found.append(
            _verdict(resource, tier.name, asks, obstacles, tier.sample.place, aligned, left)
        )
    unserved: dict[str, list[Ask]] = {}
    for ask in placed.unserved:
        unserved.setdefault(ask.resource.name, []).append(ask)
    for _, listed in sorted(unserved.items()):
        why = (
            "no recorded node serves it, so there is no pool to move",
            *_of_driver(listed[0].resource, minor),
        )
        found.append(_verdict(listed[0].resource, None, listed, why, listed[0].place))
    return tuple(found)


def _verdict(
    resource: Resource,
    tier: str | None,
    asks: Sequence[Ask],
    obstacles: Iterable[str],
    place: str,
    aligned: Sequence[Ask] = (),
    left: Sequence[tuple[Ask, frozenset[str]]] = (),
) -> Verdict:
    """`aligned` ask for other tiers as well that can be on claims, `left` for ones that stay."""
    gains = tuple(_gains(asks, aligned))
    listed = tuple(obstacles)
    if not gains and not listed:
        listed = ("nothing that its workloads say needs claims",)
    return Verdict(
        resource.name,
        resource.driver,
        tier,
        bool(gains) and not listed,
        gains,
        listed,
        (*_losses(asks), *_left_behind(asks, left)),
        sum(ask.pods for ask in asks),
        place,
        tuple(trait for trait in _GAINS if asks and all(trait not in ask.traits for ask in asks)),
    )


def _gains(asks: Sequence[Ask], aligned: Sequence[Ask]) -> Iterator[str]:
    for trait, gain in _GAINS.items():
        having = [ask for ask in asks if trait in ask.traits]
        if trait == "alignment":
            having = list(aligned)
        if having:
            yield f"{gain}: {_of(having, asks)}"


def _losses(asks: Sequence[Ask]) -> Iterator[str]:
    for lost in dict.fromkeys(lost for ask in asks for lost in ask.lost):
        having = [ask for ask in asks if lost in ask.lost]
        yield f"{lost}, which a claim does not carry over: {_of(having, asks)}"


def _left_behind(asks: Sequence[Ask], left: Sequence[tuple[Ask, frozenset[str]]]) -> Iterator[str]:
    """Devices that the same pods go on to get from a plugin."""
    if left:
        tiers = sorted({tier for _, tiers in left for tier in tiers})
        yield (
            f"a place beside {', '.join(tiers)}, which stays with its plugin, since a claim aligns only "
            f"what it holds itself: {_of([ask for ask, _ in left], asks)}"
        )


def _of(some: Sequence[Ask], every: Sequence[Ask]) -> str:
    return f"{len(some)} of {counted(len(every), 'workload')}"


def _of_driver(resource: Resource, minor: tuple[int, int] | None) -> Iterator[str]:
    """What of the driver stands in the way."""
    preset = resource.preset
    if preset is None:
        yield "no DRA driver for it is known here"
        return
    if preset.plugin_only:
        yield f"there is no DRA driver for it ({preset.title})"
        return
    if preset.device_plugin.cluster_wide_switch:
        yield (
            "plugin and driver are one switch for the whole cluster, so pools can't move one by one"
        )
    if not preset.releases:
        yield f"{preset.driver} has no release"
    if minor is not None and minor < _needed(preset):
        yield (
            f"{preset.driver} needs Kubernetes {'.'.join(map(str, _needed(preset)))}, and "
            f"{'.'.join(map(str, minor))} is recorded"
        )


def _needed(preset: Preset) -> tuple[int, int]:
    major, _, rest = (preset.kubernetes.min or "1.34").partition(".")
    own = (int(major), int(rest)) if major.isdecimal() and rest.isdecimal() else LEAST
    return max(LEAST, own)


def _is_shareable(resource: Resource) -> bool:
    return resource.preset is not None and resource.preset.shareable.when == "always"


def _of_pools(
    resource: Resource, tier: DraftTier, hardware: Hardware, needs: Sequence[Need]
) -> Iterator[str]:
    """What of the pools stands in the way."""
    pools = hardware.pools_of(tier.name)
    parts = [part for pool in pools for part in pool.parts if part.tier == tier.name]
    if not tier.is_told:
        yield "nothing recorded tells which of the driver's devices it is, so a claim could get others"
    if not needs:
        yield "no namespace that a tenant can have asks for it"
    if len(pools) < 2:
        yield "it has one pool: while that is emptied, its tenants would have neither path"
    if hardware.twin(tier) is not None:
        yield "some of its pools are on claims already: see who moved them before a Rollout takes over"
    cut = [
        pool.name
        for pool in pools
        if sum(part.driver == tier.make.driver for part in pool.parts) > 1
    ]
    if cut:
        yield f"{', '.join(cut)} holds other tiers of the driver, which would move with it"
    if any(part.replicas > 1 for part in parts):
        yield (
            "the plugin counts each device several times; a person must accept how the driver shares "
            "them (in turns or by shares, each behind an alpha gate of the driver)"
        )
    if _is_shareable(resource) and not (tier.sample.published and tier.sample.published.capacity):
        yield "its driver shares every device, and no ResourceSlice shows what one has to share"
    if any(pool.questions for pool in pools):
        yield "questions about its pools are open"
