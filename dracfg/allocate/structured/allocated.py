"""What a search finds taken already: the allocated devices and capacity of a cluster.

The counterpart of `AllocatedState` of k8s.io/dynamic-resource-allocation/structured. Knows
neither claims nor how the view was gathered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity

DeviceId = tuple[str, str, str]
"""(driver, pool, device)."""


@dataclass(frozen=True, slots=True)
class AllocatedState:
    """Devices in use when a search starts.

    `devices` are those allocated as a whole, `shared` pairs of device and share id, and
    `consumed` what all shares of a device take together. Admin access results belong in none.
    """

    devices: frozenset[DeviceId] = frozenset()
    shared: frozenset[tuple[DeviceId, str]] = frozenset()
    consumed: Mapping[DeviceId, Mapping[str, Quantity]] = field(default_factory=dict)
