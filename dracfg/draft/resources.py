"""Extended resource names → what they stand for: a driver, whole devices or parts, or no device.

Goes by presets, by the configuration of plugins and by the domain of the name; knows no node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from functools import cache

from dracfg.dataclass import dataclass
from dracfg.draft.facts import facts
from dracfg.kube.names import check_driver_name, check_extended_resource_name
from dracfg.link.presets import Preset, load_preset, preset_names
from dracfg.migrate.facts import domain, is_extended
from dracfg.migrate.facts import facts as plugin_facts


@dataclass(frozen=True, slots=True)
class Resource:
    """What one name stands for.

    `base` is the name of whole devices, `partition` the profile of a part. Without a `preset` the
    driver is named by the domain of the plugin's names.
    """

    name: str
    driver: str
    preset: Preset | None = field(compare=False, repr=False)
    base: str
    partition: str | None = None
    is_share: bool = False

    @property
    def has_dra(self) -> bool:
        """Whether a DRA driver for these devices is known."""
        return self.preset is not None and not self.preset.plugin_only


@dataclass(frozen=True, slots=True)
class Names:
    """How names are read on one cluster: those of SR-IOV, and every one that somebody asks for."""

    sriov: Mapping[str, str]
    asked: frozenset[str]

    def resource(self, name: str) -> Resource | None:
        """What a name stands for; None where it is no device, or the amount of another."""
        if not _is_device(name, self.asked):
            return None
        ending = plugin_facts().shared_suffix
        plain = name.removesuffix(ending)
        is_share = plain != name
        if plain in self.sriov:
            driver = facts().sriov_driver
            return Resource(name, driver, _preset(driver), plain, None, is_share)
        for base, patterns in plugin_facts().partitions.items():
            for pattern in patterns:
                part = _part(plain, pattern)
                driver = self._driver(base)
                if part is not None and plain != base and driver in _serving(plain):
                    return Resource(name, driver, _preset(driver), base, part, is_share)
        driver = self._driver(plain)
        return Resource(name, driver, _preset(driver), plain, None, is_share)

    def _driver(self, name: str) -> str:
        """The driver whose preset has the name; else the domain of the name."""
        found = _serving(name)
        for driver, amounts in facts().with_amounts.items():
            if driver in found and self.asked & set(amounts):
                return driver
        preferred = facts().preferred.get(name)
        if preferred in found:
            return preferred
        if found:
            return found[0]
        own = domain(name)
        return own if check_driver_name(own) is None else "unknown"


def _is_device(name: str, asked: Iterable[str]) -> bool:
    if not is_extended(name) or check_extended_resource_name(name) is not None:
        return False
    if any(fnmatchcase(name, pattern) for pattern in facts().not_devices):
        return False
    known = plugin_facts()
    endings = [end for end in known.quality_endings if name.endswith(end)]
    of_another = any(name.removesuffix(end) in asked for end in endings)
    return name not in known.qualities and not of_another


def _part(name: str, pattern: str) -> str | None:
    head, _, tail = pattern.partition("{partition}")
    found = re.fullmatch(f"{re.escape(head)}([A-Za-z0-9._+-]+){re.escape(tail)}", name)
    return found[1] if found else None


@cache
def _serving(name: str) -> tuple[str, ...]:
    """The drivers whose presets list a name, those that spell it out before those with a pattern."""
    exact, by_pattern = [], []
    for driver in preset_names():
        plugin = load_preset(driver).device_plugin
        if name in plugin.resources:
            exact.append(driver)
        elif any(fnmatchcase(name, pattern) for pattern in plugin.patterns):
            by_pattern.append(driver)
    return tuple(exact or by_pattern)


def _preset(driver: str) -> Preset | None:
    return load_preset(driver) if driver in preset_names() else None
