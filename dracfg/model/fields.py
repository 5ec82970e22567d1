"""A kind or a field as its schema describes it, for people who write documents.

Reads the JSON Schemas of the models and nothing else, so that it can't say what they don't.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.model.jsonschema import kind_schema
from dracfg.model.kinds import KINDS, TEST_KINDS

_Schema = Mapping[str, Any]
_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "map",
    "array": "list",
    "null": "nothing",
}


@dataclass(frozen=True, slots=True)
class Field:
    """A key: what it may hold in words, and what it is for; `default` as it would be written."""

    name: str
    type: str
    required: bool
    description: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """The keys of one form that a value may have; `name` tells forms apart, as `mode: consumable`."""

    name: str
    description: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Described:
    """A kind or field at `path` (`Tenant.spec.entitlements`), with the forms that it may have."""

    path: str
    field: Field
    variants: tuple[Variant, ...]


class UnknownPath(Exception):
    """A path that leads nowhere: `name` is the first word that is not known where it stands."""

    def __init__(self, name: str, inside: str, known: Sequence[str]) -> None:
        super().__init__(f"{inside or 'the language'} has no {name}")
        self.name = name
        self.inside = inside
        self.known = tuple(known)


def kinds() -> tuple[str, ...]:
    """Every kind of the language, by name."""
    return tuple(sorted({**KINDS, **TEST_KINDS}))


def describe(path: str) -> Described:
    """The field at the end of a path, KIND first, keys separated by dots; `spec` may be left out.

    Lists and maps of values are passed through: `Tenant.spec.entitlements.limit`. Raises UnknownPath.
    """
    kind, *keys = path.split(".")
    known = {name.lower(): name for name in kinds()}
    if kind.lower() not in known:
        raise UnknownPath(kind, "", kinds())
    kind = known[kind.lower()]
    root = kind_schema(kind)
    if keys and keys[0] not in root["properties"]:
        keys = ["spec", *keys]
    schema: _Schema = root
    here, required = kind, True
    for key in keys:
        forms = [form for form in _forms(root, schema) if key in form.get("properties", {})]
        if not forms:
            raise UnknownPath(key, here, _keys(root, schema))
        required = all(key in form.get("required", ()) for form in forms)
        schema = _joined([form["properties"][key] for form in forms])
        here = f"{here}.{key}"
    name = here.rpartition(".")[2]
    return Described(here, _field(root, name, schema, required), tuple(_variants(root, schema)))


def fields_of(kind: str) -> Iterator[tuple[str, Field]]:
    """Every field of a kind with its path, each before those inside it. Raises KeyError.

    Forms of one value that share a key are told once; a form inside itself is not entered again.
    """
    root = kind_schema(kind)
    yield from _inside(root, root, kind, ())


def _inside(
    root: _Schema, schema: _Schema, path: str, entered: tuple[_Schema, ...]
) -> Iterator[tuple[str, Field]]:
    forms = [form for form in _forms(root, schema) if form not in entered]
    for key in dict.fromkeys(key for form in forms for key in form["properties"]):
        having = [form for form in forms if key in form["properties"]]
        required = all(key in form.get("required", ()) for form in having)
        here, joined = f"{path}.{key}", _joined([form["properties"][key] for form in having])
        yield here, _field(root, key, joined, required)
        yield from _inside(root, joined, here, (*entered, *forms))


def _joined(schemas: Sequence[_Schema]) -> _Schema:
    """One schema for a key that several forms have: all that they say, and the default they share."""
    distinct = [schema for i, schema in enumerate(schemas) if schema not in schemas[:i]]
    if len(distinct) == 1:
        return distinct[0]
    said = dict.fromkeys(schema["description"] for schema in distinct if "description" in schema)
    made: dict[str, Any] = {"oneOf": distinct, "description": " Or: ".join(said)}
    defaults = [schema.get("default") for schema in distinct]
    return {**made, "default": defaults[0]} if len(set(map(str, defaults))) == 1 else made


def _keys(root: _Schema, schema: _Schema) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for form in _forms(root, schema) for key in form["properties"]))


def _options(root: _Schema, schema: _Schema) -> Iterator[_Schema]:
    """The schemas that a value may follow, references followed; a description goes along."""
    if "$ref" in schema:
        yield from _options(root, root["definitions"][schema["$ref"].rpartition("/")[2]])
    elif "allOf" in schema:
        yield from (option for part in schema["allOf"] for option in _options(root, part))
    elif parts := schema.get("oneOf") or schema.get("anyOf"):
        yield from (option for part in parts for option in _options(root, part))
    else:
        yield schema


def _forms(root: _Schema, schema: _Schema) -> Iterator[_Schema]:
    """The maps with named keys that a value is made of; lists and maps of values are entered."""
    for option in _options(root, schema):
        if "properties" in option:
            yield option
        elif "items" in option:
            yield from _forms(root, option["items"])
        elif isinstance(option.get("additionalProperties"), Mapping):
            yield from _forms(root, option["additionalProperties"])


def _variants(root: _Schema, schema: _Schema) -> Iterator[Variant]:
    for form in _forms(root, schema):
        properties = form["properties"]
        required = form.get("required", ())
        constants = {key: part["const"] for key, part in properties.items() if "const" in part}
        name = next((f"{key}: {value}" for key, value in constants.items() if key in required), "")
        fields = tuple(_field(root, key, part, key in required) for key, part in properties.items())
        yield Variant(name, form.get("description", ""), fields)


def _field(root: _Schema, name: str, schema: _Schema, required: bool) -> Field:
    options = list(_options(root, schema))
    described = schema.get("description") or (
        options[0].get("description", "") if len(options) == 1 else ""
    )
    default = schema.get("default")
    return Field(
        name, _type(root, schema), required, described, None if default is None else _plain(default)
    )


def _type(root: _Schema, schema: _Schema) -> str:
    words = (_word(root, option) for option in _options(root, schema))
    return " or ".join(dict.fromkeys(words))


def _word(root: _Schema, schema: _Schema) -> str:
    if "const" in schema:
        return _plain(schema["const"])
    if "enum" in schema:
        return " | ".join(map(_plain, schema["enum"]))
    if "items" in schema:
        return f"list of {_type(root, schema['items'])}"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"map to {_type(root, schema['additionalProperties'])}"
    kind = schema.get("type", "any value")
    return " or ".join(_WORDS.get(one, one) for one in ([kind] if isinstance(kind, str) else kind))


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
