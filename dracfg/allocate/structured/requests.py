"""What a claim asks for, made ready once for all nodes. Knows neither nodes nor devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from dracfg.allocate.claims import Claim, ClaimConstraint, DeviceClass, DeviceRequest
from dracfg.allocate.devices import Device
from dracfg.allocate.structured.behaviour import Behaviour
from dracfg.allocate.structured.features import Features
from dracfg.allocate.structured.outcomes import Failed
from dracfg.dataclass import dataclass

MOST_DEVICES = 32
"""AllocationResultsMaxSize of resource.k8s.io/v1: devices of one claim."""

_BLOCKING = ("NoSchedule", "NoExecute")

Signature = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Class, its selectors, the request's selectors: equal ones select the same devices."""


CapacityKey = tuple[tuple[str, int, str], ...]
"""Capacity requests in an order of their own: equal ones take the same of a device."""


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """A request, or an alternative of one. `failure` is what is wrong with it before any device."""

    claim: str
    request: str
    wanted: DeviceRequest
    alternative: bool
    device_class: DeviceClass | None
    failure: Failed | None
    result_name: str
    """`request`, or `request/alternative`: how results name it."""
    signature: Signature
    derived: Mapping[str, str]
    capacity_key: CapacityKey

    @property
    def takes_all(self) -> bool:
        return self.wanted.mode == "All"

    def tolerates(self, device: Device, any_effect: bool) -> bool:
        """Whether no taint of the device keeps the request from it."""
        return all(
            any(
                tolerated.effect in ("", taint.effect)
                and tolerated.key in ("", taint.key)
                and (tolerated.operator == "Exists" or tolerated.value == taint.value)
                for tolerated in self.wanted.tolerations
            )
            for taint in device.taints
            if any_effect or taint.effect in _BLOCKING
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlannedRequest:
    """One request with its alternatives; a plain one has a single ask."""

    name: str
    asks: tuple[Ask, ...]
    has_alternatives: bool
    failure: Failed | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """The pending claims of a pod and what their requests come to."""

    claims: tuple[Claim, ...]
    requests: tuple[tuple[PlannedRequest, ...], ...]

    @cached_property
    def constraints(self) -> tuple[ClaimConstraint, ...]:
        """Those of all claims."""
        return tuple(one for claim in self.claims for one in claim.spec.constraints)

    @cached_property
    def depth(self) -> int:
        """An upper bound of how deep the search goes."""
        return sum(
            2 + sum(2 + max(map(self._most, request.asks), default=0) for request in requests)
            for requests in self.requests
        )

    @staticmethod
    def _most(ask: Ask) -> int:
        return MOST_DEVICES if ask.takes_all else min(ask.wanted.count, MOST_DEVICES)

    @cached_property
    def least(self) -> Mapping[Ask, int] | None:
        """How many devices of a kind it takes at least, for plain requests of exact counts only.

        None where a request is of another sort, so that counting proves nothing.
        """
        sums: dict[Ask, int] = {}
        firsts: dict[Signature, Ask] = {}
        for requests in self.requests:
            total = 0
            for request in requests:
                if request.failure is not None or request.has_alternatives:
                    return None
                ask = request.asks[0]
                if ask.failure is not None or ask.takes_all or ask.wanted.admin_access:
                    return None
                if ask.wanted.capacity or ask.derived:
                    return None
                first = firsts.setdefault(ask.signature, ask)
                sums[first] = sums.get(first, 0) + ask.wanted.count
                total += ask.wanted.count
            if total > MOST_DEVICES:
                return None
        return sums


def plan_claims(
    claims: Sequence[Claim],
    classes: Mapping[str, DeviceClass],
    features: Features,
    behaviour: Behaviour,
) -> Plan:
    """The plan for pending claims."""
    planned = tuple(tuple(_requests(claim, classes, features, behaviour)) for claim in claims)
    return Plan(tuple(claims), planned)


def _requests(
    claim: Claim, classes: Mapping[str, DeviceClass], features: Features, behaviour: Behaviour
) -> Iterator[PlannedRequest]:
    label = f"{claim.namespace}/{claim.name}" if claim.namespace else claim.name
    refuses_capacity = behaviour.knows_capacity and not features.consumable_capacity
    for request in claim.spec.requests:
        alternative = bool(request.first_available)
        wanted = request.first_available or ((request.exactly,) if request.exactly else ())
        failure = None
        if not wanted:
            message = f"claim {label}, request {request.name}: it asks for nothing"
            failure = Failed("panic", message, label, request.name)
        elif alternative and not features.prioritized_list:
            failure = _disabled(label, request.name, "alternatives", "DRAPrioritizedList")
        elif refuses_capacity and any(one.capacity for one in wanted):
            failure = _disabled(label, request.name, "capacity", "DRAConsumableCapacity")
        asks = tuple(
            _ask(label, request.name, one, alternative, classes, features) for one in wanted
        )
        yield PlannedRequest(request.name, asks, alternative, failure)


def _ask(
    claim: str,
    request: str,
    wanted: DeviceRequest,
    alternative: bool,
    classes: Mapping[str, DeviceClass],
    features: Features,
) -> Ask:
    device_class = classes.get(wanted.device_class)
    failure = None
    if wanted.derived_attributes and not features.derived_attributes:
        failure = _disabled(claim, wanted.name, "derived attributes", "DRADerivedAttributes")
    elif wanted.admin_access and not features.admin_access:
        failure = _disabled(claim, wanted.name, "admin access", "DRAAdminAccess")
    elif device_class is None:
        named = wanted.device_class or "without a name"
        message = f"claim {claim}, request {wanted.name}: there is no device class {named}"
        failure = Failed("missing-class", message, claim, wanted.name)
    return Ask(
        claim=claim,
        request=request,
        wanted=wanted,
        alternative=alternative,
        device_class=device_class,
        failure=failure,
        result_name=f"{request}/{wanted.name}" if alternative else request,
        signature=(
            wanted.device_class,
            device_class.selectors if device_class is not None else (),
            wanted.selectors,
        ),
        derived=dict(wanted.derived_attributes),
        capacity_key=tuple(
            sorted((key, one.nano, one.format) for key, one in wanted.capacity.items())
        ),
    )


def _disabled(claim: str, request: str, what: str, gate: str) -> Failed:
    message = f"claim {claim}, request {request}: it asks for {what}, and {gate} is off"
    return Failed("feature-disabled", message, claim, request)
