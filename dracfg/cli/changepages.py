"""Pages of the kinds of change that `dracfg diff` tells, for people and for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from dracfg.diff.change import ChangeKind, Impact, change_kinds
from dracfg.diff.fieldtable import field_table

ALL = "changes"
"""The word that lists every kind."""

_FELT = {
    "never": "never felt",
    "compile": "felt by readers of the tree only",
    "sync": "felt at the next sync",
    "next claim": "felt with the next claim",
    "restart": "felt with a restart",
    "drain": "felt as workloads move",
}


def change_document(kind: ChangeKind) -> dict[str, Any]:
    """A kind of change as a document; `fields` are those of the language that give it."""
    return {
        "schemaVersion": 1,
        "kind": "ChangePage",
        **_facts(kind),
        "means": kind.means,
        "wayBack": kind.way_back,
        "fields": list(_fields(kind)),
    }


def changes_document() -> dict[str, Any]:
    """Every kind of change, in the order of the data."""
    return {
        "schemaVersion": 1,
        "kind": "ChangeList",
        "changes": [_facts(kind) for kind in change_kinds().values()],
    }


def change_text(kind: ChangeKind, width: int) -> Iterator[str]:
    """The page of a kind."""
    facts = [kind.impact.word, _FELT[kind.effect], *(f"flag {flag}" for flag in kind.flags)]
    yield f"# {kind.name}: {kind.title}"
    yield ""
    yield ", ".join(facts)
    yield from ("", "## What it means", "", *textwrap.wrap(kind.means, width))
    way_back = f"{kind.way_back[0].upper()}{kind.way_back[1:]}."
    yield from ("", "## The way back", "", *textwrap.wrap(way_back, width))
    if fields := list(_fields(kind)):
        yield from ("", "## Given by", "", *fields)


def changes_text() -> Iterator[str]:
    """Every kind with its title, the worst first."""
    kinds = change_kinds().values()
    width = max(len(kind.name) for kind in kinds)
    for impact in sorted(Impact, reverse=True):
        members = [kind for kind in kinds if kind.impact is impact]
        if members:
            yield f"{impact.word}:"
            yield from (f"  {kind.name:<{width}}  {kind.title}" for kind in members)


def _facts(kind: ChangeKind) -> dict[str, Any]:
    return {
        "name": kind.name,
        "title": kind.title,
        "impact": kind.impact.word,
        "flags": list(kind.flags),
        "effect": kind.effect,
    }


def _fields(kind: ChangeKind) -> Iterator[str]:
    """Documents and fields whose change may be of a kind."""
    table = field_table()
    for path, row in (*table.documents.items(), *table.rows.items()):
        if kind.name in row.all_kinds():
            yield path
