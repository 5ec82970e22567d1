"""OWN001, OWN002, OWN003, OWN004, OWN005, OWN007, OWN008: one owner for a device and for a legacy name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dracfg.check.rule import Rule, suggestion
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster, Pool, Tier
from dracfg.link.classes import policies_in_force
from dracfg.link.driver import Driver
from dracfg.link.presetdata import MAIN, ClassFact, ExtendedNameFact
from dracfg.link.presets import Preset
from dracfg.link.published import chart_values
from dracfg.model.base import at, at_key


def has_no_owner(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN001."""
    for pool in catalog.pools.values():
        owned = pool.document.spec.owner
        first = {
            devices.tier.driver.name: i for i, devices in reversed(list(enumerate(pool.devices)))
        }
        for name, i in sorted(first.items()):
            if name not in owned:
                yield diagnose(
                    "OWN001",
                    at(pool.document, "spec", "devices", i, "tier"),
                    f"pool {pool.name} doesn't say who hands out the devices of {name}",
                    related=[
                        Related(at_key(pool.document, "spec", "owner"), "owners of this pool")
                    ],
                    expected=f"{name}: dra, or {name}: devicePlugin",
                    help=f"add `{name}: dra` to `owner`, or `{name}: devicePlugin` where its plugin runs",
                )


