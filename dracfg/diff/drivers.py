"""Another driver release: what it no longer publishes, or publishes otherwise, and who reads that.

Releases are told apart by the facts of the preset and what the Driver document adds. Readers are found
in the selectors that the later side would emit, raw CEL among them, and in what profiles and tiers name.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.cel import Program, device_environment
from dracfg.cel.devices import OWN_DOMAIN
from dracfg.check.places import place
from dracfg.dataclass import dataclass
from dracfg.diff.change import Change, Flag, Impact, change
from dracfg.diff.counterparts import alike, drivers
from dracfg.diff.pair import Pair
from dracfg.diff.words import few
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.link.driver import Driver
from dracfg.link.presetdata import ModeFact
from dracfg.lower.gates import publishes_counters
from dracfg.lower.selectors import class_selectors
from dracfg.model.tier import HardwareTierSpec

_SHAREABLE = {
    "always": "shareable everywhere",
    "where-listed": "shareable where a pool lists a consumable policy",
    "never": "not shareable",
}


@dataclass(frozen=True, slots=True)
class Readers:
    """Who reads one attribute or capacity: classes, tiers, `tenant/profile`, namespaces."""

    classes: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.classes or self.tiers or self.profiles)

    def lines(self) -> Iterator[str]:
        """A detail for each kind of reader."""
        if self.classes:
            yield f"selectors of {few(self.classes)} read it"
        if self.tiers:
            yield f"tiers that name it: {few(self.tiers)}"
        if self.profiles:
            yield f"profiles that name it: {few(self.profiles)}"


def driver_changes(pair: Pair) -> Iterator[Change]:
    """Drivers of both sides whose document differs."""
    for before, after in drivers(pair):
        if alike(before.document.spec, after.document.spec):
            continue
        catalog = pair.head.judgement.catalog
        yield from _attributes(catalog, before, after)
        yield from _capacities(catalog, before, after)
        yield from _layout(catalog, before, after)
        yield from _gates(before, after)
        yield from _unlisted(before, after)


def _attributes(catalog: Catalog, before: Driver, after: Driver) -> Iterator[Change]:
    was, now = before.attributes, after.attributes
    quiet = [f"{name} is published as well" for name in now if name not in was]
    for name, kind in was.items():
        other = now.get(name)
        if other == kind:
            continue
        readers = readers_of(catalog, after, name)
        if not readers:
            quiet.append(f"{name} {'is gone' if other is None else f'is {other}, was {kind}'}")
            continue
        replaced = _replaced(after, name) if other is None else None
        yield _read(
            "attribute-dropped" if other is None else "attribute-retyped",
            f"attribute {name} of {after.name}",
            (kind, other),
            after,
            readers,
            replaced,
        )
    if quiet:
        yield _quiet(before, after, quiet)


def _capacities(catalog: Catalog, before: Driver, after: Driver) -> Iterator[Change]:
    for name in before.capacities:
        if name in after.capacities:
            continue
        readers = readers_of(catalog, after, name, field="capacity")
        if readers:
            yield _read(
                "capacity-dropped",
                f"capacity {name} of {after.name}",
                ("published", None),
                after,
                readers,
                None,
            )


def _read(
    kind: str,
    what: str,
    values: tuple[str | None, str | None],
    driver: Driver,
    readers: Readers,
    replaced: str | None,
) -> Change:
    return change(
        kind,
        what,
        *values,
        namespaces=readers.namespaces,
        tenant=readers.tenants[0] if len(readers.tenants) == 1 else None,
        span=place(driver.document, "spec", "version"),
        details=(*readers.lines(), *((f"{replaced} says the same",) if replaced else ())),
    )


def _replaced(driver: Driver, name: str) -> str | None:
    fact = driver.preset.attributes.get(name) if driver.preset is not None else None
    return fact.replaced_by if fact is not None else None


def _quiet(before: Driver, after: Driver, details: list[str]) -> Change:
    """What a release publishes otherwise and nobody reads: one line, however much it is."""
    more = len(details) - 8
    return change(
        "driver-publishes",
        f"what {after.name} publishes",
        before.document.spec.version,
        after.document.spec.version,
        span=place(after.document, "spec", "version"),
        details=(*details[:8], *((f"and {more} more",) if more > 0 else ())),
    )


def readers_of(
    catalog: Catalog, driver: Driver, name: str, *, field: str = "attributes"
) -> Readers:
    """Who of a catalog reads an attribute or capacity of a driver, by its published key."""
    full = name if "/" in name else f"{driver.name}/{name}"
    plans = [
        (cluster, plan)
        for cluster in catalog.clusters.values()
        for plan in device_classes(catalog, cluster)
        if plan.tier.driver is driver and not plan.admin
    ]
    classes = [plan.name for cluster, plan in plans if _reads(cluster, plan, field, full)]
    tiers = [
        tier.name
        for tier in catalog.tiers.values()
        if tier.driver is driver and _is_named(driver, tier.document.spec, field, full)
    ]
    profiles, tenants, namespaces = [], [], []
    read = {plan.tier.name for _, plan in plans if plan.name in classes}
    for tenant in catalog.tenants.values():
        named = [
            f"{tenant.name}/{profile.name}"
            for profile in tenant.document.spec.profiles
            if full in {*(a.by for a in profile.align), *(d.by for d in profile.distinct)}
        ]
        if named or any(grant.tier.name in read for grant in tenant.grants):
            tenants.append(tenant.name)
            namespaces += [p.name for p in tenant.places]
        profiles += named
    return Readers(
        tuple(dict.fromkeys(classes)),
        tuple(tiers),
        tuple(profiles),
        tuple(tenants),
        tuple(dict.fromkeys(namespaces)),
    )


def _is_named(driver: Driver, spec: HardwareTierSpec, field: str, full: str) -> bool:
    """Whether a tier's match, device, parameters or exposed list names the key."""
    if field == "attributes":
        names = {*spec.match.attributes, *spec.device.attributes, *spec.expose}
    else:
        names = {*spec.match.capacity, *spec.device.capacity}
    return full in {_full(driver, name) for name in names}


