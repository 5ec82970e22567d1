"""The page on rollouts says of every measure what the data say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from dracfg.link.measures import Measure, measures, protection
from dracfg.model.rollout import Protects
from dracfg.rollout.gates import written

PAGE = (Path(__file__).parents[2] / "docs" / "rollouts.md").read_text(encoding="utf-8")


def rows(first: str) -> list[str]:
    """The rows below a table's head whose first column is named so."""
    found = re.search(rf"^\| {re.escape(first)} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found is not None
    return found[1].splitlines()


def answered(one: Measure) -> Iterator[str]:
    if one.query is not None:
        yield "query"
    if one.documents is not None:
        yield from ["tests"] if one.documents.tests else []
        yield from ["audit"] if one.documents.audits else []
        yield from ["records of trials"] if one.documents.records else []


def test_the_table_of_measures() -> None:
    assert rows("measure") == [
        f"| `{one.id}` | {one.says} | {one.like} | {one.unit} | {one.asked} | {', '.join(answered(one))} "
        f"| {written(one.max)} | {'never' if one.halt is None else written(one.halt)} |"
        for one in measures().values()
    ]


def test_the_table_of_what_is_protected() -> None:
    assert rows("`protects`") == [
        f"| `{word}` | {', '.join(f'`{name}`' for name in protection(word).gates)} "
        f"| {', then '.join(protection(word).order)} |"
        for word in get_args(Protects)
    ]
