"""schemas/ is what the models say, and both judge every document alike."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from referencing import Registry
from referencing.jsonschema import DRAFT7

from dracfg.cli.main import invoke
from dracfg.model.jsonschema import schemas
from dracfg.model.kinds import KINDS, TEST_KINDS
from dracfg.model.parse import parse_document
from dracfg.source import Document, Map, Node, Seq, read_repository
from dracfg.source.composer import compose

ROOT = Path(__file__).parents[3]
ALL_KINDS = {**KINDS, **TEST_KINDS}


def data(node: Node) -> Any:
    if isinstance(node, Map):
        return {key: data(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, Seq):
        return [data(item) for item in node.items]
    return float(node.value) if isinstance(node.value, Decimal) else node.value


def accepts(document: Document) -> bool:
    kind = data(document.root).get("kind")
    schema = schemas().get(str(kind).lower())
    if kind not in ALL_KINDS or schema is None:
        return False
    return jsonschema.Draft7Validator(schema).is_valid(data(document.root))


def repositories() -> list[Path]:
    golden = sorted(path.parent for path in (ROOT / "tests" / "golden").glob("*/catalog"))
    return [ROOT, *golden]


@pytest.mark.parametrize("name", sorted(schemas()))
def test_schema_is_draft07(name: str) -> None:
    jsonschema.Draft7Validator.check_schema(schemas()[name])


def test_folder_equals_models() -> None:
    assert invoke(["schema", "--out", str(ROOT / "schemas"), "--check"]) == 0
    assert {path.stem for path in (ROOT / "schemas").glob("*.json")} == set(schemas()) | {
        "diffplan",
        "report",
    }


@pytest.mark.parametrize("root", repositories(), ids=lambda path: path.name)
def test_schemas_accept_what_compiles(root: Path) -> None:
    documents = list(read_repository(root).documents)
    assert documents
    for document in documents:
        assert accepts(document), document.path


def case_files() -> list[Path]:
    return sorted((ROOT / "tests" / "cases").glob("*/*.yaml"))


def texts(case: Path) -> list[str]:
    loaded = yaml.safe_load(case.read_text(encoding="utf-8"))
    files = loaded.get("files") or {}
    return [
        text for path, text in files.items() if isinstance(text, str) and path.endswith(".yaml")
    ]


def test_models_and_schemas_agree_on_every_case() -> None:
    judged = 0
    for case in case_files():
        for text in texts(case):
            documents, _ = compose("case.yaml", text)
            for document in documents:
                if document.sound and isinstance(document.root, Map):
                    by_model = not isinstance(parse_document(document, ALL_KINDS), list)
                    assert accepts(document) == by_model, (case.name, document.index)
                    judged += 1
    assert judged > 20


def test_any_document_branches_on_kind() -> None:
    found = schemas()
    registry = Registry().with_resources(
        (f"{name}.json", DRAFT7.create_resource(schema)) for name, schema in found.items()
    )
    validator = jsonschema.Draft7Validator(found["any"], registry=registry)
    good = {
        "apiVersion": "dracfg.dev/v1alpha1",
        "kind": "HardwareTier",
        "metadata": {"name": "a"},
        "spec": {"driver": "gpu.example.com"},
    }
    assert validator.is_valid(good)
    assert not validator.is_valid({**good, "spec": {"driver": "gpu.example.com", "drvier": 1}})
    assert not validator.is_valid({**good, "kind": "Tenat"})


def test_schemas_are_small_enough_for_an_editor() -> None:
    assert all(len(json.dumps(schema)) < 60_000 for schema in schemas().values())
