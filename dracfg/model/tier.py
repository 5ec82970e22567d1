"""kind: HardwareTier. One kind of device, by what its driver publishes about it."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from dracfg.model.base import (
    AttributeName,
    CapacityName,
    DriverName,
    ExtendedResource,
    Name,
    Quantity,
    Spec,
    tag_by_shape,
)
from dracfg.model.devicemetadata import ExposedMetadata
from dracfg.model.objectives import Objectives
from dracfg.model.reclaim import Reclaim

Text = Annotated[str, Field(min_length=1, max_length=64)]
Number = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


class AttributeRange(Spec):
    """A condition on an attribute other than one value."""

    min: str | int | None = None
    """The least version or number; versions are normalised to semantic versions."""
    max: str | int | None = None
    """The greatest version or number."""
    one_of: tuple[Text | Number, ...] | None = Field(default=None, min_length=1, max_length=32)
    """Any of these values."""
    exists: bool | None = None
    """Whether the attribute must be there, or must not."""


AttributeMatch = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[Number, Tag("number")]
    | Annotated[bool, Tag("flag")]
    | Annotated[AttributeRange, Tag("range")],
    Discriminator(tag_by_shape(text="text", number="number", flag="flag", map="range")),
]


class CapacityRange(Spec):
    """Bounds on a published capacity."""

    min: Quantity | None = None
    """The least that is published."""
    max: Quantity | None = None
    """The most that is published."""


class Match(Spec):
    """Which devices belong: all conditions hold."""

    attributes: dict[AttributeName, AttributeMatch] = {}
    capacity: dict[CapacityName, CapacityRange] = {}
    cel: tuple[Annotated[str, Field(min_length=1, max_length=10240)], ...] = Field(
        default=(), max_length=16
    )
    """Further CEL expressions over `device`, where the structured form can't say it."""


DeviceAttribute = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[Number, Tag("number")]
    | Annotated[bool, Tag("flag")]
    | Annotated[tuple[Text | Number | bool, ...], Tag("list")],
    Discriminator(tag_by_shape(text="text", number="number", flag="flag", list="list")),
]


class Device(Spec):
    """One device of the tier as modelled; stands in where no inventory is recorded."""

    attributes: dict[AttributeName, DeviceAttribute] = {}
    """What a device publishes, attribute by attribute."""
    capacity: dict[CapacityName, Quantity] = {}
    """What one device offers, every capacity that the driver publishes."""
    counters: dict[CapacityName, Quantity] = {}
    """The counter set that partitions of one device draw on."""


class AttributeParameter(Spec):
    """What requests may choose by an attribute."""

    attribute: AttributeName
    """The attribute that tenants may choose by."""
    values: tuple[Text | Number, ...] = Field(min_length=1, max_length=32)
    """The values that they may choose."""


class CapacityParameter(Spec):
    """What requests may choose by a capacity: devices with at least that much."""

    capacity: CapacityName
    """The capacity that tenants may choose by."""
    values: tuple[Quantity, ...] = Field(min_length=1, max_length=32)
    """The least amounts that they may choose."""


def _parameter_tag(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((key for key in ("attribute", "capacity") if key in value), None)


Parameter = Annotated[
    Annotated[AttributeParameter, Tag("attribute")] | Annotated[CapacityParameter, Tag("capacity")],
    Discriminator(_parameter_tag),
]


class HardwareTierSpec(Spec):
    """One kind of device."""

    driver: DriverName
    """The Driver that publishes the devices."""
    match: Match = Match.model_construct()
    device: Device = Device.model_construct()
    parameters: dict[Name, Parameter] = {}
    """What profiles may choose among the tier's devices by `choose`, such as memory or interconnect."""
    legacy_resource: ExtendedResource | None = None
    """The extended resource by which device plugins advertise this hardware."""
    takes_over_legacy_name: bool = False
    """Whether the tier's whole class answers to the legacy name; one tier per cluster and name."""
    expose: tuple[AttributeName, ...] = ()
    """Attributes that containers may read from device-metadata files."""
    device_metadata: ExposedMetadata | None = None
    """How those files are read, and what is done without one."""
    reclaim: Reclaim | None = None
    """What becomes of whole devices when pods, nodes or drivers fail."""
    objectives: Objectives | None = None
    """What claims of the tier may count on, on every cluster that has it."""
