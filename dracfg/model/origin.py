"""Where specs were read from: all of a document share one origin, which finds a place when asked for it.

A fleet has hundreds of thousands of specs, and of few of them anybody asks where they stand. So no spec
keeps its own mapping; it is looked for by walking the document beside the mapping that it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from pydantic import BaseModel

from dracfg.model.shape import holders
from dracfg.source.files import UnreadMap
from dracfg.source.nodes import Map, Node, Seq

_ORIGIN = "_origin"
_COPIED = "_copied"
"""What private attributes of a spec hold: its origin, and of a copy the spec that was read."""

_set_private = vars(BaseModel)["__pydantic_private__"].__set__
"""Puts private attributes where pydantic keeps them, frozen or not.

Had pydantic itself to set them up, that would take as long as all of its validation.
"""


class Origin:
    """A document that was read, with the mapping that it is made of or a way to it."""

    def __init__(self, document: BaseModel, root: Map | UnreadMap) -> None:
        self.document = document
        self.root = root

    def __getstate__(self) -> dict[str, object]:
        """Without the places, which go by identity: that ends with this process, or this copy."""
        return {"document": self.document, "root": self.root}

    @property
    def path(self) -> str:
        """The file, which is not composed for that."""
        root = self.root
        return root.file.path if isinstance(root, UnreadMap) else root.span.path

    def place_of(self, spec: BaseModel) -> Map:
        """The mapping that a spec of the document was made of. Raises LookupError for any other."""
        found, place = self._places.get(id(spec), (None, None))
        if place is None or found is not spec:
            raise LookupError(f"{type(spec).__name__} is no part of what was read from {self.path}")
        return place

    @cached_property
    def _places(self) -> dict[int, tuple[BaseModel, Map]]:
        root = self.root.read() if isinstance(self.root, UnreadMap) else self.root
        return {id(spec): (spec, place) for spec, place in _beside(self.document, root)}


def remember(document: BaseModel, root: Map | UnreadMap) -> None:
    """Lets a document and all specs in it know the mapping that the document was made of."""
    private = {_ORIGIN: Origin(document, root)}
    left: list[Any] = [document]
    while left:
        one = left.pop()
        kind: Any = type(one)
        if kind is tuple:
            left += one
        elif (holding := _holding(kind)) is not None:
            _set_private(one, private)
            # What is not written is a default, which belongs to no document.
            for name in holding & one.__pydantic_fields_set__ if holding else ():
                left.append(one.__dict__[name])
        elif kind is dict:
            left += one.values()


def origin_of(spec: BaseModel) -> tuple[Origin, BaseModel]:
    """A spec's origin, and itself as it was read. Raises LookupError for specs made by hand."""
    private = spec.__pydantic_private__
    if not private:
        raise LookupError(f"{type(spec).__name__} was not read from a file")
    return private[_ORIGIN], private.get(_COPIED, spec)


def remember_copied(copy: BaseModel, spec: BaseModel) -> None:
    """Lets a copy know what it is one of: it stands where that does, though it holds other values."""
    if copy.__pydantic_private__:
        copy.__pydantic_private__.setdefault(_COPIED, spec)


def stand_alike(one: BaseModel, other: BaseModel) -> bool:
    """Whether two specs were read at the same place, or both nowhere."""
    if not one.__pydantic_private__ or not other.__pydantic_private__:
        return not one.__pydantic_private__ and not other.__pydantic_private__
    (origin, read), (other_origin, other_read) = origin_of(one), origin_of(other)
    if isinstance(origin.root, UnreadMap) or isinstance(other_origin.root, UnreadMap):
        # Most that differ do so by their files, and no file is to be composed for that.
        if origin is other_origin:
            return read is other_read
        if origin.root != other_origin.root:
            return False
    return origin.place_of(read) == other_origin.place_of(other_read)


@cache
def _holding(kind: type[object]) -> frozenset[str] | None:
    """The fields of a model that can hold models; None for a type that is no model."""
    return frozenset(holders(kind).values()) if issubclass(kind, BaseModel) else None


def _beside(made: Any, node: Node) -> Iterator[tuple[BaseModel, Map]]:
    """Every spec in what was made of a node, with its mapping."""
    if isinstance(node, Seq):
        for inner, below in zip(made, node.items, strict=True):
            yield from _beside(inner, below)
    elif isinstance(node, Map):
        if isinstance(made, dict):
            for key, inner in made.items():
                yield from _beside(inner, node.entries[key].value)
        elif isinstance(made, BaseModel):
            yield made, node
            for key, name in holders(type(made)).items():
                if key in node.entries:
                    yield from _beside(getattr(made, name), node.entries[key].value)
