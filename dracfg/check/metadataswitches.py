"""MET001 once more: files that a Driver asks for, and that its own values or gates switch off.

What the chart is told in the end counts, on each pool where DRA hands the devices out. Conflicts of
the driver's gates with each other are VER014 and VER015.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.check.gatesettings import served_pools
from dracfg.check.places import key_place
from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.link.driver import Driver
from dracfg.link.exposure import publishes
from dracfg.lower.helmvalues import FEATURE_GATES, driver_values


def switched_off(catalog: Catalog) -> Iterator[Diagnostic]:
    """MET001 where the chart's value, or the driver's gate, is false after everything is merged."""
    seen: set[str] = set()
    for cluster, pool, driver in served_pools(catalog):
        exposing = [
            devices.tier
            for devices in pool.devices
            if devices.tier.driver is driver and devices.tier.document.spec.expose
        ]
        if not exposing or driver.name in seen or publishes(driver) != "yes":
            continue
        values = driver_values(catalog, cluster, pool, driver)
        for path in _switches(driver):
            if _at(values, path) not in (False, "false"):
                continue
            seen.add(driver.name)
            steps = ("values", *path) if _at(_own(driver), path) is not None else path
            yield diagnose(
                "MET001",
                key_place(driver.document, "spec", *steps),
                f"tier {exposing[0].name} exposes attributes, and {'.'.join(path)} of {driver.name} is "
                f"false on {pool.name}: it writes no metadata files",
                related=[
                    Related(key_place(exposing[0].document, "spec", "expose"), "exposed here")
                ],
                found="false",
                expected="true",
                help="take the value out, as `deviceMetadata: true` sets it; or take `expose` out",
            )


def _switches(driver: Driver) -> Iterator[tuple[str, ...]]:
    fact = driver.preset.device_metadata if driver.preset is not None else None
    if fact is not None and fact.gate is not None:
        yield (FEATURE_GATES, fact.gate)
    if fact is not None and fact.value_path is not None:
        yield tuple(fact.value_path.split("."))


def _own(driver: Driver) -> Mapping[str, Any]:
    return driver.document.spec.values


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        values = values.get(step) if isinstance(values, Mapping) else None
    return values


RULES: tuple[Rule, ...] = (switched_off,)
