"""Gates where a rollout stands: what fills the words of a query, what waits, and for whom steps wait."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dracfg.kube.quantity import Quantity
from dracfg.link.catalog import Catalog
from dracfg.link.gates import (
    AskedGate,
    Lacks,
    clusters_asked,
    gates_of,
    order_of,
    query_of,
    rollout_gates,
    waits_for,
    words_of,
)
from dracfg.link.measures import protection
from dracfg.model.rollout import Gate
from dracfg.pipeline import judge

BASE = Path(__file__).parents[2] / "cases" / "_base" / "rollout.yaml"
NAME = "sim-to-claims"
NODE = 'kube_node_labels{label_node_example_com_pool="%s"}'


def catalog(root: Path, **changes: str) -> Catalog:
    """The base with texts replaced; a key is the name of a file without its ending."""
    files: dict[str, str] = yaml.safe_load(BASE.read_text())["files"]
    for path, text in files.items():
        name = Path(path).stem
        for change in (key for key in changes if key.rstrip("_") == name):
            old, _, new = changes[change].partition(" => ")
            assert old in text
            text = text.replace(old, new)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return judge(root, level="intent").catalog


def words(found: Catalog) -> dict[str, str]:
    return dict(words_of(found, found.rollouts[NAME], found.clusters["lab"]))


def test_pools_by_where_they_stand(tmp_path: Path) -> None:
    told = words(catalog(tmp_path, rollout="stage: canary => stage: canary\n  phase: fenced"))
    assert told["movedNodes"] == f"max by (node) ({NODE % 'one'})"
    assert told["fencedNodes"] == f"max by (node) ({NODE % 'two'})"
    assert told["baselineNodes"] == f"max by (node) ({NODE % 'three'})"
    assert told["baselineDevices"] == f"max by (node) (4 * {NODE % 'three'})"


def test_what_claims_hand_out_from_the_start_is_no_baseline(tmp_path: Path) -> None:
    both = f"max by (node) ({NODE % 'three'} or {NODE % 'two'})"
    assert words(catalog(tmp_path))["baselineNodes"] == both
    owner = "owner: {gpu.example.com: devicePlugin}"
    files = yaml.safe_load(BASE.read_text())["files"]["catalog/pools.yaml"]
    last = files.split("---\n")[2]
    change = f"{last} => {last.replace(owner, 'owner: {gpu.example.com: dra}')}"
    told = words(catalog(tmp_path / "other", pools=change))
    assert told["baselineNodes"] == f"max by (node) ({NODE % 'two'})"


def test_labels_as_kube_state_metrics_writes_them(tmp_path: Path) -> None:
    told = words(
        catalog(
            tmp_path,
            pools="nodeSelector: {node.example.com/pool: one} => nodeSelector: "
            '{gpu.example.com/poolName: One_1, b-c: "x"}',
        )
    )
    assert told["movedNodes"] == (
        'max by (node) (kube_node_labels{label_b_c="x", label_gpu_example_com_pool_name="One_1"})'
    )
    assert told["legacy"] == "example_com_gpu"


def test_tenants_of_the_stage_and_of_the_tier(tmp_path: Path) -> None:
    told = words(catalog(tmp_path))
    assert (told["namespaces"], told["tenants"]) == ("ann", "ann|bob")
    told = words(catalog(tmp_path / "start", rollout="stage: canary => stage: start"))
    assert "namespaces" not in told
    assert "movedNodes" not in told


@pytest.mark.parametrize(
    ("minor", "claims"),
    [
        ("1.36", "resourceclaim_controller_resource_claims"),
        ("1.37", "dynamic_resource_allocation_resource_claims"),
    ],
)
def test_names_of_metrics_follow_the_minor(tmp_path: Path, minor: str, claims: str) -> None:
    told = words(catalog(tmp_path, platform=f'kubernetes: "1.36" => kubernetes: "{minor}"'))
    assert told["claims"] == claims


def test_what_is_exported_only_when_told_to_must_be_said(tmp_path: Path) -> None:
    assert "devicesPublished" not in words(catalog(tmp_path))
    engine = "gitops: {engine: plain}"
    change = f"{engine} => {engine}\n  addons: {{claimMetrics: true}}"
    assert "devicesPublished" in words(catalog(tmp_path / "told", platform=change))


def gate(found: Catalog, name: str) -> AskedGate:
    spec = found.rollouts[NAME].spec.model_copy(update={"gates": ()})
    picked = [one for p in ("continuity", "throughput") for one in gates_of(
        spec.model_copy(update={"protects": p})
    )]  # fmt: skip
    return next(one for one in picked if one.name == name)


@pytest.mark.parametrize(
    ("standing", "waiting"),
    [
        ("stage: start", {"driverErrors", "waitingGrowth", "podsOnFencedNodes"}),
        ("stage: start\n  phase: fenced", {"driverErrors", "waitingGrowth"}),
        ("stage: canary", {"podsOnFencedNodes"}),
        ("stage: canary\n  phase: fenced", set()),
        ("stage: everyone", {"waitingGrowth", "podsOnFencedNodes"}),
        ("stage: shared\n  direction: rollback", set()),
    ],
)
def test_what_waits(tmp_path: Path, standing: str, waiting: set[str]) -> None:
    found = catalog(tmp_path, rollout=f"stage: canary => {standing}")
    spec = found.rollouts[NAME].spec
    names = ("tenantBoundary", "driverErrors", "waitingGrowth", "podsOnFencedNodes")
    gates = {name: gate(found, name) for name in names}
    later = {name for name, one in gates.items() if waits_for(found, spec, one) is not None}
    assert later == waiting
    asked = {name for name, one in gates.items() if clusters_asked(found, spec, one)}
    assert asked == set(names) - waiting


def test_a_query_says_which_words_it_lacks(tmp_path: Path) -> None:
    found = catalog(tmp_path, rollout="stage: canary => stage: start")
    told = query_of(gate(found, "waitingGrowth"), words(found))
    assert told == Lacks(("namespaces", "movedNodes"))


@pytest.mark.parametrize(
    ("stage", "protects", "order"),
    [
        ("start", "utilisation", "utilisation"),
        ("canary", "utilisation", "utilisation"),
        ("shared", "utilisation", "continuity"),
        ("everyone", "throughput", "continuity"),
        ("start", "continuity", "continuity"),
    ],
)
def test_work_that_can_not_begin_anew_is_waited_for(
    tmp_path: Path, stage: str, protects: str, order: str
) -> None:
    """The stage that comes next is the one whose pools are emptied."""
    change = f"stage: canary\n => stage: {stage}\n  protects: {protects}\n"
    spec = catalog(tmp_path, rollout=change).rollouts[NAME].spec
    assert order_of(spec) == protection(order).order  # type: ignore[arg-type]  # one of its words


@pytest.mark.parametrize(
    ("of_tier", "of_cluster", "limits"),
    [
        ("", "", ("1m", "10m")),
        ("", "allocationP99: 30s", ("30s", "300s")),
        ("allocationP99: 2m", "allocationP99: 30s", ("2m", "1200s")),
        ("preparationP99: 2s", "", ("1m", "10m")),
    ],
    ids=["none stated", "the cluster's", "the tier's goes first", "another"],
)
def test_an_objective_is_the_limit_of_its_measure(
    tmp_path: Path, of_tier: str, of_cluster: str, limits: tuple[str, str]
) -> None:
    found = catalog(
        tmp_path,
        platform=f"gitops: {{engine: plain}} => gitops: {{engine: plain}}\n  objectives: {{{of_cluster}}}",
        platform_=f"  legacyResource: example.com/gpu =>   legacyResource: example.com/gpu\n"
        f"  objectives: {{{of_tier}}}",
    )
    spec = found.rollouts[NAME].spec.model_copy(update={"gates": ()})
    (gate,) = [one for one in rollout_gates(found, spec) if one.name == "claimToAllocatedP99"]
    assert (gate.max, gate.halt) == limits


def test_what_a_gate_says_goes_before_an_objective(tmp_path: Path) -> None:
    found = catalog(
        tmp_path,
        platform="gitops: {engine: plain} => gitops: {engine: plain}\n  objectives: {rejectionRate: 0.2}",
    )
    said = Gate(measure="rejectedByPolicy", max=Quantity.parse("0.1"))
    spec = found.rollouts[NAME].spec.model_copy(update={"gates": (said,)})
    (gate,) = rollout_gates(found, spec)
    assert (gate.max, gate.halt) == (Quantity.parse("0.1"), Quantity.parse("2"))
