"""Claims and device classes of a cluster as the allocator reads them, pending and allocated.

Shapes follow resource.k8s.io/v1 (kubernetes/api@v0.37.0-rc.0:resource/v1/types.go) with the API
server's defaults written out. Knows neither files nor the input language of dracfg.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from dracfg.allocate.devices import Origin
from dracfg.allocate.nodes import NodeSelector
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity

AllocationMode = Literal["ExactCount", "All"]


@dataclass(frozen=True, slots=True)
class Toleration:
    """A taint that a request puts up with; an empty key with Exists tolerates every taint."""

    key: str = ""
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """What `exactly`, or one alternative of `firstAvailable`, asks for.

    `name` is the request's, or the subrequest's own where it is an alternative. `selectors` are
    CEL expressions in their order, `derived_attributes` pairs of name and expression.
    """

    name: str
    device_class: str
    selectors: tuple[str, ...] = ()
    mode: AllocationMode = "ExactCount"
    count: int = 1
    admin_access: bool = False
    tolerations: tuple[Toleration, ...] = ()
    capacity: Mapping[str, Quantity] = field(default_factory=dict)
    derived_attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A request: `exactly` one ask, or several in the order of preference."""

    name: str
    exactly: DeviceRequest | None = None
    first_available: tuple[DeviceRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimConstraint:
    """An attribute that devices agree or differ in; no requests means all of them."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


@dataclass(frozen=True, slots=True)
class OpaqueConfig:
    """Parameters for one driver; `source` is set in allocation results and None elsewhere."""

    driver: str
    parameters: Mapping[str, Any]
    requests: tuple[str, ...] = ()
    source: Literal["FromClass", "FromClaim"] | None = None


@dataclass(frozen=True, slots=True)
class ClaimSpec:
    """The `spec.devices` of a claim or of a template."""

    requests: tuple[Request, ...] = ()
    constraints: tuple[ClaimConstraint, ...] = ()
    config: tuple[OpaqueConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceResult:
    """One allocated device. `request` is `request` or `request/subrequest`.

    `consumed_capacity` and `share_id` are those of a shareable device, else empty and None.
    """

    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool = False
    tolerations: tuple[Toleration, ...] = ()
    share_id: str | None = None
    consumed_capacity: Mapping[str, Quantity] = field(default_factory=dict)
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    skip_node_operations: tuple[str, ...] = ()

    @property
    def device_id(self) -> tuple[str, str, str]:
        """(driver, pool, device): the device's name in the whole cluster."""
        return self.driver, self.pool, self.device


@dataclass(frozen=True, slots=True)
class ClaimAllocation:
    """`status.allocation`; no node selector means usable on every node."""

    results: tuple[DeviceResult, ...] = ()
    config: tuple[OpaqueConfig, ...] = ()
    node_selector: NodeSelector | None = None
    timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class Consumer:
    """An entry of `status.reservedFor`."""

    resource: str
    name: str
    uid: str
    api_group: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A ResourceClaim; pending where `allocation` is None."""

    namespace: str
    name: str
    spec: ClaimSpec
    uid: str = ""
    allocation: ClaimAllocation | None = None
    reserved_for: tuple[Consumer, ...] = ()
    deleting: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """A DeviceClass; `config` goes to the driver with source FromClass."""

    name: str
    selectors: tuple[str, ...] = ()
    config: tuple[OpaqueConfig, ...] = ()
    extended_resource_name: str | None = None
    origin: Origin | None = field(default=None, compare=False, repr=False)
