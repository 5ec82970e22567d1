"""Parser events → located nodes. Knows no file system and no input language.

The events come from libyaml; building the nodes here keeps every span, resolves scalars by
`scalars.resolve`, and bounds depth, aliases and size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.source.nodes import Document, Entry, Map, Node, Scalar, Seq
from dracfg.source.scalars import AmbiguousScalar, resolve

MAX_DEPTH = 64
MAX_NODES = 5_000_000
"""Nodes of one document after every alias is followed."""
MAX_GROWTH = 10_000
"""Nodes that aliases may add to one document."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Stop(Exception):
    """The document can't be composed any further."""


_Event = Any
_Mark = Any
"""PyYAML's events and marks; the marks of the C parser have a class of their own."""


@dataclass(slots=True)
class _Frame:
    """A collection that is still open. `weight` counts its values, aliases followed."""

    start: _Mark
    anchor: str | None
    is_map: bool
    entries: dict[str, Entry] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    key: Scalar | None = None
    weight: int = 1
    skip_value: bool = False

    @property
    def expects_key(self) -> bool:
        return self.is_map and self.key is None and not self.skip_value


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
        return Map(next(iter(entries.values())).key.span, entries)


def compose(path: str, text: str) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """All documents of a file, and all faults found on the way.

    A document with a fault is marked as unsound; a fault of syntax ends the file, as nothing
    behind it can be trusted.
    """
    composer = _Composer(path)
    try:
        composer.run(_events(text))
    except yaml.YAMLError as fault:
        composer.faults.append(_syntax_fault(path, text, fault))
    except _Stop:
        pass
    return tuple(composer.documents), tuple(composer.faults)


def _events(text: str) -> Iterator[_Event]:
    loader = _LOADER(text)
    next_event = loader.get_event
    try:
        # Behind the end of the stream there is nothing.
        while (event := next_event()) is not None:
            yield event
    finally:
        loader.dispose()


class _Composer:
    def __init__(self, path: str) -> None:
        self.path = path
        self.documents: list[Document] = []
        self.faults: list[Diagnostic] = []
        self.index = 0

    def run(self, events: Iterator[_Event]) -> None:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if event.version and event.version != (1, 2):
                    span = self._span(event.start_mark, event.end_mark)
                    self._fault("SRC012", span, "a %YAML directive other than 1.2 is not read")
                self._document(events)
                self.index += 1

    def _document(self, events: Iterator[_Event]) -> None:
        faults_before = len(self.faults)
        document = _Open()
        try:
            self._read(document, events)
        except (yaml.YAMLError, _Stop):
            if (root := document.outermost()) is not None:
                self.documents.append(Document(self.path, self.index, root, sound=False))
            raise
        if document.root is not None:
            sound = len(self.faults) == faults_before
            self.documents.append(Document(self.path, self.index, document.root, sound))

    def _read(self, document: _Open, events: Iterator[_Event]) -> None:
        for event in events:
            # Told apart by type, the most frequent first: this is done for each word of each file.
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._finish(document, event.anchor, self._scalar(event), 1)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._open(document, event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close(document, event)
            elif kind is yaml.AliasEvent:
                self._finish(document, None, *self._alias(document, event))
            else:
                return

    def _open(self, document: _Open, event: _Event) -> None:
        self._refuse_tag(event)
        span = self._span(event.start_mark, event.end_mark)
        frames = document.frames
        if len(frames) >= MAX_DEPTH:
            self._fault("SRC011", span, f"values are nested deeper than {MAX_DEPTH} levels")
            raise _Stop
        if frames and frames[-1].expects_key:
            self._fault("SRC008", span, "a key must be text, not a map or a list")
            raise _Stop
        if event.anchor:
            document.open_anchors[event.anchor] = span
        is_map = isinstance(event, yaml.MappingStartEvent)
        frames.append(_Frame(event.start_mark, event.anchor, is_map))

    def _close(self, document: _Open, event: _Event) -> None:
        frame = document.frames.pop()
        span = self._span(frame.start, event.end_mark)
        node = Map(span, frame.entries) if frame.is_map else Seq(span, tuple(frame.items))
        if frame.anchor:
            document.open_anchors.pop(frame.anchor, None)
        self._finish(document, frame.anchor, node, frame.weight)

    def _finish(self, document: _Open, anchor: str | None, node: Node, weight: int) -> None:
        """A value is complete: remember its anchor and put it where it belongs."""
        if anchor:
            document.anchors[anchor] = (node, weight)
        if document.frames:
            self._place(document.frames[-1], node, weight)
        else:
            document.root = node

    def _alias(self, document: _Open, event: _Event) -> tuple[Node, int]:
        span = self._span(event.start_mark, event.end_mark)
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
        return Scalar(span, "", ""), 1

    def _place(self, frame: _Frame, node: Node, weight: int) -> None:
        frame.weight += weight
        if frame.weight > MAX_NODES:
            self._fault("SRC010", node.span, f"a document of more than {MAX_NODES:,} values")
            raise _Stop
        if not frame.is_map:
            frame.items.append(node)
        elif frame.expects_key:
            self._open_key(frame, node)
        else:
            if frame.key is not None and not frame.skip_value:
                frame.entries[frame.key.text] = Entry(frame.key, node)
            frame.key, frame.skip_value = None, False

    def _open_key(self, frame: _Frame, node: Node) -> None:
        if not isinstance(node, Scalar) or (node.plain and node.value is None):
            self._fault("SRC008", node.span, "a key must be text", help="name the key")
            frame.skip_value = True
        elif node.text in frame.entries:
            first = frame.entries[node.text].key.span
            self._fault(
                "SRC007",
                node.span,
                f"key {node.text!r} stands twice in this map",
                related=[Related(first, "first stands here")],
                help="keep one of the two",
            )
            frame.skip_value = True
        frame.key = node if isinstance(node, Scalar) else Scalar(node.span, None, "")

    def _scalar(self, event: _Event) -> Scalar:
        self._refuse_tag(event)
        start, end = event.start_mark, event.end_mark
        span = Span(self.path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        text: str = event.value
        if event.style or (event.tag is not None and not event.implicit[0]):
            return Scalar(span, text, text)
        try:
            return Scalar(span, resolve(text), text, plain=True)
        except AmbiguousScalar as reading:
            self._fault(
                "SRC006",
                span,
                f"{text} is {reading}",
                label="quote it",
                help=f'write "{text}" for the text',
                fix=f'"{text}"',
            )
            return Scalar(span, text, text, plain=True)

    def _refuse_tag(self, event: _Event) -> None:
        if event.tag is not None and event.tag != "!":
            span = self._span(event.start_mark, event.end_mark)
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._fault(
                "SRC012", span, f"the tag {tag} is not read", help="remove the tag; quote text"
            )

    def _span(self, start: _Mark, end: _Mark) -> Span:
        return Span(self.path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)

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
