"""A driver on a pool → values for the driver's Helm chart.

Says where the driver runs, whether it publishes devices there, how they are shared, and which
classes of the chart are left out because dracfg writes them. Knows charts by their presets alone;
what a Driver sets itself is merged over everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from dracfg.link.catalog import Catalog, Cluster, Pool
from dracfg.link.classes import device_classes
from dracfg.link.driver import Driver
from dracfg.link.moves import has_come
from dracfg.link.presetdata import MAIN, ClassFact
from dracfg.link.presets import Preset
from dracfg.model.sharing import Consumable

NODE_SELECTORS = ("kubeletPlugin.nodeSelector", "nodeSelector")
"""Where charts take the node selector of the kubelet plugin; the first where nothing is known."""

CONFIRMATIONS = ("gpuResourcesEnabledOverride",)
"""Values that must be true before a chart publishes devices that a device plugin knows as well."""

FEATURE_GATES = "featureGates"

NOWHERE = {"dracfg.dev/owner": "dra"}
"""A label that no node carries: keeps a chart without a switch off the nodes of a device plugin."""

Setting = tuple[tuple[str, ...], Any]
"""The steps to a value, and the value."""


def driver_values(catalog: Catalog, cluster: Cluster, pool: Pool, driver: Driver) -> dict[str, Any]:
    """The values of one release of the driver's chart for the nodes of one pool."""
    values: dict[str, Any] = {}
    for steps, value in (
        *placement(pool, driver),
        *_classes(catalog, cluster, driver),
        *_sharing(pool, driver),
        *_metadata(pool, driver),
        *_gates(driver),
    ):
        _place(values, steps, value)
    return _merged(values, _plain(driver.document.spec.values))


def gate_values(pool: Pool, driver: Driver) -> Mapping[str, Any]:
    """The driver's own gates as its chart is told of them on the nodes of one pool."""
    values: dict[str, Any] = {}
    for steps, value in (*_sharing(pool, driver), *_metadata(pool, driver), *_gates(driver)):
        _place(values, steps, value)
    gates = _merged(values, _plain(driver.document.spec.values)).get(FEATURE_GATES)
    return gates if isinstance(gates, Mapping) else {}


def chart_name(driver: Driver) -> str | None:
    """The chart's name in the release that the Driver states, else in the newest."""
    if driver.preset is None:
        return None
    return next(
        (
            chart.name
            for chart in driver.preset.helm.charts
            if _available(driver, chart.since)
            and not (chart.until and _available(driver, chart.until))
        ),
        None,
    )


def values_file(driver: Driver) -> str:
    return f"values-{driver.name}.yaml"


def plugin_resources(pool: Pool, driver: Driver) -> tuple[str, ...]:
    """The extended resources by which a device plugin would advertise the driver's devices here."""
    legacy = [
        devices.tier.legacy_resource for devices in pool.devices if devices.tier.driver is driver
    ]
    own = driver.document.spec.device_plugin
    if own is not None:
        known = own.resources
    else:
        known = driver.preset.device_plugin.resources if driver.preset is not None else ()
    return tuple(dict.fromkeys((*(name for name in legacy if name is not None), *known)))


def placement(pool: Pool, driver: Driver) -> Iterator[Setting]:
    """What switches a driver: it runs on the pool's nodes with its devices, without them, or nowhere."""
    known: Mapping[str, Any] = driver.preset.helm.values if driver.preset is not None else {}
    by_dra = pool.owner(driver) == "dra"
    switches = _publishing(driver)
    selector = dict(pool.document.spec.node_selector)
    path = next((path for path in NODE_SELECTORS if path in known), NODE_SELECTORS[0])
    yield _steps(path), selector if by_dra or switches else selector | NOWHERE
    for switch, off in switches.items():
        yield _steps(switch), not off if by_dra else off
    for confirmation in CONFIRMATIONS:
        if confirmation in known:
            yield _steps(confirmation), by_dra


def _publishing(driver: Driver) -> dict[str, bool]:
    """Value path -> what stops the publishing of devices: a switch that stops more than a class."""
    facts = driver.preset.classes if driver.preset is not None else ()
    return {
        fact.create_switch.value_path: fact.create_switch.disable
        for fact in facts
        if fact.create_switch is not None
        and fact.create_switch.also_stops is not None
        and isinstance(fact.create_switch.disable, bool)
    }


