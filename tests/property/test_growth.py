"""What may not grow with the number of tenants: policies, units, and the objects that engines follow.

Times and memory are measured by tests/bench/growth.py; here the same counts are held, on small fleets.
"""

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.bench.fleet import fleet
from tests.bench.measure import run
from tests.bench.objects import objects_of
from tests.bench.tree import POLICIES, Tree, tree_of

OBJECTS_IN_A_UNIT = 1000
REQUEST_OF_ETCD = 3 << 19
"""1.5 MiB, etcd's default for a request; managed fields and status come on top of an object."""

FEW, MANY = 100, 400


def compiled(root: Path, tenants: int, clusters: int) -> Path:
    """The tree of output."""
    fleet(tenants, clusters).write(root)
    command = [sys.executable, "-m", "dracfg", "compile", "-q", "-C", str(root), "--no-cache"]
    run([*command, "--format", "concise", "--jobs", "1"])
    return root / "out"


@pytest.fixture(scope="module")
def few_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("few"), FEW, 1)


@pytest.fixture(scope="module")
def few(few_files: Path) -> Tree:
    return tree_of(few_files)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """As many tenants as need several guards; all on one cluster, with Argo CD."""
    return tree_of(compiled(tmp_path_factory.mktemp("many"), MANY, 1))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The same tenants on two clusters, one of them with Flux."""
    return tree_of(compiled(tmp_path_factory.mktemp("both"), MANY, 2))


def test_objects_are_counted_as_they_are_read(few_files: Path, few: Tree) -> None:
    read = objects_of(few_files)["cluster-01"]
    assert few.of_clusters() == {"cluster-01": len(read)}
    kinds = Counter(thing["kind"] for thing in read)
    assert few.of_clusters(*POLICIES) == {"cluster-01": sum(kinds[kind] for kind in POLICIES)}


def test_policies_are_as_many_for_few_tenants_as_for_many(few: Tree, many: Tree) -> None:
    (of_few,) = few.of_clusters(*POLICIES).values()
    (of_many,) = many.of_clusters(*POLICIES).values()
    assert of_few == of_many > 0


def test_no_unit_is_larger_than_kustomize_can_carry(few: Tree, many: Tree, both: Tree) -> None:
    for tree in (few, many, both):
        large = {
            unit.path: unit.objects for unit in tree.units if unit.objects >= OBJECTS_IN_A_UNIT
        }
        assert not large


def test_many_tenants_need_more_units_than_one_each(many: Tree) -> None:
    """Else the test of their sizes would hold whatever is emitted."""
    guards = [unit for unit in many.units if unit.path.startswith("cluster-01/guard")]
    assert len(guards) > 1
    assert sum(unit.objects for unit in guards) > OBJECTS_IN_A_UNIT


def test_units_of_a_tenant_do_not_grow_with_the_others(few: Tree, many: Tree) -> None:
    sizes = [
        max(unit.objects for unit in tree.units if "/tenants/" in unit.path) for tree in (few, many)
    ]
    assert sizes[1] <= 2 * sizes[0]


def test_each_unit_has_an_application_and_each_tenant_a_project(many: Tree) -> None:
    units = [unit for unit in many.units if not unit.fan_out]
    tenants = {
        unit.path.split("/")[2].partition(".")[0] for unit in units if "/tenants/" in unit.path
    }
    assert len(tenants) == MANY
    assert many.fan_out("Application")["cluster-01"] == len(units)
    assert many.fan_out("AppProject")["cluster-01"] == MANY + 1


def test_each_unit_has_a_kustomization_of_flux(both: Tree) -> None:
    units = [unit for unit in both.units if unit.owner == "cluster-02" and not unit.fan_out]
    assert both.fan_out("Kustomization") == {"cluster-02": len(units)}


def test_what_a_root_applies_knows_no_tenants(few: Tree, many: Tree) -> None:
    roots = [
        next(unit for unit in tree.units if unit.path == "gitops/argocd/_root")
        for tree in (few, many)
    ]
    assert roots[0] == roots[1]


def test_no_object_grows_towards_the_limit_of_etcd(few: Tree, many: Tree, both: Tree) -> None:
    for tree in (few, many, both):
        assert tree.largest_object[1] < REQUEST_OF_ETCD // 10
        assert tree.largest_fan_out_object[1] < REQUEST_OF_ETCD // 100
    assert many.largest_fan_out_object[1] < 2 * few.largest_fan_out_object[1]
