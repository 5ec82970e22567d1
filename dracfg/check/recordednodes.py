"""INV046, INV049: what Nodes say of themselves, beside the slices and the catalog.

A third source: what device plugins serve, and what feature discovery has seen. Which labels tell of
which driver's devices lies in data/node-facts.yaml; a label that says nothing plain is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from dracfg.allocate.devices import Device
from dracfg.allocate.inventory import Inventory
from dracfg.allocate.nodestates import NodeState, read_node_states
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.link.catalog import Catalog, Cluster, Pool
from dracfg.link.driver import Driver
from dracfg.model.base import at
from dracfg.packaged import read_data
from dracfg.source.records import Record

_BETWEEN = re.compile(r"[-_\s]+")


@cache
def _facts() -> Mapping[str, Mapping[str, str]]:
    drivers: Mapping[str, Mapping[str, str]] = read_data("dracfg.check", "data/node-facts.yaml")[
        "drivers"
    ]
    return drivers


def check_nodes(
    catalog: Catalog,
    inventories: Mapping[str, Inventory],
    records: Mapping[str, Sequence[Record]],
) -> tuple[Diagnostic, ...]:
    """What is wrong with the Nodes that are recorded beside the slices of each cluster."""
    return tuple(
        finding
        for name, inventory in inventories.items()
        for finding in check_recorded_nodes(
            catalog.clusters[name], inventory, read_node_states(records.get(name, ()))
        )
    )


def check_recorded_nodes(
    cluster: Cluster, inventory: Inventory, nodes: Mapping[str, NodeState]
) -> tuple[Diagnostic, ...]:
    """What is wrong with each recorded Node that has devices."""
    found: list[Diagnostic] = []
    for name, state in nodes.items():
        devices = inventory.devices_on(name)
        by_driver: dict[str, list[Device]] = {}
        for device in devices:
            if device.nodes.node_name == name:
                by_driver.setdefault(device.driver, []).append(device)
        found += _served_twice(cluster, state, by_driver)
        for driver, own in sorted(by_driver.items()):
            found += _seen_otherwise(cluster, state, driver, own)
    return tuple(found)


def _served_twice(
    cluster: Cluster, state: NodeState, by_driver: Mapping[str, list[Device]]
) -> Iterator[Diagnostic]:
    """INV046: a device plugin that serves the hardware of which slices tell as well."""
    for driver in cluster.drivers:
        devices = by_driver.get(driver.name)
        if not devices:
            continue
        for resource in _legacy_names(cluster, driver):
            amount = state.allocatable.get(resource)
            if amount is None or not amount:
                continue
            pool = _pool(cluster, state)
            yield diagnose(
                "INV046",
                state.origin.span("status", "allocatable", resource),
                f"node {state.name} serves {amount} {resource} by a device plugin, and {driver.name} "
                f"publishes {len(devices)} devices of it",
                label="served by the plugin",
                related=[
                    Related(devices[0].origin.span(), "published for DRA"),
                    *([Related(_owner(pool, driver), "the owner")] if pool is not None else []),
                ],
                found="two owners",
                expected="one",
                help="turn the plugin off on these nodes, or the DRA driver: each counts the devices "
                "as its own, and both will give them out",
            )


def _legacy_names(cluster: Cluster, driver: Driver) -> tuple[str, ...]:
    """The extended resources by which plugins serve the driver's hardware."""
    names = {
        tier.legacy_resource
        for tier in cluster.tiers
        if tier.driver is driver and tier.legacy_resource is not None
    }
    if driver.preset is not None:
        names |= set(driver.preset.device_plugin.resources)
    return tuple(sorted(names))


def _pool(cluster: Cluster, state: NodeState) -> Pool | None:
    for pool in cluster.pools:
        wanted = pool.document.spec.node_selector
        if all(state.labels.get(key) == value for key, value in wanted.items()):
            return pool
    return None


def _owner(pool: Pool, driver: Driver) -> Span:
    return at(pool.document, "spec", "owner", driver.name)


def _seen_otherwise(
    cluster: Cluster, state: NodeState, driver: str, devices: list[Device]
) -> Iterator[Diagnostic]:
    """INV049: another number, product or amount than the node's own labels tell of."""
    facts = _facts().get(driver)
    if facts is None or any(device.consumes_counters for device in devices):
        return
    for finding in (_count(facts, state, devices), _product(facts, state, devices)):
        if finding is not None:
            label, seen, published = finding
            yield _differs(cluster, state, driver, devices, (label, seen, published))


def _count(
    facts: Mapping[str, Any], state: NodeState, devices: list[Device]
) -> tuple[str, str, str] | None:
    """Physical devices; partitions are told apart by the parent that they name."""
    label = facts.get("count", "")
    seen = state.labels.get(label, "")
    whole = [device for device in devices if device.attribute("parentUUID") is None]
    if not seen.isdecimal() or len(whole) != len(devices) or int(seen) == len(whole):
        return None
    return label, seen, str(len(whole))


def _product(
    facts: Mapping[str, Any], state: NodeState, devices: list[Device]
) -> tuple[str, str, str] | None:
    label = facts.get("product", "")
    seen = state.labels.get(label)
    published = {
        str(attribute.value)
        for device in devices
        if (attribute := device.attribute(facts["attribute"])) is not None
    }
    if seen is None or not published or _plain(seen) in map(_plain, published):
        return None
    return label, seen, ", ".join(sorted(published))


def _plain(product: str) -> str:
    """Labels write `-` or `_` where a product's name has blanks; sharing adds -SHARED behind it."""
    return _BETWEEN.sub("-", product.strip()).lower().removesuffix("-shared")


def _differs(
    cluster: Cluster,
    state: NodeState,
    driver: str,
    devices: list[Device],
    facts: tuple[str, str, str],
) -> Diagnostic:
    label, seen, published = facts
    pool = _pool(cluster, state)
    wanted = ""
    if pool is not None:
        said = [
            f"{offer.per_node} of {offer.tier.name}"
            for offer in pool.devices
            if offer.tier.driver.name == driver
        ]
        wanted = f"; pool {pool.name} says {' and '.join(said)}" if said else ""
    return diagnose(
        "INV049",
        state.origin.span("metadata", "labels", label),
        f"node {state.name} itself sees another {label.rpartition('.')[2]} than {driver} publishes",
        label="seen by the node",
        related=[Related(devices[0].origin.span(), f"published: {published}")],
        found=f"published {published}{wanted}",
        expected=seen,
        help="see the driver's log on the node; until they agree, the rollout of the pool waits",
    )
