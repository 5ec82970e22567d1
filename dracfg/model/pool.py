"""kind: NodePool. Nodes of one shape in one cluster, what devices they hold and who hands them out."""

from typing import Literal

from pydantic import Field

from dracfg.model.base import (
    Count,
    Date,
    DriverName,
    LabelKey,
    LabelValue,
    Name,
    Positive,
    Reason,
    Spec,
    Subdomain,
)

Owner = Literal["dra", "devicePlugin"]
PoolState = Literal["open", "frozen", "draining", "disabled"]


class PoolDevices(Spec):
    """Devices of one tier on each node."""

    tier: Name
    """The kind of device."""
    per_node: Positive
    """How many each node has."""
    sharing: tuple[Name, ...] | None = Field(default=None, min_length=1)
    """The sharing policies for this tier; those of the pool that fit it, unless said."""


class Spare(Spec):
    """What is kept out of every promise, for failures."""

    nodes: Count = 0
    """Nodes that may fail while every promise holds."""


class Quarantine(Spec):
    """A node, or a device on it, that must not be handed out for a while."""

    node: Subdomain | None = None
    """The node; alone, all its devices are meant."""
    driver: DriverName | None = None
    """The driver of a device, where no whole node is meant."""
    pool: str | None = Field(default=None, min_length=1, max_length=253)
    """The driver's resource pool, mostly the node's name."""
    device: Name | None = None
    """The device's name in its slice."""
    reason: Reason
    """Why, for those who wonder."""
    since: Date = Field(examples=["2026-11-29"])
    """The day from which on."""
    evict: bool = False
    """Whether pods that use the device are evicted (NoExecute) or may end by themselves (NoSchedule)."""


class NodePoolSpec(Spec):
    """Nodes of one shape."""

    cluster: Name
    """The Cluster that the nodes are in."""
    nodes: Count
    """How many there are."""
    node_selector: dict[LabelKey, LabelValue] = Field(min_length=1)
    """Labels that all nodes of the pool carry, and no others."""
    devices: tuple[PoolDevices, ...] = Field(min_length=1)
    sharing: tuple[Name, ...] = Field(default=("whole",), min_length=1)
    """The sharing policies in force on this pool; `whole` is built in."""
    owner: dict[DriverName, Owner] = Field(min_length=1)
    """For each driver of the pool's devices: handed out by DRA, or still by the device plugin."""
    sub_numa_clustering: bool = False
    """Whether its nodes split a socket into several NUMA nodes: their ids then tell less than a PCIe root."""
    state: PoolState = "open"
    """Whether new claims may come: `frozen` lets none in, `draining` empties it, `disabled` is out of use."""
    spare: Spare = Spare.model_construct()
    quarantine: tuple[Quarantine, ...] = ()
