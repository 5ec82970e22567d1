"""What kube-scheduler switches on in its allocator, and which of its implementations that picks.

Facts of AllocatorFeatures (kubernetes/kubernetes@v1.34.4, @v1.35.4, @v1.36.3, @v1.37.2:
pkg/scheduler/framework/plugins/dynamicresources) and of SupportedFeatures
(kubernetes/dynamic-resource-allocation@v0.34.4, @v0.35.4, @v0.36.3, @v0.37.2: structured/internal).
Knows no claim and no device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dracfg.dataclass import dataclass

Implementation = Literal["stable", "incubating", "experimental"]

GATES: Mapping[str, str] = {
    "admin_access": "DRAAdminAccess",
    "prioritized_list": "DRAPrioritizedList",
    "partitionable_devices": "DRAPartitionableDevices",
    "device_taints": "DRADeviceTaints",
    "device_binding": "DRADeviceBindingConditions",
    "device_status": "DRAResourceClaimDeviceStatus",
    "consumable_capacity": "DRAConsumableCapacity",
}
"""Field of `Features` → the gate it follows in every minor."""

LATE_GATES: Mapping[str, str] = {
    "list_type_attributes": "DRAListTypeAttributes",
    "fractional_capacity_range": "DRAFractionalCapacityRange",
    "optional_node_operations": "DRAOptionalNodeOperations",
    "derived_attributes": "DRADerivedAttributes",
    "compatibility_groups": "DRADeviceCompatibilityGroups",
}
"""The same for 1.37 alone. The allocator of 1.36 knows lists, but its scheduler never says so."""

MINORS = ("1.34", "1.35", "1.36", "1.37")

_BASE = frozenset({"admin_access", "prioritized_list", "partitionable_devices", "device_taints"})
_BINDING = frozenset({"device_binding", "device_status"})
_STABLE: Mapping[str, frozenset[str]] = {
    "1.34": frozenset(),
    "1.35": frozenset(),
    "1.36": _BASE,
    "1.37": _BASE,
}
_INCUBATING: Mapping[str, frozenset[str]] = {
    "1.34": _BASE,
    "1.35": _BASE,
    "1.36": _BASE | _BINDING | {"consumable_capacity"},
    "1.37": _BASE | _BINDING | {"consumable_capacity", "fractional_capacity_range"},
}


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one minor's allocator; a field that the minor does not have stays False.

    `lists_in_cel` belongs to its selectors: without it, a selector that is put to a device with a
    list attribute ends in an error. It is off in 1.36 while DRAListTypeAttributes is.
    """

    minor: str
    admin_access: bool = False
    prioritized_list: bool = False
    partitionable_devices: bool = False
    device_taints: bool = False
    device_binding: bool = False
    device_status: bool = False
    consumable_capacity: bool = False
    list_type_attributes: bool = False
    fractional_capacity_range: bool = False
    optional_node_operations: bool = False
    derived_attributes: bool = False
    compatibility_groups: bool = False
    lists_in_cel: bool = True

    @classmethod
    def of(cls, minor: str, gates_on: frozenset[str]) -> Features:
        """What the scheduler of a minor passes where these gates are on.

        Raises ValueError for a minor that is not supported.
        """
        if minor not in MINORS:
            raise ValueError(f"no allocator is known for Kubernetes {minor}")
        known = {**GATES, **LATE_GATES} if minor == "1.37" else GATES
        return cls(
            minor,
            lists_in_cel=minor != "1.36" or "DRAListTypeAttributes" in gates_on,
            **{name: gate in gates_on for name, gate in known.items()},
        )

    @property
    def device_binding_and_status(self) -> bool:
        """Whether devices with binding conditions are allocated at all."""
        return self.device_binding and self.device_status

    @property
    def enabled(self) -> frozenset[str]:
        """The fields that are on; from 1.35 the two of binding conditions count only together."""
        names = frozenset(name for name in (*GATES, *LATE_GATES) if getattr(self, name))
        if self.minor != "1.34" and not names >= _BINDING:
            names -= _BINDING
        return names

    @property
    def implementation(self) -> Implementation:
        """The first of upstream's implementations that supports everything that is on."""
        if self.enabled <= _STABLE[self.minor]:
            return "stable"
        return "incubating" if self.enabled <= _INCUBATING[self.minor] else "experimental"
