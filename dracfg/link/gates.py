"""The gates of a Rollout as they are asked: limits filled in, and a measure's query for each cluster.

A gate of the document says only what differs from its measure; a Rollout without gates has those of what
it protects. Where there is nothing to measure yet, a gate waits and says for what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from fractions import Fraction
from math import ceil
from types import MappingProxyType

from dracfg.dataclass import dataclass
from dracfg.kube.metrics import metrics
from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog, Cluster, Pool, Tier
from dracfg.link.measures import Limit, Measure, Way, measures, protection
from dracfg.link.moves import fenced_pools, has_tenant, pools_at, position
from dracfg.model import kinds
from dracfg.model.objectives import DeviceMetrics, Objectives, WorkloadMetrics
from dracfg.model.rollout import Direction, Gate, RolloutSpec
from dracfg.source.times import parse_length

_WORD = re.compile(r"<([A-Za-z]+)>")
_WAITING = {
    "moved": "no pool has moved yet",
    "compared": "no pools are left to compare with, or none have moved",
    "fenced": "no pool is fenced",
}


@dataclass(frozen=True, slots=True)
class AskedGate:
    """A gate with everything that it leaves to its measure. One of `promql` and `measure` is there.

    `place` is its place among the gates of the document; None for one that is picked by `protects`.
    """

    name: str
    promql: str | None
    measure: Measure | None
    max: Limit
    halt: Limit | None
    over: str | None
    directions: tuple[Way, ...]
    place: int | None

    @property
    def in_seconds(self) -> bool:
        """Whether its values are lengths of time."""
        return isinstance(self.max, str)


@dataclass(frozen=True, slots=True)
class Lacks:
    """Why a measure has no query on a cluster: the words that nothing fills."""

    words: tuple[str, ...]


def gates_of(
    spec: RolloutSpec, objectives: Mapping[str, Limit] = MappingProxyType({})
) -> tuple[AskedGate, ...]:
    """Every gate of a rollout; those whose measure is not known are left out.

    `objectives` are limits by the name of the objective, as `stated_objectives` gives them.
    """
    if spec.gates:
        return tuple(_gates(spec, objectives))
    picked = (measures()[name] for name in protection(spec.protects).gates)
    return tuple(
        _of_measure(one, None, objectives) for one in picked if spec.subject in one.subjects
    )


def rollout_gates(catalog: Catalog, spec: RolloutSpec) -> tuple[AskedGate, ...]:
    """The gates of a rollout, the objectives of its tier and clusters being limits of their measures."""
    return gates_of(spec, stated_objectives(catalog, spec))


def stated_objectives(catalog: Catalog, spec: RolloutSpec) -> Mapping[str, Limit]:
    """Each objective that the tier states, else the strictest of the clusters that the rollout reaches."""
    found: dict[str, Limit] = {}
    for cluster in clusters_of(catalog, spec):
        for key, limit in _stated(cluster.objectives):
            if key not in found or in_units(limit) < in_units(found[key]):
                found[key] = limit
    tier = catalog.tiers.get(spec.tier)
    return found | dict(_stated(tier.objectives if tier is not None else None))


def in_units(limit: Limit) -> float:
    """A limit as a number in the unit of its gate: seconds for a length of time."""
    if isinstance(limit, Quantity):
        return limit.nano / 10**9
    return parse_length(limit).total_seconds()


def order_of(spec: RolloutSpec) -> tuple[str, ...]:
    """The order in which a pool's steps are taken, by what the rollout protects.

    Work that can't begin anew is always waited for, whatever comes first otherwise.
    """
    place = position(spec)
    reached = spec.stages[: place + 2]
    waits = any(stage.workloads == "any" for stage in reached)
    return protection("continuity" if waits else spec.protects).order


def asked_gates(gates: tuple[AskedGate, ...], direction: Direction) -> tuple[AskedGate, ...]:
    """The gates of a way; a halted rollout goes on forward."""
    way = "rollback" if direction == "rollback" else "forward"
    return tuple(gate for gate in gates if way in gate.directions)


def waits_for(catalog: Catalog, spec: RolloutSpec, gate: AskedGate) -> str | None:
    """What has to come before a gate can be asked; None where it can be."""
    if gate.measure is None or gate.measure.asked == "always":
        return None
    sides = _sides(spec, tuple(pools_of(catalog, spec)))
    there = {
        "moved": bool(sides.moved),
        "compared": bool(sides.moved and sides.baseline),
        "fenced": bool(sides.fenced),
    }
    return None if there[gate.measure.asked] else _WAITING[gate.measure.asked]


def pools_of(catalog: Catalog, spec: RolloutSpec) -> Iterator[Pool]:
    """The pools that hold the tier, by name."""
    for name in sorted(catalog.pools):
        pool = catalog.pools[name]
        if any(devices.tier.name == spec.tier for devices in pool.devices):
            yield pool


def clusters_of(catalog: Catalog, spec: RolloutSpec) -> tuple[Cluster, ...]:
    """The clusters with a pool that some stage moves, by name."""
    documents = {name: pool.document for name, pool in catalog.pools.items()}
    ever = {name for i in range(len(spec.stages)) for name in pools_at(spec, i, documents)}
    names = {catalog.pools[name].cluster for name in ever}
    return tuple(catalog.clusters[name] for name in sorted(names & catalog.clusters.keys()))


def clusters_asked(catalog: Catalog, spec: RolloutSpec, gate: AskedGate) -> tuple[Cluster, ...]:
    """The clusters on which a gate has something to measure where the rollout stands."""
    every = clusters_of(catalog, spec)
    if gate.measure is None or gate.measure.asked == "always":
        return every
    found = []
    for cluster in every:
        sides = _sides(spec, _pools_on(catalog, spec, cluster))
        needed = {
            "moved": (sides.moved,),
            "compared": (sides.moved, sides.baseline),
            "fenced": (sides.fenced,),
        }[gate.measure.asked]
        if all(needed):
            found.append(cluster)
    return tuple(found)


def has_moved(catalog: Catalog, spec: RolloutSpec, cluster: Cluster) -> bool:
    """Whether some pool of a cluster has moved where the rollout stands."""
    return bool(_sides(spec, _pools_on(catalog, spec, cluster)).moved)


def namespaces_of(
    catalog: Catalog, cluster: Cluster, spec: RolloutSpec, *, of_stage: bool = False
) -> tuple[str, ...]:
    """Where tenants with a right to the tier work, sorted; `of_stage`: those that are part of it."""
    place = position(spec)
    names: set[str] = set()
    for tenant in catalog.tenants_on(cluster.name):
        entitled = any(grant.tier.name == spec.tier for grant in tenant.grants_on(cluster.name))
        part = place >= 0 and has_tenant(spec.stages[place], tenant.name)
        if entitled and (part or not of_stage):
            names |= {one.name for one in tenant.places_on(cluster.name)}
    return tuple(sorted(names))


def query_of(gate: AskedGate, words: Mapping[str, str]) -> str | Lacks:
    """What Prometheus is asked on the cluster of some words, or which of them nothing fills."""
    if gate.measure is None:
        return gate.promql or ""
    if gate.measure.query is None:
        return Lacks(())
    missing = lacking(gate.measure, words)
    if missing:
        return Lacks(missing)
    return _WORD.sub(lambda found: words[found[1]], gate.measure.query)


def lacking(measure: Measure, words: Mapping[str, str]) -> tuple[str, ...]:
    """The words of a measure's query that have no value, in the order of the query."""
    used = dict.fromkeys(_WORD.findall(measure.query or ""))
    return tuple(word for word in used if word not in words)


