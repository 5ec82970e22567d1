"""A step and its evidence → edits of the Rollout's own text; every other byte stays.

Works on the places that the reader kept. What was made is read again before it counts: the document
must say the new standing and all evidence, old and new, and nothing else must have changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dracfg.diagnostics import Span
from dracfg.link.steps import Standing
from dracfg.model.kinds import KINDS, Rollout
from dracfg.model.parse import parse_document
from dracfg.model.rollout import Evidence
from dracfg.source import Map, Node, Seq, SourceFile
from dracfg.source.composer import compose
from dracfg.source.edits import Edit


class CannotEdit(Exception):
    """Why a Rollout can't be edited where it stands."""


def edits_of(
    file: SourceFile, rollout: Rollout, after: Standing, evidence: Evidence | None
) -> tuple[Edit, ...]:
    """The edits that make the document stand at `after`, with one more piece of evidence."""
    spec = rollout.read_from.entries["spec"].value
    assert isinstance(spec, Map)
    text = _Text(file.text)
    wanted: Mapping[str, str] = {
        "stage": after.stage,
        "phase": after.phase,
        "direction": after.direction,
    }
    defaults = {"phase": "open", "direction": "forward"}
    found: list[Edit] = []
    added: list[str] = []
    for key, value in wanted.items():
        entry = spec.entries.get(key)
        if entry is None:
            if defaults.get(key) != value:
                added.append(f"{key}: {value}")
        elif getattr(rollout.spec, key) != value:
            found.append(Edit(entry.value.span, value))
    if added:
        found.append(_beside(text, spec, "stage", added))
    if evidence is not None:
        found.append(_evidence(text, spec, evidence))
    return tuple(_merged(found))


def holds(
    edited: str, path: str, rollout: Rollout, after: Standing, evidence: Evidence | None
) -> bool:
    """Whether the edited text says what was meant, and nothing else otherwise than before."""
    documents, faults = compose(path, edited)
    if faults:
        return False
    for document in documents:
        made = parse_document(document, KINDS)
        if isinstance(made, Rollout) and made.name == rollout.name:
            more = () if evidence is None else (evidence,)
            wanted = rollout.spec.model_copy(
                update={
                    "stage": after.stage,
                    "phase": after.phase,
                    "direction": after.direction,
                    "evidence": (*rollout.spec.evidence, *more),
                }
            )
            return made.spec.model_dump() == wanted.model_dump()
    return False


class _Text:
    """The lines of a file, for places between what was read."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")

    def is_flow(self, node: Node) -> bool:
        return self.lines[node.span.line - 1][node.span.column - 1 :][:1] in ("{", "[")

    def end_of(self, node: Node, path: str) -> Span:
        """The end of the last line that a node stands on, after any comment there."""
        line = node.span.end_line - (
            node.span.end_column == 1 and node.span.end_line > node.span.line
        )
        column = len(self.lines[line - 1]) + 1
        return Span(path, line, column, line, column)

    def before_end(self, node: Node) -> Span:
        """The place of the bracket that closes a flow collection."""
        span = node.span
        return Span(
            span.path, span.end_line, span.end_column - 1, span.end_line, span.end_column - 1
        )


def _beside(text: _Text, spec: Map, key: str, added: list[str]) -> Edit:
    """New keys after one that stands there."""
    entry = spec.entries[key]
    if text.is_flow(spec):
        span = entry.value.span
        here = Span(span.path, span.end_line, span.end_column, span.end_line, span.end_column)
        return Edit(here, "".join(f", {one}" for one in added))
    margin = " " * (entry.key.span.column - 1)
    return Edit(
        text.end_of(entry.value, entry.key.span.path), "".join(f"\n{margin}{one}" for one in added)
    )


def _evidence(text: _Text, spec: Map, evidence: Evidence) -> Edit:
    """One more item of `evidence`, wherever and however it stands."""
    entry = spec.entries.get("evidence")
    if entry is None:
        return _first_evidence(text, spec, evidence)
    kept = entry.value
    assert isinstance(kept, Seq)
    if text.is_flow(kept):
        joint = ", " if kept.items else ""
        return Edit(text.before_end(kept), f"{joint}{_flow(evidence)}")
    last = kept.items[-1]
    line = text.lines[kept.items[0].span.line - 1]
    margin = line[: len(line) - len(line.lstrip())]
    if not line.lstrip().startswith("- "):
        raise CannotEdit("its evidence is written in a form that can't be added to")
    return Edit(text.end_of(last, last.span.path), f"\n{margin}- {_flow(evidence)}")


def _first_evidence(text: _Text, spec: Map, evidence: Evidence) -> Edit:
    if text.is_flow(spec):
        return Edit(text.before_end(spec), f", evidence: [{_flow(evidence)}]")
    entry = list(spec.entries.values())[-1]
    margin = " " * (entry.key.span.column - 1)
    return Edit(
        text.end_of(entry.value, entry.key.span.path),
        f"\n{margin}evidence:\n{margin}  - {_flow(evidence)}",
    )


def _merged(edits: list[Edit]) -> Iterator[Edit]:
    """Edits by place; insertions at one place become one."""
    by_span: dict[Span, str] = {}
    for edit in edits:
        by_span[edit.span] = by_span.get(edit.span, "") + edit.text
    for span, text in by_span.items():
        yield Edit(span, text)


def _flow(evidence: Evidence) -> str:
    return _written(evidence.model_dump(by_alias=True, exclude_none=True, exclude_defaults=False))


def _written(value: Any) -> str:
    """A value as flow YAML that readers of 1.1 and 1.2 agree on: text is quoted, keys are plain."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