def owns_nothing(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN002."""
    for pool in catalog.pools.values():
        known = {devices.tier.driver.name for devices in pool.devices}
        for name in pool.document.spec.owner:
            if name not in known:
                help_, fix = suggestion(name, known)
                yield diagnose(
                    "OWN002",
                    at_key(pool.document, "spec", "owner", name),
                    f"pool {pool.name} has no devices of {name}",
                    found=name,
                    help=help_,
                    fix=fix,
                )


def _taken_over(catalog: Catalog) -> Iterator[tuple[Cluster, Tier, str]]:
    """(cluster, tier, legacy name) where a tier answers to its legacy name."""
    for cluster in catalog.clusters.values():
        for tier in cluster.tiers:
            if tier.document.spec.takes_over_legacy_name and tier.legacy_resource is not None:
                yield cluster, tier, tier.legacy_resource


def takes_over_twice(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN003: where two classes have one extended name, the newer class wins by chance."""
    first: dict[tuple[str, str], Tier] = {}
    for cluster, tier, legacy in _taken_over(catalog):
        other = first.setdefault((cluster.name, legacy), tier)
        if other is not tier:
            yield diagnose(
                "OWN003",
                at(tier.document, "spec", "takesOverLegacyName"),
                f"{other.name} takes over {legacy} on {cluster.name} already",
                related=[
                    Related(at(other.document, "spec", "takesOverLegacyName"), "taken over here")
                ],
                help="keep `takesOverLegacyName: true` on one of the two",
            )


def is_set_by_a_chart(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN004: the driver's own chart installs a class that answers to the legacy name."""
    for cluster, tier, legacy in _taken_over(catalog):
        for driver in cluster.drivers:
            for shown in driver.preset.classes if driver.preset is not None else ():
                if not answers_to(driver, shown, legacy):
                    continue
                fact = shown.extended_resource_name
                freed = fact.freed_by if fact is not None and fact.freed_by else "its chart values"
                yield diagnose(
                    "OWN004",
                    at(tier.document, "spec", "takesOverLegacyName"),
                    f"the class {shown.name}, which the chart of {driver.name} installs, "
                    f"answers to {legacy} already",
                    related=[
                        Related(
                            at(driver.document, "metadata", "name"), f"installed on {cluster.name}"
                        )
                    ],
                    help=f"free the name by {freed}; values go under `values` of the driver",
                )


def answers_to(driver: Driver, shown: ClassFact, legacy: str) -> bool:
    """Whether a class of the driver's chart, as the Driver sets it, answers to a legacy name."""
    name, preset = shown.extended_resource_name, driver.preset
    if name is None or preset is None or not _released(preset, driver, name.since):
        return False
    values = chart_values(driver)
    switch = shown.create_switch
    if switch is not None and values.get(switch.value_path) == switch.disable:
        return False
    return _name_set(name, values) == legacy


def _name_set(name: ExtendedNameFact, values: Mapping[str, object]) -> str | None:
    """The name on the class of a driver installed with these values."""
    if name.when == "v1" and "v1beta" in str(values.get("resourceApiVersion") or ""):
        return None
    if name.value_path is None:
        return name.name
    said = values.get(name.value_path)
    if isinstance(said, bool):
        return str(values.get("extendedResourceName") or name.name) if said else None
    return str(said) if said else None


def _released(preset: Preset, driver: Driver, since: str | None) -> bool:
    version = driver.document.spec.version
    here = preset.release_index(version) if version is not None else None
    if since is None:
        return True
    if since == MAIN:
        return False
    return here is None or preset.releases.index(since) <= here


def takes_over_nothing(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN005."""
    for tier in catalog.tiers.values():
        if tier.document.spec.takes_over_legacy_name and tier.legacy_resource is None:
            yield diagnose(
                "OWN005",
                at(tier.document, "spec", "takesOverLegacyName"),
                f"{tier.name} takes over a legacy name and doesn't say which",
                help="add `legacyResource: <domain>/<name>`, or remove `takesOverLegacyName`",
            )
    for cluster, tier, legacy in _taken_over(catalog):
        policies = policies_in_force(cluster, tier)
        if policies and not any(policy.is_whole for policy in policies):
            names = ", ".join(policy.name for policy in policies)
            yield diagnose(
                "OWN005",
                at(tier.document, "spec", "takesOverLegacyName"),
                f"only whole devices can answer to {legacy}, and on {cluster.name} "
                f"{tier.name} is handed out by {names}",
                help=f"list whole on a pool of {tier.name}, or remove `takesOverLegacyName`",
            )


def is_still_served(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN007: the legacy name has one owner on a cluster: the plugin, or a class."""
    for cluster, tier, legacy in _taken_over(catalog):
        for pool in cluster.pools:
            for devices in pool.devices:
                driver = devices.tier.driver
                served = pool.owner(driver) == "devicePlugin" and legacy in plugin_names(
                    devices.tier
                )
                if served:
                    yield diagnose(
                        "OWN007",
                        at(tier.document, "spec", "takesOverLegacyName"),
                        f"{legacy} is still served by device plugin on pool {pool.name}",
                        related=[
                            Related(
                                at(pool.document, "spec", "owner", driver.name), "by device plugin"
                            )
                        ],
                        help=f"set takesOverLegacyName after the last pool of {cluster.name} has left "
                        f"the plugin, or move {pool.name} to dra",
                    )


def plugin_names(tier: Tier) -> frozenset[str]:
    """Extended resources by which a device plugin may advertise the tier."""
    driver = tier.driver
    names: set[str] = set()
    if tier.legacy_resource is not None:
        return frozenset({tier.legacy_resource})
    if driver.document.spec.device_plugin is not None:
        names.update(driver.document.spec.device_plugin.resources)
    elif driver.preset is not None:
        names.update(driver.preset.device_plugin.resources)
    return frozenset(names)


def cannot_own(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN008: an owner that doesn't exist for the hardware, or has no name to hand it out by."""
    for pool in catalog.pools.values():
        for name, owner in pool.document.spec.owner.items():
            tiers = [devices.tier for devices in pool.devices if devices.tier.driver.name == name]
            if not tiers:
                continue
            driver = tiers[0].driver
            if owner == "dra" and not driver.has_dra_driver:
                title = driver.preset.title if driver.preset is not None else name
                yield _no_such_owner(
                    pool,
                    driver,
                    f"there is no DRA driver for {title}",
                    "write devicePlugin",
                    "devicePlugin",
                )
            patterns = driver.preset.device_plugin.patterns if driver.preset is not None else ()
            nameless = [tier for tier in tiers if not plugin_names(tier)]
            if owner == "devicePlugin" and nameless and not patterns:
                yield _no_such_owner(
                    pool,
                    driver,
                    f"no resource name is known by which a plugin hands out {nameless[0].name}",
                    f"add `legacyResource` to {nameless[0].name}, or `devicePlugin: {{resources: [...]}}` "
                    f"to the driver {name}",
                    None,
                )


def _no_such_owner(
    pool: Pool, driver: Driver, message: str, help_: str, fix: str | None
) -> Diagnostic:
    return diagnose(
        "OWN008",
        at(pool.document, "spec", "owner", driver.name),
        message,
        related=[Related(at(driver.document, "metadata", "name"), "the driver")],
        help=help_,
        fix=fix,
    )


def has_one_switch(catalog: Catalog) -> Iterator[Diagnostic]:
    """OWN014: an installer that switches a whole cluster over, on a cluster with both owners."""
    for cluster in catalog.clusters.values():
        for driver in cluster.drivers:
            if not driver.is_one_switch:
                continue
            here = [
                pool
                for pool in cluster.pools
                if any(devices.tier.driver is driver for devices in pool.devices)
            ]
            claims = [pool for pool in here if pool.owner(driver) == "dra"]
            plugin = [pool for pool in here if pool.owner(driver) == "devicePlugin"]
            if claims and plugin:
                yield diagnose(
                    "OWN014",
                    at(claims[0].document, "spec", "owner", driver.name),
                    f"{driver.name} is switched for a whole cluster at once, and on {cluster.name} "
                    f"pool {plugin[0].name} is still the device plugin's",
                    related=[
                        Related(
                            at(plugin[0].document, "spec", "owner", driver.name), "the plugin's"
                        ),
                        Related(at(driver.document, "metadata", "name"), "the driver"),
                    ],
                    help="move all pools of the driver on the cluster in one stage",
                )


RULES: tuple[Rule, ...] = (
    has_no_owner,
    owns_nothing,
    takes_over_twice,
    is_set_by_a_chart,
    takes_over_nothing,
    is_still_served,
    cannot_own,
    has_one_switch,
)
