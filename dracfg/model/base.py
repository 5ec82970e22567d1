"""What all kinds share: frozen specs that remember the node they were read from, and field types.

A model holds exactly what JSON Schema can say too; what needs a second document or arithmetic is
a rule in `check/`. So `schemas/` and the models agree on every input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from dracfg.diagnostics import Span
from dracfg.kube.quantity import Quantity as KubeQuantity
from dracfg.model.origin import origin_of, remember_copied, stand_alike
from dracfg.source import Map, Node, Seq, follow

API_VERSION = "dracfg.dev/v1alpha1"


class Spec(BaseModel):
    """Base of every model: frozen, strict, no unknown keys, camelCase in YAML.

    What validates is built with the first document of a kind, so defaults are constructed without.
    Modules of models don't put off their annotations, which would be text for pydantic to evaluate.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        defer_build=True,
    )

    @property
    def read_from(self) -> Map:
        """The YAML mapping this was read from; specs made by hand have none and raise."""
        origin, spec = origin_of(self)
        return origin.place_of(spec)

    @property
    def source_path(self) -> str:
        """The file this was read from; specs made by hand have none and raise."""
        return origin_of(self)[0].path

    def __eq__(self, other: object) -> bool:
        """Specs are the same where they say the same at the same place."""
        if self is other:
            return True
        if not isinstance(other, Spec) or self.__class__ is not other.__class__:
            return NotImplemented
        return stand_alike(self, other) and self.__dict__ == other.__dict__

    def __copy__(self) -> Self:
        made = super().__copy__()
        remember_copied(made, self)
        return made


def at(spec: Spec, *steps: str | int) -> Span:
    """The place of a value: `at(tenant.spec, "profiles", 0, "requests")`.

    Where the last step was left out of the file, the place of the nearest thing that holds it.
    """
    node, _ = follow(spec.read_from, steps)
    return node.span


def at_key(spec: Spec, *steps: str | int) -> Span:
    """The place of the key itself rather than of its value."""
    node, key = follow(spec.read_from, steps)
    return key.span if key is not None else node.span


# -- field types ---------------------------------------------------------------------------------

_QUANTITY = r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"


class _QuantityField:
    """Pydantic's view of a quantity: text or a number in YAML, `kube.Quantity` in the model."""

    @staticmethod
    def parse(value: object) -> KubeQuantity:
        if isinstance(value, KubeQuantity):
            return value
        if isinstance(value, bool) or value is None or isinstance(value, dict | list | tuple):
            raise PydanticCustomError("quantity", "a quantity is needed, such as 10Gi or 4")
        text = str(value)
        if text.startswith("-"):
            raise PydanticCustomError("quantity", "{text} is below zero", {"text": text})
        try:
            return KubeQuantity.parse(text)
        except ValueError as reason:
            raise PydanticCustomError("quantity", "{reason}", {"reason": str(reason)}) from None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.parse, serialization=core_schema.to_string_ser_schema()
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": ["string", "number"], "pattern": _QUANTITY, "minimum": 0}


Quantity: TypeAlias = Annotated[KubeQuantity, _QuantityField]


