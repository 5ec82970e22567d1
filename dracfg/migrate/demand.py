"""What one container asks for by extended resource names, taken apart: devices, and how much of each.

Knows no tenant and no tier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.kube.quantity import Quantity
from dracfg.migrate.facts import facts, is_extended, qualities_of
from dracfg.source.fields import mapping

SECTIONS = ("limits", "requests")


@dataclass(frozen=True, slots=True)
class Item:
    """So many devices under one resource name.

    `amounts` is how much of each device is meant, by capacity; a percentage is a text that ends in
    `%`. `others` are the names of what else was said of the devices, such as a priority. `count` is
    None where it is no whole number.
    """

    name: str
    count: int | None
    amounts: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every resource name that it stands for."""
        return (self.name, *qualities_of(self.name))

    @property
    def is_share(self) -> bool:
        return self.name.endswith(facts().shared_suffix)

    def __str__(self) -> str:
        much = ", ".join(f"{key} {amount}" for key, amount in self.amounts.items())
        return f"{self.name}: {'?' if self.count is None else self.count}" + (
            f" of {much}" if much else ""
        )


def items(container: Mapping[str, Any]) -> tuple[Item, ...]:
    """The devices that a container asks for, by name; an amount of 0 asks for none."""
    said = {
        name: amount
        for section in reversed(SECTIONS)
        for name, amount in mapping(container, "resources", section).items()
    }
    qualities = {key for name in said for key in qualities_of(name)} | facts().qualities.keys()
    found = []
    for name in sorted(said):
        count = _whole(said[name])
        if not is_extended(name) or name in qualities or count == 0:
            continue
        amounts: dict[str, str] = {}
        others = []
        for key, quality in qualities_of(name).items():
            if key not in said:
                continue
            if quality.capacity is None:
                others.append(key)
            else:
                amounts[quality.capacity] = f"{said[key]}{quality.unit}"
        found.append(Item(name, count, amounts, tuple(others)))
    return tuple(found)


def _whole(amount: Any) -> int | None:
    try:
        read = Quantity.parse(str(amount))
    except ValueError:
        return None
    return read.value() if read.is_whole() and read.nano >= 0 else None
