"""What rollouts make of pools and tenants: owners, fences, paths and splits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.link.catalog import Catalog
from dracfg.link.classes import device_classes
from dracfg.link.moves import gates_now, has_come
from dracfg.link.numbers import Numbers
from dracfg.lower.units import lower
from dracfg.pipeline import judge
from dracfg.source.standing import Standing

HEAD = "apiVersion: dracfg.dev/v1alpha1\n"
NAMES = ("one", "two", "three")


def document(kind: str, name: str, spec: dict[str, Any]) -> str:
    return HEAD + yaml.safe_dump({"kind": kind, "metadata": {"name": name}, "spec": spec})


def pool(name: str) -> str:
    return document(
        "NodePool",
        name,
        {
            "cluster": "lab",
            "nodes": 2,
            "nodeSelector": {"node.example.com/pool": name},
            "devices": [{"tier": "sim", "perNode": 4}],
            "owner": {"gpu.example.com": "devicePlugin"},
        },
    )


def tenant(name: str) -> str:
    return document(
        "Tenant",
        name,
        {
            "namespaces": [{"name": name, "clusters": ["lab"]}],
            "entitlements": [{"name": "gpu", "tier": "sim", "guaranteed": 4, "limit": 8}],
        },
    )


def catalog(folder: Path, **standing: Any) -> Catalog:
    """Three pools of one tier on device plugins, two tenants, and a rollout that stands somewhere."""
    spec = {
        "tier": "sim",
        "stages": [
            {"name": "canary", "pools": ["one"], "tenants": ["ann"], "workloads": "retryable"},
            {
                "name": "shared",
                "pools": ["one", "two"],
                "tenants": ["ann", "bob"],
                "workloads": "retryable",
                "split": {"ann": {"plugin": 3, "dra": 5}, "bob": {"plugin": 8, "dra": 0}},
            },
            {"name": "everyone", "pools": "*", "tenants": "*", "workloads": "retryable"},
        ],
    } | standing
    (folder / "catalog").mkdir()
    (folder / "tenants").mkdir()
    texts = [
        document(
            "Cluster",
            "lab",
            {"kubernetes": "1.36", "distribution": "kubeadm", "gitops": {"engine": "plain"}},
        ),
        document("Driver", "gpu.example.com", {"preset": "gpu.example.com"}),
        document(
            "HardwareTier",
            "sim",
            {
                "driver": "gpu.example.com",
                "legacyResource": "example.com/gpu",
                "takesOverLegacyName": True,
                "device": {"capacity": {"memory": "80Gi"}},
            },
        ),
        *map(pool, NAMES),
        document("Rollout", "to-dra", spec),
    ]
    (folder / "catalog/all.yaml").write_text("---\n".join(texts))
    (folder / "tenants/all.yaml").write_text("---\n".join(map(tenant, ("ann", "bob"))))
    judgement = judge(folder)
    assert not {f.code for f in judgement.findings if f.code[:3] in ("SRC", "MOD", "REF")}
    return judgement.catalog


PLACES = [
    # stage, phase, direction -> owners of the pools, fenced pools, paths of ann, paths of bob
    ("start", "open", "forward", "ppp", "", "p", "p"),
    ("start", "fenced", "forward", "ppp", "one", "p", "p"),
    ("canary", "open", "forward", "dpp", "", "dp", "p"),
    ("canary", "fenced", "forward", "dpp", "two", "dp", "dp"),
    ("canary", "open", "halted", "dpp", "", "dp", "p"),
    ("canary", "fenced", "halted", "dpp", "two", "dp", "dp"),
    ("shared", "open", "forward", "ddp", "", "dp", "dp"),
    ("shared", "fenced", "forward", "ddp", "three", "dp", "dp"),
    ("everyone", "open", "forward", "ddd", "", "d", "d"),
    # back: no pool takes plugin work yet, so everybody keeps claims until the first pool went back
    ("everyone", "open", "rollback", "ddd", "three", "d", "d"),
    ("shared", "open", "rollback", "ddp", "two", "dp", "p"),
    ("canary", "open", "rollback", "dpp", "one", "p", "p"),
    ("start", "open", "rollback", "ppp", "", "p", "p"),
]


@pytest.mark.parametrize(("stage", "phase", "direction", "owners", "fenced", "ann", "bob"), PLACES)
def test_what_holds_where_it_stands(
    tmp_path: Path,
    stage: str,
    phase: str,
    direction: str,
    owners: str,
    fenced: str,
    ann: str,
    bob: str,
) -> None:
    found = catalog(tmp_path, stage=stage, phase=phase, direction=direction)
    driver = found.drivers["gpu.example.com"]
    letters = {"dra": "d", "devicePlugin": "p"}
    assert "".join(letters[found.pools[name].owner(driver)] for name in NAMES) == owners
    assert [n for n in NAMES if found.pools[n].state == "draining"] == fenced.split()
    for name, paths in (("ann", ann), ("bob", bob)):
        (grant,) = found.tenants[name].grants
        assert "".join(sorted(letters[owner] for owner in grant.owners)) == paths, name


def test_a_split_parts_limit_and_guarantee(tmp_path: Path) -> None:
    found = catalog(tmp_path, stage="shared")
    (ann,), (bob,) = found.tenants["ann"].grants, found.tenants["bob"].grants
    assert ann.on("devicePlugin") == {"": Numbers(1, 3)}
    assert ann.on("dra") == {"": Numbers(3, 5)}
    assert bob.on("dra") == {"": Numbers(0, 0)}
    assert bob.on("devicePlugin") == {"": Numbers(4, 8)}


def test_without_a_split_each_path_has_all(tmp_path: Path) -> None:
    (grant,) = catalog(tmp_path, stage="canary").tenants["ann"].grants
    assert grant.on("dra") == grant.on("devicePlugin") == {"": Numbers(4, 8)}


def test_the_path_that_is_closed_has_nothing(tmp_path: Path) -> None:
    (grant,) = catalog(tmp_path, stage="canary").tenants["bob"].grants
    assert grant.on("dra") == {}


@pytest.mark.parametrize("stage", ["start", "canary", "shared", "everyone"])
def test_classes_stay_and_the_legacy_name_comes_last(tmp_path: Path, stage: str) -> None:
    found = catalog(tmp_path, stage=stage)
    (plan,) = device_classes(found, found.clusters["lab"])
    assert plan.name == "sim"
    assert plan.extended_name == ("example.com/gpu" if stage == "everyone" else None)


@pytest.mark.parametrize(
    ("stage", "here"), [("start", ""), ("canary", "one"), ("shared", "one two")]
)
def test_a_gate_comes_pool_by_pool(tmp_path: Path, stage: str, here: str) -> None:
    found = catalog(tmp_path, stage=stage, subject="featureGate", gate="DRAExtendedResource")
    assert [n for n in NAMES if gates_now(found.pools[n].moves)] == here.split()
    driver = found.drivers["gpu.example.com"]
    assert {found.pools[n].owner(driver) for n in NAMES} == {"devicePlugin"}
    kubelets = {
        unit.path.rsplit("/", 1)[-1]
        for unit in lower(found, Standing())
        for artifact in unit.artifacts
        if artifact.file == "kubelet.conf"
        and artifact.object["featureGates"].get("DRAExtendedResource")
    }
    assert kubelets == set(here.split())


def test_metadata_comes_pool_by_pool(tmp_path: Path) -> None:
    found = catalog(tmp_path, stage="canary", subject="deviceMetadata")
    come = [has_come(found.pools[n].moves, "deviceMetadata", {"sim"}) for n in NAMES]
    assert come == [True, False, False]
    assert has_come(found.pools["one"].moves, "sharing", {"sim"}) is None