class _NumberField(_QuantityField):
    """A quantity that is written as a number, where text would mean something else."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "number", "minimum": 0}


PlainNumber: TypeAlias = Annotated[KubeQuantity, _NumberField]
"""An exact number; a unit would make it text."""

LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_KEY_NAME = r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)"
_DOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"


Name: TypeAlias = Annotated[str, StringConstraints(pattern=LABEL, max_length=63, min_length=1)]
"""A DNS label: lower-case letters, digits and dashes, at most 63 characters."""

DriverName: TypeAlias = Annotated[
    str, StringConstraints(pattern=SUBDOMAIN, max_length=63, min_length=1)
]
"""A DNS subdomain of at most 63 characters, such as gpu.nvidia.com."""

Subdomain: TypeAlias = Annotated[
    str, StringConstraints(pattern=SUBDOMAIN, max_length=253, min_length=1)
]

PartitionName: TypeAlias = Annotated[
    str, StringConstraints(pattern=SUBDOMAIN, max_length=40, min_length=1)
]
"""A partition profile as drivers write it: 1g.5gb, vf."""

AttributeName: TypeAlias = Annotated[
    str, StringConstraints(pattern=rf"^({_DOMAIN}/)?[A-Za-z_][A-Za-z0-9_]{{0,31}}$", max_length=96)
]
"""`[domain/]id`: a C identifier of at most 32 characters, with or without a domain."""

CapacityName: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=rf"^({_DOMAIN}/)?[A-Za-z_][-A-Za-z0-9_]{{0,31}}$", max_length=96),
]

QualifiedAttribute: TypeAlias = Annotated[
    str, StringConstraints(pattern=rf"^{_DOMAIN}/[A-Za-z_][A-Za-z0-9_]{{0,31}}$", max_length=96)
]
"""An attribute with its domain, as constraints need it: resource.kubernetes.io/pcieRoot."""

LabelKey: TypeAlias = Annotated[
    str, StringConstraints(pattern=rf"^({_DOMAIN}/)?{_KEY_NAME}$", max_length=317)
]
LabelValue: TypeAlias = Annotated[str, StringConstraints(pattern=rf"^{_KEY_NAME}?$", max_length=63)]
ExtendedResource: TypeAlias = Annotated[
    str, StringConstraints(pattern=rf"^{_DOMAIN}/{_KEY_NAME}$", max_length=317)
]
"""An extended resource name with its domain, such as nvidia.com/gpu."""

Reason: TypeAlias = Annotated[str, StringConstraints(min_length=3, max_length=500)]
"""Why an exception is made, for reviewers and auditors."""

Duration: TypeAlias = Annotated[str, StringConstraints(pattern=r"^([0-9]+(ms|s|m|h|d))+$")]
"""A length of time such as 30s, 15m or 24h."""

_DATE = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
Date: TypeAlias = Annotated[str, StringConstraints(pattern=_DATE)]
"""A day, such as 2026-11-29."""

PATTERN_WORDS = {
    LABEL: "lower-case letters, digits and dashes, a letter or digit first and last",
    SUBDOMAIN: "lower-case letters, digits, dashes and dots, as in gpu.nvidia.com",
    rf"^({_DOMAIN}/)?[A-Za-z_][A-Za-z0-9_]{{0,31}}$": (
        "letters, digits and underscores, at most 32, with or without a domain before a slash"
    ),
    rf"^({_DOMAIN}/)?[A-Za-z_][-A-Za-z0-9_]{{0,31}}$": (
        "letters, digits, dashes and underscores, at most 32, with or without a domain before a slash"
    ),
    rf"^{_DOMAIN}/[A-Za-z_][A-Za-z0-9_]{{0,31}}$": (
        "an attribute with its domain is needed, as in resource.kubernetes.io/pcieRoot"
    ),
    rf"^({_DOMAIN}/)?{_KEY_NAME}$": "a label key is needed, as in node.example.com/pool",
    rf"^{_KEY_NAME}?$": "a label value is needed: letters, digits, dashes, dots and underscores",
    rf"^{_DOMAIN}/{_KEY_NAME}$": "a resource name with its domain is needed, as in nvidia.com/gpu",
    _DATE: "a day is needed, as in 2026-11-29",
    r"^([0-9]+(ms|s|m|h|d))+$": "a length of time is needed, as in 30s, 15m or 24h",
}
"""What each pattern asks for, in words."""

Minor = Literal["1.34", "1.35", "1.36", "1.37"]
Count: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000_000)]
Positive: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000_000)]


NO_ENTRIES: Any = Field(default_factory=dict, json_schema_extra={"default": {}})
"""The default of a map. To make one takes less than the deep copy that pydantic makes of a `{}`."""


def tag_by_shape(**shapes: str) -> Callable[[Any], str | None]:
    """A discriminator for values that are told apart by what they are: text, number, flag, map.

    `tag_by_shape(text="plain", map="named")` gives the tag for what was read; a shape that is not
    named has no tag, which is a finding.
    """

    text = shapes.get("text", shapes.get("scalar"))

    def tag(value: Any) -> str | None:
        if isinstance(value, str):  # nearly all are, and a model takes long to be asked for
            return text
        if isinstance(value, bool):
            return shapes.get("flag")
        if isinstance(value, (dict, BaseModel)):
            return shapes.get("map")
        if isinstance(value, (list, tuple)):
            return shapes.get("list")
        if value is None:
            return None
        return shapes.get("number", shapes.get("scalar"))

    return tag


def data_of(node: Node) -> Any:
    """The plain data of a node: dicts, and tuples for lists."""
    if isinstance(node, Map):
        return {key: data_of(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, Seq):
        return tuple(data_of(item) for item in node.items)
    return node.value