def _full(driver: Driver, name: str) -> str:
    key = driver.spelling(name)
    return key if "/" in key else f"{driver.name}/{key}"


def _reads(cluster: Cluster, plan: ClassPlan, field: str, full: str) -> bool:
    domain, _, identifier = full.rpartition("/")
    environment = device_environment(cluster.minor, frozenset())
    for text in class_selectors(plan):
        program = environment.compile(text, stored=True)
        for read in (program.reads or ()) if isinstance(program, Program) else ():
            own = plan.tier.driver.name if read.domain == OWN_DOMAIN else read.domain
            if read.field == field and read.id == identifier and own == domain:
                return True
    return False


# -- how devices are published -------------------------------------------------------------------


def _layout(catalog: Catalog, before: Driver, after: Driver) -> Iterator[Change]:
    """Devices that become shareable or stop to be, and counters of partitions that come or go."""
    was, now = _shape(before), _shape(after)
    if was == now:
        return
    tiers = [tier.name for tier in catalog.tiers.values() if tier.driver is after]
    yield change(
        "slice-layout",
        f"how {after.name} publishes devices",
        was,
        now,
        span=place(after.document, "spec"),
        details=(f"tiers of it: {few(tiers)}",) if tiers else (),
    )


def _shape(driver: Driver) -> str:
    preset = driver.preset
    shareable = _SHAREABLE[driver.shareable]
    if preset is not None and not _has(driver, preset.shareable):
        shareable = _SHAREABLE["never"]
    counts = publishes_counters(driver)
    if preset is not None and not _has(driver, preset.counters):
        counts = False
    if counts is None:
        return f"{shareable}, counters not known"
    return f"{shareable}, {'with' if counts else 'without'} shared counters"


def _has(driver: Driver, fact: ModeFact) -> bool:
    """Whether the release has what a fact tells of; one that is not listed has all."""
    preset, version = driver.preset, driver.document.spec.version
    if preset is None or version is None or fact.since is None:
        return True
    here, since = preset.release_index(version), preset.release_index(fact.since)
    return here is None or since is None or since <= here


def _gates(before: Driver, after: Driver) -> Iterator[Change]:
    """Gates of the driver that are on and have another stage in the new release."""
    if before.preset is None or after.preset is None:
        return
    was = before.preset.gates_at(before.document.spec.version)
    now = after.preset.gates_at(after.document.spec.version)
    for name, on in after.document.spec.feature_gates.items():
        if not on or was.get(name) == now.get(name):
            continue
        flags: tuple[Flag, ...] = ("alpha",) if now.get(name) == "alpha" else ()
        yield change(
            "driver-gate-stage",
            f"gate {name} of {after.name}",
            was.get(name),
            now.get(name),
            impact=Impact.DISRUPTIVE if now.get(name) is None else None,
            flags=flags,
            span=place(after.document, "spec", "featureGates", name),
        )


def _unlisted(before: Driver, after: Driver) -> Iterator[Change]:
    """A release that the preset does not list: what it changes can't be told."""
    preset, version = after.preset, after.document.spec.version
    if preset is None or version is None or version == before.document.spec.version:
        return
    if preset.releases and preset.release_index(version) is None:
        yield change(
            "driver-unlisted",
            f"release {version} of {after.name}",
            before.document.spec.version,
            version,
            span=place(after.document, "spec", "version"),
            details=(f"known releases: {few(preset.releases[-5:])}",),
        )
