"""What a driver preset holds, as typed facts.

The shapes mirror ``presets/schema.json``; ``presets/README.md`` says what each key means. Nothing
here knows where a preset came from, what a user wrote, or what a rule makes of a fact. ``None``
stands for a key that the preset leaves out; what nobody could find out is the word ``unknown``.
"""

# No deferred annotations here: ``build`` reads them as types.
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from inspect import get_annotations
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin

from dracfg.dataclass import dataclass

T = TypeVar("T")

MAIN = "main"
"""In place of a release: on the driver's main branch, in no release that the preset lists."""

NUMBERED = "<N>"
"""Ends a key of which the driver publishes one per number, such as ``memorySlice<N>``."""


@dataclass(frozen=True, slots=True)
class AttributeFact:
    name: str
    type: str
    since: str | None = None
    until: str | None = None
    device_types: tuple[str, ...] = ()
    gate: str | None = None
    kubernetes_gates: tuple[str, ...] = ()
    list_gate: str | None = None
    identity: bool = False
    optional: bool = False
    replaced_by: str | None = None
    values: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class RequestPolicyFact:
    """Amounts are quantities; ``default`` and ``max`` may be ``capacity``, the published value.

    ``when`` maps chart values to what they must be for the driver to publish this policy.
    """

    default: str
    min: str | None = None
    max: str | None = None
    step: str | None = None
    values: tuple[str, ...] = ()
    device_types: tuple[str, ...] = ()
    when: Mapping[str, str] = field(default_factory=dict)

    def holds(self, chart_values: Mapping[str, object], device_type: str | None = None) -> bool:
        """Whether a driver so installed publishes this policy on devices of that type."""
        if self.device_types and device_type not in self.device_types:
            return False
        given = {path: str(value) for path, value in chart_values.items()}
        return all(
            given.get(path, "").isdecimal() if wanted == NUMBERED else given.get(path) == wanted
            for path, wanted in self.when.items()
        )


@dataclass(frozen=True, slots=True)
class CapacityFact:
    name: str
    unit: str
    enforces: str
    since: str | None = None
    until: str | None = None
    device_types: tuple[str, ...] = ()
    gate: str | None = None
    request_policies: tuple[RequestPolicyFact, ...] = ()
    note: str | None = None

    @property
    def request_policy(self) -> RequestPolicyFact | None:
        """The policy where there is but one that holds however the driver is installed."""
        policies = self.request_policies
        if len(policies) != 1 or policies[0].when or policies[0].device_types:
            return None
        return policies[0]

    def policy_for(
        self, chart_values: Mapping[str, object], device_type: str | None = None
    ) -> RequestPolicyFact | None:
        """The policy of a driver installed with these values (dotted path -> value)."""
        held = (p for p in self.request_policies if p.holds(chart_values, device_type))
        return next(held, None)


@dataclass(frozen=True, slots=True)
class ModeFact:
    """When a driver publishes shareable devices, or counters, and what that needs."""

    when: str = "unknown"
    since: str | None = None
    gate: str | None = None
    value_path: str | None = None
    values: tuple[str, ...] = ()
    device_types: tuple[str, ...] = ()
    kubernetes_gates: tuple[str, ...] = ()
    set_per: str | None = None
    names: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceTypeFact:
    name: str
    attribute: str | None = None
    value: str | None = None
    when: str | None = None
    gate: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class GateNeed:
    gates: tuple[str, ...]
    at: str | None = None
    equals: str | None = None


@dataclass(frozen=True, slots=True)
class PrecedenceFact:
    """What a driver makes of several configs for one request, those of the class coming first.

    ``last`` and ``first`` read that one alone, ``merged`` lets the later one override field by
    field, ``one`` refuses the request.
    """

    takes: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class ConfigFact:
    """One kind of opaque parameters; ``schema`` is a draft-07 JSON Schema of an object.

    ``lookups`` maps a field that names an object to the one that names its namespace.
    """

    schema: Mapping[str, Any]
    api_version: str | None = None
    kind: str | None = None
    since: str | None = None
    device_types: tuple[str, ...] = ()
    allowed_in: tuple[str, ...] = ()
    needs_gates: tuple[GateNeed, ...] = ()
    lookups: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None

    def gates_for(self, parameters: Mapping[str, Any]) -> tuple[str, ...]:
        """The driver gates that these parameters need, in the order of the preset."""
        return tuple(
            gate
            for need in self.needs_gates
            if need.at is None or _value_at(parameters, need.at) == need.equals
            for gate in need.gates
        )


