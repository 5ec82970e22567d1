"""Opaque parameters against a JSON Schema (draft-07): where they don't fit, in plain words.

Knows no driver and no document. Nothing is fetched: a schema that refers outside itself is unusable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dracfg.dataclass import dataclass

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Path = tuple[str | int, ...]

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a map",
    "array": "a list",
    "null": "nothing",
}


@dataclass(frozen=True, slots=True)
class ParameterFault:
    """A value that does not fit. `at_key`: its key is what is wrong, not the value.

    `found` is the value where it is a scalar; `expected` lists the values that would do.
    """

    path: Path
    message: str
    found: str | None = None
    expected: tuple[str, ...] = ()
    at_key: bool = False


@dataclass(frozen=True, slots=True)
class UnusableSchema:
    """Why a schema judges nothing; `path` leads to the place in it."""

    path: Path
    message: str


def parameter_faults(
    parameters: Mapping[str, Any], schema: Mapping[str, Any]
) -> tuple[ParameterFault, ...] | UnusableSchema:
    """Where the parameters break the schema, in the order of the places; empty where they fit."""
    # Imported here: most catalogs have no opaque parameters.
    from jsonschema import Draft7Validator
    from referencing import Registry

    unusable = _unusable(schema)
    if unusable is not None:
        return unusable
    validator = Draft7Validator(schema, registry=Registry())
    errors = validator.iter_errors(_json(parameters))
    found = (fault for error in errors for fault in _explain(error))
    return tuple(sorted(dict.fromkeys(found), key=lambda f: (str(f.path), f.message)))


def _unusable(schema: Mapping[str, Any]) -> UnusableSchema | None:
    """What is wrong with the schema itself: it breaks its own rules, or a reference is lost."""
    from jsonschema import Draft7Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT7

    try:
        Draft7Validator.check_schema(schema)
    except SchemaError as fault:
        return UnusableSchema(tuple(fault.absolute_path), fault.message)
    known = Registry().with_resource("", DRAFT7.create_resource(schema)).resolver()
    for path, reference in _references(schema, ()):
        if not reference.startswith("#"):
            return UnusableSchema(path, f"{reference} lies outside it")
        try:
            known.lookup(reference)
        except Unresolvable:
            return UnusableSchema(path, f"{reference} leads nowhere")
    return None


def _explain(error: ValidationError) -> Iterator[ParameterFault]:
    path: Path = tuple(error.absolute_path)
    value: Any = error.instance
    rule: Any = error.validator_value
    found = None if isinstance(value, dict | list) else _text(value)
    match error.validator:
        case "additionalProperties" if isinstance(rule, bool):
            schema: Any = error.schema
            allowed = sorted(schema.get("properties", {}))
            for key in _unexpected(schema, value):
                yield ParameterFault((*path, key), "is no field of it", key, tuple(allowed), True)
        case "propertyNames":
            yield ParameterFault(path, f"has a key {_text(value)} that can't stand", found)
        case "required":
            for key in rule:
                if key not in value:
                    yield ParameterFault(path, f"lacks {key}", at_key=bool(path))
        case "enum":
            options = tuple(_text(option) for option in rule)
            yield ParameterFault(path, f"can't be {found or 'that'}", found, options)
        case "const":
            yield ParameterFault(path, f"can't be {found or 'that'}", found, (_text(rule),))
        case "type":
            names = [rule] if isinstance(rule, str) else list(rule)
            wanted = " or ".join(_TYPES.get(name, name) for name in names)
            yield ParameterFault(path, f"must be {wanted}", found)
        case "not":
            yield ParameterFault(path, "is not allowed there", found, at_key=bool(path))
        case "pattern":
            yield ParameterFault(path, f"must match {rule}", found)
        case "minimum" | "exclusiveMinimum":
            yield ParameterFault(path, f"must be {_bound(error, 'at least', 'more than')}", found)
        case "maximum" | "exclusiveMaximum":
            yield ParameterFault(path, f"must be {_bound(error, 'at most', 'less than')}", found)
        case "anyOf" | "oneOf" if error.context:
            yield from _explain(_nearest(error.context))
        case _:
            yield ParameterFault(path, f"breaks {error.validator}: {error.message}", found)


def _nearest(errors: list[ValidationError]) -> ValidationError:
    """The alternative that came furthest before it failed."""
    return max(errors, key=lambda error: (len(error.absolute_path), error.validator != "type"))


def _unexpected(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[str]:
    patterns = schema.get("patternProperties", {})
    known = schema.get("properties", {})
    for key in value:
        if key not in known and not any(re.search(pattern, key) for pattern in patterns):
            yield key


def _bound(error: ValidationError, inclusive: str, exclusive: str) -> str:
    words = exclusive if str(error.validator).startswith("exclusive") else inclusive
    return f"{words} {error.validator_value}"


def _references(schema: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):
                yield (*path, key), value
            else:
                yield from _references(value, (*path, key))
    elif isinstance(schema, list):
        for i, value in enumerate(schema):
            yield from _references(value, (*path, i))


def _json(value: Any) -> Any:
    """The value as JSON has it: decimal numbers become floats."""
    if isinstance(value, Mapping):
        return {key: _json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    return float(value) if isinstance(value, Decimal) else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
