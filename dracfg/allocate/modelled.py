"""What a cluster's devices would publish if they are as the catalog describes them.

Stands in where no inventory is recorded. The devices go the way of recorded ones: they are written
as ResourceSlices and read again. An attribute that no document describes is not there, which is not
to say that the driver does not publish it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.allocate.devices import Device
from dracfg.allocate.inventory import Inventory, load_inventory
from dracfg.allocate.shape import GROUP, KIND
from dracfg.dataclass import dataclass
from dracfg.kube.requestpolicy import RequestPolicy
from dracfg.link.catalog import Cluster, Pool, PoolDevices, Tier
from dracfg.link.classes import publishes_shareable
from dracfg.link.driver import Driver
from dracfg.link.published import consumption
from dracfg.lower.selectors import normalised_version
from dracfg.model.sharing import Partition, Partitioned
from dracfg.model.tier import AttributeRange
from dracfg.source.records import parse_record

_MOST = 64
"""Devices (and parts of one kind on a device) that are modelled; one claim holds 32 at most."""

_TYPES = {bool: "bool", int: "int", str: "string"}


@dataclass(frozen=True, slots=True)
class Modelled:
    """One node for each pool of the cluster, named after it, and how many nodes it stands for."""

    inventory: Inventory
    nodes: Mapping[str, int]

    def devices_of(self, tier: Tier) -> tuple[Device, ...]:
        """The devices and parts of a tier, over all pools."""
        return tuple(
            device
            for pool in self.inventory.pools
            if pool.name.partition("/")[2] == tier.name
            for device in pool.devices
        )


def modelled_inventory(cluster: Cluster) -> Modelled:
    """The devices that DRA hands out on the cluster, as the catalog describes them."""
    slices = [made for pool in cluster.pools for made in _slices(pool)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": slices})
    record, _ = parse_record(f"cluster/{cluster.name}", text)
    inventory, _ = load_inventory([record])
    nodes = {pool.name: pool.document.spec.nodes for pool in cluster.pools}
    return Modelled(inventory, {name: count for name, count in nodes.items() if count})


def _slices(pool: Pool) -> Iterator[dict[str, Any]]:
    own = [
        devices
        for devices in (pool.devices if pool.document.spec.nodes else ())
        if pool.owner(devices.tier.driver) == "dra" and devices.tier.driver.has_dra_driver
    ]
    for number, devices in enumerate(own):
        alike = sum(other.tier is devices.tier for other in own)
        yield {
            "apiVersion": f"{GROUP}/v1",
            "kind": KIND,
            "metadata": {"name": f"{pool.name}-{number}"},
            "spec": {
                "driver": devices.tier.driver.name,
                "nodeName": pool.name,
                "pool": {
                    "name": _pool_name(pool, devices.tier),
                    "generation": 1,
                    "resourceSliceCount": alike,
                },
                "devices": list(_devices(devices, number)),
            },
        }


def _pool_name(pool: Pool, tier: Tier) -> str:
    return f"{pool.name}/{tier.name}"


def _devices(devices: PoolDevices, entry: int) -> Iterator[dict[str, Any]]:
    tier = devices.tier
    partitions = [
        partition
        for policy in devices.policies
        if isinstance(policy.spec, Partitioned)
        for partition in policy.spec.partitions
    ]
    whole = any(not isinstance(policy.spec, Partitioned) for policy in devices.policies)
    shareable = publishes_shareable(tier.driver, devices.policies)
    content = _content(tier, shareable) if whole else None
    parts = [(partition, _attributes(tier, partition)) for partition in partitions]
    for number in range(min(devices.per_node, _MOST)):
        name = f"{tier.name}-{entry}-{number}"
        if content is not None:
            yield {"name": name, **content}
        for partition, attributes in parts:
            for part in range(min(partition.per_device or 1, _MOST)):
                part_name = f"{name}-{partition.name.replace('.', '-')}-{part}"
                yield {"name": part_name, "attributes": attributes}


def _content(tier: Tier, shareable: bool) -> dict[str, Any]:
    capacity: dict[str, Any] = {}
    for key, amount in tier.capacity.items():
        capacity[key] = {"value": str(amount)}
        taken = consumption(tier, key, None) if shareable else None
        if taken is not None and taken.policy is not None:
            capacity[key]["requestPolicy"] = _policy(taken.policy)
    return {
        "attributes": _attributes(tier, None),
        "capacity": capacity,
        "allowMultipleAllocations": shareable,
    }


def _attributes(tier: Tier, partition: Partition | None) -> dict[str, Any]:
    """The attributes of a device, or of a part of it, which has what its match asks for by value."""
    said: dict[str, Any] = dict(tier.document.spec.device.attributes)
    for key, wanted in partition.match.attributes.items() if partition is not None else ():
        said.pop(key, None)
        if not isinstance(wanted, AttributeRange):
            said[key] = wanted
    return {
        tier.driver.spelling(key): _typed(tier.driver, key, value) for key, value in said.items()
    }


def _typed(driver: Driver, key: str, value: Any) -> dict[str, Any]:
    """A value in the type that the driver publishes it in, else in the one that it is written in."""
    first = value[0] if isinstance(value, tuple) and value else value
    kind = driver.attributes.get(driver.spelling(key)) or _TYPES.get(type(first), "string")
    if isinstance(value, tuple):
        return {f"{kind}s": [_scalar(kind, item) for item in value]}
    return {kind: _scalar(kind, value)}


def _scalar(kind: str, value: Any) -> Any:
    if kind == "version":
        try:
            return normalised_version(value)
        except ValueError:
            return str(value)
    return str(value) if kind == "string" else value


def _policy(policy: RequestPolicy) -> dict[str, Any]:
    bounds = policy.valid_range
    made: dict[str, Any] = {}
    if policy.default is not None:
        made["default"] = str(policy.default)
    if policy.valid_values:
        made["validValues"] = [str(value) for value in policy.valid_values]
    if bounds is not None:
        named = (("min", bounds.min), ("max", bounds.max), ("step", bounds.step))
        made["validRange"] = {name: str(value) for name, value in named if value is not None}
    return made
