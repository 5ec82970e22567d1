"""CAP007, REF005 and VER053 of quarantine: entries that would not do what they say."""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, suggestion
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog
from dracfg.lower.quarantine import taint_rule_version
from dracfg.model.base import at


def reaches_nothing(catalog: Catalog) -> Iterator[Diagnostic]:
    """CAP007: without a node or a resource pool there is nothing to taint.

    A DeviceTaintRule without a pool would reach every device of the driver in the cluster, so none
    is made of such an entry.
    """
    for pool in catalog.pools.values():
        for i, entry in enumerate(pool.document.spec.quarantine):
            if entry.node is None and entry.pool is None:
                yield diagnose(
                    "CAP007",
                    at(pool.document, "spec", "quarantine", i, "reason"),
                    "this entry names neither a node nor a resource pool, "
                    "so everything goes on being handed out",
                    help="add `node`, or `driver` and `pool` as the ResourceSlice has them",
                )


def names_another_driver(catalog: Catalog) -> Iterator[Diagnostic]:
    """REF005: a driver without devices on the pool, to which no device would answer."""
    for pool in catalog.pools.values():
        known = sorted({devices.tier.driver.name for devices in pool.devices})
        for i, entry in enumerate(pool.document.spec.quarantine):
            if entry.driver is not None and entry.driver not in known:
                help_, fix = suggestion(entry.driver, known)
                yield diagnose(
                    "REF005",
                    at(pool.document, "spec", "quarantine", i, "driver"),
                    f"no device of pool {pool.name} belongs to a driver {entry.driver!r}",
                    found=entry.driver,
                    help=help_,
                    fix=fix,
                )


def leaves_pods_by_name(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER053: Kubernetes evicts by the claims that a pod names, and pods by resource name name none
    (kubernetes/kubernetes#141290).
    """
    for cluster in catalog.clusters.values():
        if taint_rule_version(cluster) is None:
            continue
        for pool in cluster.pools:
            taken_over = {
                devices.tier.driver.name: devices.tier
                for devices in pool.devices
                if devices.tier.document.spec.takes_over_legacy_name
            }
            for i, entry in enumerate(pool.document.spec.quarantine):
                tier = taken_over.get(entry.driver or "")
                if entry.evict and entry.pool is not None and tier is not None:
                    yield diagnose(
                        "VER053",
                        at(pool.document, "spec", "quarantine", i, "evict"),
                        f"pods that got devices of {tier.name} as {tier.legacy_resource} stay: a taint "
                        "on devices evicts only pods that name a claim",
                        related=[
                            Related(
                                at(tier.document, "spec", "takesOverLegacyName"), "by this name"
                            )
                        ],
                        help="quarantine the node as a whole, or delete these pods by hand",
                    )


RULES: tuple[Rule, ...] = (reaches_nothing, names_another_driver, leaves_pods_by_name)
