"""The order of keys: that of the fields of the model which a map was read into.

A map whose keys are free, such as attributes or labels, has none and keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic.fields import FieldInfo

from dracfg.format.concrete import Block, Flow, FlowPart, Page, Part, Position, Value
from dracfg.model.base import Spec

Orders = Mapping[Position, Mapping[str, int]]
"""Where a map begins → the place of each key that it may have."""

_DIRECTIVE = "# dracfg:"


def key_orders(document: Spec) -> dict[Position, Mapping[str, int]]:
    """The orders of all maps of a document that were read into a model of their own."""
    orders = {place: _form_order(model) for place, model in _models(document)}
    # Of a document all kinds share how it begins: apiVersion, kind, metadata.
    return {**orders, **{place: _order(type(document).model_fields) for place in _start(document)}}


def _models(value: Any) -> Iterator[tuple[Position, type[Spec]]]:
    if isinstance(value, Spec):
        yield from ((place, type(value)) for place in _start(value))
        for name in type(value).model_fields:
            yield from _models(getattr(value, name))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _models(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _models(inner)


def _start(spec: Spec) -> Iterator[Position]:
    """Where a spec stands; nothing for one that nobody wrote, as a default."""
    try:
        span = spec.read_from.span
    except LookupError:
        return
    yield span.line, span.column


def _form_order(model: type[Spec]) -> Mapping[str, int]:
    """What a form has of its own, as `mode` or `engine`, before what it shares with others."""
    shared = {name for base in model.__bases__ for name in getattr(base, "model_fields", ())}
    fields = model.model_fields
    own = {name: field for name, field in fields.items() if name not in shared}
    return _order({**own, **fields})


def _order(fields: Mapping[str, FieldInfo]) -> Mapping[str, int]:
    return {field.alias or name: place for place, (name, field) in enumerate(fields.items())}


def ordered(page: Page, orders: Orders) -> Page:
    """A document with the keys of its maps in order, each with the comments that are its own."""
    root = page.root
    is_told = any(line.startswith(_DIRECTIVE) for line in page.header)
    value = _value(root.value, orders, may_lead=not is_told, leads_alone=True)
    return replace(page, root=replace(root, value=value))


def _value(value: Value, orders: Orders, *, may_lead: bool, leads_alone: bool) -> Value:
    """With `leads_alone` the first key stands behind something else's start, so that comments above
    it would be taken for the other's: a key that has some does not become the first.
    """
    if isinstance(value, Flow):
        return _flow(value, orders)
    if not isinstance(value, Block):
        return value
    parts = tuple(_part(part, orders) for part in value.parts)
    if value.is_map and (order := orders.get(value.position)) is not None:
        moved = sorted(parts, key=lambda part: _place(part, order))
        is_led = moved[0] is not parts[0]
        hides = leads_alone and (any(moved[0].above) or not may_lead)
        if not (is_led and hides):
            parts = tuple(moved)
    return replace(value, parts=parts)


def _part(part: Part, orders: Orders) -> Part:
    leads_alone = part.key is None
    return replace(part, value=_value(part.value, orders, may_lead=True, leads_alone=leads_alone))


def _place(part: Part, order: Mapping[str, int]) -> int:
    assert part.key is not None
    return order.get(part.key.text or part.key.raw, len(order))


def _flow(flow: Flow, orders: Orders) -> Flow:
    parts = [replace(one, value=_inner(one, orders)) for one in flow.parts]
    if flow.is_map and (order := orders.get(flow.position)) is not None:
        parts.sort(key=lambda one: _flow_place(one, order))
    return replace(flow, parts=tuple(parts))


def _inner(part: FlowPart, orders: Orders) -> Any:
    return _flow(part.value, orders) if isinstance(part.value, Flow) else part.value


def _flow_place(part: FlowPart, order: Mapping[str, int]) -> int:
    assert part.key is not None
    return order.get(part.key.text or part.key.raw, len(order))
