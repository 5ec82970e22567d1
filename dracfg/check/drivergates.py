"""VER007, VER013-VER017: a driver's own feature gates, in its release and on the pools that it serves.

What is on is what the chart is told for a pool, over the defaults of the release. Nothing here
knows of Kubernetes' gates.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.gatesettings import (
    Setting,
    dra_drivers,
    gate_entry,
    gate_facts,
    gate_settings,
    served_pools,
    stage_of,
    written_gates,
)
from dracfg.check.places import key_place, place
from dracfg.check.rule import Rule, suggestion
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Pool
from dracfg.link.driver import Driver
from dracfg.link.exposure import GROUP as METADATA_GROUP
from dracfg.link.exposure import exposures
from dracfg.link.presetdata import MAIN


def is_driver_gate(name: str) -> bool:
    """Whether an entry of allowAlpha is of the form `<driver>/<gate>`."""
    return "/" in name


def is_not_known(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER013: a driver does not start with a gate that it does not know, whatever its value."""
    for driver in catalog.drivers.values():
        for gate, span in written_gates(driver).items():
            if stage_of(driver, gate) == "absent":
                yield _unknown(driver, gate, span)
    for _, pool, driver in served_pools(catalog):
        for gate, setting in gate_settings(pool, driver).items():
            if setting.stage == "absent":
                yield _unknown(driver, gate, setting.span)


def _unknown(driver: Driver, gate: str, span: Span) -> Diagnostic:
    version = driver.document.spec.version
    known = driver.preset.gates_at(version) if driver.preset is not None else {}
    fact = gate_facts(driver).get(gate)
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
    for _, pool, driver in served_pools(catalog):
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
    for _, pool, driver in served_pools(catalog):
        on = _on(pool, driver)
        for gate, setting in on.items():
            fact = gate_facts(driver).get(gate)
            for other in fact.requires if fact is not None else ():
                if other in on or (driver.name, gate, other) in seen:
                    continue
                seen.add((driver.name, gate, other))
                off = gate_settings(pool, driver).get(other)
                said = [] if off is None or off.is_default else [Related(off.span, "off here")]
                yield diagnose(
                    "VER015",
                    setting.span,
                    f"{gate} of {driver.name} needs {other}, which is off on {pool.name}: "
                    "the driver would not start",
                    related=said,
                    help=f"set {gate_entry(driver, other)} in Driver {driver.name}, "
                    f"or turn {gate} off",
                )


def is_alpha(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER016, VER017: gates that are on, and on which the Cluster says nothing in allowAlpha."""
    for cluster in catalog.clusters.values():
        seen: set[str] = set()
        for pool in cluster.pools:
            for driver in dra_drivers(pool):
                for gate, setting in _on(pool, driver).items():
                    entry = f"{driver.name}/{gate}"
                    if entry in seen or entry in cluster.document.spec.allow_alpha:
                        continue
                    seen.add(entry)
                    if setting.stage == "alpha":
                        yield _not_allowed(cluster, driver, gate, setting)
                    elif setting.stage == "unknown" and not setting.is_default:
                        yield _of_unknown_stage(cluster, driver, gate, setting)


def _not_allowed(cluster: Cluster, driver: Driver, gate: str, setting: Setting) -> Diagnostic:
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


def _of_unknown_stage(cluster: Cluster, driver: Driver, gate: str, setting: Setting) -> Diagnostic:
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
        here = {driver.name: driver for pool in cluster.pools for driver in dra_drivers(pool)}
        on = {
            f"{driver.name}/{gate}"
            for pool in cluster.pools
            for driver in dra_drivers(pool)
            for gate in _on(pool, driver)
        }
        for entry in filter(is_driver_gate, cluster.document.spec.allow_alpha):
            name, _, gate = entry.rpartition("/")
            if name == METADATA_GROUP and entry in metadata_versions(cluster):
                continue
            help_, fix = "remove the entry", None
            if name == METADATA_GROUP:
                message = f"no driver of {cluster.name} writes metadata files in {gate}"
            elif name not in here:
                near, driver_name = suggestion(name, here)
                message = f"no driver {name} hands out devices on {cluster.name}"
                help_, fix = near or help_, f"{driver_name}/{gate}" if driver_name else None
            else:
                driver = here[name]
                stage = stage_of(driver, gate)
                if stage in ("alpha", "unknown") and entry in on:
                    continue
                if stage == "absent":
                    known = (one for one in gate_facts(driver) if stage_of(driver, one) != "absent")
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


def _on(pool: Pool, driver: Driver) -> dict[str, Setting]:
    """The gates that are on, other than those that the release does not know."""
    return {
        gate: setting
        for gate, setting in gate_settings(pool, driver).items()
        if setting.on and setting.stage != "absent"
    }


def metadata_versions(cluster: Cluster) -> frozenset[str]:
    """The alpha versions of metadata files that are written alone, as allowAlpha names them."""
    return frozenset(
        f"{METADATA_GROUP}/{version}"
        for one in exposures(cluster)
        if one.only_alpha
        for version in one.versions
    )


def _excluded(driver: Driver, gate: str) -> tuple[str, ...]:
    fact = gate_facts(driver).get(gate)
    return fact.excludes if fact is not None else ()


def _why(gate: str, setting: Setting) -> str:
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
