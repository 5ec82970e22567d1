"""Parser events → located nodes. Knows no file system and no input language.

The events come from libyaml; building the nodes here keeps every span, resolves scalars by
`scalars.resolve`, and bounds depth, aliases and size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
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

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.source.nodes import Document, Entry, Map, Node, Place, Scalar, Seq
from dracfg.source.scalars import AmbiguousScalar, resolve

MAX_DEPTH = 64
MAX_NODES = 5_000_000
"""Nodes of one document after every alias is followed."""
MAX_GROWTH = 10_000
"""Nodes that aliases may add to one document."""

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Stop(Exception):
    """The document can't be composed any further."""


_Event = Any
_Mark = Any
"""PyYAML's events and marks; the marks of the C parser have a class of their own."""

_NO_KEY = Scalar(("", 0, 0, 0, 0), None, "")
"""Stands for a key that a fault was found in; its value is read and forgotten."""


@dataclass(slots=True)
class _Frame:
    """A collection that is still open: `items` where it is a list, else `entries`.

    `weight` counts its values, aliases followed.
    """

    start: _Mark
    anchor: str | None
    items: list[Node] | None
    entries: dict[str, Entry] = field(default_factory=dict)
    key: Scalar | None = None
    weight: int = 1

    @property
    def expects_key(self) -> bool:
        return self.items is None and self.key is None


@dataclass(slots=True)
class _Open:
    """What is known of a document while it is being composed."""

    frames: list[_Frame] = field(default_factory=list)
    anchors: dict[str, tuple[Node, int]] = field(default_factory=dict)
    open_anchors: dict[str, Span] = field(default_factory=dict)
    grown: int = 0
    root: Node | None = None

    def outermost(self) -> Map | None:
        """The entries that a document's own map has got so far, for a document that breaks off."""
        if not self.frames or not self.frames[0].entries:
            return None
        entries = self.frames[0].entries
        return Map(next(iter(entries.values())).key.place, entries)


def compose(path: str, text: str) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """All documents of a file, and all faults found on the way.

    A document with a fault is marked as unsound; a fault of syntax ends the file, as nothing
    behind it can be trusted.
    """
    composer = _Composer(path)
    try:
        composer.run(text)
    except yaml.YAMLError as fault:
        composer.faults.append(_syntax_fault(path, text, fault))
    except _Stop:
        pass
    return tuple(composer.documents), tuple(composer.faults)


