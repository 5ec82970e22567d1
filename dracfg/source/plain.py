"""Text → plain data, where nothing needs to be said about it.

Most files are sound, and of most values nobody asks where they stand. So a file is read without its
places first, at a fraction of the cost; whatever may be a fault, or can't be told apart here, is left
to the composer, which finds the words and the places for it. Knows no file system and no input language.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from dracfg.source.composer import LOADER, MAX_DEPTH, MAX_GROWTH
from dracfg.source.scalars import AmbiguousScalar, resolve

MAX_LENGTH = 1_000_000
"""Characters of a text that can't hold more values than the composer admits."""

Plain = tuple[dict[str, Any], ...]
"""The documents of a text, each of them a map without a gap: dicts, tuples for lists, and values.

No two values share a dict.
"""


class _Unclear(Exception):
    """Something that only the composer can judge; among anchors, what no alias can be read for."""


def read_plain(
    text: str, resolve: Callable[[str], Any] = resolve, *, text_keys: bool = False
) -> Plain | None:
    """The data of all documents; None where the composer must be asked, or there is no document.

    `resolve` gives the value of a plain scalar, None where there is none, and raises AmbiguousScalar. Keys
    are told by their text; with `text_keys` those that are no text are left to the composer too.
    """
    if len(text) > MAX_LENGTH:
        return None
    try:
        loader = LOADER(text)
        try:
            return _read(loader.get_event, resolve, text_keys)
        finally:
            loader.dispose()
    except (yaml.YAMLError, AmbiguousScalar, _Unclear):
        return None


def freeze(plain: Plain) -> bytes:
    """Data as bytes that `thaw` reads."""
    return pickle.dumps(plain, protocol=5)


def thaw(kept: bytes) -> Plain:
    """The data that was frozen.

    The bytes may come from a folder that anybody could write to. Raises pickle.UnpicklingError for those
    that name anything but values.
    """
    plain: Plain = _Thawer(io.BytesIO(kept)).load()
    return plain


class _Thawer(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) != (Decimal.__module__, Decimal.__qualname__):
            raise pickle.UnpicklingError(f"{module}.{name} is no value of a document")
        return Decimal


def _read(
    next_event: Callable[[], Any], resolve: Callable[[str], Any], text_keys: bool
) -> Plain | None:
    documents: list[Any] = []
    outer: list[tuple[Any, str | None, str | None]] = []
    held: Any = documents
    key: str | None = None
    anchor: str | None = None
    anchors: dict[str, Any] = {}
    grown = 0
    # Told apart by type, the most frequent first: this is done for each word of each file.
    while (event := next_event()) is not None:
        kind = type(event)
        if kind is ScalarEvent:
            if event.tag is not None:
                raise _Unclear
            text = value = event.value
            if not event.style and (value := resolve(text)) is None:
                raise _Unclear
            if key is None and type(held) is dict:
                if text in held or event.anchor or (text_keys and type(value) is not str):
                    raise _Unclear
                key = text
                continue
            if event.anchor:
                _name(anchors, event.anchor, value)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            is_key = key is None and type(held) is dict
            if is_key or event.tag is not None or len(outer) >= MAX_DEPTH:
                raise _Unclear
            if event.anchor:
                _name(anchors, event.anchor, _Unclear)
            outer.append((held, key, anchor))
            key, anchor = None, event.anchor
            held = {} if kind is MappingStartEvent else []
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            value = held if kind is MappingEndEvent else tuple(held)
            if anchor and kind is SequenceEndEvent and not any(map(_holds, value)):
                anchors[anchor] = value
            held, key, anchor = outer.pop()
        elif kind is AliasEvent:
            value = anchors.get(event.anchor, _Unclear)
            if value is _Unclear or (key is None and type(held) is dict):
                raise _Unclear
            grown += 1
            if type(value) is tuple:
                grown += len(value)
                value = (*value,)  # what stands twice is two things
            if grown > MAX_GROWTH:
                raise _Unclear
        elif kind is DocumentStartEvent:
            if event.version:
                raise _Unclear
            anchors, grown = {}, 0
            continue
        else:
            continue
        if key is not None:
            held[key] = value
            key = None
        else:
            held.append(value)
    if not documents or not all(type(document) is dict for document in documents):
        return None
    return tuple(documents)


def _name(anchors: dict[str, Any], anchor: str, value: Any) -> None:
    if anchor in anchors:
        raise _Unclear
    anchors[anchor] = value


def _holds(value: Any) -> bool:
    return type(value) is dict or type(value) is tuple
