"""Driver presets: package data that describes each driver release by release.

A preset is found by its driver's name, among those that ship here and then among those that other
packages register under the entry point group ``dracfg.presets``. This module knows how a preset is
found and how its facts depend on a release; it judges no catalog. Releases are compared by the
order in which they were published, never by number: NVIDIA went from 25.12.0 to 0.4.0.
"""

# No deferred annotations here: ``build`` reads those of ``Preset`` as types.
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dracfg.dataclass import dataclass
from dracfg.link.presetdata import (
    MAIN,
    NUMBERED,
    Answer,
    AttributeFact,
    BadVersion,
    CapacityFact,
    ClassFact,
    ConfigFact,
    DefectFact,
    DevicePluginFact,
    DeviceTypeFact,
    GateFact,
    HelmFact,
    InstallerFact,
    KubernetesFact,
    MetadataFact,
    ModeFact,
    PrecedenceFact,
    SourceFact,
    WebhookFact,
    build,
)
from dracfg.packaged import packaged_text, parse_data, text_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints
    from importlib.resources.abc import Traversable

_PACKAGE, _FOLDER = "dracfg.link", "presets"
ENTRY_POINT_GROUP = "dracfg.presets"
"""Name: the driver. Value: a callable without arguments that returns the file to read."""


class _Dated(Protocol):
    @property
    def since(self) -> str | None: ...
    @property
    def until(self) -> str | None: ...


D = TypeVar("D", bound=_Dated)


