"""What a driver's own feature gates come to on the nodes of a pool, and where that is written.

The chart is told a value for a pool, by the Driver or because of what the pool holds; the defaults of
the release fill in the rest. Judges nothing: rules ask here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from dracfg.check.places import key_place, place
from dracfg.check.uses import listing
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.link.catalog import Catalog, Cluster, Pool
from dracfg.link.driver import Driver
from dracfg.link.presetdata import GateFact
from dracfg.lower.helmvalues import FEATURE_GATES, gate_values

Stage = Literal["absent", "alpha", "beta", "stable", "unknown"]

_STAGES: Mapping[str, Stage] = {"alpha": "alpha", "beta": "beta", "stable": "stable"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A gate on the nodes of a pool, its stage there, and where its value comes from."""

    on: bool
    stage: Stage
    span: Span
    is_default: bool


def served_pools(catalog: Catalog) -> Iterator[tuple[Cluster, Pool, Driver]]:
    """Every pool with each driver that hands out devices on it by DRA."""
    for cluster in catalog.clusters.values():
        for pool in cluster.pools:
            for driver in dra_drivers(pool):
                yield cluster, pool, driver


def dra_drivers(pool: Pool) -> tuple[Driver, ...]:
    """The drivers that hand out devices on a pool by DRA, by name."""
    known = {devices.tier.driver.name: devices.tier.driver for devices in pool.devices}
    return tuple(known[name] for name in sorted(known) if pool.owner(known[name]) == "dra")


def gate_settings(pool: Pool, driver: Driver) -> dict[str, Setting]:
    """What each gate comes to that the release has or that the chart is told of."""
    said, written = gate_values(pool, driver), written_gates(driver)
    name = place(driver.document, "metadata", "name")
    facts = gate_facts(driver)
    stages = _stages(driver, (*facts, *said))
    found = {
        gate: Setting(fact.default, stages[gate], name, is_default=True)
        for gate, fact in facts.items()
        if stages[gate] != "absent"
    }
    for gate, value in said.items():
        span = written.get(gate) or _derived(pool, driver, gate)
        found[gate] = Setting(str(value).lower() == "true", stages[gate], span, is_default=False)
    return found


def written_gates(driver: Driver) -> Mapping[str, Span]:
    """Where the Driver names gates: in its values, which win, or under featureGates."""
    spec = driver.document.spec
    paths = {gate: ("spec", "featureGates", gate) for gate in spec.feature_gates}
    by_values = spec.values.get(FEATURE_GATES)
    if isinstance(by_values, Mapping):
        paths |= {gate: ("spec", "values", FEATURE_GATES, gate) for gate in by_values}
    return {gate: key_place(driver.document, *steps) for gate, steps in paths.items()}


def gate_entry(driver: Driver, gate: str) -> str:
    """How a Driver turns a gate on: among its values where they name the gate, for they win."""
    by_values = driver.document.spec.values.get(FEATURE_GATES)
    entry = f"{FEATURE_GATES}: {{{gate}: true}}"
    named = isinstance(by_values, Mapping) and gate in by_values
    return f"values: {{{entry}}}" if named else entry


def _derived(pool: Pool, driver: Driver, gate: str) -> Span:
    """What makes dracfg turn a gate on: metadata files, or a policy on the pool."""
    preset = driver.preset
    if preset is not None and preset.device_metadata.gate == gate:
        return key_place(driver.document, "spec", "deviceMetadata")
    for i, devices in enumerate(pool.devices):
        for policy in devices.policies:
            if devices.tier.driver is driver and policy.is_consumable:
                return listing(pool, i, policy.name)
    return place(pool.document, "metadata", "name")


def stage_of(driver: Driver, gate: str) -> Stage:
    """The stage in the release that runs; unknown without a release that the preset lists."""
    return _stages(driver, (gate,))[gate]


def _stages(driver: Driver, gates: Iterable[str]) -> Mapping[str, Stage]:
    preset, version = driver.preset, driver.document.spec.version
    if preset is None:
        return dict.fromkeys(gates, "unknown")
    if version is None:
        return {gate: "unknown" if gate in preset.driver_gates else "absent" for gate in gates}
    if preset.releases and preset.release_index(version) is None:
        return dict.fromkeys(gates, "unknown")
    here = preset.gates_at(version)
    return {
        gate: _STAGES.get(here[gate], "unknown") if gate in here else "absent" for gate in gates
    }


def gate_facts(driver: Driver) -> Mapping[str, GateFact]:
    """What is known of the driver's gates in any release."""
    return driver.preset.driver_gates if driver.preset is not None else {}
