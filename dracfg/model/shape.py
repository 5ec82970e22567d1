"""Walks the models themselves: which models can stand at a path of the language, or in a field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel


def models_at(model: type[BaseModel], steps: Sequence[str | int]) -> tuple[type[BaseModel], ...]:
    """The models that may stand at the end of `steps`; union tags in the path choose nothing."""
    here: list[Any] = [model]
    for step in steps:
        after: list[Any] = []
        for found in here:
            after += list(_below(found, step))
        if after:
            here = after
    return tuple(
        dict.fromkeys(
            found for found in here if isinstance(found, type) and issubclass(found, BaseModel)
        )
    )


@cache
def holders(model: type[BaseModel]) -> Mapping[str, str]:
    """The fields of a model that can hold models, by their keys in YAML."""
    return {
        field.alias or name: name
        for name, field in model.model_fields.items()
        if any(_classes(field.annotation))
    }


def _below(model: Any, step: str | int) -> Iterator[Any]:
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return
    for name, field in model.model_fields.items():
        if step in (field.alias, name):
            yield from _classes(field.annotation)


def _classes(annotation: Any) -> Iterator[Any]:
    """Every model named anywhere inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _classes(argument)
