"""Emitted objects: where they stand, and where each of their fields comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dracfg.check.places import document_of, span_of
from dracfg.diagnostics import did_you_mean
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Origin
from dracfg.show.document import Document, shown
from dracfg.show.provenance import origins
from dracfg.show.subjects import Emitted
from dracfg.source import Map, Seq, follow

Steps = tuple[str | int, ...]


class UnknownField(Exception):
    """The object has no such field; `near` is one that was probably meant."""

    def __init__(self, ref: str, pointer: str, near: str | None) -> None:
        hint = f"; did you mean {near}?" if near else ""
        super().__init__(f"{ref} has no {pointer}{hint}")
        self.near = near


def object_document(emitted: Emitted) -> Document:
    """`kind: EmittedObject`: the object with its file under `out/`."""
    return shown(
        "EmittedObject", ref=emitted.ref, file=emitted.file, object=emitted.artifact.object
    )


def provenance_document(catalog: Catalog, emitted: Emitted, pointer: str) -> Document:
    """`kind: Provenance`: the value at a JSON pointer, and the places in documents it comes from.

    An origin is `{file, line, column, document, pointer, written}`; it is not written where the
    document leaves the field to its default, and then the place is that of what holds it. The
    pointer may lack its first slash, and slashes within a key need no escape. Raises UnknownField.
    """
    steps, value = resolve(emitted, pointer)
    return shown(
        "Provenance",
        ref=emitted.ref,
        file=emitted.file,
        pointer=_pointer(steps),
        value=value,
        origins=[_origin(catalog, origin) for origin in origins(catalog, emitted, steps)],
    )


def resolve(emitted: Emitted, pointer: str) -> tuple[Steps, Any]:
    """The steps of a JSON pointer into the object, and the value there. Raises UnknownField."""
    value: Any = emitted.artifact.object
    steps: list[str | int] = []
    left = pointer.removeprefix("/").split("/") if pointer.strip("/") else []
    while left:
        step, used = _step(value, left)
        if step is None:
            near = did_you_mean(_unescaped(left[0]), value) if isinstance(value, Mapping) else None
            close = None if near is None else _pointer((*steps, near))
            raise UnknownField(emitted.ref, f"/{pointer.removeprefix('/')}", close)
        steps.append(step)
        value = value[step]
        left = left[used:]
    return tuple(steps), value


def _step(value: Any, left: list[str]) -> tuple[str | int | None, int]:
    """The next step and how many parts of the pointer it takes; None where there is no such step."""
    if isinstance(value, Mapping):
        for used in range(1, len(left) + 1):
            key = _unescaped("/".join(left[:used]))
            if key in value:
                return key, used
    elif isinstance(value, list) and left[0].isdecimal() and int(left[0]) < len(value):
        return int(left[0]), 1
    return None, 0


def _origin(catalog: Catalog, origin: Origin) -> Document:
    span = span_of(catalog, origin)
    return {
        "file": span.path,
        "line": span.line,
        "column": span.column,
        "document": f"{origin.kind}/{origin.name}",
        "pointer": _pointer(origin.pointer),
        "written": _is_written(catalog, origin),
    }


def _is_written(catalog: Catalog, origin: Origin) -> bool:
    document = document_of(catalog, origin.kind, origin.name)
    if document is None or not origin.pointer:
        return True
    *above, last = origin.pointer
    node, _ = follow(document.read_from, above)
    if isinstance(node, Map):
        return last in node.entries
    return isinstance(node, Seq) and isinstance(last, int) and last < len(node.items)


def _pointer(steps: Steps) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
