"""A published device, as the scheduler sees it. Knows neither files nor pools.

Shapes follow resource.k8s.io/v1 (kubernetes/api@v0.37.0-rc.0:resource/v1/types.go); older versions
are brought into this form when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Literal, TypeAlias

from dracfg.allocate.nodes import NodeSelection
from dracfg.cel import DeviceFacts, Semver
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Span
from dracfg.kube.quantity import Quantity
from dracfg.kube.requestpolicy import RequestPolicy
from dracfg.source.records import RecordedObject, Steps

AttributeType = Literal["int", "bool", "string", "version", "ints", "bools", "strings", "versions"]
AttributeValue = int | bool | str | tuple[int, ...] | tuple[bool, ...] | tuple[str, ...]
_Seen: TypeAlias = "int | bool | str | Semver"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A typed value; two are equal only where type and value are, as constraints have it."""

    type: AttributeType
    value: AttributeValue


Attributes = Mapping[str, Mapping[str, Attribute]]
"""domain → id → attribute; a key without a domain stands under the driver's name."""


@dataclass(frozen=True, slots=True)
class CapacityFact:
    """What one device has of a capacity, and how requests are rounded."""

    value: Quantity
    request_policy: RequestPolicy | None = None


@dataclass(frozen=True, slots=True)
class CounterSet:
    """A set of counters that devices of one pool draw from."""

    name: str
    counters: Mapping[str, Quantity]


@dataclass(frozen=True, slots=True)
class CounterConsumption:
    """What a device takes from one counter set; `counter_set` is its key in the pool."""

    counter_set: str
    counters: Mapping[str, Quantity]
    compatibility_groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint that the driver publishes; the effect is None (text), NoSchedule or NoExecute."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was read: a recorded object and the path inside it."""

    object: RecordedObject
    steps: Steps = ()

    def span(self, *steps: str | int, key: bool = False) -> Span:
        """The place of a value below, or of its key; see `RecordedObject.span`."""
        return self.object.span(*self.steps, *steps, key=key)


@dataclass(frozen=True)
class Device:
    """One device. (driver, pool, name) names it in the whole cluster.

    `origin` leads to the content of the device: where its `attributes` and `capacity` stand.
    Capacity keys are kept as published, since requests are compared with them letter by letter.
    """

    driver: str
    pool: str
    name: str
    nodes: NodeSelection
    attributes: Attributes
    capacity: Mapping[str, CapacityFact]
    allow_multiple_allocations: bool
    consumes_counters: tuple[CounterConsumption, ...]
    taints: tuple[Taint, ...]
    binds_to_node: bool
    binding_conditions: tuple[str, ...]
    binding_failure_conditions: tuple[str, ...]
    origin: Origin = field(compare=False, repr=False)

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of that name, as constraints look it up.

        `x` and `<driver>/x` are one name. None where the device does not publish it.
        """
        domain, slash, identifier = name.rpartition("/")
        return self.attributes.get(domain if slash else self.driver, {}).get(identifier)

    def capacity_fact(self, key: str) -> CapacityFact | None:
        """The capacity of that key, as requests look it up: `x` and `<driver>/x` are two keys."""
        return self.capacity.get(key)

    @cached_property
    def facts(self) -> DeviceFacts:
        """The device as selectors see it; a capacity without a domain stands under the driver's name."""
        capacity: dict[str, dict[str, Quantity]] = {}
        for key, fact in self.capacity.items():
            domain, slash, identifier = key.rpartition("/")
            capacity.setdefault(domain if slash else self.driver, {})[identifier] = fact.value
        return DeviceFacts(
            driver=self.driver,
            attributes={
                domain: {name: _seen(attribute) for name, attribute in held.items()}
                for domain, held in self.attributes.items()
            },
            capacity=capacity,
            allow_multiple_allocations=self.allow_multiple_allocations,
        )


def _seen(attribute: Attribute) -> _Seen | list[_Seen]:
    value, is_version = attribute.value, attribute.type.startswith("version")
    if isinstance(value, tuple):
        return [Semver.parse(str(item)) for item in value] if is_version else [*value]
    return Semver.parse(str(value)) if is_version else value
