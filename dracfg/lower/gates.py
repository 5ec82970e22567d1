"""A cluster's objects and drivers → the Kubernetes feature gates that they need, and where to set them.

Judges nothing: whether the distribution can set a gate, an alpha gate is allowed, or the document
forbids one that is needed, is for rules that read the plan.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.features import closure, feature_matrix, to_write
from dracfg.kube.gates import GateUse, derive, is_gated, runtime_config
from dracfg.kube.pointers import escape
from dracfg.link.catalog import Cluster, Policy, Pool, PoolDevices
from dracfg.link.driver import Driver
from dracfg.link.presetdata import ModeFact
from dracfg.lower.artifact import K8sObject
from dracfg.lower.quarantine import taint_rule_gate
from dracfg.model.sharing import Partitioned
from dracfg.packaged import read_data

CONSUMABLE = "DRAConsumableCapacity"
PARTITIONABLE = "DRAPartitionableDevices"
DEVICE_STATUS = "DRAResourceClaimDeviceStatus"

_Placed = tuple[int, K8sObject]
"""An object and its place among all of a cluster."""


@dataclass(frozen=True, slots=True)
class GatePlan:
    """The gates of one cluster.

    `uses` are the places that need a gate: in emitted objects, and in documents of the catalog
    (`NodePool/<name>`, `Driver/<name>`, pointers into the document). `needed` are their gates with
    all hard dependencies, a dependency before what needs it. `wanted` adds what the Cluster says;
    a gate that is needed is wanted on whatever the Cluster says. `by_component` holds the gates
    that differ from the minor's default and that a flag may name, `runtime_config` the
    `group/version`s that kube-apiserver must serve beside its defaults. `unknown` names gates, of
    whatever origin, that the minor does not have; they are written nowhere.
    """

    minor: str
    uses: tuple[GateUse, ...]
    needed: tuple[str, ...]
    wanted: Mapping[str, bool]
    by_component: Mapping[str, Mapping[str, bool]]
    runtime_config: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    def is_on(self, gate: str) -> bool:
        """The gate's value once the plan is in force; False for gates that the minor lacks."""
        fact = feature_matrix().gate(gate)
        if fact is None or fact.at(self.minor).stage == "absent":
            return False
        state = fact.at(self.minor)
        return bool(state.default) if state.locked else self.wanted.get(gate, bool(state.default))

    def uses_of(self, gate: str) -> tuple[GateUse, ...]:
        """What needs the gate, itself or through a gate that depends on it."""
        return tuple(use for use in self.uses if gate in closure([use.gate], self.minor))

    def reasons(self, gate: str) -> tuple[str, ...]:
        """Why the gate is needed, each reason once."""
        return tuple(dict.fromkeys(use.reason for use in self.uses_of(gate)))


def cluster_gates(cluster: Cluster, objects: Iterable[K8sObject]) -> GatePlan:
    """The gates that these objects of the cluster and its drivers need, with those that it names."""
    minor = cluster.minor
    known = feature_matrix().gates
    kinds: dict[tuple[str, str], list[_Placed]] = {}
    for placed in enumerate(objects):
        kind = placed[1]["apiVersion"], placed[1]["kind"]
        kinds.setdefault(kind, []).append(placed)
    heads = [things[0][1] for things in kinds.values()]
    gated = (things for kind, things in kinds.items() if is_gated(*kind, minor))
    of_objects = tuple(_uses_of(gated, minor))
    found = (*of_objects, *_driver_uses(cluster))
    uses = tuple(use for use in found if use.gate in known)
    said = cluster.document.spec.feature_gates
    unknown = {
        name
        for name in {*said, *(use.gate for use in found)}
        if name not in known or known[name].at(minor).stage == "absent"
    }
    stated = {name: value for name, value in said.items() if name not in unknown}
    needed = closure({use.gate for use in uses}, minor)
    on = closure({*needed, *(name for name, value in stated.items() if value)}, minor)
    wanted = stated | dict.fromkeys(on, True)
    watched = (version for gate in on for version in watched_versions(gate, minor))
    return GatePlan(
        minor=minor,
        uses=uses,
        needed=needed,
        wanted=dict(sorted(wanted.items())),
        by_component=to_write(wanted, minor),
        runtime_config=tuple(sorted({*runtime_config(heads, of_objects, minor), *watched})),
        unknown=tuple(sorted(unknown)),
    )


def _key(thing: K8sObject) -> Hashable:
    """What objects of a kind have in common that need the same gates: nothing in metadata needs one.

    Specs count by identity. Templates differ in the labels of their claims, which need none either,
    and quotas in numbers: what needs a gate is a resource that they name.
    """
    spec = thing.get("spec")
    if spec is None:
        return id(thing)
    if thing["kind"] == "ResourceQuota":
        return tuple(spec["hard"])
    return id(spec.get("spec", spec) if thing["kind"] == "ResourceClaimTemplate" else spec)


def _uses_of(kinds: Iterable[Sequence[_Placed]], minor: str) -> Iterator[GateUse]:
    """What `derive` says of all objects of some kinds, in their order: it is asked once for those alike."""
    gated: list[tuple[int, K8sObject, tuple[GateUse, ...]]] = []
    for things in kinds:
        alike: dict[Hashable, list[_Placed]] = {}
        for placed in things:
            alike.setdefault(_key(placed[1]), []).append(placed)
        heads = [placed[0][1] for placed in alike.values()]
        if not derive(heads, minor):
            continue
        for head, group in zip(heads, alike.values(), strict=True):
            if uses := derive((head,), minor):
                gated += [(i, thing, uses) for i, thing in group]
    for _, thing, uses in sorted(gated, key=itemgetter(0)):
        metadata = thing["metadata"]
        names = (thing["kind"], metadata.get("namespace"), metadata["name"])
        reference = "/".join(filter(None, names))
        for use in uses:
            yield GateUse(use.gate, use.reason, reference, use.pointer, use.when_off)


