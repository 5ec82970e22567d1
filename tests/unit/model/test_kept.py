"""What files say, kept as bytes: the same models at the same places, found when they are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.model.base import Spec, at
from dracfg.model.kept import parse_files
from dracfg.model.kinds import KINDS, AnyDocument
from dracfg.model.parse import Parsed, parse, parse_document
from dracfg.reading import keep
from dracfg.source.files import SourceFile
from dracfg.source.reader import understand
from dracfg.source.seen import Seen

TENANTS = sorted(Path("tenants").rglob("*.yaml"))
CATALOG = sorted(Path("catalog").glob("*.yaml")) + sorted(Path("catalog").glob("[!i]*/*.yaml"))
SHARED = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  access:
    use:
    - &who {group: vision-eng}
    view: [*who, {serviceAccount: {namespace: a, name: b}}]
  namespaces:
  - {name: vision-prod, clusters: &all [prod-east]}
  - {name: vision-dev, clusters: *all}
  entitlements:
  - {name: gpu, tier: a100, guaranteed: {1g.5gb: 6}}
"""
"""What an alias repeats is a map, which plain data is not read from."""


def _specs(value: object) -> list[Spec]:
    if isinstance(value, Spec):
        return [value, *(one for field in value.__dict__.values() for one in _specs(field))]
    if isinstance(value, dict):
        return [one for item in value.values() for one in _specs(item)]
    if isinstance(value, tuple):
        return [one for item in value for one in _specs(item)]
    return []


def _again(path: str, data: bytes) -> tuple[SourceFile, Parsed]:
    kept = keep(path, data)
    assert kept is not None
    file = SourceFile(path, data.decode(), None, kept)
    return file, parse_files([file], Seen())


def _agree(path: str, data: bytes) -> None:
    read, _ = understand(path, data)
    assert read is not None
    made = [parse_document(document, KINDS) for document in read.documents]
    _, again = _again(path, data)
    assert not again.faults
    assert not again.poisoned
    assert [type(one) for one in again.documents] == [type(one) for one in made]
    assert repr(list(again.documents)) == repr(made)
    before = [spec for one in made for spec in _specs(one)]
    after = _specs(again.documents)
    assert len(before) == len(after) > 0
    for one, other in zip(before, after, strict=True):
        assert one.__pydantic_fields_set__ == other.__pydantic_fields_set__
        if one.__pydantic_private__:
            assert other.read_from == one.read_from
            assert other.source_path == path


@pytest.mark.parametrize("path", [*TENANTS, *CATALOG], ids=str)
def test_kept_documents_are_the_same_at_the_same_places(path: Path) -> None:
    _agree(str(path), path.read_bytes())


def test_what_an_alias_repeats_is_kept_at_its_anchor() -> None:
    _agree("tenants/a.yaml", SHARED.encode())
    _, again = _again("tenants/a.yaml", SHARED.encode())
    (tenant,) = again.documents
    assert tenant.kind == "Tenant"
    access = tenant.spec.access
    assert access is not None
    assert access.use[0].read_from is access.view[0].read_from
    assert at(tenant.spec.entitlements[0], "guaranteed", "1g.5gb").line == 13


def test_nothing_is_composed_before_a_place_is_asked_for() -> None:
    file, again = _again("tenants/a.yaml", TENANTS[0].read_bytes())
    (document,) = again.documents
    assert document.source_path == "tenants/a.yaml"
    assert "documents" not in vars(file)
    assert at(document, "metadata", "name").line > 1
    assert "documents" in vars(file)


def test_what_was_seen_is_the_same_again() -> None:
    file, _ = _again("tenants/a.yaml", TENANTS[0].read_bytes())
    seen = Seen()

    def made() -> AnyDocument:
        (document,) = parse_files([file], seen).documents
        return document

    assert made() is made()


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "a: [\n",
        "a:\n",
        "a: &b {c: }\nd: *b\n",
        "a: &b {c: 1}\nd: *b\n---\n- a\n",
        "\ufeffa: 1\n",
        "a: 1\r\n",
        "",
    ],
)
def test_what_has_a_fault_is_not_kept(text: str) -> None:
    assert keep("tenants/a.yaml", text.encode()) is None


HEAD = "apiVersion: dracfg.dev/v1alpha1\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tenants/a.yaml", "kind: Tenant\n"),
        ("tenants/a.yaml", f"{HEAD}kind: Tenants\nmetadata: {{name: a}}\n"),
        ("tenants/a.yaml", f"{HEAD}kind: Tenant\nmetadata: {{name: A}}\nspec: {{}}\n"),
        ("tenants/a.yaml", SHARED.replace("name: gpu", "nmae: gpu")),
        ("tenants/a.yaml", f"{SHARED}---\n{HEAD}kind: [Tenant]\n"),
        ("catalog/a.yaml", TENANTS[0].read_text()),
    ],
)
def test_what_the_language_refuses_is_found_in_what_was_kept(path: str, text: str) -> None:
    _, again = _again(path, text.encode())
    read, _ = understand(path, text.encode())
    assert read is not None
    found = parse(read.documents)
    assert found.faults
    assert again.faults == found.faults
    assert again.poisoned == found.poisoned
    assert again.documents == found.documents
