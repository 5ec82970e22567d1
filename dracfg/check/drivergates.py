"""VER007, VER013-VER017: a driver's own feature gates, in its release and on the pools that it serves.

What is on is what the chart is told for a pool, over the defaults of the release. Nothing here
knows of Kubernetes' gates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from dracfg.check.places import key_place, place
from dracfg.check.rule import Rule, suggestion
from dracfg.check.uses import listing
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Driver, Pool
from dracfg.link.presetdata import MAIN, GateFact
from dracfg.lower.helmvalues import FEATURE_GATES, gate_values

Stage = Literal["absent", "alpha", "beta", "stable", "unknown"]


@dataclass(frozen=True, slots=True)
class _Setting:
    """A gate on the nodes of a pool, its stage there, and where its value comes from."""

    on: bool
    stage: Stage
    span: Span
    is_default: bool


def is_driver_gate(name: str) -> bool:
    """Whether an entry of allowAlpha is of the form `<driver>/<gate>`."""
    return "/" in name


def is_not_known(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER013: a driver does not start with a gate that it does not know, whatever its value."""
    for driver in catalog.drivers.values():
        stages = _stages(driver)
        for gate, span in _written(driver).items():
            if stages(gate) == "absent":
                yield _unknown(driver, gate, span)
    for _, pool, driver in _served(catalog):
        for gate, setting in _settings(pool, driver).items():
            if setting.stage == "absent":
                yield _unknown(driver, gate, setting.span)


def _unknown(driver: Driver, gate: str, span: Span) -> Diagnostic:
    version = driver.document.spec.version
    known = driver.preset.gates_at(version) if driver.preset is not None else {}
    fact = _facts(driver).get(gate)
    release = f"release {version} of {driver.name}" if version else driver.name
    if fact is not None:
        since = next(iter(fact.stages))
        when = "no release that dracfg knows has it" if since == MAIN else f"{since} is the first"
        return diagnose(
            "VER013",
            span,
            f"{release} has no gate {gate}; {when}",
            found=gate,
            help="take it out, or move to a release that has it",
        )
    help_, fix = suggestion(gate, known)
    return diagnose(
        "VER013",
        span,
        f"{release} has no gate {gate} that dracfg knows of",
        found=gate,
        help=help_ or "remove the entry",
        fix=fix,
    )


