"""One recorded ResourceSlice → its facts, with every fault of it. Knows no other slice.

Reads the versions that a cluster serves: v1 and v1beta2, and v1beta1, whose devices have their
content under `basic`. Unknown fields are found and passed over, as the API server drops them; what
can't be read is left out: a device, or the slice where the fault lies outside its devices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from dracfg.allocate.devices import CounterSet, Device, Origin
from dracfg.allocate.faults import Faults
from dracfg.allocate.nodes import NodeSelection, read_selection
from dracfg.allocate.published import ContentReader
from dracfg.allocate.shape import Shaped, judge_shape
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.kube.features import feature_matrix
from dracfg.kube.limits import Limits, limits
from dracfg.kube.names import (
    check_dns_label,
    check_dns_subdomain,
    check_driver_name,
    check_pool_name,
)
from dracfg.source.records import RecordedObject, Steps

_SELECTIONS = ("nodeName", "nodeSelector", "allNodes")


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice. `devices` and `counter_sets` keep the order in which they are published.

    `complete` is False where something of it could not be read. `nodes` is None where each device
    has its own (`per_device_nodes`), or where nothing is said, as counter sets may do.
    """

    name: str
    driver: str
    pool: str
    generation: int
    slice_count: int
    devices: tuple[Device, ...]
    counter_sets: tuple[CounterSet, ...]
    node_name: str | None
    complete: bool
    origin: Origin = field(compare=False, repr=False)
    nodes: NodeSelection | None = None
    per_device_nodes: bool = False
    skip_node_operations: tuple[str, ...] = ()

    @property
    def shares_only_here(self) -> bool:
        """Whether its counter sets serve its own devices alone: the layout of 1.34."""
        return bool(self.devices) and bool(self.counter_sets)


def read_slice(
    recorded: RecordedObject, minor: str | None
) -> tuple[Slice | None, tuple[Diagnostic, ...]]:
    """The slice, or None where it can't be read; `minor` is None where the cluster's is not known.

    Without a minor the schema of any supported minor will do, and the limits of the newest hold.
    """
    faults = Faults(recorded)
    shaped = judge_shape(recorded.data, minor, faults)
    if shaped is None:
        return None, tuple(faults.found)
    known = limits(minor or feature_matrix().minors[-1])
    return _Reader(shaped, minor, known, faults).read(), tuple(faults.found)


