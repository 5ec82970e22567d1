"""What people wrote: every field has its kind of change, and nothing else is told."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from dracfg.diff.change import Effect, Flag, change_kinds
from dracfg.diff.documents import compare_documents
from dracfg.diff.fielddefaults import FILLS
from dracfg.diff.fieldtable import field_table
from dracfg.model.fields import describe
from dracfg.model.kinds import KINDS
from dracfg.packaged import read_data
from tests.unit.diff.written import FIELDS, Data, add, base, document, pair_of_documents, put

CASES: dict[str, list[Data]] = json.loads(
    json.dumps(
        yaml.safe_load(
            (Path(__file__).parent / "test_documents_cases.yaml").read_text(encoding="utf-8")
        ),
        default=str,
    )
)
LANGUAGE: dict[str, Data] = read_data("dracfg.diff", "data/changes/language.yaml")
FORMS = {"", "amounts", "attribute", "duration", "match", "nodes", "size", "tree", "version"}
NEVER = {"apiVersion", "kind"}
"""Keys that have one value only."""


# -- the table -------------------------------------------------------------------------------------


def test_every_field_has_a_row_and_every_row_a_field() -> None:
    assert sorted(field_table().rows) == FIELDS


def test_every_kind_of_document_can_come_and_go() -> None:
    documents = field_table().documents
    assert documents.keys() == KINDS.keys()
    assert all(row.kinds.keys() == {"added", "removed"} for row in documents.values())


@pytest.mark.parametrize("path", FIELDS)
def test_a_row_knows_its_words(path: str) -> None:
    row = field_table().rows[path]
    assert row.form in FORMS
    assert row.fill in {"", "guaranteed", *FILLS}
    assert ("raised" in row.kinds) == ("lowered" in row.kinds)
    assert ("added" in row.kinds) == ("removed" in row.kinds)
    assert set(row.all_kinds()) <= LANGUAGE.keys()


def test_words_in_rows_are_words_of_the_language() -> None:
    """Ranks hold every word that a field may have, and `to` no other."""
    for path, row in field_table().rows.items():
        words = set(re.split(r" \| | or ", describe(path).field.type))
        if row.rank and "map" not in words and "map to" not in describe(path).field.type:
            assert set(row.rank) == words, path
        if (
            row.to
            and words.isdisjoint({"true", "text"})
            and "map to" not in describe(path).field.type
        ):
            assert row.to.keys() == words, path


def test_templates_name_models() -> None:
    """What entries are called and shown as is told of models of the language, by their keys."""
    names = _models()
    table = field_table()
    for templates in (table.called, table.shown):
        for name, template in templates.items():
            assert name in names, name
            for key in re.findall(r"\{([^}]*)\}", template):
                assert key.split(".")[0] in names[name], (name, key)


def _models() -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}

    def enter(model: Any) -> None:
        fields = getattr(model, "model_fields", {}) if isinstance(model, type) else {}
        if fields and model.__name__ not in found:
            found[model.__name__] = {field.alias or name for name, field in fields.items()}
            for field in fields.values():
                enter(field.annotation)
        for argument in get_args(model):
            enter(argument)

    for kind in KINDS.values():
        enter(kind)
    return found


# -- kinds of change -------------------------------------------------------------------------------


def test_every_kind_of_the_language_is_given_by_something() -> None:
    table = field_table()
    given = {
        kind
        for rows in (table.documents, table.rows)
        for row in rows.values()
        for kind in row.all_kinds()
    }
    assert given == LANGUAGE.keys()


def test_kinds_of_change_are_named_once() -> None:
    files = ("language", "effects", "platform")
    named = [
        name for file in files for name in read_data("dracfg.diff", f"data/changes/{file}.yaml")
    ]
    assert len(named) == len(set(named))
    assert not set(named) & {kind.lower() for kind in KINDS}


@pytest.mark.parametrize("name", change_kinds())
def test_a_kind_of_change(name: str) -> None:
    kind = change_kinds()[name]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    assert kind.effect in get_args(Effect)
    assert set(kind.flags) <= set(get_args(Flag))
    assert kind.title and not kind.title.endswith(".")
    assert kind.means[0].isupper() and kind.means.endswith(".")
    assert kind.way_back and not kind.way_back.endswith(".")


# -- fields ----------------------------------------------------------------------------------------


def _cases() -> Iterator[Any]:
    for path, cases in CASES.items():
        for number, case in enumerate(cases):
            yield pytest.param(path, case, id=f"{path}-{number}")


@pytest.mark.parametrize(("path", "case"), [*_cases()])
def test_a_change_of_one_field(path: str, case: Data) -> None:
    kind, _, own = path.partition(".")
    at = case.get("at", own).split(".")
    before = base()
    if "was" in case:
        put(document(before, kind, case.get("of")), at, copy.deepcopy(case["was"]))
    after = copy.deepcopy(before)
    changed = document(after, kind, case.get("of"))
    if "add" in case:
        add(changed, at, case["add"])
    else:
        put(changed, at, case["is"])
    found = list(compare_documents(pair_of_documents(before, after)))
    gives = case["gives"] if isinstance(case["gives"], list) else [case["gives"]]
    assert sorted(f"{one.kind.name} {one.impact.word}" for one in found) == sorted(gives)
    assert all(one.span is not None and one.span.line for one in found)
    assert all(one.before or one.after for one in found)
    assert all(one.before != one.after or one.details for one in found)


def test_every_field_has_a_case() -> None:
    rows = field_table().rows
    told = {
        path
        for path in FIELDS
        if rows[path].role != "fields" and path.rpartition(".")[2] not in NEVER
    }
    assert told <= CASES.keys()
    assert CASES.keys() <= set(FIELDS)


def test_every_kind_of_a_row_has_a_case() -> None:
    """Each kind that a row may give is expected by a case of the field, or of one below or above it."""
    expected = {
        path: {
            gives.split(" ")[0]
            for case in cases
            for gives in (case["gives"] if isinstance(case["gives"], list) else [case["gives"]])
        }
        for path, cases in CASES.items()
    }
    missing = {
        path: lost
        for path, row in field_table().rows.items()
        if (lost := set(row.all_kinds()) - _near(expected, path))
    }
    assert not missing


def _near(expected: Mapping[str, set[str]], path: str) -> set[str]:
    return {
        kind
        for other, kinds in expected.items()
        if other == path or other.startswith(f"{path}.") or path.startswith(f"{other}.")
        for kind in kinds
    }
