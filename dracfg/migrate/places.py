"""Changes of pods → edits of the lines that say them, in the style of the file.

Block lists keep their indentation, flow collections stay flow. What is added stands before the entry
that it joins, so the end of a file never moves. Knows nodes and their marks, and no meaning: whether
the edits did what they should is for the caller to see.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from dracfg.dataclass import dataclass
from dracfg.migrate.decision import PodChange
from dracfg.migrate.demand import SECTIONS
from dracfg.migrate.lines import LineEdits
from dracfg.migrate.rewriting import POD_SPEC_PATCH, entry_object, pod_spec_patch
from dracfg.source.kubeyaml import resolve_as_kubernetes
from dracfg.source.lineends import line_starts
from dracfg.source.records import Steps

_INDENTED = re.compile(r"^( *)[^\s#-][^\n]*:[ \t]*\n\1 {2}- ", re.MULTILINE)
"""A list that stands in from its key."""
_ALIAS = re.compile(r"\s*:\s*\*[^\s,\]}]+")


class NoPlace(Exception):
    """A place of the text that can't be edited so that the rest stays as it is."""


@dataclass(frozen=True, slots=True)
class _Member:
    """An entry of a map: its key and its value."""

    key: Any
    value: Any


class Editor:
    """Collects the edits of one text; what one anchor says for several places is edited once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = line_starts(text)
        self.edits = LineEdits()
        self._done: set[tuple[int, str]] = set()
        self._offset = 0

    def make(self, node: Any, change: PodChange) -> None:
        """The edits for one pod of the object at a node. Raises NoPlace."""
        spec = _at(node, change.site.steps)
        self._offset = self._list_offset(_at(node, change.containers[0].container.steps[:-1]), spec)
        if change.entries and not change.site.has_pod_spec:
            said = json.dumps(pod_spec_patch(change))
            if _member(spec, POD_SPEC_PATCH) is not None:
                raise NoPlace
            self._add(spec, POD_SPEC_PATCH, said, change.containers[0].container.steps[-1])
        elif change.entries:
            listed = [entry_object(entry) for entry in change.entries]
            self._add_items(spec, "resourceClaims", listed, "containers")
        for one in change.containers:
            resources = _at(node, (*one.container.steps, "resources"))
            emptied = []
            for section in SECTIONS:
                member = _member(resources, section)
                if member is not None and self._remove(member, one.removed):
                    emptied.append(section)
            self._add_items(
                resources, "claims", [{"name": name} for name in one.claims], None, emptied
            )
            self._remove_members(resources, emptied)

    def _remove(self, section: _Member, names: Iterable[str]) -> bool:
        """Takes names out of limits or requests; True where nothing would be left of them."""
        present = [key.value for key, _ in _entries(section.value)]
        gone = [name for name in names if name in present]
        if gone and len(gone) == len(present):
            return True
        self._remove_members(section.value, gone)
        return False

    def _remove_members(self, node: Any, names: Sequence[str]) -> None:
        if not names or not self._first_time(node, f"-{names}"):
            return
        entries = [_Member(key, value) for key, value in _entries(node)]
        gone = [one.key.value in names for one in entries]
        if not node.flow_style:
            for one, goes in zip(entries, gone, strict=True):
                if goes:
                    self._remove_lines(one)
            return
        kept = [one for one, goes in zip(entries, gone, strict=True) if not goes]
        for number, one in enumerate(entries):
            if not gone[number]:
                continue
            if number + 1 < len(entries):
                begin, end = _index(one.key), _index(entries[number + 1].key)
            else:
                end = self._end(one)
                begin = self._end(kept[-1]) if kept else _index(one.key)
            self.edits.change(begin, end, "")

    def _remove_lines(self, member: _Member) -> None:
        first = member.key.start_mark.line
        if self.lines[first][: member.key.start_mark.column].strip():
            raise NoPlace
        alias = _is_alias(member)
        for number in range(first, (first if alias else self._last_line(member.value)) + 1):
            content = self.lines[number].strip()
            if content and not content.startswith("#"):
                self.edits.removed.add(number)

    def _end(self, member: _Member) -> int:
        """Where an entry ends; an alias has the marks of what it leads to."""
        if not _is_alias(member):
            return int(member.value.end_mark.index)
        sign = _ALIAS.match(self.text, member.key.end_mark.index)
        if sign is None:
            raise NoPlace
        return sign.end()

    def _last_line(self, node: Any) -> int:
        """The last line that a value stands on; the mark of a block ends behind it."""
        if isinstance(node, yaml.ScalarNode):
            if node.style in ("|", ">"):
                raise NoPlace
            return int(node.end_mark.line)
        if node.flow_style or not node.value:
            return int(node.end_mark.line)
        last = node.value[-1]
        return self._last_line(last[1] if isinstance(node, yaml.MappingNode) else last)

    def _add_items(
        self,
        node: Any,
        key: str,
        listed: Sequence[Mapping[str, str]],
        before: str | None,
        leaving: Sequence[str] = (),
    ) -> None:
        """Puts items in front of the list under a key, or makes the list."""
        if not listed or not self._first_time(node, f"+{key}{listed}"):
            return
        present = _member(node, key)
        if present is None and not node.flow_style:
            self._add_list(node, key, listed, before)
        elif present is None:
            self._add_flow(node, f"{_key(node, key)}: [{_flow(listed, node)}]", leaving)
        elif not isinstance(present.value, yaml.SequenceNode):
            raise NoPlace
        elif present.value.flow_style:
            self._add_flow(present.value, _flow(listed, present.value), ())
        else:
            column = present.value.start_mark.column
            line = present.value.start_mark.line
            self._insert(line, column, _block(listed, " " * column))

    def _add_list(
        self, node: Any, key: str, listed: Sequence[Mapping[str, str]], before: str | None
    ) -> None:
        anchor = self._own_line(node, before)
        column = anchor.start_mark.column
        lines = [f"{' ' * column}{key}:", *_block(listed, " " * (column + self._offset))]
        self._insert(anchor.start_mark.line, column, lines)

    def _add(self, node: Any, key: str, said: str, before: Any) -> None:
        """A key with a text in front of an entry of a map."""
        if node.flow_style:
            self._add_flow(node, f"{_key(node, key)}: {said}", ())
            return
        anchor = self._own_line(node, before if isinstance(before, str) else None)
        column = anchor.start_mark.column
        self._insert(anchor.start_mark.line, column, [f"{' ' * column}{key}: {said}"])

    def _add_flow(self, node: Any, said: str, leaving: Sequence[str]) -> None:
        """Text in front of what a flow collection holds; `leaving` are keys that go from it."""
        inner = node.value
        left = len(inner) - sum(pair[0].value in leaving for pair in inner if leaving)
        first = inner[0][0] if inner and isinstance(node, yaml.MappingNode) else None
        first = inner[0] if first is None and inner else first
        place = _index(first) if first is not None else node.start_mark.index + 1
        if first is not None and place == node.start_mark.index:
            raise NoPlace
        self.edits.change(place, place, f"{said}, " if left else said)

    def _own_line(self, node: Any, wanted: str | None) -> Any:
        """A key of a block map that begins its line: the wanted one, else the first that does."""
        keys = [key for key, _ in _entries(node)]
        keys.sort(key=lambda key: key.value != wanted)
        for key in keys:
            if not self.lines[key.start_mark.line][: key.start_mark.column].strip():
                return key
        raise NoPlace

    def _insert(self, line: int, column: int, lines: Sequence[str]) -> None:
        """Puts lines before one, and before the comments that stand over it."""
        while line and self._is_comment(line - 1, column):
            line -= 1
        self.edits.insert(line, lines)

    def _is_comment(self, number: int, column: int) -> bool:
        line = self.lines[number]
        return line[:column].strip() == "" and line[column : column + 1] == "#"

    def _list_offset(self, listed: Any, spec: Any) -> int:
        """How far lists stand in from their keys: as the containers do, else as lists of the file."""
        key = next((key for key, value in _entries(spec) if value is listed), None)
        if key is not None and isinstance(listed, yaml.SequenceNode) and not listed.flow_style:
            return int(listed.start_mark.column - key.start_mark.column)
        return 2 if _INDENTED.search(self.text) else 0

    def _first_time(self, node: Any, what: str) -> bool:
        mark = (_index(node), what)
        if mark in self._done:
            return False
        self._done.add(mark)
        return True


def _at(node: Any, steps: Steps) -> Any:
    """The node at the end of a path; through merge keys where an entry comes by one."""
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            member = _member(node, str(step))
            if member is None:
                raise NoPlace
            node = member.value
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
        else:
            raise NoPlace
    return node


def _member(node: Any, key: str) -> _Member | None:
    """The entry of a key: the map's own, or one that a merge key brings."""
    if not isinstance(node, yaml.MappingNode):
        raise NoPlace
    for name, value in reversed(node.value):
        if name.value == key:
            return _Member(name, value)
    for name, value in node.value:
        if name.value == "<<":
            for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(part, yaml.MappingNode) and (found := _member(part, key)):
                    return found
    return None


