"""What a device selector sees of a device, ready for lookups by what an expression reads."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

from dracfg.cel.semver import Semver
from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity

__all__ = ["OWN_DOMAIN", "AttributeValue", "DeviceFacts", "Read"]

AttributeValue: TypeAlias = "int | bool | str | Semver | list[Any]"
# Stands for the domain that is the device's driver name.
OWN_DOMAIN = "@driver"
READERS: Mapping[str, Any] = {"int": int, "bool": bool, "string": str, "version": Semver.parse}


class Read(NamedTuple):
    """One thing an expression may read.

    `field` is `driver`, `allowMultipleAllocations`, `attributes` or `capacity`. Without `id` the
    whole domain is read, without `domain` the whole map.
    """

    field: str
    domain: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The input of a device selector.

    `attributes` and `capacity` are keyed by domain, then by identifier. Names without a domain
    belong to the driver's.
    """

    driver: str
    attributes: Mapping[str, Mapping[str, AttributeValue]]
    capacity: Mapping[str, Mapping[str, Quantity]]
    allow_multiple_allocations: bool = False
    _keys: dict[Read, Hashable] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What has been read so far."""

    @classmethod
    def from_device(cls, driver: str, device: Mapping[str, Any]) -> DeviceFacts:
        """Read an element of `spec.devices` of a ResourceSlice, v1 or v1beta1 (`basic`).

        Raises ValueError for a value that is none of the API's.
        """
        body = device.get("basic", device)
        attributes: dict[str, dict[str, AttributeValue]] = {}
        for name, value in (body.get("attributes") or {}).items():
            domain, identifier = _qualify(name, driver)
            attributes.setdefault(domain, {})[identifier] = _attribute(name, value)
        capacity: dict[str, dict[str, Quantity]] = {}
        for name, value in (body.get("capacity") or {}).items():
            domain, identifier = _qualify(name, driver)
            amount = value["value"] if isinstance(value, Mapping) else value
            capacity.setdefault(domain, {})[identifier] = Quantity.parse(amount)
        return cls(driver, attributes, capacity, bool(body.get("allowMultipleAllocations")))

    def project(self, reads: tuple[Read, ...]) -> Hashable:
        """A key that is the same for two devices that agree on everything in `reads`."""
        try:
            return tuple(map(self._keys.__getitem__, reads))
        except KeyError:
            return tuple(map(self._read, reads))

    def project_whole(self, reads: tuple[Read, ...]) -> Hashable:
        """The same where some of `reads` are whole domains or whole maps."""
        return tuple(
            self._slice(read)
            if read.field in ("attributes", "capacity") and not read.id
            else self._read(read)
            for read in reads
        )

    def _read(self, read: Read) -> Hashable:
        if read.field == "driver":
            key: Hashable = self.driver
        elif read.field == "allowMultipleAllocations":
            key = self.allow_multiple_allocations
        else:
            held = self._held(read).get(self._domain(read), {})
            key = _key(held[read.id]) if read.id in held else None
        self._keys[read] = key
        return key

    def _slice(self, read: Read) -> Hashable:
        wanted = self._domain(read)
        return frozenset(
            (domain, name, _key(value))
            for domain, values in self._held(read).items()
            if domain and wanted in ("", domain)
            for name, value in values.items()
        )

    def _held(self, read: Read) -> Mapping[str, Mapping[str, AttributeValue | Quantity]]:
        return self.attributes if read.field == "attributes" else self.capacity

    def _domain(self, read: Read) -> str:
        return self.driver if read.domain == OWN_DOMAIN else read.domain


def _qualify(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _attribute(name: str, value: Mapping[str, Any]) -> AttributeValue:
    for kind, reader in READERS.items():
        if kind in value:
            result: AttributeValue = reader(value[kind])
            return result
        if f"{kind}s" in value:
            return [reader(item) for item in value[f"{kind}s"]]
    raise ValueError(f"the attribute {name} has none of {', '.join(READERS)} nor their plurals")


def _key(value: Any) -> Hashable:
    """A hashable stand-in; the type is part of it, as `True == 1` in Python but not in CEL.

    Made of plain values, as it is hashed for every selector.
    """
    if isinstance(value, list):
        return tuple(map(_key, value))
    if isinstance(value, Quantity):
        return (Quantity, value.nano)
    if isinstance(value, Semver):
        return (Semver, value.major, value.minor, value.patch, value.prerelease)
    return (type(value), value)