def _classes(catalog: Catalog, cluster: Cluster, driver: Driver) -> Iterator[Setting]:
    """Leaves out the chart's classes whose name, or whose extended resource name, dracfg writes."""
    plans = device_classes(catalog, cluster)
    names = {plan.name for plan in plans}
    extended = {plan.extended_name for plan in plans if plan.extended_name is not None}
    for fact in driver.preset.classes if driver.preset is not None else ():
        legacy = fact.extended_resource_name
        takes_name = legacy is not None and legacy.name in extended
        if fact.name in names or takes_name:
            yield from _without_class(driver, fact, takes_name)


def _without_class(driver: Driver, fact: ClassFact, takes_name: bool) -> Iterator[Setting]:
    """Turns the class off, or takes its legacy name where the class can't go alone."""
    switch, legacy = fact.create_switch, fact.extended_resource_name
    if switch is not None and switch.also_stops is None and _available(driver, switch.since):
        yield _steps(switch.value_path), switch.disable
    elif (
        takes_name
        and legacy is not None
        and legacy.value_path is not None
        and legacy.default == "set"
        and _available(driver, legacy.since)
    ):
        yield _steps(legacy.value_path), ""


def _sharing(pool: Pool, driver: Driver) -> Iterator[Setting]:
    """Publishes the devices as shareable where the pool lists a consumable policy for them."""
    specs = [
        policy.spec
        for devices in pool.devices
        if devices.tier.driver is driver
        for policy in devices.policies
        if isinstance(policy.spec, Consumable)
    ]
    preset = driver.preset
    if (
        preset is None
        or not specs
        or pool.owner(driver) != "dra"
        or driver.document.spec.shareable is False
    ):
        return
    fact = preset.shareable
    if fact.gate is not None:
        yield (FEATURE_GATES, fact.gate), True
    if fact.value_path is not None and fact.values:
        yield _steps(fact.value_path), _share_mode(preset, fact.values, specs)


def _share_mode(preset: Preset, known: tuple[str, ...], specs: list[Consumable]) -> Any:
    """A number of shares where the policy bounds them, a capacity that it divides, else the first."""
    numbers = [spec.max_shares for spec in specs if spec.max_shares is not None]
    if numbers and any(value.startswith("<") for value in known):
        return max(numbers)
    divided = {key.removeprefix(f"{preset.driver}/") for spec in specs for key in spec.capacity}
    words = [value for value in known if not value.startswith("<")]
    word = next((value for value in words if value in divided), words[0] if words else "")
    return {"true": True, "false": False}.get(word, word)


def _metadata(pool: Pool, driver: Driver) -> Iterator[Setting]:
    """Switches device-metadata files on (KEP-5304), where no rollout has yet to bring them."""
    tiers = {devices.tier.name for devices in pool.devices if devices.tier.driver is driver}
    waits = has_come(pool.moves, "deviceMetadata", tiers) is False
    if driver.document.spec.device_metadata and driver.preset is not None and not waits:
        fact = driver.preset.device_metadata
        if fact.gate is not None:
            yield (FEATURE_GATES, fact.gate), True
        if fact.value_path is not None:
            yield _steps(fact.value_path), True


def _gates(driver: Driver) -> Iterator[Setting]:
    for name, on in driver.document.spec.feature_gates.items():
        yield (FEATURE_GATES, name), on


def _available(driver: Driver, since: str | None) -> bool:
    """Whether the stated release has what came with `since`; a release that isn't listed has all."""
    preset, version = driver.preset, driver.document.spec.version
    here = preset.release_index(version) if preset is not None and version is not None else None
    if since is None or preset is None or here is None:
        return True
    return since != MAIN and preset.releases.index(since) <= here


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def _place(values: dict[str, Any], steps: tuple[str, ...], value: Any) -> None:
    for step in steps[:-1]:
        values = values.setdefault(step, {})
    values[steps[-1]] = value


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Maps are merged key by key and anything else is replaced, as Helm does; keys are sorted."""
    merged = {}
    for key in sorted({*base, *over}):
        mine, theirs = base.get(key), over.get(key)
        value = theirs if key in over else mine
        if isinstance(value, Mapping):
            value = _merged(
                mine if isinstance(mine, Mapping) else {},
                theirs if isinstance(theirs, Mapping) else {},
            )
        merged[key] = value
    return merged


def _plain(value: Any) -> Any:
    """Values as they are written: fractions become text, which Helm renders the same."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Decimal) else value