def words_of(catalog: Catalog, rollout: kinds.Rollout, cluster: Cluster) -> Mapping[str, str]:
    """What fills the words of queries on a cluster, where the rollout stands."""
    spec = rollout.spec
    tier = catalog.tiers.get(spec.tier)
    if tier is None:
        return {}
    found = {"cluster": cluster.name, "tier": tier.name, "driver": tier.driver.name}
    found |= metric_words(cluster, tier)
    if tier.legacy_resource is not None:
        found["legacy"] = _sanitised(tier.legacy_resource)
    account = tier.driver.document.spec.service_account
    if account is not None:
        found |= {"driverNamespace": account.namespace, "driverAccount": account.name}
    sides = _sides(spec, _pools_on(catalog, spec, cluster))
    for word, side in (
        ("moved", sides.moved),
        ("baseline", sides.baseline),
        ("fenced", sides.fenced),
    ):
        if side:
            found[f"{word}Nodes"] = _nodes(side)
            found[f"{word}Devices"] = _devices(side, tier)
    here = namespaces_of(catalog, cluster, spec, of_stage=True)
    every = namespaces_of(catalog, cluster, spec)
    found |= {"namespaces": "|".join(here)} if here else {}
    found |= {"tenants": "|".join(every)} if every else {}
    return found


def metric_words(cluster: Cluster, tier: Tier) -> dict[str, str]:
    """Names of metrics: those of the cluster's minor by purpose, then those that documents declare."""
    spec = cluster.document.spec
    found: dict[str, str] = {}
    for name, metric in metrics(cluster.minor).items():
        if not metric.declared or spec.addons.claim_metrics:
            for purpose in metric.purposes:
                found.setdefault(purpose, name)
    declared = tier.driver.document.spec.device_metrics or DeviceMetrics()
    work = spec.metrics or WorkloadMetrics()
    named: dict[str, str | None] = {
        "utilisation": declared.utilisation,
        "unhealthy": declared.unhealthy,
        "trainingRestarts": work.training_restarts,
        "checkpointRestores": work.checkpoint_restores,
    }
    return found | {word: name for word, name in named.items() if name is not None}


