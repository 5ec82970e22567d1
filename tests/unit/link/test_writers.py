"""Who writes a field: found wherever the field may stand, and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.link.writers import writers
from dracfg.model.parse import parse
from dracfg.source import read_repository

BASE = Path(__file__).parents[2] / "cases" / "_base" / "proofs.yaml"
BARE = "namespaces: [{name: NAME, clusters: [prod-east]}]"
ENTITLED = f"{BARE}\n  entitlements: [{{name: card, tier: card-40g, guaranteed: 1"
PROFILE = "requests: [{name: a, entitlement: card"
TENANTS = {
    "bare": BARE,
    "entitled": f"{ENTITLED}, priority: high}}]",
    "labelled": BARE.replace("}", ", labels: {a: b}}"),
    "owner": f"{BARE}\n  ownClaims: false",
    "placed": f"{BARE}\n  profiles: [{{name: p, namespaces: [placed], {PROFILE}}}]}}]",
    "tolerant": f"{BARE}\n  profiles: [{{name: p, {PROFILE}, tolerations: [{{key: k}}]}}]}}]",
    "urgent": f"{BARE}\n  profiles: [{{name: p, priority: high, {PROFILE}}}]}}]",
}
HEAD = "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: NAME}\nspec:\n  "


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    root = tmp_path_factory.mktemp("repository")
    files = yaml.safe_load(BASE.read_text(encoding="utf-8"))["files"]
    files = {path: text for path, text in files.items() if path.startswith("catalog/")}
    for name, spec in TENANTS.items():
        files[f"tenants/{name}.yaml"] = (HEAD + spec).replace("NAME", name) + "\n"
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    parsed = parse(read_repository(root).documents)
    named, _ = index(parsed.documents)
    return link(named, parsed.poisoned).catalog


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        (["own_claims"], ["owner"]),
        (["labels"], ["labelled"]),
        (["tolerations"], ["tolerant"]),
        (["priority"], ["entitled", "urgent"]),
        (["tolerations", "own_claims", "labels"], ["labelled", "owner", "tolerant"]),
        (["profiles"], ["placed", "tolerant", "urgent"]),
        (["namespaces"], ["placed"]),
        (["shared_claims"], []),
        ([], []),
    ],
)
def test_writers(catalog: Catalog, fields: list[str], names: list[str]) -> None:
    assert [tenant.name for tenant in writers(catalog, *fields)] == names
