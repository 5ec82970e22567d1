"""Who answers to a legacy name on a cluster: a device plugin, a driver's chart, an operator, or the
repository's own class.

Where two classes answer to one name, the newer one wins by chance, and which one that is hangs on the
order of syncs. So a name goes through nobody's hands from one to the other; `transitions` holds to that.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.allocate.claimobjects import read_claims
from dracfg.allocate.devices import Origin
from dracfg.check.owners import answers_to, plugin_names
from dracfg.check.places import place
from dracfg.diagnostics import Span
from dracfg.diff.change import Change, change
from dracfg.diff.counterparts import clusters, same_platform
from dracfg.diff.pair import Pair, Side
from dracfg.link.catalog import Cluster
from dracfg.link.classes import device_classes
from dracfg.lower.artifact import MANAGED_BY

Holder = tuple[str, str]
"""(who, what by): `repository` and the class, `chart` and the driver, `operator` and the class,
`plugin` and the pool, `nobody`."""

NOBODY: Holder = ("nobody", "")


def handovers(pair: Pair) -> Iterator[Change]:
    """Legacy names that somebody else answers to, on clusters of both sides."""
    for before, after in clusters(pair):
        if same_platform(before, after):
            continue
        for name in legacy_names(before, after):
            was, now = holder(pair.base, before, name), holder(pair.head, after, name)
            if was != now:
                yield change(
                    "name-handed-over",
                    f"extended resource {name}",
                    words(was),
                    words(now),
                    cluster=after.name,
                    span=holder_place(after, name),
                )


def legacy_names(*linked: Cluster) -> tuple[str, ...]:
    """The legacy names of every tier of some clusters."""
    names = {tier.legacy_resource for cluster in linked for tier in cluster.tiers}
    return tuple(sorted(name for name in names if name is not None))


def holder(side: Side, cluster: Cluster, name: str) -> Holder:
    """Who answers to a legacy name on a cluster of one side; a class goes before a plugin."""
    for plan in device_classes(side.judgement.catalog, cluster):
        if plan.extended_name == name:
            return "repository", plan.name
    charts = {
        fact.name: driver
        for driver in cluster.drivers
        for fact in (driver.preset.classes if driver.preset is not None else ())
        if answers_to(driver, fact, name)
    }
    for driver in charts.values():
        return "chart", driver.name
    records = side.judgement.records.get(cluster.name, ())
    for one in read_claims(records, cluster.minor)[0].classes if records else ():
        if one.extended_resource_name == name and not _is_ours(one.origin):
            return "operator", one.name
    for pool in cluster.pools:
        for devices in pool.devices:
            by_plugin = pool.owner(devices.tier.driver) == "devicePlugin"
            if by_plugin and name in plugin_names(devices.tier):
                return "plugin", pool.name
    return NOBODY


def _is_ours(origin: Origin | None) -> bool:
    data = origin.object.data if origin is not None else {}
    labels = data.get("metadata", {}).get("labels") or {}
    return bool(labels.get(MANAGED_BY) == "dracfg")


def words(held: Holder) -> str:
    """A holder for people: `class a100-40g`, `the chart of gpu.nvidia.com`."""
    who, what = held
    return {
        "repository": f"class {what}",
        "chart": f"the chart of {what}",
        "operator": f"class {what}, which an operator installed",
        "plugin": f"the device plugin on {what}",
    }.get(who, "nobody")


def holder_place(cluster: Cluster, name: str) -> Span:
    """Where the tier stands that could answer to the name."""
    tiers = [tier for tier in cluster.tiers if tier.legacy_resource == name]
    taking = [tier for tier in tiers if tier.document.spec.takes_over_legacy_name]
    if taking:
        return place(taking[0].document, "spec", "takesOverLegacyName")
    if tiers:
        return place(tiers[0].document, "spec", "legacyResource")
    return place(cluster.document, "metadata", "name")
