"""Rules that judge one tenant at a time find the same in a whole catalog as tenant by tenant.

What a comparison leaves out hangs on it: such a rule is not run over tenants that are the same.
Every tenant of a case has a twin, so that a rule that keeps in mind what it found of another is met.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.check.catalog import RULES, TENANT_RULES, tenants_alone
from dracfg.check.rule import Rule
from dracfg.diagnostics import Diagnostic
from dracfg.link.catalog import Catalog
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.model.parse import parse
from dracfg.source import read_repository
from tests.bench.fleet import fleet
from tests.cases.test_cases import PATHS, build, read

ROOT = Path(__file__).parents[2]
Found = set[tuple[str, Diagnostic]]
"""What each rule finds, by its name."""


def catalog(root: Path) -> Catalog:
    parsed = parse(read_repository(root).documents)
    named, _ = index(parsed.documents)
    return link(named, parsed.poisoned).catalog


def found(rules: Iterable[Rule], of: Catalog) -> Found:
    return {(rule.__name__, finding) for rule in rules for finding in rule(of)}


def one_by_one(rules: Iterable[Rule], whole: Catalog) -> Found:
    kept = tuple(rules)
    alone = (found(kept, tenants_alone(whole, [name])) for name in whole.tenants)
    return set[tuple[str, Diagnostic]]().union(*alone)


def with_twins(case: Path, root: Path) -> Catalog:
    """The catalog of a case, with each of its tenants once more under another name."""
    build(read(case), root)
    for path in sorted((root / "tenants").rglob("*.yaml")):
        twins = [*_twins(path)]
        if twins:
            path.with_name(f"{path.stem}-twins.yaml").write_text(yaml.safe_dump_all(twins))
    return catalog(root)


def _twins(path: Path) -> Iterator[dict[str, Any]]:
    """The tenants in a file; none where it is not understood, or a rule on files is what is tried."""
    try:
        documents = [*yaml.safe_load_all(path.read_text(encoding="utf-8"))]
    except (OSError, UnicodeError, yaml.YAMLError, ValueError):
        return
    for document in documents:
        if isinstance(document, dict) and document.get("kind") == "Tenant":
            metadata = document.get("metadata")
            if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
                yield {**document, "metadata": {**metadata, "name": f"{metadata['name']}-twin"}}


@pytest.mark.parametrize("case", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_rules_of_tenants_are_additive(case: Path, tmp_path: Path) -> None:
    whole = with_twins(case, tmp_path)
    assert one_by_one(TENANT_RULES, whole) == found(TENANT_RULES, whole)


def test_rules_of_tenants_are_additive_in_the_repository_that_is_shipped() -> None:
    whole = catalog(ROOT)
    assert one_by_one(TENANT_RULES, whole) == found(TENANT_RULES, whole)


@pytest.mark.parametrize(("tenants", "clusters", "seed"), [(12, 2, 1), (30, 3, 5)])
def test_rules_of_tenants_are_additive_in_a_fleet(
    tenants: int, clusters: int, seed: int, tmp_path: Path
) -> None:
    fleet(tenants, clusters, seed).write(tmp_path)
    whole = catalog(tmp_path)
    assert one_by_one(TENANT_RULES, whole) == found(TENANT_RULES, whole)


def test_every_rule_of_tenants_finds_something_in_a_case(tmp_path: Path) -> None:
    """A rule that no case trips would be held to nothing here."""
    tripped: set[str] = set()
    for number, path in enumerate(PATHS):
        root = tmp_path / str(number)
        root.mkdir()
        build(read(path), root)
        tripped |= {name for name, _ in found(TENANT_RULES, catalog(root))}
    assert tripped == {rule.__name__ for rule in TENANT_RULES}


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("shares_a_namespace", "ten/namespaces"),
        ("rests_on_a_word", "cap/on-a-word"),
        ("counts_on_preemption", "ten/counts-on-preemption"),
    ],
)
def test_rules_that_need_the_whole_catalog_are_not(name: str, case: str, tmp_path: Path) -> None:
    """What is held above can fail: these add tenants up, hold one against another, or speak once."""
    rules = [rule for rule in RULES if rule.__name__ == name]
    whole = with_twins(Path(__file__).parent / f"{case}.yaml", tmp_path)
    assert found(rules, whole)
    assert one_by_one(rules, whole) != found(rules, whole)


def test_a_rule_needs_the_whole_catalog_or_does_not() -> None:
    names = [rule.__name__ for rule in (*RULES, *TENANT_RULES)]
    assert len(names) == len({*names})


def test_partners_come_with_a_tenant() -> None:
    whole = catalog(ROOT)
    specs = {name: tenant.document.spec for name, tenant in whole.tenants.items()}
    borrower = next(name for name, spec in specs.items() if spec.accepted_offers)
    lenders = {offer.from_ for offer in specs[borrower].accepted_offers}
    assert tenants_alone(whole, [borrower]).tenants.keys() == {borrower, *lenders}
    lender = next(iter(lenders))
    takers = {offer.to for offer in specs[lender].offers}
    assert tenants_alone(whole, [lender]).tenants.keys() >= {lender, *takers}
