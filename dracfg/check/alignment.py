"""SEL018, SEL019, VER057: attributes that hold devices together, and drivers that can't stand company."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dracfg.check.rule import Rule, listed
from dracfg.check.uses import drivers_of, entitled
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Pool
from dracfg.link.driver import Driver
from dracfg.link.presetdata import DefectFact
from dracfg.link.writers import writers
from dracfg.model.base import at
from dracfg.model.tenant import Profile
from dracfg.plan.promises import Planned, planned

NUMA = "numaNode"
PCIE_ROOT = "resource.kubernetes.io/pcieRoot"


def aligns_by_a_key_that_goes(catalog: Catalog) -> Iterator[Diagnostic]:
    """SEL018: a key that its drivers publish for old times' sake, where all have the new one too."""
    for tenant in writers(catalog, "align", "distinct"):
        known = entitled(catalog, tenant)
        for i, profile in enumerate(tenant.document.spec.profiles):
            for word, j, requests, by in (
                *(("align", j, one.requests, one.by) for j, one in enumerate(profile.align)),
                *(("distinct", j, one.requests, one.by) for j, one in enumerate(profile.distinct)),
            ):
                drivers = drivers_of(
                    known, (one for one in profile.requests if one.name in requests)
                )
                newer = _newer(drivers, by)
                if newer is None:
                    continue
                yield diagnose(
                    "SEL018",
                    at(tenant.document, "spec", "profiles", i, word, j, "by"),
                    f"{by} is published for compatibility only, and "
                    f"{listed(one.name for one in drivers)} publish{'es' if len(drivers) == 1 else ''} "
                    f"{newer} as well",
                    found=by,
                    expected=newer,
                    help=f"write `by: {newer}`",
                    fix=newer,
                )


def _newer(drivers: Sequence[Driver], by: str) -> str | None:
    """The key that takes the place of one, if every driver publishes it at its release."""
    for driver in drivers:
        fact = driver.preset.attribute(by, driver.document.spec.version) if driver.preset else None
        newer = fact.replaced_by if fact is not None else None
        if newer is not None and all(newer in one.attributes for one in drivers):
            return newer
    return None


def aligns_by_halves_of_a_socket(catalog: Catalog) -> Iterator[Diagnostic]:
    """SEL019: NUMA ids of nodes that split a socket say little of which devices are near each other."""
    for made in planned(catalog, catalog.clusters.values(), writers(catalog, "align")):
        for j, align in enumerate(made.plan.profile.align):
            if align.by.rpartition("/")[2] != NUMA:
                continue
            split = next(_split_pools(made), None)
            if split is not None:
                yield diagnose(
                    "SEL019",
                    at(made.tenant.document, "spec", "profiles", made.position, "align", j, "by"),
                    f"profile {made.plan.profile.name} aligns by NUMA node, and nodes of "
                    f"{split.name} split their sockets into several",
                    related=[
                        Related(at(split.document, "spec", "subNumaClustering"), "the pool says so")
                    ],
                    found=align.by,
                    expected=PCIE_ROOT,
                    help=f"align by {PCIE_ROOT}, which tells which devices share a switch",
                )


def _split_pools(made: Planned) -> Iterator[Pool]:
    tiers = {ask.plan.tier.name for request in made.plan.requests for ask in request.asks}
    for pool in made.cluster.pools:
        holds = any(devices.tier.name in tiers for devices in pool.devices)
        if holds and pool.document.spec.sub_numa_clustering:
            yield pool


def joins_a_driver_that_cannot(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER057: a claim with devices of several drivers, of which one takes all for its own."""
    reported: set[tuple[str, int, str]] = set()
    faulty = {tier.driver: _joint_defects(tier.driver) for tier in catalog.tiers.values()}
    tenants = catalog.tenants.values() if any(faulty.values()) else ()
    for made in planned(catalog, catalog.clusters.values(), tenants, _asks_for_several):
        drivers = _drivers(made)
        for driver in drivers if len(drivers) > 1 else ():
            key = (made.tenant.name, made.position, driver.name)
            defects = faulty[driver]
            if not defects or key in reported:
                continue
            reported.add(key)
            others = listed(one.name for one in drivers if one is not driver)
            yield diagnose(
                "VER057",
                at(made.tenant.document, "spec", "profiles", made.position, "name"),
                f"claims of profile {made.plan.profile.name} hold devices of {driver.name} beside "
                f"those of {others}, and {defects[0].effect}",
                related=[
                    Related(at(driver.document, "metadata", "name"), "the driver"),
                ],
                found=driver.document.spec.version,
                help="write a profile for each driver and let pods use both claims; devices are then "
                "not aligned across them",
            )


def _joint_defects(driver: Driver) -> Sequence[DefectFact]:
    """What goes wrong with claims for devices of other drivers as well."""
    preset, version = driver.preset, driver.document.spec.version
    return preset.defects_at(version, "jointClaims") if preset is not None else ()


def _asks_for_several(profile: Profile) -> bool:
    return len(profile.requests) > 1 or profile.requests[0].any_of is not None


def _drivers(made: Planned) -> tuple[Driver, ...]:
    found = {
        ask.plan.tier.driver.name: ask.plan.tier.driver
        for request in made.plan.requests
        for ask in request.asks
    }
    return tuple(found.values())


TENANT_RULES: tuple[Rule, ...] = (
    aligns_by_a_key_that_goes,
    aligns_by_halves_of_a_socket,
    joins_a_driver_that_cannot,
)
