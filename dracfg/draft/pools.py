"""Nodes with what they hold → tiers by make, pools by hardware and label, sharing policies.

Two nodes are of one pool where they hold the same and carry the same label of a node group. Knows no
workload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dracfg.dataclass import dataclass
from dracfg.draft.decisions import Decision
from dracfg.draft.facts import facts
from dracfg.draft.holdings import Holding, Make, holdings
from dracfg.draft.plugins import Replicas
from dracfg.draft.recording import Recording
from dracfg.draft.resources import Names
from dracfg.draft.scalars import label, unique
from dracfg.kube.names import check_label_key, check_label_value
from dracfg.migrate.facts import domain
from dracfg.model.pool import Owner

HOSTNAME = "kubernetes.io/hostname"
OWN_LABEL = "node.example.com/pool"
"""The label that a person must set where no label of the nodes tells them from others."""


@dataclass(frozen=True, slots=True)
class DraftTier:
    """A tier. `spelled` is its product as published or as the label has it, `sample` one holding."""

    name: str
    make: Make
    sample: Holding
    is_told: bool
    """Whether something that its driver publishes tells its devices from those of other tiers."""


@dataclass(frozen=True, slots=True)
class DraftPolicy:
    """A way in which a plugin shares devices, as a policy of the driver."""

    name: str
    driver: str
    replicas: Replicas


@dataclass(frozen=True, slots=True)
class PoolPart:
    """Devices of one tier on each node of a pool."""

    tier: str
    per_node: int
    policy: str | None
    owner: Owner
    replicas: int
    driver: str

    @property
    def units(self) -> int:
        """What one node can hand out: devices, or turns on them."""
        return self.per_node * (self.replicas if self.policy else 1)


@dataclass(frozen=True, slots=True)
class DraftPool:
    """A pool; `nodes` are the names of those recorded."""

    name: str
    nodes: tuple[str, ...]
    selector: Mapping[str, str]
    parts: tuple[PoolPart, ...]
    place: str
    questions: tuple[Decision, ...]

    def units(self, tier: str) -> int:
        """What all of its nodes can hand out of a tier."""
        return len(self.nodes) * sum(part.units for part in self.parts if part.tier == tier)


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a cluster's nodes come to."""

    tiers: tuple[DraftTier, ...]
    policies: tuple[DraftPolicy, ...]
    pools: tuple[DraftPool, ...]

    def twin(self, tier: DraftTier) -> DraftTier | None:
        """The tier of the same devices where they are on claims already; None for one of those."""
        if not tier.make.resource:
            return None
        return next((one for one in self.tiers if _is_twin(one.make, tier.make)), None)

    def pools_of(self, tier: str) -> tuple[DraftPool, ...]:
        """The pools that hold a tier."""
        return tuple(pool for pool in self.pools if any(part.tier == tier for part in pool.parts))


def read_hardware(recording: Recording, names: Names) -> Hardware:
    """Tiers, policies and pools, each in the order of its names."""
    held = {
        node: found
        for node in sorted({*recording.nodes, *recording.inventory.nodes})
        if (found := holdings(node, recording, names))
    }
    tiers = _tiers(held)
    by_make = {tier.make: tier.name for tier in tiers}
    policies = _policies(held, names)
    groups: dict[tuple[object, ...], list[str]] = {}
    for node, found in held.items():
        groups.setdefault((_group_label(recording, node), *map(_shape, found)), []).append(node)
    taken: set[str] = set()
    pools = []
    for nodes in groups.values():
        found = held[nodes[0]]
        group = _group_label(recording, nodes[0])
        tier = by_make[next((one for one in found if one.make.product), found[0]).make]
        name = unique(label(f"{tier}-{group[1]}" if group else tier, "nodes"), taken)
        selector, questions = _selector(recording, nodes, found, name)
        pools.append(
            DraftPool(
                name=name,
                nodes=tuple(nodes),
                selector=selector,
                parts=tuple(_parts(found, by_make, policies)),
                place=_place(recording, nodes[0], found),
                questions=(*questions, *(q for n in nodes for h in held[n] for q in h.questions)),
            )
        )
    return Hardware(tiers, policies, tuple(pools))


def _shape(holding: Holding) -> tuple[object, ...]:
    replicas = holding.replicas
    return (
        holding.make,
        holding.per_node,
        holding.owner,
        (replicas.count, replicas.strategy) if replicas is not None else None,
    )


def _tiers(held: Mapping[str, Sequence[Holding]]) -> tuple[DraftTier, ...]:
    """One tier a make; the sample is one that is published, where any is."""
    samples: dict[Make, Holding] = {}
    for found in held.values():
        for one in found:
            best = samples.get(one.make)
            if best is None or (best.published is None and one.published is not None):
                samples[one.make] = one
    taken: set[str] = set()
    tiers = []
    for make in sorted(samples):
        twin = samples.get(replace(make, resource="")) if make.resource else None
        sample = samples[make] if twin is None else _spelled_as(samples[make], twin)
        by_claims = not make.resource and any(_is_twin(make, other) for other in samples)
        stem = f"{_stem(make)}-on-claims" if by_claims else _stem(make)
        name = unique(label(stem, "devices"), taken)
        tiers.append(DraftTier(name, make, sample, _is_told(make, samples)))
    return tuple(tiers)


