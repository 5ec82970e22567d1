"""What fields mean, in the words that stand below them in the source.

They are wanted for schemas and explanations alone. Had pydantic itself to gather them, it would read the
sources of all models whenever one of them is imported, which took a third of that.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema


class DescribedSchema(GenerateJsonSchema):
    """Schemas of models whose fields are described; words of a field's own declaration are kept."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        model: type[BaseModel] = schema["cls"]
        properties: dict[str, dict[str, Any]] = made.get("properties", {})
        for name, field in model.model_fields.items():
            words = describe(model, name)
            place = properties.get(field.alias or name)
            if words is not None and place is not None:
                place.setdefault("description", words)
        return made


def describe(model: type[BaseModel], field: str) -> str | None:
    """What stands below a field where it was declared last."""
    for one in model.__mro__:
        if field in vars(one).get("__annotations__", ()):
            return _described(one.__module__).get(one.__qualname__, {}).get(field)
    return None


@cache
def _described(module: str) -> Mapping[str, Mapping[str, str]]:
    """The fields that are described, by the classes of a module."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: dict(_words(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _words(declared: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(declared.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                yield name, inspect.cleandoc(words)