def _is_alias(member: _Member) -> bool:
    return _index(member.value) < _index(member.key)


def _entries(node: Any) -> list[tuple[Any, Any]]:
    if not isinstance(node, yaml.MappingNode):
        raise NoPlace
    return [(key, value) for key, value in node.value if key.value != "<<"]


def _index(node: Any) -> int:
    return int(node.start_mark.index)


def _key(node: Any, key: str) -> str:
    """A key as the keys of a map are written."""
    quoted = node.value and node.value[0][0].style == '"'
    return f'"{key}"' if quoted else key


def _flow(listed: Sequence[Mapping[str, str]], node: Any) -> str:
    quoted = bool(node.value) and '"' in str(_first_key_style(node))
    return ", ".join(
        json.dumps(dict(one))
        if quoted
        else "{" + ", ".join(f"{key}: {_scalar(value)}" for key, value in one.items()) + "}"
        for one in listed
    )


def _first_key_style(node: Any) -> str | None:
    """How the first key of a map, or of the first map of a list, is quoted."""
    first = node.value[0]
    if isinstance(node, yaml.SequenceNode):
        return _first_key_style(first) if isinstance(first, yaml.MappingNode) else None
    style: str | None = first[0].style
    return style


def _block(listed: Sequence[Mapping[str, str]], indent: str) -> list[str]:
    lines = []
    for one in listed:
        sign = "- "
        for key, value in one.items():
            lines.append(f"{indent}{sign}{key}: {_scalar(value)}")
            sign = "  "
    return lines


def _scalar(value: str) -> str:
    """A name as YAML text; one that reads as something else, such as `on`, in quotes."""
    return value if resolve_as_kubernetes(value) == value else json.dumps(value)