class _Reader:
    """Reads a slice whose shape holds outside the broken devices."""

    def __init__(self, shaped: Shaped, minor: str | None, known: Limits, faults: Faults) -> None:
        self.version, self.spec, self.broken = shaped
        self.minor = minor
        self.limits, self.faults = known, faults
        self.driver, self.pool = self.spec["driver"], self.spec["pool"]["name"]
        self.content = ContentReader(self.driver, self.pool, known, faults)
        self.left_out = False

    def read(self) -> Slice | None:
        pool = self.spec["pool"]
        metadata = self.faults.object.data.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        check = self.content.check_name
        check(check_driver_name, "driver", self.driver, ("spec", "driver"), key=False)
        check(check_pool_name, "pool", self.pool, ("spec", "pool", "name"), key=False)
        for what, least in (("generation", 0), ("resourceSliceCount", 1)):
            if pool.get(what, 0) < least:
                message = f"{what} must be at least {least}, it is {pool.get(what, 0)}"
                self.faults.add("INV008", ("spec", "pool", what), message)
        selection, readable = self._selection()
        devices = self._devices(selection) if readable else ()
        counter_sets = self._counter_sets()
        self._numbers()
        if not readable:
            return None
        return Slice(
            name=name if isinstance(name, str) else "",
            driver=self.driver,
            pool=self.pool,
            generation=pool.get("generation", 0),
            slice_count=pool["resourceSliceCount"],
            devices=devices,
            counter_sets=counter_sets,
            node_name=selection.node_name if selection else None,
            complete=not self.left_out,
            origin=Origin(self.faults.object),
            nodes=selection,
            per_device_nodes=selection is None and self.spec.get("perDeviceNodeSelection", False),
            skip_node_operations=tuple(self.spec.get("skipNodeOperations", ())),
        )

    def _selection(self) -> tuple[NodeSelection | None, bool]:
        """Where the slice can be used, None if each device says so; and whether that was read."""
        selection, wrong = read_selection(self.spec)
        for steps, message in wrong:
            self.faults.add("INV011", ("spec", *steps), f"{steps[-1]} {message}")
        per_device = self.spec.get("perDeviceNodeSelection", False)
        if selection is not None:
            self._check_node_name(selection, ("spec",))
        if selection is not None and per_device:
            message = "perDeviceNodeSelection must not stand beside another node selection"
            self.faults.add("INV011", ("spec", "perDeviceNodeSelection"), message, key=True)
        # Counter sets belong to the pool; the allocator never asks where their slice is.
        if selection is None and not per_device and not wrong and self.spec.get("devices"):
            message = (
                "one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection is required"
            )
            self.faults.add("INV011", ("spec",), message, key=True)
            return None, False
        return selection, not wrong

    def _devices(self, selection: NodeSelection | None) -> tuple[Device, ...]:
        devices = []
        for number, published in enumerate(self.spec.get("devices", ())):
            if number in self.broken:
                self.left_out = True
                continue
            at: Steps = ("spec", "devices", number)
            name = published["name"]
            self.content.check_name(check_dns_label, "device", name, (*at, "name"), key=False)
            content = published
            if self.version == "v1beta1":
                content, at = published.get("basic", {}), (*at, "basic")
            nodes = self._device_selection(content, selection, at)
            device = self.content.device(name, content, nodes, at) if nodes else None
            if device is None:
                self.left_out = True
            else:
                devices.append(device)
        return tuple(devices)

    def _device_selection(
        self, content: Mapping[str, Any], selection: NodeSelection | None, at: Steps
    ) -> NodeSelection | None:
        own, wrong = read_selection(content)
        if selection is not None:
            for name in _SELECTIONS:
                if content.get(name):
                    message = f"{name} on a device needs perDeviceNodeSelection in the slice"
                    self.faults.add("INV011", (*at, name), message, key=True)
            return selection
        for steps, message in wrong:
            self.faults.add("INV011", (*at, *steps), f"{steps[-1]} {message}")
        if own is not None:
            self._check_node_name(own, at)
        elif not wrong:
            message = "one of nodeName, nodeSelector and allNodes is required on each device"
            self.faults.add("INV011", at, message)
        return own

    def _check_node_name(self, selection: NodeSelection, at: Steps) -> None:
        if selection.node_name is not None:
            self.content.check_name(
                check_dns_subdomain, "node", selection.node_name, (*at, "nodeName"), key=False
            )

    def _counter_sets(self) -> tuple[CounterSet, ...]:
        sets = []
        for number, published in enumerate(self.spec.get("sharedCounters", ())):
            at = ("spec", "sharedCounters", number)
            name, counters = published["name"], published["counters"]
            self.content.check_name(check_dns_label, "counter set", name, (*at, "name"), key=False)
            self.content.check_counter_names(counters, (*at, "counters"))
            most = self.limits.counters_per_set
            self.content.check_number("counters", len(counters), most, (*at, "counters"))
            values = self.content.counters(counters, (*at, "counters"))
            self.left_out |= len(values) < len(counters)
            sets.append(CounterSet(name, values))
        return tuple(sets)

    def _numbers(self) -> None:
        devices, sets = self.spec.get("devices", ()), self.spec.get("sharedCounters", ())
        contents = [
            device.get("basic", device)
            for number, device in enumerate(devices)
            if number not in self.broken
        ]
        heavy = any(
            content.get("taints") or content.get("consumesCounters") for content in contents
        )
        most, known = self.limits.devices_per_slice, self.limits
        if heavy:
            most = known.devices_per_slice_with_taints_or_counters or most
        if any(_has_lists(content) for content in contents):
            most = min(most, known.devices_per_slice_with_list_attributes or most)
        check = self.content.check_number
        check("devices in one slice", len(devices), most, ("spec", "devices"))
        at = ("spec", "sharedCounters")
        check("counter sets in one slice", len(sets), known.counter_sets_per_slice, at)
        total = sum(len(part["counters"]) for part in sets)
        check("counters in one slice", total, known.shared_counters_per_slice, at)
        if devices and sets and self.minor not in (None, "1.34"):
            self.faults.add(
                "INV003",
                at,
                "sharedCounters beside devices is the layout of 1.34",
                key=True,
                help="from 1.35 on counter sets stand in slices of their own; let the driver "
                "publish again and record anew",
            )


def _has_lists(content: Mapping[str, Any]) -> bool:
    return any(
        isinstance(value, list)
        for typed in content.get("attributes", {}).values()
        for value in typed.values()
    )
