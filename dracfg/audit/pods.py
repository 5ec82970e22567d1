"""A recorded Pod → what matters of it for the devices that it uses.

Shapes follow v1 Pod (kubernetes/api@v0.37.0-rc.0:core/v1/types.go). Knows neither claims nor devices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from dracfg.allocate.devices import Origin
from dracfg.dataclass import dataclass
from dracfg.source.fields import flag, mapping, maps, text
from dracfg.source.records import RecordedObject
from dracfg.source.times import parse_time

FINISHED = ("Succeeded", "Failed")
DEFAULT_SCHEDULER = "default-scheduler"


@dataclass(frozen=True, slots=True)
class PodClaim:
    """An entry of `spec.resourceClaims`. `claim` is the claim's name, None while none is known."""

    name: str
    claim: str | None
    template: str | None


@dataclass(frozen=True, slots=True)
class DeviceHealth:
    """What the kubelet says of one device of one container (KEP-4680).

    `resource` is `claim:<pod claim>/<request>` for devices of claims, `resource_id` the driver's name
    of the device.
    """

    container: str
    resource: str
    resource_id: str
    health: str
    message: str


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod. `claims` has the claim of extended resources as well, under an empty name.

    `waiting` is the reason and message of the first container that waits; `changed` is when Ready
    last became what it is, for a finished pod the time of its end. `has_containers_up` is None where
    no state of a container is known.
    """

    namespace: str
    name: str
    uid: str
    node: str | None
    phase: str
    ready: bool
    scheduler: str
    created: datetime | None
    scheduled: datetime | None
    changed: datetime | None
    deleted: datetime | None
    claims: tuple[PodClaim, ...]
    waiting: tuple[str, str] | None
    health: tuple[DeviceHealth, ...]
    scheduling_message: str | None
    has_containers_up: bool | None
    origin: Origin = field(compare=False, repr=False)

    @property
    def finished(self) -> bool:
        """Whether it ran to its end, so that its claims may be given back."""
        return self.phase in FINISHED

    @property
    def running(self) -> bool:
        return self.phase == "Running"

    @property
    def ref(self) -> str:
        return f"{self.namespace}/{self.name}"


def read_pod(item: RecordedObject) -> Pod | None:
    """The pod, or None where the object is none or has no name."""
    data = item.data
    name = text(data, "metadata", "name")
    if data["kind"] != "Pod" or data.get("apiVersion") != "v1" or name is None:
        return None
    conditions = {text(c, "type"): c for c in maps(data, "status", "conditions")}
    scheduled = conditions.get("PodScheduled", {})
    bound = scheduled.get("status") == "True"
    return Pod(
        namespace=text(data, "metadata", "namespace") or "default",
        name=name,
        uid=text(data, "metadata", "uid") or "",
        node=text(data, "spec", "nodeName"),
        phase=text(data, "status", "phase") or "Pending",
        ready=conditions.get("Ready", {}).get("status") == "True",
        scheduler=text(data, "spec", "schedulerName") or DEFAULT_SCHEDULER,
        created=parse_time(text(data, "metadata", "creationTimestamp")),
        scheduled=parse_time(text(scheduled, "lastTransitionTime")) if bound else None,
        changed=parse_time(text(conditions.get("Ready", {}), "lastTransitionTime")),
        deleted=parse_time(text(data, "metadata", "deletionTimestamp")),
        claims=pod_claims(data),
        waiting=_waiting(data),
        health=tuple(_health(data)),
        scheduling_message=None if bound else text(scheduled, "message"),
        has_containers_up=_has_containers_up(data),
        origin=Origin(item),
    )


def pod_claims(data: Mapping[str, object]) -> tuple[PodClaim, ...]:
    """The claims of a pod, with their names as far as its status tells them."""
    made = {
        text(status, "name"): text(status, "resourceClaimName")
        for status in maps(data, "status", "resourceClaimStatuses")
    }
    claims = [
        PodClaim(
            name,
            text(entry, "resourceClaimName") or made.get(name),
            text(entry, "resourceClaimTemplateName"),
        )
        for entry in maps(data, "spec", "resourceClaims")
        if (name := text(entry, "name")) is not None
    ]
    extended = text(data, "status", "extendedResourceClaimStatus", "resourceClaimName")
    return (*claims, PodClaim("", extended, None)) if extended is not None else tuple(claims)


def _containers(data: Mapping[str, object]) -> list[Mapping[str, object]]:
    kinds = ("initContainerStatuses", "containerStatuses")
    return [status for kind in kinds for status in maps(data, "status", kind)]


def _waiting(data: Mapping[str, object]) -> tuple[str, str] | None:
    for status in _containers(data):
        reason = text(status, "state", "waiting", "reason")
        if reason is not None and not flag(status, "ready"):
            return reason, text(status, "state", "waiting", "message") or ""
    return None


def _has_containers_up(data: Mapping[str, object]) -> bool | None:
    states = [mapping(status, "state") for status in _containers(data)]
    return any("running" in state for state in states) if any(states) else None


def _health(data: Mapping[str, object]) -> list[DeviceHealth]:
    return [
        DeviceHealth(
            text(status, "name") or "",
            text(resource, "name") or "",
            text(device, "resourceID") or "",
            text(device, "health") or "Unknown",
            text(device, "message") or "",
        )
        for status in _containers(data)
        for resource in maps(status, "allocatedResourcesStatus")
        for device in maps(resource, "resources")
    ]
