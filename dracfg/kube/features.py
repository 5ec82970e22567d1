"""Feature gates and API versions of each supported Kubernetes minor.

The facts lie in data/feature-gates.yaml with their sources; this module gives them types and
answers questions about them. It may not know what dracfg writes or what a user asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.packaged import read_data

__all__ = [
    "FeatureMatrix",
    "Gate",
    "GateState",
    "Served",
    "Stage",
    "closure",
    "contradictions",
    "feature_matrix",
    "to_write",
]

Stage = Literal["absent", "alpha", "beta", "ga", "deprecated"]
Served = Literal["default", "flag", "no"]


@dataclass(frozen=True, slots=True)
class GateState:
    """A gate in one minor: `default` and `locked` are None where the gate is absent."""

    stage: Stage
    default: bool | None
    locked: bool | None


ABSENT = GateState("absent", None, None)


@dataclass(frozen=True, slots=True)
class Gate:
    """A feature gate over all minors.

    `components` are the programs it must be set on, `requires` the gates without which they
    refuse to start, `soft_requires` those without which the feature does nothing useful.
    `never_emit` marks a gate that no flag may name. `guards` and `when_off` are prose.
    """

    name: str
    kep: int
    group: str
    components: tuple[str, ...]
    requires: tuple[str, ...]
    soft_requires: tuple[str, ...]
    never_emit: bool
    guards: tuple[str, ...]
    when_off: str
    states: Mapping[str, GateState] = field(repr=False, compare=False)
    runtime_configs: Mapping[str, tuple[str, ...]] = field(repr=False, compare=False)

    def at(self, minor: str) -> GateState:
        """The state in a minor such as "1.36"; absent for a minor that the data does not cover."""
        return self.states.get(minor, ABSENT)

    def runtime_config(self, minor: str) -> tuple[str, ...]:
        """The `group/version`s that kube-apiserver must serve beside its defaults."""
        return self.runtime_configs.get(minor, ())

    def settable(self, minor: str) -> bool:
        """Whether a flag of this minor may name the gate at all."""
        return not self.never_emit and self.at(minor).locked is False


@dataclass(frozen=True, slots=True)
class FeatureMatrix:
    """All gates, in the order of the data, and what each minor serves."""

    minors: tuple[str, ...]
    gates: Mapping[str, Gate] = field(repr=False)
    not_landed: Mapping[str, str] = field(repr=False)
    served_kinds: Mapping[tuple[str, str, str], Served] = field(repr=False)
    metadata_versions: Mapping[str, tuple[str, ...]] = field(repr=False, default_factory=dict)
    """Minor -> versions of device-metadata files that its driver library writes, newest first."""

    def gate(self, name: str) -> Gate | None:
        """The gate of that name, or None when no supported minor knows it."""
        return self.gates.get(name)

    def served(self, group_version: str, kind: str, minor: str) -> Served:
        """How kube-apiserver of that minor serves a kind: without flags, with one, or not at all.

        Covers the groups that dracfg deals with; anything else is "no".
        """
        return self.served_kinds.get((minor, group_version, kind), "no")


@cache
def feature_matrix() -> FeatureMatrix:
    """The facts of data/feature-gates.yaml, read once."""
    document = read_data("dracfg.kube", "data/feature-gates.yaml")
    minors = tuple(document["minors"])
    return FeatureMatrix(
        minors=minors,
        gates={name: _gate(name, entry) for name, entry in document["gates"].items()},
        not_landed={entry["name"]: entry["reason"] for entry in document["notLanded"]},
        served_kinds=_served_kinds(document, minors),
        metadata_versions=_metadata_versions(document["notGated"]),
    )


def closure(names: Iterable[str], minor: str) -> tuple[str, ...]:
    """The gates and all their hard dependencies, a dependency before what needs it.

    The order does not depend on the order of `names`. A dependency that the minor does not know
    is left out, for no flag could name it; a name that no minor knows raises KeyError.
    """
    gates = feature_matrix().gates
    rank = {name: position for position, name in enumerate(gates)}
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in found:
            return
        for dependency in sorted(gates[name].requires, key=rank.__getitem__):
            if gates[dependency].at(minor).stage != "absent":
                visit(dependency)
        found[name] = None

    for name in sorted(names, key=rank.__getitem__):
        visit(name)
    return tuple(found)


def contradictions(wanted: Mapping[str, bool], minor: str) -> tuple[tuple[str, str], ...]:
    """Pairs (gate, dependency) where the gate is wanted on and its dependency wanted off."""
    return tuple(
        (name, dependency)
        for name, value in sorted(wanted.items())
        if value
        for dependency in closure([name], minor)
        if wanted.get(dependency) is False
    )


def to_write(wanted: Mapping[str, bool], minor: str) -> dict[str, dict[str, bool]]:
    """Component -> the gates that its flags or configuration must name, both in sorted order.

    A gate is written only where its value differs from the minor's default, and never when it is
    locked, absent or gone. A gate that is on brings its dependencies along, also on components
    that the dependency alone would not concern: each component checks dependencies by itself. A
    gate that is off takes along the gates that need it. Where `wanted` contradicts itself
    (see `contradictions`) the gate that is on wins.
    """
    gates = feature_matrix().gates
    places: dict[str, set[str]] = {}
    values: dict[str, bool] = {}
    for name in (name for name, value in wanted.items() if value):
        for member in closure([name], minor):
            values[member] = True
            places.setdefault(member, set()).update(gates[member].components)
            places[member].update(gates[name].components)
    for name in (name for name, value in wanted.items() if not value and name not in values):
        for member, gate in gates.items():
            if member not in values and name in closure([member], minor):
                places.setdefault(member, set()).update(gate.components)
    written: dict[str, dict[str, bool]] = {}
    for name in sorted(places):
        value = values.get(name, False)
        if gates[name].settable(minor) and gates[name].at(minor).default is not value:
            for component in places[name]:
                written.setdefault(component, {})[name] = value
    return {component: written[component] for component in sorted(written)}


def _gate(name: str, entry: Mapping[str, Any]) -> Gate:
    return Gate(
        name=name,
        kep=entry["kep"],
        group=entry["group"],
        components=tuple(entry["components"]),
        requires=tuple(entry["requires"]),
        soft_requires=tuple(entry["softRequires"]),
        never_emit=entry.get("neverEmit", False),
        guards=tuple(entry.get("guards", ())),
        when_off=entry["whenOff"],
        states={
            minor: GateState(state["stage"], state["default"], state["locked"])
            for minor, state in entry["versions"].items()
        },
        runtime_configs={
            minor: tuple(group_versions)
            for minor, group_versions in entry.get("runtimeConfig", {}).items()
        },
    )


def _metadata_versions(features: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """By minor, from the feature of KEP-5304, which no gate guards."""
    return {
        minor: tuple(state.get("dataVersions", ()))
        for feature in features
        if feature["kep"] == 5304
        for minor, state in feature["versions"].items()
    }


def _served_kinds(
    document: Mapping[str, Any], minors: tuple[str, ...]
) -> dict[tuple[str, str, str], Served]:
    served: dict[tuple[str, str, str], Served] = {
        (minor, group_version, kind): "default"
        for group_version, kinds in document["alwaysServed"].items()
        for kind in kinds
        for minor in minors
    }
    for group_version, entry in document["apiVersions"].items():
        for minor, state in entry["minors"].items():
            for kind in state["kinds"]:
                served[minor, group_version, kind] = state["served"]
    return served
