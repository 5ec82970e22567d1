"""A driver as it runs on a platform: its document over its preset, with names as it publishes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from dracfg.dataclass import dataclass
from dracfg.link.presetdata import InstallerFact
from dracfg.link.presets import Preset
from dracfg.model import kinds

Shareable = Literal["always", "where-listed", "never"]


@dataclass(frozen=True, eq=False)
class Driver:
    """A driver as it runs on this platform."""

    name: str
    document: kinds.Driver
    preset: Preset | None

    @property
    def has_dra_driver(self) -> bool:
        """False for hardware that only a device plugin serves."""
        return self.preset is None or not self.preset.plugin_only

    @property
    def installer(self) -> InstallerFact | None:
        """What is known of whoever installs it; None for its own chart, and where nothing is known."""
        said = self.document.spec.installer
        return None if said is None or self.preset is None else self.preset.installer(said)

    @property
    def is_one_switch(self) -> bool:
        """Whether driver and device plugin are switched for a whole cluster at once."""
        if self.preset is not None and self.preset.device_plugin.cluster_wide_switch:
            return True
        only = self.installer.exclusive if self.installer is not None else None
        return only is not None and only.scope == "cluster"

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """Type of each attribute by its key as published."""
        known = {}
        if self.preset is not None:
            facts = self.preset.attributes_at(self.document.spec.version)
            known = {key: str(fact.type) for key, fact in facts.items()}
        return known | {
            self.spelling(key): kind for key, kind in self.document.spec.attributes.items()
        }

    @cached_property
    def capacities(self) -> tuple[str, ...]:
        """Every capacity that the driver may publish, spelled as it publishes it."""
        known: dict[str, None] = {}
        if self.preset is not None:
            known = dict.fromkeys(self.preset.capacities_at(self.document.spec.version))
        return tuple(known | dict.fromkeys(self.document.spec.capacity))

    @property
    def shareable(self) -> Shareable:
        """Whether devices are published with allowMultipleAllocations, and where."""
        said = self.document.spec.shareable
        if said is not None:
            return "where-listed" if said else "never"
        if self.preset is None:
            return "never"
        match self.preset.shareable.when:
            case "always":
                return "always"
            case "gate":
                gate = self.preset.shareable.gate
                on = gate is not None and self.document.spec.feature_gates.get(gate, False)
                return "where-listed" if on else "never"
            case _:
                return "never"

    @cached_property
    def identity_attributes(self) -> tuple[str, ...]:
        """Attributes that name one device, with their domain, of every release; sorted."""
        facts = self.preset.attributes if self.preset is not None else {}
        named = (key for key, fact in facts.items() if fact.identity)
        return tuple(sorted(key if "/" in key else f"{self.name}/{key}" for key in named))

    @property
    def shares_one_allocation(self) -> str:
        """yes, no or unknown: whether several pods or containers may use one claim."""
        return self.fact("sharesOneAllocation")

    def fact(self, name: str) -> str:
        """yes, no or unknown: the document's word on a fact of the preset, else the preset's."""
        said = {
            "sharesOneAllocation": self.document.spec.shares_one_allocation,
            "restoresSharesAfterRestart": self.document.spec.restores_shares_after_restart,
            "resetsAtUnprepare": self.document.spec.resets_at_unprepare,
        }.get(name)
        if said is not None:
            return "yes" if said else "no"
        known = self.preset.facts.get(name) if self.preset is not None else None
        return "unknown" if known is None else known.answer

    def spelling(self, key: str) -> str:
        """A capacity or attribute key as this driver publishes it; `x` and `<driver>/x` are one name."""
        bare = key.removeprefix(f"{self.name}/")
        full = f"{self.name}/{bare}"
        if key in self.document.spec.capacity:
            return key
        for own in (bare, full):
            if own in self.document.spec.capacity:
                return own
        published = self.preset.spelled(key) if self.preset is not None else None
        return published if published is not None else bare

    def enforcement(self, capacity: str) -> str:
        """hardware, driver, none or unknown: what holds a share to its amount of a capacity."""
        key = self.spelling(capacity)
        for said, how in self.document.spec.enforces.items():
            if self.spelling(said) == key:
                return str(how)
        if self.preset is not None:
            fact = self.preset.capacities_at(self.document.spec.version).get(key)
            if fact is not None:
                return str(fact.enforces)
        return "unknown"

    def unit(self, capacity: str) -> str | None:
        """bytes, bit/s, percent, count, cores or millicores; None where nothing says it."""
        key = self.spelling(capacity)
        for said, unit in self.document.spec.units.items():
            if self.spelling(said) == key:
                return str(unit)
        if self.preset is not None:
            fact = self.preset.capacity_fact(key, self.document.spec.version)
            if fact is not None:
                return fact.unit
        return None