@dataclass(frozen=True, slots=True)
class GateFact:
    name: str
    stages: Mapping[str, str]
    default: bool
    excludes: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class KubernetesFact:
    min: str = "unknown"
    api: str = "unknown"
    runtime: tuple[str, ...] = ()
    gates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True, slots=True)
class DevicePluginFact:
    resources: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    cluster_wide_switch: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ExtendedNameFact:
    name: str
    when: str
    since: str | None = None
    value_path: str | None = None
    default: str | None = None
    freed_by: str | None = None


@dataclass(frozen=True, slots=True)
class CreateSwitch:
    """The chart value that keeps a class from being installed; ``disable`` is what to set."""

    value_path: str
    disable: Any
    since: str | None = None
    also_stops: str | None = None


@dataclass(frozen=True, slots=True)
class ClassFact:
    name: str
    device_types: tuple[str, ...] = ()
    selectors: tuple[str, ...] = ()
    since: str | None = None
    extended_resource_name: ExtendedNameFact | None = None
    create_switch: CreateSwitch | None = None
    config: Mapping[str, Any] | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ChartFact:
    name: str
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class ValueFact:
    path: str
    meaning: str
    default: Any = None
    since: str | None = None


@dataclass(frozen=True, slots=True)
class HelmFact:
    charts: tuple[ChartFact, ...] = ()
    values: Mapping[str, ValueFact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WebhookFact:
    ships: str = "unknown"
    kind: str | None = None
    since: str | None = None
    value_path: str | None = None
    default: bool | None = None
    path: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MetadataFact:
    """Device metadata files (KEP-5304)."""

    publishes: str = "unknown"
    gate: str | None = None
    value_path: str | None = None
    since: str | None = None
    library_versions: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """``yes``, ``no`` or ``unknown``, and where that is known from."""

    answer: str
    source: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Exclusivity:
    scope: str
    device_plugin: str
    dra: str


@dataclass(frozen=True, slots=True)
class Omission:
    distribution: str
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InstallerFact:
    name: str
    repository: str | None = None
    exclusive: Exclusivity | None = None
    classes: tuple[str, ...] = ()
    omits: tuple[Omission, ...] = ()
    note: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class BadVersion:
    attribute: str
    pattern: str
    effect: str
    source: str
    example: str | None = None


@dataclass(frozen=True, slots=True)
class DefectFact:
    """What the driver gets wrong up to a release. ``of`` is what meets it: `jointClaims`, claims that
    hold devices of several drivers.
    """

    of: str
    effect: str
    source: str
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class SourceFact:
    repository: str
    commit: str
    date: str
    also: tuple[str, ...] = ()


def build(shape: type[T], raw: Mapping[str, Any]) -> T:
    """Makes ``shape`` from a mapping in camelCase that the schema has accepted.

    In a mapping of facts the key becomes the first field of the fact; a bare word stands for a
    fact of which only the first field is known. A key without a field raises ``TypeError``.
    """
    makers = _makers(cast("Any", shape))
    return shape(**{(name := _snake(key)): makers.get(name, _kept)(raw[key]) for key in raw})


_Maker = Callable[[Any], Any]


@cache
def _makers(shape: type) -> Mapping[str, _Maker]:
    """By field, what makes its value of what stands in the file; {} for what is no fact."""
    return {name: _maker(hint) for name, hint in get_annotations(shape).items()}


@cache
def _maker(hint: Any) -> _Maker:
    if isinstance(hint, UnionType):
        return _maker(next(part for part in get_args(hint) if part is not type(None)))
    origin, inner = get_origin(hint), get_args(hint)
    if origin is tuple:
        return lambda raw: tuple(map(_maker(inner[0]), raw))
    if origin is Mapping:
        make, name = _maker(inner[1]), _name_field(inner[1])
        return lambda raw: {key: make(_keyed(name, key, raw[key])) for key in raw}
    if isinstance(hint, type) and (fields := _makers(hint)):
        first = next(iter(fields))
        return lambda raw: build(hint, raw if isinstance(raw, Mapping) else {first: raw})
    return _kept


def _kept(raw: Any) -> Any:
    return raw


def _name_field(hint: Any) -> str | None:
    """The field of a fact that a mapping has as its key."""
    first = next(iter(_makers(hint)), "") if isinstance(hint, type) else ""
    return first if first in ("name", "path") else None


def _keyed(name: str | None, key: str, raw: Any) -> Any:
    return {name: key, **raw} if name is not None and isinstance(raw, Mapping) else raw


@cache
def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def _value_at(parameters: Mapping[str, Any], path: str) -> Any:
    found: Any = parameters
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
