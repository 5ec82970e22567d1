"""Guarantees that no profile reaches: each tenant is told at its own place, however alike they are."""

from pathlib import Path

import yaml

from dracfg.check.grounds import is_out_of_reach
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.source import read_repository

BASE = Path(__file__).parents[2] / "cases" / "_base" / "proofs.yaml"
SINGLE = "requests: [{name: card, entitlement: slice, size: 10Gi}]"
EITHER = (
    "requests: [{name: card, anyOf: [{name: a, entitlement: slice, size: 10Gi}, "
    "{name: b, entitlement: slice, size: 20Gi}]}]"
)


def catalog(root: Path, **tenants: str) -> Catalog:
    """The base with tenants like its `notebooks`, by name, and what their one request is."""
    files = yaml.safe_load(BASE.read_text())["files"]
    like = files.pop("tenants/notebooks.yaml")
    assert SINGLE in like
    for name, requests in tenants.items():
        files[f"tenants/{name}.yaml"] = like.replace("notebooks", name).replace(SINGLE, requests)
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    parsed = parse(read_repository(root).documents)
    assert not parsed.faults
    named, _ = index(parsed.documents)
    return link(named, parsed.poisoned).catalog


def told(found: Catalog) -> list[str]:
    return [one.span.path for one in is_out_of_reach(found) if one.span is not None]


def test_each_of_those_alike_is_told_by_itself(tmp_path: Path) -> None:
    found = catalog(tmp_path, ada=EITHER, bob=EITHER, cleo=SINGLE)
    assert told(found) == ["tenants/ada.yaml", "tenants/bob.yaml"]


def test_who_writes_claims_of_its_own_reaches_everything(tmp_path: Path) -> None:
    found = catalog(tmp_path, ada=EITHER)
    assert told(found) == ["tenants/ada.yaml"]
    own = "ownClaims: true\n  entitlements:"
    path = tmp_path / "tenants" / "ada.yaml"
    path.write_text(path.read_text().replace("entitlements:", own, 1))
    parsed = parse(read_repository(tmp_path).documents)
    named, _ = index(parsed.documents)
    assert told(link(named, parsed.poisoned).catalog) == []
