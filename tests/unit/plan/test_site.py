"""Nodes with what the catalog keeps back taken off: quarantine by rule and by node, closed pools."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.pipeline import judge
from dracfg.plan.site import Site, modelled_site, recorded_site

ROOT = Path(__file__).parents[3]
CLUSTERS, EAST = "catalog/clusters.yaml", "catalog/pools/prod-east.yaml"
Build = Callable[..., Site]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """The site of a cluster after changes: `build("prod-west", (file, "old", "new"))`."""

    def made(cluster: str, *changes: tuple[str, str, str], modelled: bool = False) -> Site:
        for folder in ("catalog", "tenants"):
            shutil.copytree(ROOT / folder, tmp_path / folder, dirs_exist_ok=True)
        for path, old, new in changes:
            text = (tmp_path / path).read_text(encoding="utf-8")
            assert old in text
            (tmp_path / path).write_text(text.replace(old, new, 1), encoding="utf-8")
        judged = judge(tmp_path)
        linked = judged.catalog.clusters[cluster]
        if modelled:
            return modelled_site(linked)
        return recorded_site(linked, judged.inventories[cluster], {})

    return made


def keys(site: Site, pool: str) -> dict[str, list[str]]:
    """The keys of the taints of a resource pool's devices."""
    return {
        device.name: [taint.key for taint in device.taints]
        for device in site.inventory.devices
        if device.pool == pool
    }


def test_quarantine_of_a_device(build: Build) -> None:
    as_taint = build("prod-west")
    assert as_taint.kept_out == {
        "l4-west-5": "l4-west-5 is in quarantine: falls off the bus under load"
    }
    assert keys(as_taint, "l4-west-5") == {"gpu-0": [], "gpu-1": []}
    gate = "featureGates: {DRAExtendedResource: false"
    rules = (CLUSTERS, gate, f"{gate}, DRADeviceTaintRules: true")
    as_rule = build("prod-west", rules)
    assert as_rule.kept_out == {}
    assert keys(as_rule, "l4-west-5") == {"gpu-0": [], "gpu-1": ["dracfg.dev/quarantine"]}
    assert keys(as_rule, "l4-west-4") == {"gpu-0": [], "gpu-1": []}
    assert all(pool.usable for pool in as_rule.inventory.pools)


RULE = """\
- apiVersion: resource.k8s.io/v1beta2
  kind: DeviceTaintRule
  metadata: {name: by-hand}
  spec:
    deviceSelector: {driver: gpu.nvidia.com, pool: l4-west-4, device: gpu-0}
    taint: {key: example.com/parts, effect: NoSchedule}
"""


@pytest.mark.parametrize(
    ("said", "tainted"),
    [("", []), (", DRADeviceTaintRules: true", ["example.com/parts"])],
    ids=["off", "on"],
)
def test_recorded_rules_count_where_components_read_them(
    build: Build, said: str, tainted: list[str]
) -> None:
    gate = "featureGates: {DRAExtendedResource: false"
    record = "catalog/inventory/prod-west.yaml"
    site = build(
        "prod-west", (CLUSTERS, gate, gate + said), (record, "items:\n", f"items:\n{RULE}")
    )
    assert keys(site, "l4-west-4") == {"gpu-0": tainted, "gpu-1": []}


def test_modelled_nodes_are_as_many_as_the_pool_has(build: Build) -> None:
    site = build("prod-east", (EAST, "  nodes: 4", "  nodes: 12"), modelled=True)
    names = [node.name for node in site.nodes if node.name.startswith("a100-east-")]
    assert names == [f"a100-east-{number:02}" for number in range(1, 13)]
    (selected,) = {tuple(node.labels or {}) for node in site.nodes}
    assert selected
    pools = {device.pool for device in site.inventory.devices_on("a100-east-03")}
    assert pools == {"a100-east-03/a100-40g", "a100-east-03/cx7-400g"}
    assert all(pool.usable for pool in site.inventory.pools)


def test_a_pool_that_is_not_open_takes_no_pods(build: Build) -> None:
    site = build(
        "prod-east", (EAST, "  nodeSelector:", "  state: frozen\n  nodeSelector:"), modelled=True
    )
    closed = {name for name, why in site.kept_out.items() if why == "pool a100-east is frozen"}
    assert closed == {f"a100-east-{number}" for number in range(1, 5)}
