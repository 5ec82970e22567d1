"""The example repository with one change: what follows for requests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dracfg.pipeline import judge
from dracfg.policytest.generated import generated_cases
from dracfg.policytest.load import LoadedTest
from dracfg.policytest.run import run_test, worlds_of
from dracfg.policytest.world import World

pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel here")

ROOT = Path(__file__).parents[3]
Change = Callable[..., World]


@pytest.fixture
def changed(tmp_path: Path) -> Change:
    """A cluster of the example once one text in one file is another."""

    def build(cluster: str, file: str, before: str, after: str) -> World:
        for name in ("catalog", "tenants"):
            shutil.copytree(ROOT / name, tmp_path / name)
        path = tmp_path / file
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
        judged = judge(tmp_path)
        assert not judged.has_errors
        return worlds_of(judged.catalog, judged.units)[cluster]

    return build


def test_policies_over_drivers_have_their_cases(changed: Change) -> None:
    account = "serviceAccount: {namespace: nvidia, name: kubelet-plugin}\n  version: 0.5.0"
    world = changed("prod-east", "catalog/drivers.yaml", "version: 0.5.0", account)
    names = {policy.name for policy in world.policies}
    assert {"dracfg-driver-slices", "dracfg-driver-status"} <= names
    assert [case.name for case in generated_cases(world) if case.request is None] == []


def test_a_frozen_tenant_claims_nothing_new(
    changed: Change, examples: Mapping[str, LoadedTest]
) -> None:
    test = examples["vision-claims-one-a100"]
    world = changed("prod-east", "tenants/vision.yaml", "state: active", "state: frozen")
    result = run_test(world, test)
    assert (result.actual, result.rule) == ("deny", "TEN007")
    assert "tenant vision is frozen" in result.message


def test_a_warning_lets_through_and_can_be_asked_for(
    changed: Change, examples: Mapping[str, LoadedTest]
) -> None:
    before = 'kubernetes: "1.34"\n'
    after = f"{before}  unmanagedNamespaces: warn\n"
    world = changed("prod-east", "catalog/clusters.yaml", before, after)
    test = examples["a-namespace-of-no-tenant-claims-nothing"]
    denied = run_test(world, test)
    assert (denied.passed, denied.actual, denied.rule) == (False, "allow", "TEN006")
    spec = test.document.spec.model_copy(update={"expect": "allow"})
    document = test.document.model_copy(update={"spec": spec})
    allowed = run_test(world, LoadedTest(document, test.object, test.old))
    assert (allowed.passed, allowed.rule) == (True, "TEN006")


def test_a_namespace_that_nobody_manages_has_no_rights(
    changed: Change, examples: Mapping[str, LoadedTest]
) -> None:
    before = "{name: vision-train, clusters: [prod-east], share: 4}"
    after = "{name: vision-train, clusters: [prod-east], share: 4, managedBy: external}"
    world = changed("prod-east", "tenants/vision.yaml", before, after)
    result = run_test(world, examples["vision-claims-one-a100"])
    assert (result.actual, result.rule) == ("deny", "TEN006")
