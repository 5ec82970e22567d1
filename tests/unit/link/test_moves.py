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
from dracfg.link.standings import catalog_at
from dracfg.link.steps import Standing as Where
from dracfg.lower.kueue import numbers_of
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


@pytest.mark.parametrize(("stage", "phase", "direction"), [place[:3] for place in PLACES])
def test_a_catalog_led_elsewhere_is_as_if_linked_there(
    tmp_path: Path, stage: str, phase: Any, direction: Any
) -> None:
    (tmp_path / "start").mkdir()
    (tmp_path / "there").mkdir()
    start = catalog(tmp_path / "start", stage="start")
    there = catalog(tmp_path / "there", stage=stage, phase=phase, direction=direction)
    led = catalog_at(start, start.rollouts["to-dra"], Where(stage, phase, direction))
    assert facts(led) == facts(there)


def facts(found: Catalog) -> tuple[Any, ...]:
    """Pools with owner and state, tenants with paths and numbers."""
    driver = found.drivers["gpu.example.com"]
    pools = [(pool.name, pool.owner(driver), pool.state) for pool in found.clusters["lab"].pools]
    grants = [
        (tenant.name, grant.owners, grant.on("dra"), grant.on("devicePlugin"))
        for tenant in found.tenants.values()
        for grant in tenant.grants
    ]
    return pools, grants


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


@pytest.mark.parametrize("claims_by", ["ann", "bob"])
def test_a_split_holds_on_the_way_back(tmp_path: Path, claims_by: str) -> None:
    """Also for who may make no new claims: what is bound counts, and the plugin has no more than its part."""
    found = catalog(tmp_path, stage="shared", direction="rollback")
    (grant,) = found.tenants[claims_by].grants
    plugin, claims = {"ann": ((1, 3), (3, 5)), "bob": ((4, 8), (0, 0))}[claims_by]
    assert grant.on("devicePlugin") == {"": Numbers(*plugin)}
    assert grant.on("dra") == {"": Numbers(*claims)}


@pytest.mark.parametrize(
    ("stage", "direction", "plugin", "claims"),
    [
        ("everyone", "rollback", "8", "8"),  # no plugin yet: claims alone answer to its name
        ("shared", "rollback", "3", "5"),
        ("canary", "rollback", "6", "2"),
        ("start", "rollback", "8", "0"),
        ("canary", "forward", "8", "0"),  # it has not joined, so it holds no claim
    ],
)
def test_quota_of_who_may_still_hold_claims(
    tmp_path: Path, stage: str, direction: str, plugin: str, claims: str
) -> None:
    """bob joins while the pools of `shared` are fenced, so that it may hold claims at canary already."""
    split = {"bob": {"plugin": 6, "dra": 2}}, {"bob": {"plugin": 3, "dra": 5}}
    found = catalog(tmp_path, stage=stage, direction=direction, stages=stages(*split))
    notes, hard = bob_has(found)
    assert hard["requests.example.com/gpu"] == plugin
    assert hard["sim.deviceclass.resource.k8s.io/devices"] == claims
    assert (int(hard["count/resourceclaims.resource.k8s.io"]) > 0) == (claims != "0")
    assert ("classes.dracfg.dev/sim" in notes) == (stage == "everyone")


def test_what_is_left_of_a_later_stage_goes_by_its_split(tmp_path: Path) -> None:
    """canary splits nothing, and ann may hold claims of shared."""
    (grant,) = catalog(tmp_path, stage="canary", direction="rollback").tenants["ann"].grants
    assert grant.on("devicePlugin") == {"": Numbers(1, 3)}
    assert grant.on("dra") == {"": Numbers(3, 5)}


def test_kueue_counts_what_is_left(tmp_path: Path) -> None:
    """Else workloads that hold such claims would be above the quota of their queue."""
    split = {"bob": {"plugin": 6, "dra": 2}}, {"bob": {"plugin": 3, "dra": 5}}
    found = catalog(tmp_path, stage="shared", direction="rollback", stages=stages(*split))
    assert numbers_of(found.clusters["lab"], found.tenants["bob"]) == {"sim": (3, 5)}


EVIDENCE = {
    "verdict": "passed",
    "at": "2026-11-29T22:00:00Z",
    "source": "record.json",
    "digest": f"sha256:{0:064}",
}


@pytest.mark.parametrize(
    ("before", "plugin", "claims"),
    [
        ([("canary", "forward")], "8", "0"),
        ([("shared", "forward"), ("shared", "rollback"), ("canary", "halted")], "6", "2"),
        ([("canary", "rollback"), ("start", "rollback"), ("start", "forward")], "8", "0"),
    ],
)
@pytest.mark.parametrize("direction", ["forward", "halted"])
def test_who_turns_back_twice_has_its_claims_counted(
    tmp_path: Path, before: list[tuple[str, str]], plugin: str, claims: str, direction: str
) -> None:
    """bob has not joined at canary, but holds claims where the rollout has come back from shared."""
    split = {"bob": {"plugin": 6, "dra": 2}}, {"bob": {"plugin": 3, "dra": 5}}
    evidence = [EVIDENCE | {"stage": stage, "direction": way} for stage, way in before]
    found = catalog(
        tmp_path, stage="canary", direction=direction, stages=stages(*split), evidence=evidence
    )
    notes, hard = bob_has(found)
    assert hard["requests.example.com/gpu"] == plugin
    assert hard["sim.deviceclass.resource.k8s.io/devices"] == claims
    assert "classes.dracfg.dev/sim" not in notes


def stages(canary: dict[str, Any], shared: dict[str, Any]) -> list[dict[str, Any]]:
    whole = {"tenants": "*", "workloads": "retryable", "pools": "*"}
    first = {"name": "canary", "pools": ["one"], "tenants": ["ann"], "split": canary}
    second = {"name": "shared", "pools": ["one", "two"], "tenants": ["ann", "bob"], "split": shared}
    return [whole | first, whole | second, whole | {"name": "everyone"}]


def bob_has(found: Catalog) -> tuple[dict[str, str], dict[str, str]]:
    """Annotations and quota of bob's namespace."""
    made = {
        (one.get("kind"), one["metadata"].get("namespace"), one["metadata"]["name"]): one
        for unit in lower(found, Standing())
        for artifact in unit.artifacts
        if "metadata" in (one := artifact.object)
    }
    space, quota = made["Namespace", None, "bob"], made["ResourceQuota", "bob", "dracfg-devices"]
    return space["metadata"]["annotations"], quota["spec"]["hard"]


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
