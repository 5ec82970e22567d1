"""The JSON Schema of the report (draft-07), made from the types of its sections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dracfg.diagnostics.render.document import SCHEMA_VERSION
from dracfg.report.document import KIND, adapter

_DRAFT = "http://json-schema.org/draft-07/schema#"


def report_schema() -> dict[str, Any]:
    """The schema of the document (draft-07); every key is there, absent values are null."""
    made = _draft07(adapter().json_schema(mode="serialization", by_alias=True))
    head = {"schemaVersion": {"const": SCHEMA_VERSION}, "kind": {"const": KIND}}
    return {
        "$schema": _DRAFT,
        "title": KIND,
        "description": "What `dracfg report --format json` writes.",
        "type": "object",
        "required": [*head, *made["required"]],
        "properties": {**head, **made["properties"]},
        "definitions": dict(sorted(made["definitions"].items())),
    }


def _draft07(schema: Any) -> Any:
    """pydantic's 2020-12 in the words of draft-07, without titles that only repeat names."""
    if isinstance(schema, list):
        return [_draft07(inner) for inner in schema]
    if isinstance(schema, str):
        return schema.replace("#/$defs/", "#/definitions/")
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        match key:
            case "$defs":
                made["definitions"] = {name: _draft07(inner) for name, inner in value.items()}
            case "properties":
                made["properties"] = {name: _draft07(inner) for name, inner in value.items()}
            case "title":
                continue
            case "description":
                made["description"] = " ".join(value.split())
            case _:
                made[key] = _draft07(value)
    return made
