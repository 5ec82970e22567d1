"""Namespaces that leave git: what empties each of them first."""

import pytest

from dracfg.check.departures import check_departures

ONE = "    - {name: vision-train, clusters: [east]}\n"
TWO = f"{ONE}    - {{name: vision-dev, clusters: [east]}}\n"
ELSEWHERE = "    - {name: vision-train, clusters: [west]}\n"
WEST = (
    "apiVersion: dracfg.dev/v1alpha1\nkind: Cluster\nmetadata: {name: west}\n"
    "spec: {kubernetes: '1.36', distribution: kubeadm, gitops: {engine: plain}}\n---\n"
    "apiVersion: dracfg.dev/v1alpha1\nkind: NodePool\nmetadata: {name: west}\n"
    "spec:\n  cluster: west\n  nodes: 4\n  nodeSelector: {pool: west}\n"
    "  devices: [{tier: a100, perNode: 8}, {tier: npu, perNode: 4, sharing: [slices]}]\n"
    "  owner: {gpu.nvidia.com: dra, npu.example.org: dra}\n"
)
WATCHER = (
    "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: monitor}\nspec:\n"
    "  namespaces: [{name: monitor, clusters: [east]}, {name: exporter, clusters: [east]}]\n"
    "  adminAccess: [{namespace: exporter, tiers: [a100], reason: metrics of every GPU}]\n"
)
IDLE = (
    "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: monitor}\nspec:\n"
    "  namespaces: [{name: monitor, clusters: [east]}]\n"
)
REMOVED = (f"spec:\n  namespaces:\n{ONE}", f"spec:\n  state: removed\n  namespaces:\n{ONE}")


@pytest.mark.parametrize(
    ("before", "after", "says", "not_said"),
    [
        ([(ONE, TWO)], [], "`share: 0`, which sets its quota to 0", "`state: removed`"),
        ([(ONE, TWO)], [REMOVED], "`state: removed` on the tenant", "`share: 0`"),
        ([], [(ONE, ELSEWHERE)], "vision keeps no other namespace on east", "`share: 0`"),
    ],
)
def test_a_namespace_leaves_a_tenant(build, before, after, says, not_said):
    left = build(*before, more=WEST).standing
    repository = build(*after, more=WEST)
    (found,) = check_departures(repository.catalog, repository.units, left)
    assert found.code == "TEN019"
    assert says in found.help
    assert not_said not in found.help


def test_a_tenant_leaves(build):
    left = build().standing
    repository = build(("{name: vision}", "{name: search}"), (ONE, ONE.replace("vision", "search")))
    (found,) = check_departures(repository.catalog, repository.units, left)
    assert "`state: removed` on the tenant" in found.help


def test_a_namespace_that_watches(build):
    left = build(more=WATCHER).standing
    repository = build(more=IDLE)
    (found,) = check_departures(repository.catalog, repository.units, left)
    assert "one more change without its adminAccess" in found.help


def test_a_share_of_nothing_leaves_no_quota(build):
    """What the help proposes does what it says."""
    repository = build((ONE, TWO.replace("vision-dev,", "vision-dev, share: 0,")))
    quotas = [
        artifact.object
        for unit in repository.units
        for artifact in unit.artifacts
        if artifact.object.get("kind") == "ResourceQuota"
        and artifact.object["metadata"]["namespace"] == "vision-dev"
    ]
    (quota,) = quotas
    devices = {key: n for key, n in quota["spec"]["hard"].items() if "deviceclass" in key}
    assert devices
    assert set(devices.values()) == {"0"}
