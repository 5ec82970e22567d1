"""Trials: what is written for a pool whose driver declares a load, and that Kubernetes would take it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dracfg.kube.objects import schema_faults
from dracfg.pipeline import judge

ROOT = Path(__file__).parents[3]
LOAD = (
    "  trial: {image: registry.example.com/share-trial:1, namespace: share-trials, seconds: 60}\n"
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The files of trials by their path below out/, of the example with a load for shared GPUs."""
    root = tmp_path_factory.mktemp("trial")
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, root / folder)
    file = root / "catalog" / "drivers.yaml"
    line = "  preset: hami-core-gpu.project-hami.io\n"
    file.write_text(file.read_text(encoding="utf-8").replace(line, line + LOAD), encoding="utf-8")
    found: dict[str, list[dict[str, Any]]] = {}
    for unit in judge(root).units:
        for artifact in unit.artifacts:
            if artifact.file.startswith("trial-"):
                assert not unit.synced
                found.setdefault(f"{unit.path}/{artifact.file}", []).append(artifact.object)
    return found


@pytest.fixture
def jobs(written: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The Jobs of the first file by their phase."""
    found = next(iter(written.values()))
    return {
        one["metadata"]["labels"]["dracfg.dev/trial"]: one for one in found if one["kind"] == "Job"
    }


def variables(container: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["value"] for one in container["env"]}


def containers(job: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = job["spec"]["template"]["spec"]["containers"]
    return found


def test_files_lie_beside_the_nodes(written: dict[str, list[dict[str, Any]]]) -> None:
    assert written
    for path in written:
        assert path.split("/")[1] == "nodes"
        assert path.endswith("/trial-l40s-hami-memory-slices.yaml")


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_the_api_server_would_take_them(
    written: dict[str, list[dict[str, Any]]], minor: str
) -> None:
    for found in written.values():
        for thing in found:
            assert list(schema_faults(thing, minor)) == []


def test_every_phase(jobs: dict[str, dict[str, Any]]) -> None:
    assert [name for name in jobs if not name.startswith("alone-")] == [
        "shared", "exceed-memory", "whole",
    ]  # fmt: skip
    shared = containers(jobs["shared"])
    assert len(shared) > 1
    sizes = {variables(one)["DRACFG_SIZE"] for one in shared}
    assert {f"alone-{size.lower()}" for size in sizes} == {n for n in jobs if n.startswith("alone")}
    exceeding = [variables(one)["DRACFG_PHASE"] for one in containers(jobs["exceed-memory"])]
    assert exceeding == ["exceed", *["shared"] * (len(shared) - 1)]
    assert variables(containers(jobs["exceed-memory"])[0])["DRACFG_CAPACITY"] == "memory"


def test_shares_lie_on_one_device_and_fill_it(
    written: dict[str, list[dict[str, Any]]], jobs: dict[str, dict[str, Any]]
) -> None:
    name = jobs["shared"]["metadata"]["name"]
    templates = {
        one["metadata"]["name"]: one["spec"]["spec"]["devices"]
        for one in next(iter(written.values()))
        if one["kind"] == "ResourceClaimTemplate"
    }
    claim = templates[name]
    names = [request["name"] for request in claim["requests"]]
    assert claim["constraints"] == [
        {"requests": names, "matchAttribute": "hami-core-gpu.project-hami.io/uuid"}
    ]
    taken = [json.loads(variables(one)["DRACFG_AMOUNTS"]) for one in containers(jobs["shared"])]
    left = 46068 * 2**20 - sum(one["memory"] for one in taken)
    assert 0 <= left < min(one["memory"] for one in taken)


def test_jobs_wait_for_a_person_and_for_one_node(jobs: dict[str, dict[str, Any]]) -> None:
    for job in jobs.values():
        pod = job["spec"]["template"]["spec"]
        assert job["spec"]["suspend"] is True
        assert pod["nodeSelector"]["dracfg.dev/trial"] == "here"
        assert job["metadata"]["namespace"] == "share-trials"
        assert len(job["metadata"]["name"]) <= 63


def test_nothing_without_a_load() -> None:
    assert list((ROOT / "out").rglob("trial-*.yaml")) == []
