"""Recorded cluster objects → what devices there are. Nothing in a record raises: it is found.

Knows ResourceSlices, DeviceTaintRules and Nodes, passes over every other kind; knows no catalog.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from dracfg.allocate.devices import Device
from dracfg.allocate.nodes import Node, read_node
from dracfg.allocate.pools import Pool, PoolKey, build_pools
from dracfg.allocate.shape import KIND
from dracfg.allocate.slices import Slice, read_slice
from dracfg.allocate.taintrules import TaintRule, read_taint_rules, wide_rules
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, diagnose, sort_key
from dracfg.diagnostics.span import whole_file
from dracfg.source.records import Record, RecordedObject


@dataclass(frozen=True, slots=True)
class Inventory:
    """The devices of one cluster. Pools are in the order of driver and name.

    `nodes` holds recorded Nodes, and those that slices name, then without labels. `slices` are
    all that could be read, also outdated ones, in the order of their names; `spoiled` are the
    pools of which a slice could not be read. `taint_rules` are the recorded DeviceTaintRules: the
    taints of devices are without them.
    """

    pools: tuple[Pool, ...]
    nodes: Mapping[str, Node]
    _by_name: Mapping[tuple[str, str, str], Device] = field(compare=False, repr=False)
    _by_node: Mapping[str, tuple[Device, ...]] = field(compare=False, repr=False)
    _elsewhere: tuple[Device, ...] = field(compare=False, repr=False)
    slices: tuple[Slice, ...] = field(default=(), repr=False)
    spoiled: frozenset[PoolKey] = field(default=frozenset(), repr=False)
    taint_rules: tuple[TaintRule, ...] = field(default=(), repr=False)

    @property
    def drivers(self) -> tuple[str, ...]:
        """The drivers that publish devices."""
        return tuple(sorted({pool.driver for pool in self.pools}))

    @property
    def devices(self) -> tuple[Device, ...]:
        """Every device, also of pools that are not usable."""
        return tuple(device for pool in self.pools for device in pool.devices)

    def pools_of(self, driver: str) -> tuple[Pool, ...]:
        """The pools of one driver; the name is compared letter by letter."""
        return tuple(pool for pool in self.pools if pool.driver == driver)

    def device(self, driver: str, pool: str, name: str) -> Device | None:
        """The device that an allocation result names."""
        return self._by_name.get((driver, pool, name))

    def devices_on(self, node: str) -> tuple[Device, ...]:
        """The devices that are known to be reachable from a node, in the order of their pools."""
        known = self.nodes.get(node, Node(node))
        shared = (device for device in self._elsewhere if device.nodes.reaches(known))
        found = [*self._by_node.get(node, ()), *shared]
        return tuple(sorted(found, key=lambda device: (device.driver, device.pool)))

    def reaches(self, device: Device, node: str) -> bool | None:
        """Whether a node can use a device; None where that hangs on labels not recorded."""
        return device.nodes.reaches(self.nodes.get(node, Node(node)))


def load_inventory(
    records: Iterable[Record], minor: str | None = None
) -> tuple[Inventory, tuple[Diagnostic, ...]]:
    """The inventory of one cluster, and every fault of its records.

    `minor` is that of the cluster; without it a field counts as known if any supported minor has
    it, and the newest minor's limits hold. The order of slices and records does not matter. Raises
    KeyError for a minor that is not supported.
    """
    records = tuple(records)
    recorded = [item for record in records for item in record.objects]
    published, faults = _distinct(item for item in recorded if item.data["kind"] == KIND)
    if not published:
        faults += [_without_slices(record) for record in records if record.text]
    nodes = [node for item in recorded if (node := _node(item)) is not None]
    slices: list[Slice] = []
    spoiled: set[PoolKey] = set()
    for item in published:
        part, found = read_slice(item, minor)
        faults += found
        if part is not None:
            slices.append(part)
        elif (key := _pool_key(item.data)) is not None:
            spoiled.add(key)
    rules = read_taint_rules(recorded)
    inventory, found = inventory_of(slices, nodes, frozenset(spoiled))
    faults += [*found, *_uncertain(inventory.pools, nodes), *wide_rules(rules)]
    return replace(inventory, taint_rules=rules), tuple(sorted(faults, key=sort_key))


def _distinct(
    published: Iterable[RecordedObject],
) -> tuple[list[RecordedObject], list[Diagnostic]]:
    """The slices in an order of their own, each once; two different ones of a name are a fault."""
    by_name: dict[str, list[RecordedObject]] = {}
    for item in published:
        metadata = item.data.get("metadata")
        name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
        by_name.setdefault(name, []).append(item)
    found: list[RecordedObject] = []
    faults = []
    for name, items in sorted(by_name.items()):
        if len(items) > 1:
            texts = {json.dumps(item.data, sort_keys=True, default=str): item for item in items}
            items = [texts[text] for text in sorted(texts)]
        found += items
        if name and len(items) > 1:
            faults.append(
                diagnose(
                    "INV012",
                    items[1].span("metadata", "name"),
                    f"two different ResourceSlices are named {name}",
                    related=[Related(items[0].span("metadata", "name"), "the other one")],
                    help="keep what was recorded last",
                )
            )
    return found, faults


def _node(item: RecordedObject) -> Node | None:
    if item.data["kind"] != "Node" or item.data.get("apiVersion") != "v1":
        return None
    return read_node(item.data)


def _pool_key(data: Mapping[str, Any]) -> PoolKey | None:
    """The pool that an unread slice belongs to, as far as it says so."""
    spec = data.get("spec")
    pool = spec.get("pool") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(pool, dict):
        return None
    driver, name = spec.get("driver"), pool.get("name")
    return (driver, name) if isinstance(driver, str) and isinstance(name, str) else None


def inventory_of(
    slices: Iterable[Slice], nodes: Iterable[Node], spoiled: frozenset[PoolKey] = frozenset()
) -> tuple[Inventory, tuple[Diagnostic, ...]]:
    """The inventory of slices, and what is wrong with their pools.

    `nodes` are those that more than the name is known of, `spoiled` the pools of which a slice is
    missing here that was published.
    """
    listed = tuple(slices)
    pools, found = build_pools(listed, spoiled)
    return replace(_index(pools, nodes), slices=listed, spoiled=spoiled), found


def _index(pools: tuple[Pool, ...], nodes: Iterable[Node]) -> Inventory:
    by_name: dict[tuple[str, str, str], Device] = {}
    by_node: dict[str, list[Device]] = {}
    elsewhere: list[Device] = []
    known = {node.name: node for node in nodes}
    for device in (device for pool in pools for device in pool.devices):
        by_name.setdefault((device.driver, device.pool, device.name), device)
        node = device.nodes.node_name
        if node is None:
            elsewhere.append(device)
        else:
            known.setdefault(node, Node(node))
            by_node.setdefault(node, []).append(device)
    return Inventory(
        pools=pools,
        nodes=dict(sorted(known.items())),
        _by_name=by_name,
        _by_node={node: tuple(devices) for node, devices in by_node.items()},
        _elsewhere=tuple(elsewhere),
    )


def _uncertain(pools: Iterable[Pool], nodes: Iterable[Node]) -> Iterable[Diagnostic]:
    """A finding for each pool whose nodes hang on labels, where no Node is recorded."""
    if any(True for _ in nodes):
        return
    for pool in pools:
        for device in pool.devices:
            selector = device.nodes.selector
            if selector is not None and selector.expressions:
                yield diagnose(
                    "INV017",
                    device.origin.span(),
                    f"the nodes of pool {pool.name} of {pool.driver} hang on labels, and no Node is"
                    " recorded",
                    help="record the nodes as well: `kubectl get nodes,resourceslices -o yaml`",
                )
                break


def _without_slices(record: Record) -> Diagnostic:
    kinds = sorted({str(item.data["kind"]) for item in record.objects})
    return diagnose(
        "INV001",
        whole_file(record.path),
        "no ResourceSlice is recorded here",
        found=", ".join(kinds) or "no object",
        expected=KIND,
        help="record with `kubectl get resourceslices -o yaml`",
    )
