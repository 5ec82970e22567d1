"""What files say, kept as bytes: the same models, places found when asked for, and nothing else made."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from dracfg.model.base import Spec, at
from dracfg.model.kept import keep, thaw
from dracfg.model.kinds import KINDS
from dracfg.model.parse import parse_document
from dracfg.source.files import SourceFile
from dracfg.source.reader import understand

TENANTS = sorted(Path("tenants").rglob("*.yaml"))
CATALOG = sorted(Path("catalog").glob("*.yaml")) + sorted(Path("catalog").glob("[!i]*/*.yaml"))


def _specs(value: object) -> list[Spec]:
    if isinstance(value, Spec):
        return [value, *(one for field in value.__dict__.values() for one in _specs(field))]
    if isinstance(value, dict):
        return [one for item in value.values() for one in _specs(item)]
    if isinstance(value, tuple):
        return [one for item in value for one in _specs(item)]
    return []


@pytest.mark.parametrize("path", [*TENANTS, *CATALOG], ids=str)
def test_kept_documents_are_the_same_at_the_same_places(path: Path) -> None:
    data = path.read_bytes()
    file, _ = understand(str(path), data)
    assert file is not None
    made = tuple(parse_document(document, KINDS) for document in file.documents)
    kept = keep(str(path), data)
    assert kept is not None
    again = thaw(SourceFile(str(path), data.decode(), None, kept), kept)
    assert [type(one) for one in again] == [type(one) for one in made]
    assert repr(again) == repr(made)
    before, after = _specs(made), _specs(again)
    assert len(before) == len(after) > 0
    for one, other in zip(before, after, strict=True):
        assert one.__pydantic_fields_set__ == other.__pydantic_fields_set__
        if one.__pydantic_private__ and one.__pydantic_private__["_read_from"]:
            assert other.read_from == one.read_from
            assert other.source_path == str(path)


def test_nothing_is_composed_before_a_place_is_asked_for() -> None:
    data = TENANTS[0].read_bytes()
    kept = keep("tenants/a.yaml", data)
    assert kept is not None
    file = SourceFile("tenants/a.yaml", data.decode(), None, kept)
    (document,) = thaw(file, kept)
    assert document.source_path == "tenants/a.yaml"
    assert "documents" not in vars(file)
    assert at(document, "metadata", "name").line > 1
    assert "documents" in vars(file)


@pytest.mark.parametrize(
    "text",
    [
        "kind: Tenant\n",
        "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: A}\nspec: {}\n",
        "a: 1\na: 2\n",
        "a: [\n",
        "\ufeffa: 1\n",
        "",
    ],
)
def test_what_has_a_fault_is_not_kept(text: str) -> None:
    assert keep("tenants/a.yaml", text.encode()) is None


def test_what_stands_in_the_wrong_folder_is_not_kept() -> None:
    assert keep("catalog/a.yaml", TENANTS[0].read_bytes()) is None


@pytest.mark.parametrize("named", [print, Path, getattr, pickle.loads, Spec.model_validate])
def test_bytes_that_name_anything_else_are_refused(named: object) -> None:
    with pytest.raises(pickle.UnpicklingError, match="no part of a document"):
        thaw(SourceFile("tenants/a.yaml", ""), pickle.dumps(named, 5))
