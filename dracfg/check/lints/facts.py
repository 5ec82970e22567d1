"""What a driver publishes, ready for look-ups by domain and name. Knows no expression."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from dracfg.dataclass import dataclass
from dracfg.link.driver import Driver
from dracfg.link.presetdata import MAIN, NUMBERED
from dracfg.link.presets import Preset


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """A name that another release publishes. `certain` where the release in use is known.

    `is_alike` where what replaces it holds the same value.
    """

    sentence: str
    replaced_by: str | None
    certain: bool
    is_alike: bool = False


@dataclass(frozen=True, slots=True)
class DriverFacts:
    """The names of one driver, each as `<domain>/<id>`.

    `attributes` map to a type (`string`, `ints`, …); `either` are attributes that are a list or one
    value, as a gate has it. `withdrawn` are names that this release does not publish, but another
    does. An empty mapping of attributes or capacities means that they are not known.
    """

    name: str
    attributes: Mapping[str, str]
    capacities: frozenset[str]
    either: frozenset[str] = frozenset()
    withdrawn: Mapping[str, Withdrawal] = field(default_factory=dict)

    @classmethod
    def of_driver(cls, driver: Driver) -> DriverFacts:
        """A driver of the catalog: its preset at the release in use, and what its document adds."""
        capacities = driver.capacities
        facts = cls(
            driver.name,
            {_full(key, driver.name): kind for key, kind in driver.attributes.items()},
            frozenset(_full(key, driver.name) for key in capacities),
        )
        if driver.preset is None:
            return facts
        return facts._with_preset(driver.preset, driver.document.spec.version)

    @classmethod
    def of_preset(cls, preset: Preset, version: str | None = None) -> DriverFacts:
        """A driver that only its preset describes."""
        name = preset.driver
        attributes = preset.attributes_at(version)
        facts = cls(
            name,
            {_full(key, name): fact.type for key, fact in attributes.items()},
            frozenset(_full(key, name) for key in preset.capacities_at(version)),
        )
        return facts._with_preset(preset, version)

    @property
    def domains(self) -> tuple[str, ...]:
        """Every domain of a name, the driver's own first."""
        own = (self.name,)
        found = (key.partition("/")[0] for key in (*self.attributes, *sorted(self.capacities)))
        return tuple(dict.fromkeys((*own, *found)))

    def knows(self, root: str) -> bool:
        """Whether the names of `attributes` or of `capacity` are known at all."""
        return bool(self.attributes if root == "attributes" else self.capacities)

    def type_of(self, key: str) -> str | None:
        """The type of an attribute."""
        found = _find(self.attributes, key)
        return None if found is None else self.attributes[found]

    def publishes(self, root: str, key: str) -> bool:
        """Whether there is such an attribute or capacity."""
        return _find(self.attributes if root == "attributes" else self.capacities, key) is not None

    def takes_lists(self, key: str) -> bool:
        """Whether the attribute is a list, always or by a gate."""
        return _find(self.either, key) is not None or (self.type_of(key) or "").endswith("s")

    def names(self, root: str, domain: str) -> tuple[str, ...]:
        """The names of a domain, without it; numbered ones have no name to offer."""
        known: Iterable[str] = self.attributes if root == "attributes" else self.capacities
        parts = (key.partition("/") for key in known)
        return tuple(
            name for owner, _, name in parts if owner == domain and not name.endswith(NUMBERED)
        )

    def _with_preset(self, preset: Preset, version: str | None) -> DriverFacts:
        lists = (fact for fact in preset.attributes.values() if fact.list_gate is not None)
        return DriverFacts(
            self.name,
            self.attributes,
            self.capacities,
            frozenset(_full(fact.name, self.name) for fact in lists),
            _withdrawn(self, preset, version),
        )


def _withdrawn(facts: DriverFacts, preset: Preset, version: str | None) -> Mapping[str, Withdrawal]:
    certain = version is not None and preset.release_index(version) is not None
    dropped = preset.dropped_at(version) if version is not None else {}
    here = f", and version {version} runs here" if certain else ""
    found: dict[str, Withdrawal] = {}
    for fact in preset.published:
        key = _full(fact.name, facts.name)
        if key in facts.attributes or key in facts.capacities:
            continue
        gone = dropped.get(fact.name) if certain else fact.until
        if gone is not None:
            sentence = f"{facts.name} publishes {fact.name} no more since {gone}{here}"
        elif fact.since == MAIN:
            sentence = f"{facts.name} publishes {fact.name} in no release yet{here}"
        else:
            sentence = f"{facts.name} publishes {fact.name} from {fact.since}{here}"
        instead = getattr(fact, "replaced_by", None)
        replaced_by = None if instead is None else _full(instead, facts.name)
        is_alike = replaced_by is not None and facts.type_of(replaced_by) == getattr(
            fact, "type", ""
        )
        found[key] = Withdrawal(sentence, replaced_by, certain, is_alike)
    return found


def _full(key: str, driver: str) -> str:
    return key if "/" in key else f"{driver}/{key}"


def _find(known: Iterable[str], key: str) -> str | None:
    if key in known:
        return key
    for name in known:
        stem = name.removesuffix(NUMBERED)
        if stem != name and re.fullmatch(rf"{re.escape(stem)}[0-9]+", key):
            return name
    return None
