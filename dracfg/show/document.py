"""What all documents of this package have in common: their head, places, and specs as plain data."""

from __future__ import annotations

from typing import Any

from dracfg.check.places import place
from dracfg.lower.artifact import Origin
from dracfg.model.base import Spec
from dracfg.model.kinds import AnyDocument

SCHEMA_VERSION = 1

Document = dict[str, Any]
"""JSON data: mappings, lists, text, integers, booleans and null."""


def shown(kind: str, **fields: Any) -> Document:
    """A document `{schemaVersion, kind, …}`; fields that are None are left out."""
    return {"schemaVersion": SCHEMA_VERSION, "kind": kind} | present(**fields)


def present(**fields: Any) -> Document:
    """The fields that are not None, in the order given."""
    return {name: value for name, value in fields.items() if value is not None}


def linked(kind: str, document: AnyDocument, **fields: Any) -> Document:
    """The head of a linked form: its name, its place (`path:line:column`), what people wrote."""
    return shown(
        kind,
        name=document.name,
        origin=str(place(document, "metadata", "name")),
        description=document.metadata.description or None,
        **fields,
    )


def plain(spec: Spec) -> Document:
    """A spec with its defaults, keys as in YAML; what is not set is left out."""
    # Discriminators of the models look at YAML, not at models, which pydantic would warn of.
    found: Document = spec.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False)
    return found


def entry_index(origin: Origin) -> int:
    """The position in its list of the entry that an origin names.

    Raises ValueError where the origin names no entry of a list.
    """
    last = origin.pointer[-1] if origin.pointer else None
    if not isinstance(last, int):
        raise ValueError(f"{origin} is no entry of a list")
    return last
