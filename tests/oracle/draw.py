"""Draws for cases: chances and choices over one seeded generator, and what a case is about."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dracfg.kube.features import feature_matrix

T = TypeVar("T")
Object = dict[str, Any]

MINORS = ("1.34", "1.35", "1.36", "1.37")
DRIVERS = ("gpu.example.com", "nic.example.com")
NODE: Object = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node-1", "labels": {"zone": "east", "rack": "r7", "index": "7"}},
}

THEMES: Mapping[str, tuple[str, ...]] = {
    "counters": ("DRAPartitionableDevices",),
    "per-device-nodes": ("DRAPartitionableDevices",),
    "shares": ("DRAConsumableCapacity",),
    "fractions": ("DRAConsumableCapacity", "DRAFractionalCapacityRange"),
    "capacity": ("DRAConsumableCapacity",),
    "taints": ("DRADeviceTaints",),
    "binding": ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
    "alternatives": ("DRAPrioritizedList",),
    "admin": ("DRAAdminAccess",),
    "lists": ("DRAListTypeAttributes",),
    "groups": ("DRADeviceCompatibilityGroups", "DRAPartitionableDevices"),
    "operations": ("DRAOptionalNodeOperations",),
    "derived": ("DRADerivedAttributes",),
    "nodes": (),
    "generations": (),
    "broken": (),
    "many": (),
    "errors": (),
}
"""What a case may be about, and the gates without which the scheduler does not know of it."""

_RARE = ("generations", "broken", "many", "errors")


@dataclass(frozen=True, slots=True)
class Draw:
    """The generator of one case, its minor, the gates that are on, and its themes."""

    random: random.Random
    minor: str
    gates: frozenset[str]
    themes: frozenset[str]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def of(self, items: Sequence[T]) -> T:
        return self.random.choice(items)

    def some(self, items: Sequence[T], least: int = 0) -> list[T]:
        """A part of the items, in their order."""
        wanted = set(self.random.sample(range(len(items)), self.random.randint(least, len(items))))
        return [item for number, item in enumerate(items) if number in wanted]

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def about(self, theme: str) -> bool:
        return theme in self.themes


def known_gates(minor: str) -> tuple[str, ...]:
    """The gates of the minor that the allocator reacts to."""
    wanted = sorted({gate for needed in THEMES.values() for gate in needed})
    gates = feature_matrix().gates
    return tuple(name for name in wanted if gates[name].at(minor).stage != "absent")


def begin(minor: str, seed: int, number: int) -> Draw:
    """The draw of one case; the same for the same minor, seed and number."""
    generator = random.Random(f"{minor}/{seed}/{number}")
    known = known_gates(minor)
    gates = feature_matrix().gates
    match generator.randrange(4):
        case 0:
            on = {name for name in known if gates[name].at(minor).default}
        case 1 | 2:
            on = set(known)
        case _:
            on = {name for name in known if generator.random() < 0.6}
    themes = set()
    for theme, needed in THEMES.items():
        if not set(needed) <= set(known):
            continue
        likely = 0.22 if set(needed) <= on else 0.03
        if generator.random() < (0.06 if theme in _RARE else likely):
            themes.add(theme)
    return Draw(generator, minor, frozenset(on), frozenset(themes))