class _Composer:
    def __init__(self, path: str) -> None:
        self.path = path
        self.documents: list[Document] = []
        self.faults: list[Diagnostic] = []
        self.index = 0

    def run(self, text: str) -> None:
        loader = LOADER(text)
        try:
            # Behind the end of the stream there is nothing.
            while (event := loader.get_event()) is not None:
                if isinstance(event, DocumentStartEvent):
                    if event.version and event.version != (1, 2):
                        span = self._span(event)
                        self._fault("SRC012", span, "a %YAML directive other than 1.2 is not read")
                    self._document(loader.get_event)
                    self.index += 1
        finally:
            loader.dispose()

    def _document(self, next_event: Callable[[], _Event]) -> None:
        faults_before = len(self.faults)
        document = _Open()
        try:
            self._read(document, next_event)
        except (yaml.YAMLError, _Stop):
            if (root := document.outermost()) is not None:
                self.documents.append(Document(self.path, self.index, root, sound=False))
            raise
        if document.root is not None:
            sound = len(self.faults) == faults_before
            self.documents.append(Document(self.path, self.index, document.root, sound))

    def _read(self, document: _Open, next_event: Callable[[], _Event]) -> None:
        """The events of one document.

        This is done for each word of each file: events are told apart by type, the most frequent
        first, and a value is put where it belongs without a call.
        """
        frames = document.frames
        while True:
            event = next_event()
            kind = type(event)
            node: Node
            if kind is ScalarEvent:
                node, anchor, weight = self._scalar(event), event.anchor, 1
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._open(document, event)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                node, anchor, weight = self._close(document, event)
            elif kind is AliasEvent:
                node, weight = self._alias(document, event)
                anchor = None
            else:
                return
            if anchor:
                document.anchors[anchor] = (node, weight)
            if not frames:
                document.root = node
                continue
            frame = frames[-1]
            frame.weight += weight
            if frame.weight > MAX_NODES:
                self._fault("SRC010", node.span, f"a document of more than {MAX_NODES:,} values")
                raise _Stop
            if frame.items is not None:
                frame.items.append(node)
            elif (key := frame.key) is None:
                frame.key = self._key(frame, node)
            else:
                if key is not _NO_KEY:
                    frame.entries[key.text] = Entry._make((key, node))
                frame.key = None

    def _open(self, document: _Open, event: _Event) -> None:
        if event.tag is not None:
            self._refuse_tag(event)
        frames = document.frames
        if len(frames) >= MAX_DEPTH:
            span = self._span(event)
            self._fault("SRC011", span, f"values are nested deeper than {MAX_DEPTH} levels")
            raise _Stop
        if frames and frames[-1].expects_key:
            self._fault("SRC008", self._span(event), "a key must be text, not a map or a list")
            raise _Stop
        if event.anchor:
            document.open_anchors[event.anchor] = self._span(event)
        items: list[Node] | None = [] if type(event) is SequenceStartEvent else None
        frames.append(_Frame(event.start_mark, event.anchor, items))

    def _close(self, document: _Open, event: _Event) -> tuple[Node, str | None, int]:
        frame = document.frames.pop()
        place = self._place(frame.start, event.end_mark)
        if frame.anchor:
            document.open_anchors.pop(frame.anchor, None)
        node = Map(place, frame.entries) if frame.items is None else Seq(place, tuple(frame.items))
        return node, frame.anchor, frame.weight

    def _alias(self, document: _Open, event: _Event) -> tuple[Node, int]:
        span = self._span(event)
        name = event.anchor
        if name in document.open_anchors:
            self._fault(
                "SRC009",
                span,
                f"alias *{name} stands inside its own anchor",
                related=[Related(document.open_anchors[name], "the anchor")],
                help="write the values out",
            )
        elif name not in document.anchors:
            self._fault("SRC009", span, f"alias *{name} has no anchor before it")
        else:
            node, weight = document.anchors[name]
            document.grown += weight
            if document.grown > MAX_GROWTH:
                self._fault(
                    "SRC010",
                    span,
                    f"aliases add more than {MAX_GROWTH:,} values to this document",
                    help="write the values out, or split the file",
                )
                raise _Stop
            return node, weight
        return Scalar(self._place(event.start_mark, event.end_mark), "", ""), 1

    def _key(self, frame: _Frame, node: Node) -> Scalar:
        """A node as the key of the value behind it."""
        if not isinstance(node, Scalar) or (node.plain and node.value is None):
            self._fault("SRC008", node.span, "a key must be text", help="name the key")
            return _NO_KEY
        if node.text in frame.entries:
            first = frame.entries[node.text].key.span
            self._fault(
                "SRC007",
                node.span,
                f"key {node.text!r} stands twice in this map",
                related=[Related(first, "first stands here")],
                help="keep one of the two",
            )
            return _NO_KEY
        return node

    def _scalar(self, event: _Event) -> Scalar:
        start, end = event.start_mark, event.end_mark
        place = (self.path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        text: str = event.value
        if event.tag is not None:
            self._refuse_tag(event)
            if not event.implicit[0]:
                return Scalar._make((place, text, text, False))
        if event.style:
            return Scalar._make((place, text, text, False))
        try:
            value = resolve(text)
        except AmbiguousScalar as reading:
            self._fault(
                "SRC006",
                Span(*place),
                f"{text} is {reading}",
                label="quote it",
                help=f'write "{text}" for the text',
                fix=f'"{text}"',
            )
            value = text
        # Equal words share one text, which a fleet has few of.
        return Scalar._make((place, value, value if type(value) is str else text, True))

    def _refuse_tag(self, event: _Event) -> None:
        if event.tag != "!":
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._fault(
                "SRC012",
                self._span(event),
                f"the tag {tag} is not read",
                help="remove the tag; quote text",
            )

    def _span(self, event: _Event) -> Span:
        return Span(*self._place(event.start_mark, event.end_mark))

    def _place(self, start: _Mark, end: _Mark) -> Place:
        return (self.path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

    def _fault(self, code: str, span: Span, message: str, **more: Any) -> None:
        self.faults.append(diagnose(code, span, message, **more))


def _syntax_fault(path: str, text: str, fault: yaml.YAMLError) -> Diagnostic:
    """libyaml's complaint in our words, at the character that it stumbled over."""
    mark = getattr(fault, "problem_mark", None) or getattr(fault, "context_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    span = Span(path, line, column, line, column + 1)
    lines = text.split("\n")
    here = lines[line - 1] if line <= len(lines) else ""
    if "\t" in here[: len(here) - len(here.lstrip())]:
        at = here.index("\t") + 1
        return diagnose(
            "SRC004",
            Span(path, line, at, line, at + 1),
            "a tab is not indentation in YAML",
            help="indent with spaces",
        )
    problem = str(getattr(fault, "problem", None) or fault).strip()
    context = getattr(fault, "context", None)
    related = []
    start = getattr(fault, "context_mark", None)
    if context and start is not None and (start.line + 1, start.column + 1) != (line, column):
        opened = Span(path, start.line + 1, start.column + 1, start.line + 1, start.column + 2)
        related.append(Related(opened, str(context)))
    return diagnose(
        "SRC005",
        span,
        f"not YAML: {problem}",
        related=related,
        help="nothing behind this place in the file was read",
    )
