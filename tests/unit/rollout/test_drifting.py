"""Drift blocks a rollout's step forward: each code alone, on the pools that the step concerns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.check.driftplaces import DRIFT
from dracfg.cli.main import invoke

BASE = Path(__file__).parents[2] / "cases" / "_base" / "rollout.yaml"
RECORD = "catalog/inventory/lab.json"
Nodes = Mapping[str, Mapping[str, Any]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Pool one has moved, pool two is fenced next, pool three has its turn later."""
    for path, text in yaml.safe_load(BASE.read_text())["files"].items():
        named = text.replace("gpu.example.com", "gpu.nvidia.com").replace(
            "gitops: {engine: plain}", f"gitops: {{engine: plain}}\n  inventory: {RECORD}"
        )
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(named)
    (tmp_path / RECORD).parent.mkdir()
    return tmp_path


def dump(nodes: Nodes) -> str:
    """Nodes by name as `<pool>-<number>`; `labels`, `status`, and how many `devices` of what `memory`."""
    items: list[dict[str, Any]] = []
    for name, told in nodes.items():
        labels = {"node.example.com/pool": name.partition("-")[0], **told.get("labels", {})}
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": labels},
                "status": told.get("status", {}),
            }
        )
        if told.get("devices"):
            device = {
                "attributes": {"type": {"string": "gpu"}},
                "capacity": {"memory": {"value": told.get("memory", "80Gi")}},
            }
            items.append(
                {
                    "apiVersion": "resource.k8s.io/v1",
                    "kind": "ResourceSlice",
                    "metadata": {"name": name, "creationTimestamp": "2026-11-29T22:00:00Z"},
                    "spec": {
                        "driver": "gpu.nvidia.com",
                        "nodeName": name,
                        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                        "devices": [{"name": f"gpu-{i}", **device} for i in range(told["devices"])],
                    },
                }
            )
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def drift_in_status(root: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    invoke(["rollout", "status", "sim-to-claims", "--root", str(root), "--format", "json"])
    found: list[str] = json.loads(capsys.readouterr().out)["drift"]
    return found


def advance(root: Path, *more: str) -> int:
    gate = root / "gates.json"
    gate.write_text(json.dumps({"at": "2026-11-29T22:00:00Z", "gates": {"pods pending": "1s"}}))
    named = ["--evidence", str(gate), *more]
    return invoke(["rollout", "advance", "sim-to-claims", "--root", str(root), *named])


COUNT = "nvidia.com/gpu.count"
MEMORY = "nvidia.com/gpu.memory"
RIGHT: Nodes = {
    "one-1": {"devices": 4, "labels": {COUNT: "4"}},
    "one-2": {"devices": 4, "labels": {COUNT: "4"}},
    "two-1": {"labels": {COUNT: "4"}},
    "two-2": {"labels": {COUNT: "4"}},
}


@pytest.mark.parametrize(
    "nodes",
    [
        RIGHT,
        {name: told for name, told in RIGHT.items() if name.startswith("one")},
        {**RIGHT, "three-1": {"labels": {COUNT: "3"}}, "three-2": {"labels": {COUNT: "3"}}},
    ],
)
def test_where_all_agree_the_step_is_taken(root: Path, nodes: Nodes) -> None:
    """What drifted on a pool whose turn is later blocks nothing yet, nor that its nodes are not recorded."""
    (root / RECORD).write_text(dump(nodes))
    assert advance(root) == 0


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"one-2": None}, {"INV040"}),
        ({"one-2": {"devices": 3}}, {"INV041"}),
        ({"two-2": {"labels": {COUNT: "3"}}}, {"INV041"}),
        ({"one-1": {"devices": 4, "memory": "40Gi"}}, {"INV042", "INV044"}),
        ({"one-1": {"devices": 4, "memory": "96Gi"}}, {"INV043", "INV044"}),
        (
            {"one-1": {"devices": 4, "status": {"allocatable": {"example.com/gpu": "4"}}}},
            {"INV046"},
        ),
        ({"one-1": {"devices": 4, "labels": {COUNT: "5"}}}, {"INV049"}),
        ({"one-1": {"devices": 4, "labels": {MEMORY: "40960"}}}, {"INV049"}),
        ({"one-1": {"labels": {COUNT: "4"}}}, {"INV060"}),
        (
            {"two-1": {"labels": {MEMORY: "40960"}}, "two-2": {"labels": {MEMORY: "81920"}}},
            {"INV061"},
        ),
    ],
)
def test_drift_blocks_the_step(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    changes: Mapping[str, Any],
    codes: set[str],
) -> None:
    nodes = {name: told for name, told in {**RIGHT, **changes}.items() if told is not None}
    before = (root / "catalog/rollout.yaml").read_bytes()
    (root / RECORD).write_text(dump(nodes))
    assert advance(root) == 1
    told = capsys.readouterr().err
    assert {line.split()[2] for line in told.splitlines() if line.startswith("blocks")} == codes
    assert codes <= DRIFT
    assert {line.split()[0] for line in drift_in_status(root, capsys)} == codes
    assert (root / "catalog/rollout.yaml").read_bytes() == before


def test_status_lists_what_would_block(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / RECORD).write_text(dump(RIGHT))
    assert drift_in_status(root, capsys) == []
    (root / RECORD).write_text(dump({**RIGHT, "one-2": {"devices": 3}}))
    (line,) = drift_in_status(root, capsys)
    invoke(["rollout", "status", "sim-to-claims", "--root", str(root)])
    assert f"  blocks  drift: {line}\n" in capsys.readouterr().out


def test_an_audit_that_is_named_blocks_as_well(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The catalog's own record is right, and the cluster has drifted since."""
    (root / RECORD).write_text(dump(RIGHT))
    live = root / "live.json"
    audit = root / "audit.json"
    for devices, code in ((4, 0), (3, 1)):
        live.write_text(dump({**RIGHT, "one-1": {"devices": devices, "labels": {COUNT: "4"}}}))
        capsys.readouterr()
        named = ["--cluster", "lab", "--format", "json", "-q"]
        invoke(["audit", str(live), "-C", str(root), *named])
        audit.write_text(capsys.readouterr().out)
        before = (root / "catalog/rollout.yaml").read_bytes()
        assert advance(root, "--evidence", str(audit)) == code
        (root / "catalog/rollout.yaml").write_bytes(before)
    assert "blocks  drift: INV049 on lab: node one-1 itself sees another" in capsys.readouterr().err


def test_nothing_blocks_the_way_back(root: Path) -> None:
    (root / RECORD).write_text(dump({**RIGHT, "one-2": {"devices": 3}}))
    file = root / "catalog/rollout.yaml"
    text = file.read_text().replace("stage: canary", "stage: canary\n  direction: rollback")
    file.write_text(text.replace("max: 30s,", "max: 30s, directions: [rollback],"))
    assert advance(root) == 0
