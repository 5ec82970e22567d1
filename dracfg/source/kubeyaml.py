"""The YAML of recorded objects → plain values, as Kubernetes decodes it.

Kubernetes does not read YAML as the input language is read here: kubectl and the API machinery go
through sigs.k8s.io/yaml, whose scalars are those of go-yaml v2
(kubernetes/kubernetes@d6148716:vendor/go.yaml.in/yaml/v2/resolve.go). There `no`, `on` and `y` are
booleans, `0644` and `0o644` are octal, `1_000` is a number, and `12:30`, `0000:17:00.0` and dates
are text. A merge key takes effect where it stands: later keys win over it, earlier ones lose.
Knows no files and no kinds.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

import yaml

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, Span, diagnose
from dracfg.source.composer import MAX_DEPTH

MAX_GROWTH = 1_000_000
"""Values that aliases may add to one file."""

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_INT = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)"
    r"|(?P<dec>0|[1-9][0-9]*))"
)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_LARGEST_INT = 2**64 - 1
_MERGE: Any = object()
"""Stands for a plain `<<` while its value is being read."""


class _Stop(Exception):
    """Nothing behind this place can be read."""


class Chunk(NamedTuple):
    """The characters of one object, from 0, with the line and column of its start, from 0."""

    start: int
    end: int
    line: int
    column: int


def resolve_as_kubernetes(text: str) -> str | int | bool | Decimal | None:
    """The value of a plain scalar as go-yaml v2 and the way through JSON make it.

    Numbers are exact where Go takes the nearest double. Raises ValueError for infinities and NaN,
    which have no JSON.
    """
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text[0] not in "+-.0123456789":
        return text
    if _INFINITE.fullmatch(text):
        raise ValueError(f"{text} is no number that an object can hold")
    plain = text.replace("_", "") if text[0] != "." else text
    if (whole := _INT.fullmatch(plain)) and whole.lastgroup and len(plain) < 80:
        value = int(whole["sign"] + whole[whole.lastgroup], _BASES[whole.lastgroup])
        if -(2**63) <= value <= _LARGEST_INT:
            return value
    if not _FLOAT.fullmatch(plain) or abs(float(plain)) == float("inf"):
        return text
    if float(plain) == 0:
        return 0
    exact = Decimal(plain)
    return int(exact) if exact.adjusted() < 21 and exact == exact.to_integral_value() else exact


@dataclass(slots=True)
class _Frame:
    """A collection that is still open."""

    value: Any
    start: Any
    anchor: str | None
    size: int
    is_map: bool
    holds_objects: bool
    key: str | None = None
    merged: frozenset[str] = frozenset()


class PlainComposer:
    """Parser events → plain values, without recursion; chunks are kept for what may be an object."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.faults: list[Diagnostic] = []
        self.chunks: dict[int, Chunk] = {}
        self.anchors: dict[str, tuple[Any, int] | None] = {}
        self.plain: dict[str, Any] = {}
        self.count = 0
        self.grown = 0

    def run(self) -> list[Any]:
        """The documents of the text that could be read."""
        roots: list[Any] = []
        try:
            self._read(roots)
        except yaml.YAMLError as fault:
            mark = getattr(fault, "problem_mark", None) or getattr(fault, "context_mark", None)
            problem = str(getattr(fault, "problem", None) or fault).strip()
            help_text = "nothing behind this place in the file was read"
            self._fault("SRC005", mark, f"not YAML: {problem}", help=help_text)
        except _Stop:
            pass
        return roots

    def _read(self, roots: list[Any]) -> None:
        stack: list[_Frame] = []
        # `yaml.parse` asks twice for each of them.
        for event in iter(LOADER(self.text).get_event, None):
            kind = event.__class__
            if kind is yaml.ScalarEvent:
                self.count += 1
                value = event.value if event.style else self._plain(event)
                if event.tag is not None and event.tag != "!":
                    value = self._tagged(event)
                if event.anchor:
                    self.anchors[event.anchor] = (value, 1)
                if stack and stack[-1].is_map and stack[-1].key is None:
                    self._open_key(stack[-1], value, event)
                    continue
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._open(stack, event, kind is yaml.MappingStartEvent)
                continue
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                value = self._close(stack, event)
            elif kind is yaml.AliasEvent:
                value = self._alias(event)
                if stack and stack[-1].is_map and stack[-1].key is None:
                    self._open_key(stack[-1], value, event)
                    continue
            else:
                if kind is yaml.DocumentStartEvent:
                    self.anchors.clear()
                continue
            if not stack:
                if value is not None:
                    roots.append(value)
            elif stack[-1].is_map:
                self._put(stack[-1], value, event)
            else:
                stack[-1].value.append(value)

    def _plain(self, event: Any) -> Any:
        text = event.value
        try:
            return self.plain[text]
        except KeyError:
            pass
        try:
            value = resolve_as_kubernetes(text)
        except ValueError as reason:
            self._fault("SRC006", event.start_mark, str(reason), help="quote it, or leave it out")
            value = text
        self.plain[text] = value
        return value

    def _tagged(self, event: Any) -> Any:
        if event.tag != "tag:yaml.org,2002:str":
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._fault("SRC012", event.start_mark, f"the tag {tag} is not read")
        return event.value

    def _open(self, stack: list[_Frame], event: Any, is_map: bool) -> None:
        parent = stack[-1] if stack else None
        if len(stack) >= MAX_DEPTH:
            message = f"values are nested deeper than {MAX_DEPTH} levels"
            self._stop("SRC011", event.start_mark, message)
        if parent is not None and parent.is_map and parent.key is None:
            self._stop("SRC008", event.start_mark, "a key must be text, not a map or a list")
        if event.anchor:
            self.anchors[event.anchor] = None
        holds = not is_map and parent is not None and parent.key == "items"
        value: Any = {} if is_map else []
        stack.append(_Frame(value, event.start_mark, event.anchor, self.count, is_map, holds))
        self.count += 1

    def _close(self, stack: list[_Frame], event: Any) -> Any:
        frame = stack.pop()
        if frame.anchor:
            self.anchors[frame.anchor] = (frame.value, self.count - frame.size)
        if not stack or stack[-1].holds_objects:
            start = frame.start
            self.chunks[id(frame.value)] = Chunk(
                start.index, event.end_mark.index, start.line, start.column
            )
        return frame.value

    def _alias(self, event: Any) -> Any:
        name = event.anchor
        if name not in self.anchors:
            self._stop("SRC009", event.start_mark, f"alias *{name} has no anchor before it")
        anchored = self.anchors[name]
        if anchored is None:
            self._stop("SRC009", event.start_mark, f"alias *{name} stands inside its own anchor")
        value, size = anchored
        self.count += size
        self.grown += size
        if self.grown > MAX_GROWTH:
            message = f"aliases add more than {MAX_GROWTH:,} values to this file"
            self._stop("SRC010", event.start_mark, message)
        return value

    def _open_key(self, frame: _Frame, key: Any, event: Any) -> None:
        if key == "<<" and not getattr(event, "style", None):
            frame.key = _MERGE
            return
        if isinstance(key, bool):
            key = "true" if key else "false"
        elif isinstance(key, int | Decimal):
            key = str(key)
        elif not isinstance(key, str):
            self._stop("SRC008", event.start_mark, "a key must be text", help="name the key")
        if key in frame.value and key not in frame.merged:
            first = [
                Related(Span(self.path, frame.start.line + 1, frame.start.column + 1), "the map")
            ]
            message = f"key {key!r} stands twice in this map"
            self._fault("SRC007", event.start_mark, message, related=first, help="keep one")
        frame.key = key

    def _put(self, frame: _Frame, value: Any, event: Any) -> None:
        """A value under its key; a merge key takes effect at once, as go-yaml has it."""
        key, frame.key = frame.key, None
        if key is _MERGE:
            parts = value if isinstance(value, list) else [value]
            if not all(isinstance(part, dict) for part in parts):
                self._fault("SRC012", event.start_mark, "a merge key takes a map or a list of maps")
                return
            for part in reversed(parts):
                frame.value.update(part)
            frame.merged = frame.merged.union(*parts)
        elif value is not None:
            frame.value[key] = value
        else:
            frame.value.pop(key, None)

    def _stop(self, code: str, mark: Any, message: str, **more: Any) -> NoReturn:
        self._fault(code, mark, message, **more)
        raise _Stop

    def _fault(self, code: str, mark: Any, message: str, **more: Any) -> None:
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        span = Span(self.path, line, column, line, column + 1)
        self.faults.append(diagnose(code, span, message, **more))
