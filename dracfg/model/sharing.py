"""kind: SharingPolicy. How devices of a tier are handed out: whole, cut, shared by amount, or in turns."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from dracfg.model.base import (
    CapacityName,
    Name,
    PartitionName,
    Positive,
    Quantity,
    Reason,
    Spec,
    tag_by_shape,
)
from dracfg.model.reclaim import Reclaim
from dracfg.model.tier import Match


class ApprovedTenancy(Spec):
    """Tenants of any kind may meet on one device; the note says who approved that."""

    any: Reason
    """Who approved that, and when."""


Tenancy = Annotated[
    Annotated[Literal["sameTenant", "group"], Tag("name")]
    | Annotated[ApprovedTenancy, Tag("approved")],
    Discriminator(tag_by_shape(text="name", map="approved")),
]

Isolation = Literal["hardware", "driver", "none"]
Guarantee = Literal["none", "fits", "nonBlocking"]


class Parameters(Spec):
    """Opaque parameters for the driver, as its configuration kinds define them."""

    api_version: str | None = None
    """Their apiVersion; a driver with one kind of parameters needs none."""
    kind: str | None = None
    """Their kind; a driver with one kind of parameters needs none."""
    values: dict[str, Any] = {}
    """The fields beside apiVersion and kind."""


class _Policy(Spec):
    guarantee: Guarantee = "fits"
    """What the checker must prove of the entitlements under this policy."""
    reclaim: Reclaim | None = None
    config: Parameters | None = None
    """Opaque parameters that every class of this policy carries."""


class Exclusive(_Policy):
    """One claim has the device alone; a variant of the built-in `whole` with its own parameters."""

    mode: Literal["exclusive"]
    """The whole device."""


class Partition(Spec):
    """A part of a device, published as a device of its own: a MIG profile, a virtual function."""

    name: PartitionName
    """What tenants name as the size."""
    match: Match
    """How the parts differ from the tier's own match; keys given here replace those of the tier."""
    consumes: dict[CapacityName, Quantity] = {}
    """What one part takes from the counters of the device."""
    per_device: Positive | None = None
    """The most parts of this kind on one device."""


class Partitioned(_Policy):
    """Devices are cut into parts."""

    mode: Literal["partitioned"]
    """Parts that are devices of their own."""
    tenancy: Tenancy
    """Who may meet on one device."""
    isolation: Isolation = "hardware"
    """What keeps the parts apart."""
    partitions: tuple[Partition, ...] = Field(min_length=1, max_length=32)


class CapacityPolicy(Spec):
    """Which amounts of one capacity may be asked for."""

    min: Quantity
    """The least."""
    max: Quantity
    """The most."""
    step: Quantity | None = None
    """Amounts are multiples of it, counted from the least."""
    default: Quantity | None = None
    """What a plain size leaves for this capacity, where the policy has several."""
    reserve: Quantity | None = None
    """What the driver keeps back on each device."""


class NamedSize(Spec):
    """A size over several capacities."""

    name: Name
    """What tenants name."""
    capacity: dict[CapacityName, Quantity] = Field(min_length=1)
    """The amount of each capacity."""


Size = Annotated[
    Annotated[Quantity, Tag("quantity")] | Annotated[NamedSize, Tag("named")],
    Discriminator(tag_by_shape(text="quantity", number="quantity", map="named")),
]


class Consumable(_Policy):
    """Several claims share one device, each with a stated amount (KEP-5075)."""

    mode: Literal["consumable"]
    """Shares by amount."""
    capacity: dict[CapacityName, CapacityPolicy] = Field(min_length=1)
    """The capacities that shares are amounts of."""
    sized_by: CapacityName | None = None
    """The capacity that plain sizes are an amount of; needed where there are several."""
    max_shares: Positive | None = None
    """The most claims on one device at a time."""
    tenancy: Tenancy
    """Who may meet on one device."""
    isolation: Isolation = "driver"
    """The least that must hold a share to its size."""
    accepts_declared: Reason | None = None
    """Why guarantees may rest on what the driver says it enforces, while no trial has shown it."""
    sizes: tuple[Size, ...] = Field(min_length=1, max_length=32)
    """The sizes that tenants may name."""


class TimeSliced(_Policy):
    """Claims take turns on one device; promises no capacity."""

    mode: Literal["timeSliced"]
    """Turns."""
    tenancy: Tenancy
    """Who may meet on one device."""
    isolation: Isolation = "none"
    """What keeps those who take turns apart."""
    replicas: Positive
    """How many consumers one device is meant for."""
    config: Parameters


SharingPolicySpec = Annotated[
    Exclusive | Partitioned | Consumable | TimeSliced, Field(discriminator="mode")
]
