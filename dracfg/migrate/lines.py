"""Edits of whole lines that can be taken back: what goes stays as a comment, what comes is marked.

A line that is removed becomes `# dracfg: was …` behind its own indentation, a line that is added
ends in `# dracfg: added`. Nothing else of a text changes, so the two marks are all that the way
back needs. Knows no kind and no field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

import yaml

from dracfg.dataclass import dataclass
from dracfg.migrate.manifest import BYTE_ORDER_MARK
from dracfg.source.kubeyaml import LOADER
from dracfg.source.lineends import line_starts, with_line_feeds

WAS = "# dracfg: was"
ADDED = "# dracfg: added"

_WAS_LINE = re.compile(r"([ \t]*)# dracfg: was(?: (.*))?")
_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class CharEdit:
    """Characters `start` to `end` of a text with line feeds, and what stands there instead."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class LineEdits:
    """What is to happen to the lines of one text, numbered from 0."""

    removed: set[int] = field(default_factory=set)
    inserted: dict[int, list[str]] = field(default_factory=dict)
    """By the number of the line that they come before."""
    changed: dict[CharEdit, None] = field(default_factory=dict)

    def insert(self, before: int, lines: Iterable[str]) -> None:
        self.inserted.setdefault(before, []).extend(lines)

    def change(self, start: int, end: int, text: str) -> None:
        self.changed[CharEdit(start, end, text)] = None

    def __bool__(self) -> bool:
        return bool(self.removed or self.inserted or self.changed)


class Conflict(Exception):
    """Edits that touch the same lines in different ways, so that no text has all of them."""


def apply_edits(raw: str, edits: LineEdits) -> str:
    """A text with its edits; each line keeps its own end. Raises Conflict."""
    if raw.startswith(BYTE_ORDER_MARK):
        return BYTE_ORDER_MARK + apply_edits(raw.removeprefix(BYTE_ORDER_MARK), edits)
    text = with_line_feeds(raw)
    old = text.split("\n")
    ends = [match.group() for match in _END.finditer(raw)] + [""]
    usual = ends[0] or "\n"
    groups = _changed_lines(text, edits.changed)
    parts: list[str] = []
    number = 0
    while number < len(old):
        for line in edits.inserted.get(number, ()):
            parts += [line, " ", ADDED, usual]
        if number in groups:
            last, new = groups[number]
            if any(i in edits.removed or (i > number and i in edits.inserted)
                   for i in range(number, last + 1)):  # fmt: skip
                raise Conflict
            for line in new:
                parts += [line.rstrip(" \t"), " ", ADDED, usual] if line.strip() else []
            for i in range(number, last + 1):
                parts += [was(old[i]), ends[i]]
            number = last
        else:
            kept = old[number]
            parts += [was(kept) if number in edits.removed else kept, ends[number]]
        number += 1
    if any(place >= len(old) for place in edits.inserted):
        raise Conflict
    return "".join(parts)


def was(line: str) -> str:
    """A line as the comment that stands in its place."""
    content = line.lstrip(" \t")
    return f"{line[: len(line) - len(content)]}{WAS} {content}"


def reverse(raw: str) -> str:
    """The text as it was before all edits that are marked in it; without marks it is the same."""
    if "# dracfg: " not in raw:
        return raw
    if raw.startswith(BYTE_ORDER_MARK):
        return BYTE_ORDER_MARK + reverse(raw.removeprefix(BYTE_ORDER_MARK))
    covered = _scalar_lines(with_line_feeds(raw))
    starts = line_starts(raw)
    parts: list[str] = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(raw)
        line = raw[start:end]
        content = line.rstrip("\r\n")
        match = _WAS_LINE.fullmatch(content)
        if number in covered or (match is None and not content.endswith(f" {ADDED}")):
            parts.append(line)
        elif match is not None:
            parts += [match[1], match[2] or "", line[len(content) :]]
    return "".join(parts)


def _changed_lines(text: str, edits: Iterable[CharEdit]) -> dict[int, tuple[int, list[str]]]:
    """First line of each run of lines that edits touch → its last line, and what it becomes."""
    starts = line_starts(text)
    runs: dict[int, tuple[int, list[CharEdit]]] = {}
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        first, last = _line_at(starts, edit.start), _line_at(starts, edit.end)
        previous = next(reversed(runs), None)
        if previous is not None and first <= runs[previous][0]:
            reach, listed = runs[previous]
            runs[previous] = (max(reach, last), [*listed, edit])
        else:
            runs[first] = (last, [edit])
    found = {}
    for first, (last, listed) in runs.items():
        stop = starts[last + 1] - 1 if last + 1 < len(starts) else len(text)
        found[first] = (last, _spliced(text, starts[first], stop, listed).split("\n"))
    return found


def _spliced(text: str, start: int, stop: int, edits: Sequence[CharEdit]) -> str:
    """A part of a text with edits in their order; characters that two of them remove go once."""
    parts: list[str] = []
    done = start
    for edit in edits:
        parts += [text[done : max(done, edit.start)], edit.text]
        done = max(done, edit.end)
    return "".join([*parts, text[done:stop]])


def _line_at(starts: Sequence[int], index: int) -> int:
    low, high = 0, len(starts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if starts[middle] <= index:
            low = middle
        else:
            high = middle - 1
    return low


def _scalar_lines(text: str) -> frozenset[int]:
    """Lines that begin inside a scalar, where a mark would be text and no comment.

    Where the text is no YAML, as templates are, none is known and marks are taken at their word.
    """
    starts = line_starts(text)
    covered: set[int] = set()
    try:
        for first, last in _scalars(text):
            begin, end = _line_at(starts, first), _line_at(starts, max(first, last - 1))
            covered.update(range(begin + 1, end + 1))
    except yaml.YAMLError:
        return frozenset()
    return frozenset(covered)


def _scalars(text: str) -> Iterator[tuple[int, int]]:
    for event in yaml.parse(text, Loader=LOADER):
        start, end = event.start_mark, event.end_mark
        if isinstance(event, yaml.ScalarEvent) and start and end and end.line > start.line:
            yield start.index, end.index
