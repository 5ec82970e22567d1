"""CAP007 and REF005 of quarantine: entries that would keep nothing from being handed out.

How an entry is lowered, to a rule on devices or a taint of its node, is not judged here.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.check.rule import Rule, suggestion
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.link.catalog import Catalog
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


RULES: tuple[Rule, ...] = (reaches_nothing, names_another_driver)