def excludes_another(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER014: two gates on one node that the driver does not start with."""
    seen: set[tuple[str, str, str]] = set()
    for _, pool, driver in _served(catalog):
        on = _on(pool, driver)
        for gate, setting in on.items():
            for other in sorted(set(_excluded(driver, gate)) & on.keys()):
                pair = (driver.name, min(gate, other), max(gate, other))
                if setting.is_default or pair in seen:
                    continue
                seen.add(pair)
                yield diagnose(
                    "VER014",
                    setting.span,
                    f"{gate} excludes {other}, and both are on for {driver.name} on {pool.name}: "
                    "the driver would not start",
                    related=[Related(on[other].span, _why(other, on[other]))],
                    help=f"set one of them to false in Driver {driver.name}",
                )


def lacks_another(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER015: a gate that needs another one, which is off."""
    seen: set[tuple[str, str, str]] = set()
    for _, pool, driver in _served(catalog):
        on = _on(pool, driver)
        for gate, setting in on.items():
            fact = _facts(driver).get(gate)
            for other in fact.requires if fact is not None else ():
                if other in on or (driver.name, gate, other) in seen:
                    continue
                seen.add((driver.name, gate, other))
                off = _settings(pool, driver).get(other)
                said = [] if off is None or off.is_default else [Related(off.span, "off here")]
                yield diagnose(
                    "VER015",
                    setting.span,
                    f"{gate} of {driver.name} needs {other}, which is off on {pool.name}: "
                    "the driver would not start",
                    related=said,
                    help=f"set featureGates: {{{other}: true}} in Driver {driver.name}, "
                    f"or turn {gate} off",
                )


def is_alpha(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER016, VER017: gates that are on, and on which the Cluster says nothing in allowAlpha."""
    for cluster in catalog.clusters.values():
        seen: set[str] = set()
        for pool in cluster.pools:
            for driver in _drivers(pool):
                for gate, setting in _on(pool, driver).items():
                    entry = f"{driver.name}/{gate}"
                    if entry in seen or entry in cluster.document.spec.allow_alpha:
                        continue
                    seen.add(entry)
                    if setting.stage == "alpha":
                        yield _not_allowed(cluster, driver, gate, setting)
                    elif setting.stage == "unknown" and not setting.is_default:
                        yield _of_unknown_stage(cluster, driver, gate, setting)


def _not_allowed(cluster: Cluster, driver: Driver, gate: str, setting: _Setting) -> Diagnostic:
    version = driver.document.spec.version
    return diagnose(
        "VER016",
        _allowances(cluster),
        f"{gate} is alpha in {driver.name} {version} and not allowed on {cluster.name}",
        expected=f"allowAlpha: {{{driver.name}/{gate}: <why that is accepted>}}",
        related=[Related(setting.span, _why(gate, setting))],
        help=f"add `{driver.name}/{gate}` to allowAlpha with the reason why an alpha feature is "
        "accepted, or turn it off",
    )


def _of_unknown_stage(cluster: Cluster, driver: Driver, gate: str, setting: _Setting) -> Diagnostic:
    version, near = driver.document.spec.version, None
    if driver.preset is None:
        reason = f"nothing describes the gates of {driver.name}"
    elif version is None:
        reason = f"Driver {driver.name} states no version"
    elif driver.preset.release_index(version) is None:
        reason = f"the preset does not list release {version}"
        near, _ = suggestion(gate, driver.preset.driver_gates)
        near = None if gate in driver.preset.driver_gates else near
    else:
        reason = f"the preset does not know it for release {version}"
    return diagnose(
        "VER017",
        setting.span,
        f"the stage of {gate} is not known: {reason}",
        related=[Related(_allowances(cluster), f"{cluster.name} allows it nowhere")],
        help=near
        or f"add `{driver.name}/{gate}` to allowAlpha of {cluster.name} with the reason why it is "
        "accepted whatever its stage",
    )


def is_allowed_for_nothing(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER007: entries of allowAlpha for a driver's gate that no node of the cluster has on as alpha."""
    if not all(map(catalog.is_complete, ("Driver", "HardwareTier", "NodePool"))):
        return
    for cluster in catalog.clusters.values():
        here = {driver.name: driver for pool in cluster.pools for driver in _drivers(pool)}
        on = {
            f"{driver.name}/{gate}"
            for pool in cluster.pools
            for driver in _drivers(pool)
            for gate in _on(pool, driver)
        }
        for entry in filter(is_driver_gate, cluster.document.spec.allow_alpha):
            name, _, gate = entry.rpartition("/")
            help_, fix = "remove the entry", None
            if name not in here:
                near, driver_name = suggestion(name, here)
                message = f"no driver {name} hands out devices on {cluster.name}"
                help_, fix = near or help_, f"{driver_name}/{gate}" if driver_name else None
            else:
                driver = here[name]
                stage = _stages(driver)(gate)
                if stage in ("alpha", "unknown") and entry in on:
                    continue
                if stage == "absent":
                    known = (one for one in _facts(driver) if _stages(driver)(one) != "absent")
                    near, gate_name = suggestion(gate, known)
                    message = f"{name} has no gate {gate} here"
                    help_, fix = near or help_, f"{name}/{gate_name}" if gate_name else None
                elif stage in ("alpha", "unknown"):
                    message = f"{gate} of {name} is off on {cluster.name}"
                else:
                    version = driver.document.spec.version
                    message = f"{gate} is {stage} in {name} {version}, so nothing alpha is allowed"
            span = key_place(cluster.document, "spec", "allowAlpha", entry)
            yield diagnose("VER007", span, message, found=entry, help=help_, fix=fix)


def _served(catalog: Catalog) -> Iterator[tuple[Cluster, Pool, Driver]]:
    for cluster in catalog.clusters.values():
        for pool in cluster.pools:
            for driver in _drivers(pool):
                yield cluster, pool, driver


def _drivers(pool: Pool) -> tuple[Driver, ...]:
    """The drivers that hand out devices on a pool by DRA, by name."""
    drivers = {devices.tier.driver.name: devices.tier.driver for devices in pool.devices}
    return tuple(drivers[name] for name in sorted(drivers) if pool.owner(drivers[name]) == "dra")


def _on(pool: Pool, driver: Driver) -> dict[str, _Setting]:
    """The gates that are on, other than those that the release does not know."""
    return {
        gate: setting
        for gate, setting in _settings(pool, driver).items()
        if setting.on and setting.stage != "absent"
    }


def _settings(pool: Pool, driver: Driver) -> dict[str, _Setting]:
    said, written, stages = gate_values(pool, driver), _written(driver), _stages(driver)
    name = place(driver.document, "metadata", "name")
    found = {
        gate: _Setting(fact.default, stages(gate), name, is_default=True)
        for gate, fact in _facts(driver).items()
        if stages(gate) != "absent"
    }
    for gate, value in said.items():
        span = written.get(gate) or _derived(pool, driver, gate)
        found[gate] = _Setting(str(value).lower() == "true", stages(gate), span, is_default=False)
    return found


def _written(driver: Driver) -> Mapping[str, Span]:
    """Where the Driver names gates: in its values, which win, or under featureGates."""
    spec = driver.document.spec
    paths = {gate: ("spec", "featureGates", gate) for gate in spec.feature_gates}
    by_values = spec.values.get(FEATURE_GATES)
    if isinstance(by_values, Mapping):
        paths |= {gate: ("spec", "values", FEATURE_GATES, gate) for gate in by_values}
    return {gate: key_place(driver.document, *steps) for gate, steps in paths.items()}


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


def _stages(driver: Driver) -> Callable[[str], Stage]:
    """Gate -> stage in the release that runs; unknown without a release that the preset lists."""
    preset, version = driver.preset, driver.document.spec.version
    here = preset.gates_at(version) if preset is not None else {}
    words: Mapping[str, Stage] = {"alpha": "alpha", "beta": "beta", "stable": "stable"}

    def stage(gate: str) -> Stage:
        if preset is None:
            return "unknown"
        if version is None:
            return "unknown" if gate in preset.driver_gates else "absent"
        if preset.releases and preset.release_index(version) is None:
            return "unknown"
        return words.get(here[gate], "unknown") if gate in here else "absent"

    return stage


def _facts(driver: Driver) -> Mapping[str, GateFact]:
    return driver.preset.driver_gates if driver.preset is not None else {}


def _excluded(driver: Driver, gate: str) -> tuple[str, ...]:
    fact = _facts(driver).get(gate)
    return fact.excludes if fact is not None else ()


def _why(gate: str, setting: _Setting) -> str:
    return f"{gate} is on by default" if setting.is_default else f"{gate} is turned on here"


def _allowances(cluster: Cluster) -> Span:
    """Where the Cluster allows alpha features; its minor where it allows none."""
    if cluster.document.spec.allow_alpha:
        return key_place(cluster.document, "spec", "allowAlpha")
    return place(cluster.document, "spec", "kubernetes")


RULES: tuple[Rule, ...] = (
    is_not_known,
    excludes_another,
    lacks_another,
    is_alpha,
    is_allowed_for_nothing,
)
