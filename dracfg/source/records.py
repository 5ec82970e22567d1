"""A recorded dump of cluster objects → plain objects that know where they stand.

Reads YAML (see `kubeyaml`) or JSON, one object or many. Places are composed again only when one is
asked for, so a large dump without faults costs no marks. Knows no kind beside lists, and one that it
gives to what has none: answers of Prometheus, which may stand in a record or make one of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

import yaml

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.source.kubeyaml import LOADER, Chunk, PlainComposer, resolve_as_kubernetes
from dracfg.source.lineends import with_line_feeds
from dracfg.source.prometheus import form_of
from dracfg.source.reader import decode, unreadable
from dracfg.source.tree import TooLarge, Tree, tree_of

MAX_BYTES = 256 * 1024 * 1024
ANSWER = "PrometheusAnswer"
"""The kind under which an answer of Prometheus goes."""

Steps = tuple[str | int, ...]
"""A path from an object to one of its values: keys, and numbers in lists."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(slots=True, eq=False)
class _Places:
    """Finds values in the text of one file; what was composed for one object is kept."""

    path: str
    text: str
    chunks: list[Chunk | None]
    nodes: dict[int, Any] = field(default_factory=dict)

    def span(self, index: int, steps: Steps, key: bool) -> Span:
        chunk = self.chunks[index]
        if chunk is None:
            self.chunks = _json_chunks(self.path, self.text, len(self.chunks))
            chunk = self.chunks[index] or Chunk(0, 0, 0, 0)
        if index not in self.nodes:
            text = " " * chunk.column + self.text[chunk.start : chunk.end]
            try:
                self.nodes[index] = yaml.compose(text, Loader=LOADER)
            except yaml.YAMLError:
                self.nodes[index] = None
        node, name = _follow(self.nodes[index], steps)
        shown = name if name is not None and key else node
        if shown is None:
            return Span(
                self.path, chunk.line + 1, chunk.column + 1, chunk.line + 1, chunk.column + 2
            )
        start, end = shown.start_mark, shown.end_mark
        line, last = chunk.line + start.line + 1, end.column + 1
        if end.line != start.line:
            offset = chunk.start - chunk.column + start.index
            stop = self.text.find("\n", offset)
            last = start.column + 1 + (len(self.text) if stop < 0 else stop) - offset
        return Span(self.path, line, start.column + 1, line, last)


@dataclass(frozen=True, slots=True)
class _Served:
    """Places of what a server gave: it has no lines, so an object is one place by its name."""

    paths: tuple[str, ...]

    def span(self, index: int, _steps: Steps, _key: bool) -> Span:
        return Span(self.paths[index])


@dataclass(frozen=True, slots=True)
class RecordedObject:
    """One object of a dump. Nulls are left out; numbers are int, or Decimal where not whole."""

    data: dict[str, Any]
    index: int
    _places: _Places | _Served = field(repr=False, compare=False)

    def span(self, *steps: str | int, key: bool = False) -> Span:
        """The place of the value at the end of a path, or of the key that it stands under.

        Ends at the last step that exists; a value of several lines is shown by its first one.
        """
        return self._places.span(self.index, steps, key)


@dataclass(frozen=True, slots=True)
class Record:
    """What a dump holds: its objects in the order of the file, those of lists one by one."""

    path: str
    text: str = field(repr=False)
    objects: tuple[RecordedObject, ...]

    @property
    def is_measured(self) -> bool:
        """Whether it holds answers of Prometheus alone: such a record stands beside those of objects."""
        return bool(self.objects) and all(item.data["kind"] == ANSWER for item in self.objects)


def read_record(root: Path | Tree, path: str) -> tuple[Record, tuple[Diagnostic, ...]]:
    """The objects of a dump, `path` being relative to `root`; a fault ends only what it spoils.

    Reads one or more YAML documents, or JSON objects one after the other, each an object, a list
    (`kind: List`, or a typed list whose items have no kind of their own), or an answer of Prometheus.
    """
    try:
        data = tree_of(root).read(path, MAX_BYTES)
    except OSError as error:
        return Record(path, "", ()), (unreadable(path, error),)
    except TooLarge:
        message = f"the file has more than {MAX_BYTES:,} bytes; no more are read"
        fault = diagnose("SRC003", Span(path), message, help="record each kind into its own file")
        return Record(path, "", ()), (fault,)
    text = decode(data, path)
    if isinstance(text, Diagnostic):
        return Record(path, "", ()), (text,)
    return parse_record(path, with_line_feeds(text.removeprefix("\ufeff")))


def parse_record(path: str, text: str) -> tuple[Record, tuple[Diagnostic, ...]]:
    """The objects of the text of a dump; see `read_record`."""
    composer = PlainComposer(path, text)
    roots = [root for root, _ in _json_roots(text)] if text.lstrip()[:1] == "{" else []
    is_json = bool(roots)
    if not is_json:
        roots = composer.run()
    faults = composer.faults
    found: list[dict[str, Any]] = []
    chunks: list[Chunk | None] = []
    for root in roots:
        for value, origin in _flatten(root):
            if (item := _item(value)) is not None:
                found.append(item)
                chunks.append(composer.chunks.get(id(origin)))
            else:
                faults.append(_no_object(path, value, composer.chunks.get(id(origin))))
    if not roots and not faults:
        faults.append(diagnose("SRC015", Span(path), "the file holds no document"))
    places = _Places(path, text, chunks)
    objects = tuple(RecordedObject(data, i, places) for i, data in enumerate(found))
    return Record(path, text, objects), tuple(faults)


