"""What the documents of a file were understood as, as bytes that the next run takes for the reading.

Bytes may come from a folder that anybody could write to, so nothing is made of them but models of the
language and the few values in them. Places are not kept: each model remembers which mapping of the
file it was read from, and the file is composed once somebody asks where that stands.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import cache, cached_property
from typing import Any

from dracfg.kube.quantity import Quantity
from dracfg.model.base import Spec
from dracfg.model.kinds import AnyDocument
from dracfg.model.parse import Parsed, parse
from dracfg.model.plain import parse_plain
from dracfg.source.files import SourceFile, UnreadMap
from dracfg.source.nodes import Map
from dracfg.source.reader import understand, understand_plainly
from dracfg.source.seen import Seen


def keep(path: str, data: bytes) -> bytes | None:
    """What the file says, None where reading it or understanding any document of it left a finding."""
    if (found := understand_plainly(path, data)) is not None:
        documents = parse_plain(*found)
        if documents is not None:
            return freeze(found[0], documents)
    file, faults = understand(path, data)
    if file is None or faults:
        return None
    parsed = parse(file.documents)
    return None if parsed.faults else freeze(file, parsed.documents)


def parse_files(files: Iterable[SourceFile], seen: Seen) -> Parsed:
    """All documents of the files, in their order; what was seen before is the same object again."""
    found = [_parsed(file, seen) for file in files]
    return Parsed(
        tuple(document for one in found for document in one.documents),
        frozenset().union(*(one.poisoned for one in found)),
        tuple(fault for one in found for fault in one.faults),
    )


def _parsed(file: SourceFile, seen: Seen) -> Parsed:
    if file.kept is None:
        return parse(file.documents, seen.made)
    if id(file) not in seen.made:
        seen.made[id(file)] = Parsed(thaw(file, file.kept), frozenset(), ())
    made: Parsed = seen.made[id(file)]
    return made


def freeze(file: SourceFile, documents: Sequence[AnyDocument]) -> bytes:
    """Documents of a file without their nodes."""
    written = io.BytesIO()
    _Freezer(written, file).dump(tuple(documents))
    return written.getvalue()


def thaw(file: SourceFile, kept: bytes) -> tuple[AnyDocument, ...]:
    """The documents that `freeze` wrote of a file with this path and text.

    Raises pickle.UnpicklingError for bytes that name anything else than models and their values.
    """
    documents: tuple[AnyDocument, ...] = _Thawer(io.BytesIO(kept), file).load()
    return documents


class _Freezer(pickle.Pickler):
    def __init__(self, target: io.BytesIO, file: SourceFile) -> None:
        super().__init__(target, protocol=5)
        self._file = file

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is UnreadMap:
            return value.index
        return self._places[id(value)] if type(value) is Map else None

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(node): index for index, node in enumerate(self._file.maps)}


class _Thawer(pickle.Unpickler):
    def __init__(self, source: io.BytesIO, file: SourceFile) -> None:
        super().__init__(source)
        self._file = file

    def persistent_load(self, place: Any) -> UnreadMap:
        return UnreadMap(self._file, place)

    def find_class(self, module: str, name: str) -> Any:
        known = _known().get((module, name))
        if known is None:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a document")
        return known


@cache
def _known() -> dict[tuple[str, str], Callable[..., Any]]:
    """What may be made: every model, and the values that fields hold."""
    found: list[type] = [Quantity, Decimal]
    pending: list[type[Spec]] = [Spec]
    while pending:
        below = pending.pop().__subclasses__()
        found += below
        pending += below
    return {(one.__module__, one.__qualname__): one for one in found}