@dataclass(frozen=True, slots=True)
class _Sides:
    """Pools of the tier that have moved, those that are still as before, and those that are emptied."""

    moved: tuple[Pool, ...]
    baseline: tuple[Pool, ...]
    fenced: tuple[Pool, ...]


def _sides(spec: RolloutSpec, pools: tuple[Pool, ...]) -> _Sides:
    documents = {pool.name: pool.document for pool in pools}
    moved = pools_at(spec, position(spec), documents)
    fenced = fenced_pools(spec, documents)
    return _Sides(
        tuple(pool for pool in pools if pool.name in moved),
        tuple(
            pool
            for pool in pools
            if pool.name not in moved and pool.name not in fenced and _compares(spec, pool)
        ),
        tuple(pool for pool in pools if pool.name in fenced),
    )


def _pools_on(catalog: Catalog, spec: RolloutSpec, cluster: Cluster) -> tuple[Pool, ...]:
    return tuple(pool for pool in pools_of(catalog, spec) if pool.cluster == cluster.name)


def _compares(spec: RolloutSpec, pool: Pool) -> bool:
    """Whether a pool that has not moved is of the kind that the others were moved from."""
    drivers = [devices.tier.driver for devices in pool.devices if devices.tier.name == spec.tier]
    return spec.subject != "ownership" or pool.owner(drivers[0]) == "devicePlugin"


def _stated(objectives: Objectives | None) -> Iterator[tuple[str, Limit]]:
    for name, field in Objectives.model_fields.items():
        limit = getattr(objectives, name, None)
        if limit is not None:
            yield field.alias or name, limit


def _gates(spec: RolloutSpec, objectives: Mapping[str, Limit]) -> Iterator[AskedGate]:
    for place, gate in enumerate(spec.gates):
        if gate.measure is None:
            assert gate.name is not None and gate.max is not None
            ways = gate.directions or ("forward",)
            yield AskedGate(
                gate.name, gate.promql, None, gate.max, gate.halt, gate.over, ways, place
            )
        elif gate.measure in measures():
            yield _of_measure(measures()[gate.measure], gate, objectives, place)


def _of_measure(
    measure: Measure,
    gate: Gate | None,
    objectives: Mapping[str, Limit],
    place: int | None = None,
) -> AskedGate:
    said = gate or Gate(measure=measure.id)
    most, halt = measure.max, measure.halt
    if measure.objective is not None and measure.objective in objectives:
        most = objectives[measure.objective]
        halt = _beyond(measure, most)
    return AskedGate(
        said.name or measure.id,
        None,
        measure,
        most if said.max is None else said.max,
        halt if said.halt is None else said.halt,
        said.over,
        said.directions or measure.directions,
        place,
    )


def _beyond(measure: Measure, objective: Limit) -> Limit | None:
    """The limit that halts: as many times the objective as it is times the measure's own limit."""
    if measure.halt is None:
        return None
    halted = _exact(objective) * _exact(measure.halt) / _exact(measure.max)
    if isinstance(objective, Quantity):
        return Quantity(int(halted * 10**9))
    return f"{ceil(halted)}s"


def _exact(limit: Limit) -> Fraction:
    """A limit in the unit of its gate, without rounding."""
    if isinstance(limit, Quantity):
        return Fraction(limit.nano, 10**9)
    return Fraction(parse_length(limit) // timedelta(microseconds=1), 10**6)


def _nodes(pools: tuple[Pool, ...]) -> str:
    """A sample of 1 for each node of the pools."""
    return f"max by (node) ({' or '.join(map(_selected, pools))})"


def _devices(pools: tuple[Pool, ...], tier: Tier) -> str:
    """How many devices of the tier each node of the pools should have."""
    counts = [
        f"{sum(d.per_node for d in pool.devices if d.tier is tier)} * {_selected(pool)}"
        for pool in pools
    ]
    return f"max by (node) ({' or '.join(counts)})"


def _selected(pool: Pool) -> str:
    labels = ", ".join(
        f'label_{_label(key)}="{value}"'
        for key, value in sorted(pool.document.spec.node_selector.items())
    )
    return f"kube_node_labels{{{labels}}}"


def _label(key: str) -> str:
    """A label's name as kube-state-metrics writes it: snake case, lower case."""
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", _sanitised(key)).lower()


def _sanitised(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)
