"""VER058: what a minor's scheduler gets wrong, on clusters where somebody meets it.

What each minor does is known from the allocators that `allocate.structured` follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from dracfg.allocate.structured import Features
from dracfg.allocate.structured.behaviour import behaviour_of
from dracfg.check.places import place
from dracfg.check.rule import Rule
from dracfg.check.uses import Use, uses
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.writers import writers
from dracfg.lower.gates import CONSUMABLE, PARTITIONABLE
from dracfg.model.base import at
from dracfg.model.sharing import Consumable, Partitioned


def looks_at_one_device(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER058: shares are held against the capacity of another device (kubernetes/kubernetes#133705)."""
    seen: set[tuple[str, str]] = set()
    for use in uses(catalog):
        cluster = catalog.clusters[use.pool.cluster]
        key = (cluster.name, use.policy.name)
        if not isinstance(use.policy.spec, Consumable) or key in seen or _is_alone(use):
            continue
        if behaviour_of(Features.of(cluster.minor, frozenset({CONSUMABLE}))).recheck_by_position:
            seen.add(key)
            yield diagnose(
                "VER058",
                use.place,
                f"the scheduler of Kubernetes {cluster.minor} on {cluster.name} holds every share "
                "against the first device of a ResourceSlice: once that is full, claims wait "
                "though other devices have room",
                related=[_version(cluster)],
                help="upgrade to 1.35, or publish one device a slice",
            )


def panics_on_all(catalog: Catalog) -> Iterator[Diagnostic]:
    """VER058: All over devices with counters ends the scheduler (kubernetes/kubernetes#138882)."""
    counted = {
        (use.pool.cluster, use.tier.name): use
        for use in uses(catalog)
        if isinstance(use.policy.spec, Partitioned)
        and use.tier.document.spec.device.counters
        and _panics(catalog.clusters[use.pool.cluster])
    }
    for tenant in writers(catalog, "admin_access"):
        for i, access in enumerate(tenant.document.spec.admin_access):
            places = [one for one in tenant.places if one.name == access.namespace]
            for j, name in enumerate(access.tiers):
                met = (counted.get((one.cluster, name)) for one in places)
                use = next((one for one in met if one is not None), None)
                if use is None:
                    continue
                cluster = catalog.clusters[use.pool.cluster]
                yield diagnose(
                    "VER058",
                    at(tenant.document, "spec", "adminAccess", i, "tiers", j),
                    f"admin access asks for all devices of {name}, and the scheduler of Kubernetes "
                    f"{cluster.minor} on {cluster.name} panics over devices that draw from counters",
                    related=[
                        _version(cluster),
                        Related(use.place, "partitions draw from counters"),
                    ],
                    help="upgrade to 1.36.3, or grant it when the cluster has been upgraded",
                )


def _is_alone(use: Use) -> bool:
    """Whether each node has one device of the driver, which then is the first of its slice."""
    driver = use.tier.driver
    return sum(one.per_node for one in use.pool.devices if one.tier.driver is driver) == 1


def _panics(cluster: Cluster) -> bool:
    features = Features.of(cluster.minor, frozenset({PARTITIONABLE}))
    return behaviour_of(features).all_forgets_pool


def _version(cluster: Cluster) -> Related:
    return Related(place(cluster.document, "spec", "kubernetes"), "the version")


RULES: tuple[Rule, ...] = (looks_at_one_device,)
TENANT_RULES: tuple[Rule, ...] = (panics_on_all,)