def _is_twin(make: Make, other: Make) -> bool:
    """Whether a plugin serves elsewhere what is published here: one tier once all of it is on claims."""
    return bool(other.resource) and replace(other, resource="") == make


def _spelled_as(sample: Holding, twin: Holding) -> Holding:
    """A holding of a plugin with what the driver publishes of the same devices elsewhere."""
    if sample.published is not None:
        return sample
    return replace(sample, published=twin.published, spelled=twin.spelled)


def _is_told(make: Make, makes: Iterable[Make]) -> bool:
    """By its product, by the plugin's own name, or as the only one of its type."""
    if make.product or make.driver in facts().named:
        return True
    alike = [
        other for other in makes if (other.driver, other.partition) == (make.driver, make.partition)
    ]
    return make.driver in facts().types and len(alike) == 1


def _stem(make: Make) -> str:
    if make.product:
        return f"{make.product}-{make.partition}" if make.partition else make.product
    if make.resource:
        return f"{domain(make.resource).split('.')[0]}-{make.resource.rpartition('/')[2]}"
    return f"{make.driver}-{make.partition}" if make.partition else make.driver


def _policies(held: Mapping[str, Sequence[Holding]], names: Names) -> tuple[DraftPolicy, ...]:
    """Ways of sharing for which the driver has parameters; of others only the devices are counted."""
    found: dict[tuple[str, str, int], DraftPolicy] = {}
    taken: set[str] = set()
    for one in (one for each in held.values() for one in each):
        replicas = one.replicas
        if replicas is None or replicas.strategy == "shared" or one.make.partition:
            continue
        resource = names.resource(one.make.resource)
        preset = resource.preset if resource is not None else None
        if preset is None or not any(_says_sharing(c.schema) for c in preset.configs):
            continue
        key = (one.make.driver, replicas.strategy, replicas.count)
        if key not in found:
            word = "turns" if replicas.strategy == "timeSlicing" else "mps"
            name = unique(f"{word}-{replicas.count}", taken)
            found[key] = DraftPolicy(name, one.make.driver, replicas)
    return tuple(found.values())


def _says_sharing(schema: Mapping[str, object] | None) -> bool:
    properties = schema.get("properties") if schema is not None else None
    return isinstance(properties, Mapping) and "sharing" in properties


def _parts(
    found: Iterable[Holding], by_make: Mapping[Make, str], policies: Iterable[DraftPolicy]
) -> Iterator[PoolPart]:
    known = {(p.driver, p.replicas.strategy, p.replicas.count): p.name for p in policies}
    for one in found:
        replicas = one.replicas
        policy = None
        if replicas is not None and not one.make.partition:
            policy = known.get((one.make.driver, replicas.strategy, replicas.count))
        yield PoolPart(
            by_make[one.make],
            one.per_node,
            policy,
            one.owner,
            replicas.count if replicas is not None else 1,
            one.make.driver,
        )


def _labels(recording: Recording, node: str) -> Mapping[str, str]:
    recorded = recording.nodes.get(node)
    return recorded.state.labels if recorded is not None else {}


def _group_label(recording: Recording, node: str) -> tuple[str, str] | None:
    labels = _labels(recording, node)
    for key in facts().pool_labels:
        if labels.get(key) and check_label_value(labels[key]) is None:
            return key, labels[key]
    return None


def _selector(
    recording: Recording, nodes: Sequence[str], found: Sequence[Holding], name: str
) -> tuple[dict[str, str], tuple[Decision, ...]]:
    """Labels that all of these nodes carry and no other recorded node does."""
    first = _labels(recording, nodes[0])
    common = {
        key: value
        for key, value in first.items()
        if value
        and check_label_key(key) is None
        and check_label_value(value) is None
        and all(_labels(recording, node).get(key) == value for node in nodes)
    }
    products = [facts().node(one.make.driver).product for one in found]
    chosen: dict[str, str] = {}
    for key in (key for key in (*facts().pool_labels, *products) if key in common):
        chosen[key] = common[key]
        if _tells_apart(recording, nodes, chosen):
            return chosen, ()
    if len(nodes) == 1:
        host = common.get(HOSTNAME, nodes[0])
        if check_label_value(host) is None:
            return {HOSTNAME: host}, ()
    return {OWN_LABEL: name}, (
        Decision(
            f"by which label the {len(nodes)} nodes of pool {name} are chosen",
            "no label of theirs tells them from the other recorded nodes; the draft names one that "
            f"they don't carry yet: {', '.join(nodes[:5])}{' …' if len(nodes) > 5 else ''}",
            (_place(recording, nodes[0], found),),
        ),
    )


def _tells_apart(recording: Recording, nodes: Sequence[str], chosen: Mapping[str, str]) -> bool:
    """Whether a selector leaves out every other node, those that hold nothing included."""
    return not any(
        node not in nodes and chosen.items() <= _labels(recording, node).items()
        for node in recording.nodes
    )


def _place(recording: Recording, node: str, found: Sequence[Holding]) -> str:
    recorded = recording.nodes.get(node)
    return recorded.place if recorded is not None else found[0].place