@dataclass(frozen=True, slots=True)
class Preset:
    """One driver. A key is spelled as the driver publishes it: bare ones are of its own domain."""

    driver: str
    title: str
    device: str
    source: SourceFact
    releases: tuple[str, ...] = ()
    dra_driver: str | None = None
    device_types: Mapping[str, DeviceTypeFact] = field(default_factory=dict)
    attributes: Mapping[str, AttributeFact] = field(default_factory=dict)
    capacity: Mapping[str, CapacityFact] = field(default_factory=dict)
    shareable: ModeFact = field(default_factory=ModeFact)
    counters: ModeFact = field(default_factory=ModeFact)
    configs: tuple[ConfigFact, ...] = ()
    config_precedence: PrecedenceFact | None = None
    driver_gates: Mapping[str, GateFact] = field(default_factory=dict)
    kubernetes: KubernetesFact = field(default_factory=KubernetesFact)
    device_plugin: DevicePluginFact = field(default_factory=DevicePluginFact)
    classes: tuple[ClassFact, ...] = ()
    helm: HelmFact = field(default_factory=HelmFact)
    webhook: WebhookFact = field(default_factory=WebhookFact)
    device_metadata: MetadataFact = field(default_factory=MetadataFact)
    facts: Mapping[str, Answer] = field(default_factory=dict)
    installers: tuple[InstallerFact, ...] = ()
    bad_versions: tuple[BadVersion, ...] = ()
    defects: tuple[DefectFact, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def plugin_only(self) -> bool:
        """True for hardware that only a device plugin serves."""
        return self.dra_driver == "none"

    @property
    def published(self) -> tuple[AttributeFact | CapacityFact, ...]:
        """Every attribute and capacity of any release."""
        return (*self.attributes.values(), *self.capacity.values())

    def release_index(self, version: str) -> int | None:
        """The place of a release in order of publication; ``None``: not listed, so unknown."""
        release = version.removeprefix("v")
        return self.releases.index(release) if release in self.releases else None

    def attributes_at(self, version: str | None) -> Mapping[str, AttributeFact]:
        """What that release publishes; for an unknown one, all that was never dropped."""
        return self._at(self.attributes, version)

    def capacities_at(self, version: str | None) -> Mapping[str, CapacityFact]:
        """Like ``attributes_at``, for capacities."""
        return self._at(self.capacity, version)

    def gates_at(self, version: str | None) -> Mapping[str, str]:
        """Driver gate -> stage in that release; for an unknown one, the latest stage."""
        latest: dict[str, str] = {}
        for name, gate in self.driver_gates.items():
            for since, stage in gate.stages.items():
                if self._published(version, since, None):
                    latest[name] = stage
        return latest

    def defects_at(self, version: str | None, of: str) -> tuple[DefectFact, ...]:
        """What that release gets wrong in `of`; an unknown one counts as the newest."""
        return tuple(
            fact
            for fact in self.defects
            if fact.of == of and self._published(version, fact.since, fact.until)
        )

    def installer(self, name: str) -> InstallerFact | None:
        """The facts of who installs the driver, by the name that the preset gives."""
        return next((one for one in self.installers if one.name == name), None)

    def dropped_at(self, version: str) -> Mapping[str, str]:
        """Attribute or capacity -> the release that dropped it, at or before this one."""
        here = self.release_index(version)
        dropped: dict[str, str] = {}
        for fact in self.published:
            gone = None if fact.until is None else self.release_index(fact.until)
            if here is not None and gone is not None and gone <= here and fact.until is not None:
                dropped[fact.name] = fact.until
        return dropped

    def attribute(self, key: str, version: str | None = None) -> AttributeFact | None:
        """The fact for a bare, qualified or numbered key, as ``attributes_at`` has it."""
        return _find(self.attributes_at(version), self._spellings(key))

    def capacity_fact(self, key: str, version: str | None = None) -> CapacityFact | None:
        """The fact for a bare, qualified or numbered key, as ``capacities_at`` has it."""
        return _find(self.capacities_at(version), self._spellings(key))

    def spelled(self, key: str) -> str | None:
        """The published spelling of ``memory`` or ``<driver>/memory``, in any release."""
        known = [*self.attributes, *self.capacity]
        for spelling in self._spellings(key):
            if any(_matches(name, spelling) for name in known):
                return spelling
        return None

    def config(self, api_version: str | None, kind: str | None) -> ConfigFact | None:
        """The opaque parameters of that kind; some drivers' carry neither field."""
        for config in self.configs:
            if (config.api_version, config.kind) == (api_version, kind):
                return config
        return None

    def _spellings(self, key: str) -> tuple[str, ...]:
        domain, _, name = key.rpartition("/")
        if not domain:
            return (key, f"{self.driver}/{key}")
        return (key, name) if domain == self.driver else (key,)

    def _at(self, facts: Mapping[str, D], version: str | None) -> Mapping[str, D]:
        return {
            name: fact
            for name, fact in facts.items()
            if self._published(version, fact.since, fact.until)
        }

    def _published(self, version: str | None, since: str | None, until: str | None) -> bool:
        here = None if version is None else self.release_index(version)
        if here is None:
            return until is None
        begun = since is None or (since != MAIN and self.releases.index(since) <= here)
        ended = until is not None and until != MAIN and self.releases.index(until) <= here
        return begun and not ended


def preset_names() -> tuple[str, ...]:
    """Every driver that has a preset, sorted. Reads no preset."""
    from importlib.resources import files

    built_in = {
        file.name.removesuffix(".yaml")
        for file in files(_PACKAGE).joinpath(_FOLDER).iterdir()
        if file.name.endswith(".yaml")
    }
    return tuple(sorted(built_in | _registered().names))


@cache
def load_preset(name: str) -> Preset:
    """The preset of that driver.

    Raises ``KeyError`` where there is none and ``ValueError`` where a registered one is wrong.
    """
    built_in = packaged_text(_PACKAGE, f"{_FOLDER}/{name}.yaml") if "/" not in name else None
    if built_in is not None:
        return build(Preset, parse_data(built_in))
    for entry in _registered().select(name=name):
        raw = _read(entry.load()())
        problems = tuple(preset_problems(raw))
        if not problems and raw["driver"] != name:
            problems = (f"driver: {raw['driver']} is registered as {name}",)
        if problems:
            raise ValueError(f"preset {name} of {entry.value}: {'; '.join(problems)}")
        return build(Preset, raw)
    raise KeyError(name)


def preset_problems(raw: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the content of a preset file, a sentence each."""
    # Only a preset from elsewhere is checked at run time, so the library is loaded late.
    from jsonschema import Draft7Validator

    schema = json.loads(text_of(_PACKAGE, f"{_FOLDER}/schema.json"))
    errors = list(Draft7Validator(schema).iter_errors(raw))
    if errors:
        yield from (f"{error.json_path}: {error.message}" for error in errors)
        return
    preset = build(Preset, raw)
    for where, release in _releases_named(raw):
        if release not in (MAIN, *preset.releases):
            yield f"{where}: release {release} is not listed"
    for where, names, known in _names_used(preset):
        yield from (f"{where}: {name} is not described" for name in names if name not in known)


def _releases_named(raw: Any, where: str = "$") -> Iterator[tuple[str, str]]:
    if isinstance(raw, list):
        for place, item in enumerate(raw):
            yield from _releases_named(item, f"{where}[{place}]")
    if not isinstance(raw, dict):
        return
    for key, value in raw.items():
        if key in ("since", "until") and isinstance(value, str):
            yield f"{where}.{key}", value
        elif key == "stages":
            yield from ((f"{where}.{key}", release) for release in value)
        elif key != "schema":
            yield from _releases_named(value, f"{where}.{key}")


def _names_used(preset: Preset) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, Any]]]:
    for attribute in preset.attributes.values():
        if attribute.list_gate is not None:
            yield attribute.name, (attribute.list_gate,), preset.driver_gates
    for fact in preset.published:
        yield fact.name, fact.device_types, preset.device_types
        if fact.gate is not None:
            yield fact.name, (fact.gate,), preset.driver_gates
    for gate in preset.driver_gates.values():
        yield gate.name, (*gate.excludes, *gate.requires), preset.driver_gates
    for amount in preset.capacity.values():
        for policy in amount.request_policies:
            yield amount.name, policy.device_types, preset.device_types
    for shown in preset.classes:
        yield shown.name, shown.device_types, preset.device_types
    for config in preset.configs:
        needed = tuple(gate for need in config.needs_gates for gate in need.gates)
        yield config.kind or "configs", needed, preset.driver_gates
        yield config.kind or "configs", config.device_types, preset.device_types


def _find(facts: Mapping[str, D], spellings: tuple[str, ...]) -> D | None:
    for spelling in spellings:
        for name, fact in facts.items():
            if _matches(name, spelling):
                return fact
    return None


def _matches(name: str, key: str) -> bool:
    if not name.endswith(NUMBERED):
        return name == key
    return (
        name == key
        or re.fullmatch(re.escape(name.removesuffix(NUMBERED)) + "[0-9]+", key) is not None
    )


def _registered() -> "EntryPoints":
    """What other packages register; few runs ask, and the library brings many modules."""
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINT_GROUP)


def _read(file: "Traversable") -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    raw: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=loader)
    return raw