def watched_versions(gate: str, minor: str) -> Iterator[str]:
    """The API versions that components watch as soon as a gate is on, objects or none."""
    gates = feature_matrix().gates
    if gates[gate].at(minor).stage != "absent":
        yield from gates[gate].runtime_config(minor)
    if gate == taint_rule_gate(minor):
        yield from gates["DRADeviceTaintRules"].runtime_config(minor)


def _driver_uses(cluster: Cluster) -> Iterator[GateUse]:
    """What the drivers that hand out devices here write into ResourceSlices and claims."""
    drivers: dict[str, Driver] = {}
    for pool in cluster.pools:
        for i, devices in enumerate(pool.devices):
            driver = devices.tier.driver
            if pool.owner(driver) == "dra":
                drivers[driver.name] = driver
                yield from _pool_uses(pool, devices, _pointer("spec", "devices", i))
    for name in sorted(drivers):
        yield from _conditional_uses(drivers[name])
        yield from _status_uses(drivers[name])


def _pool_uses(pool: Pool, devices: PoolDevices, pointer: str) -> Iterator[GateUse]:
    driver = devices.tier.driver
    place = f"of {devices.tier.name} on pool {pool.name}"
    if driver.shareable == "always" or any(policy.is_consumable for policy in devices.policies):
        reason = _reason(f"{driver.name} publishes shareable devices {place}", CONSUMABLE)
        yield GateUse(CONSUMABLE, reason, f"NodePool/{pool.name}", pointer)
    counts = publishes_counters(driver)
    if counts or (counts is None and any(_takes_counters(p) for p in devices.policies)):
        preset = driver.preset
        for gate in (preset.counters.kubernetes_gates if preset else ()) or (PARTITIONABLE,):
            reason = _reason(f"{driver.name} publishes shared counters {place}", gate)
            yield GateUse(gate, reason, f"NodePool/{pool.name}", pointer)


def publishes_counters(driver: Driver) -> bool | None:
    """Whether the driver, set as the catalog says, publishes shared counters; None: not known."""
    if driver.preset is None:
        return None
    fact: ModeFact = driver.preset.counters
    match fact.when:
        case "always":
            return True
        case "never":
            return False
        case "gate" if fact.gate is not None:
            return _driver_gate(driver, fact.gate)
        case "value" if fact.value_path is not None:
            return bool(_chart_value(driver, fact.value_path))
        case _:
            return None


def _takes_counters(policy: Policy) -> bool:
    return isinstance(policy.spec, Partitioned) and any(
        partition.consumes for partition in policy.spec.partitions
    )


def _conditional_uses(driver: Driver) -> Iterator[GateUse]:
    """The gates that the preset lists under a condition which the driver's settings meet."""
    if driver.preset is None:
        return
    for condition, gates in sorted(driver.preset.kubernetes.gates.items()):
        met = _met(driver, _conditions().get(condition, {}))
        if met is not None:
            what, pointer = met
            for gate in gates:
                reason = _reason(f"{driver.name} with {what}", gate)
                yield GateUse(gate, reason, f"Driver/{driver.name}", pointer)


def _status_uses(driver: Driver) -> Iterator[GateUse]:
    """The gate of `status.devices`, for drivers that are known to write it however they are set."""
    fact = driver.preset.facts.get("writesStatusDevices") if driver.preset is not None else None
    if fact is not None and fact.answer == "yes" and fact.note is None:
        what = f"{driver.name} writes the status of its devices into claims"
        reason = f"{what}, which needs {DEVICE_STATUS}; while it is off, the API server clears that"
        yield GateUse(DEVICE_STATUS, reason, f"Driver/{driver.name}", _pointer("spec"))


def _met(driver: Driver, condition: Mapping[str, list[str]]) -> tuple[str, str] | None:
    """(what meets the condition, where it stands in the Driver), or None."""
    for gate in condition.get("driverGates", ()):
        if _driver_gate(driver, gate):
            return f"its gate {gate}", _pointer("spec", "featureGates", gate)
    for path in condition.get("values", ()):
        if _chart_value(driver, path):
            return f"its chart value {path}", _pointer("spec", "values", *path.split("."))
    return None


def _driver_gate(driver: Driver, name: str) -> bool:
    fact = driver.preset.driver_gates.get(name) if driver.preset is not None else None
    return driver.document.spec.feature_gates.get(name, fact is not None and fact.default)


def _chart_value(driver: Driver, path: str) -> Any:
    """A chart value as the Driver sets it, else the chart's default."""
    found: Any = driver.document.spec.values
    for step in path.split("."):
        if not isinstance(found, Mapping) or step not in found:
            fact = driver.preset.helm.values.get(path) if driver.preset is not None else None
            return fact.default if fact is not None else None
        found = found[step]
    return found


def _reason(what: str, gate: str) -> str:
    return f"{what}, which needs {gate}; while it is off, the API server drops what is written"


def _pointer(*steps: str | int) -> str:
    return "".join(f"/{escape(step)}" for step in steps)


@cache
def _conditions() -> Mapping[str, Mapping[str, list[str]]]:
    conditions: Mapping[str, Mapping[str, list[str]]]
    conditions = read_data("dracfg.lower", "data/driver-conditions.yaml")["conditions"]
    return conditions