def decode_json(text: str) -> Any:
    """JSON from a server, as the values of a record: no nulls in maps, numbers exact.

    Raises ValueError for what is not JSON, or is nested too deep.
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_float=resolve_as_kubernetes,
            parse_constant=_refuse,
        )
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False, default=str).encode()
    except RecursionError:
        raise ValueError("nested too deep") from None
    return value


def served_record(cluster: str, objects: Iterable[dict[str, Any]]) -> Record:
    """Objects that the API server of a cluster gave; they stand at `live:<cluster>/<Kind>/…`."""
    listed = tuple(objects)
    places = _Served(tuple(f"live:{cluster}/{_identity(data)}" for data in listed))
    return Record(
        f"live:{cluster}",
        "",
        tuple(RecordedObject(data, i, places) for i, data in enumerate(listed)),
    )


def _identity(data: dict[str, Any]) -> str:
    metadata = data.get("metadata", {})
    parts = (data.get("kind"), metadata.get("namespace"), metadata.get("name"))
    return "/".join(str(part) for part in parts if part)


def _json_roots(text: str) -> Iterator[tuple[Any, tuple[int, int]]]:
    """Each JSON object of the text with its range; nothing at all where the text is not JSON."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_pairs, parse_float=resolve_as_kubernetes, parse_constant=_refuse
    )
    at = len(text) - len(text.lstrip())
    roots: list[tuple[Any, tuple[int, int]]] = []
    try:
        while at < len(text):
            root, end = decoder.raw_decode(text, at)
            roots.append((root, (at, end)))
            at = len(text) - len(text[end:].lstrip())
        if _SURROGATE.search(text):
            json.dumps([root for root, _ in roots], ensure_ascii=False, default=str).encode()
    except (ValueError, RecursionError):
        return iter(())
    return iter(roots)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {key: value for key, value in pairs if value is not None}
    if len(found) != len(pairs) and len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _json_chunks(path: str, text: str, count: int) -> list[Chunk | None]:
    """Where the objects of a JSON dump stand, read again by the YAML parser; empty on failure."""
    chunks: list[Chunk | None] = []
    for _, (start, end) in _json_roots(text):
        line, column = text.count("\n", 0, start), start - (text.rfind("\n", 0, start) + 1)
        composer = PlainComposer(path, " " * column + text[start:end])
        for value, origin in [pair for root in composer.run() for pair in _flatten(root)]:
            if _item(value) is not None:
                inner = composer.chunks[id(origin)]
                shift = start - column
                chunks.append(
                    Chunk(inner.start + shift, inner.end + shift, inner.line + line, inner.column)
                )
    return chunks if len(chunks) == count else [Chunk(0, 0, 0, 0)] * count


def _flatten(root: Any) -> Iterator[tuple[Any, Any]]:
    """The objects of a document, and for each the value whose place is known."""
    pending = [(root, root)]
    while pending:
        value, origin = pending.pop()
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind == "List" or (isinstance(kind, str) and kind.endswith("List") and "items" in value):
            items = value.get("items", [])
            head = {}
            if kind != "List" and isinstance(value.get("apiVersion"), str):
                head = {"apiVersion": value["apiVersion"], "kind": kind.removesuffix("List")}
            pending.extend(
                ({**head, **item} if isinstance(item, dict) else item, item)
                for item in reversed(items if isinstance(items, list) else [items])
            )
        else:
            yield value, origin


def _item(value: Any) -> dict[str, Any] | None:
    """A value as an object with a kind; None where it is none."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("kind"), str):
        return value
    return {**value, "kind": ANSWER} if form_of(value) is not None else None


def _no_object(path: str, value: Any, chunk: Chunk | None) -> Diagnostic:
    line, column = (chunk.line + 1, chunk.column + 1) if chunk else (1, 1)
    what = "has no kind" if isinstance(value, dict) else f"is {type(value).__name__}, not an object"
    return diagnose(
        "SRC017",
        Span(path, line, column, line, column + 1),
        f"what stands here {what}",
        help="record objects with `kubectl get … -o yaml`",
    )


def _follow(node: Any, steps: Steps) -> tuple[Any, Any]:
    """The node at the end of a path and the key it stands under; stops at the last that exists."""
    name: Any = None
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            found = _entry(node, str(step))
        elif isinstance(node, yaml.SequenceNode) and str(step).isdecimal():
            found = (None, node.value[int(step)]) if int(step) < len(node.value) else None
        else:
            found = None
        if found is None:
            break
        name, node = found
    return node, name


def _entry(node: yaml.MappingNode, key: str) -> tuple[Any, Any] | None:
    """The entry that holds in a map: the last of its name, or one that a merge key brings."""
    for name, value in reversed(node.value):
        if name.value == key:
            return name, value
    for name, value in reversed(node.value):
        if name.value == "<<":
            for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(part, yaml.MappingNode) and (found := _entry(part, key)):
                    return found
    return None
