"""The models as JSON Schema draft-07, as YAML language servers read it. The models are the only source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dracfg.model.descriptions import DescribedSchema
from dracfg.model.kinds import KINDS, TEST_KINDS

ANY = "any"
"""The schema of any document, named like a kind's."""

_DRAFT = "http://json-schema.org/draft-07/schema#"


def schemas() -> dict[str, dict[str, Any]]:
    """File name without ending → schema: one a kind in lower case, and `any` for all of them."""
    found = {kind.lower(): kind_schema(kind) for kind in sorted({**KINDS, **TEST_KINDS})}
    return {ANY: _any_schema(), **found}


def schema_text(schema: Mapping[str, Any]) -> str:
    """A schema as it is written to a file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def kind_schema(kind: str) -> dict[str, Any]:
    """The schema of the documents of one kind. Raises KeyError for an unknown kind."""
    model = {**KINDS, **TEST_KINDS}[kind]
    made = _draft07(model.model_json_schema(schema_generator=DescribedSchema))
    definitions = made.pop("definitions", {})
    return {
        "$schema": _DRAFT,
        "title": kind,
        **made,
        "definitions": dict(sorted(definitions.items())),
    }


def _any_schema() -> dict[str, Any]:
    """Branches on `kind`, so that a mistake is reported for the kind that is meant.

    The schemas carry no `$id`, so that these references lead to the files beside this one.
    """
    kinds = sorted({**KINDS, **TEST_KINDS})
    return {
        "$schema": _DRAFT,
        "title": "Any dracfg document",
        "type": "object",
        "required": ["apiVersion", "kind", "metadata"],
        "properties": {
            "apiVersion": {"const": "dracfg.dev/v1alpha1"},
            "kind": {"enum": kinds},
        },
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
                "then": {"$ref": f"{kind.lower()}.json"},
            }
            for kind in kinds
        ],
    }


def _draft07(schema: Any) -> Any:
    """pydantic's 2020-12 as draft-07: `definitions`, no siblings of `$ref`, no `discriminator`.

    A key that may be left out may not be null: a key without a value is a slip of the pen.
    """
    if isinstance(schema, list):
        return [_draft07(inner) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        match key:
            case "$defs":
                made["definitions"] = {name: _draft07(inner) for name, inner in value.items()}
            case "$ref":
                made["$ref"] = value.replace("#/$defs/", "#/definitions/")
            case "discriminator":
                continue
            case "title" if isinstance(value, str):
                continue
            case "description" if isinstance(value, str):
                made["description"] = " ".join(value.split())
            case "properties":
                made["properties"] = {name: _draft07(inner) for name, inner in value.items()}
            case "default" if value is None:
                continue
            case "default" | "const" | "enum" | "examples":
                made[key] = value
            case "patternProperties":
                ((pattern, inner),) = value.items()
                made["propertyNames"] = {"pattern": pattern}
                made["additionalProperties"] = _draft07(inner)
            case "anyOf":
                options = [_draft07(inner) for inner in value if inner != {"type": "null"}]
                made |= options[0] if len(options) == 1 else {"anyOf": options}
            case _:
                made[key] = _draft07(value)
    if "$ref" in made and len(made) > 1:
        reference = made.pop("$ref")
        made = {**made, "allOf": [{"$ref": reference}]}
    return made
