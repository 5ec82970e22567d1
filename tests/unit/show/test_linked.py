"""Linked forms: defaults filled in, references followed, numbers as quota has them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from dracfg.pipeline import Judgement
from dracfg.show.linked import linked_document
from dracfg.show.subjects import WORDS, Named

Repository = Callable[..., Judgement]


def shown(judged: Judgement, word: str, name: str) -> dict[str, Any]:
    return linked_document(judged.catalog, judged.units, Named(word, name))


def by_name(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (found,) = (entry for entry in entries if entry["name"] == name)
    return found


def test_cluster(judged: Judgement) -> None:
    found = shown(judged, "cluster", "east")
    assert found["origin"] == "catalog/all.yaml:3:18"
    assert found["setsGates"] is True
    assert found["gitops"]["retainTemplates"] == 3
    assert found["drivers"] == [
        {"name": "gpu.example.org"},
        {"name": "gpu.nvidia.com", "version": "25.12.0"},
    ]
    pool = by_name(found["pools"], "training")
    assert (pool["nodes"], pool["spareNodes"], pool["state"]) == (8, 1, "open")
    assert pool["devices"][0]["total"] == 64
    assert pool["devices"][0]["owner"] == "dra"
    assert by_name(found["classes"], "l40s-slices-20gi") == {
        "name": "l40s-slices-20gi",
        "tier": "l40s",
        "sharing": "slices",
        "size": "20Gi",
        "capacity": {"memory": "20Gi"},
        "devices": "shareable",
        "closed": False,
    }
    assert by_name(found["classes"], "a100-admin")["adminAccess"] is True
    assert by_name(found["tenants"], "vision")["namespaces"] == ["vision-train", "vision-dev"]


def test_pool(judged: Judgement) -> None:
    found = shown(judged, "pool", "notebooks")
    assert found["quarantinedNodes"] == 1
    assert [taint["node"] for taint in found["nodeTaints"]] == ["notebooks-4"]
    assert found["quarantine"][0]["evict"] is False


def test_tier(judged: Judgement) -> None:
    found = shown(judged, "tier", "a100")
    assert found["reclaim"]["onPending"] == "hold"
    assert found["expression"].startswith('device.driver == "gpu.nvidia.com" &&')
    assert [pool["name"] for pool in found["pools"]] == ["teaching", "training"]
    assert [entry["name"] for entry in found["classes"]] == [
        "a100",
        "a100-admin",
        "a100-mig-1g-5gb",
    ]


def test_policies(judged: Judgement) -> None:
    found = shown(judged, "policy", "slices")
    assert found["version"] == judged.catalog.policies["slices"].version
    assert [(part["size"], part["suffix"]) for part in found["parts"]] == [
        ("10Gi", "10gi"),
        ("20Gi", "20gi"),
    ]
    assert found["parts"][0]["classes"] == ["l40s-slices-10gi"]
    assert found["pools"] == [{"pool": "notebooks", "cluster": "east", "tier": "l40s"}]
    whole = shown(judged, "policy", "whole")
    assert whole["builtIn"] is True
    assert "version" not in whole
    assert "origin" not in whole


def test_driver_with_preset(judged: Judgement) -> None:
    found = shown(judged, "driver", "gpu.nvidia.com")
    assert found["releaseKnown"] is True
    names = {entry["name"] for entry in found["attributes"]}
    assert "productName" in names
    assert "pcieBusID" not in names
    assert by_name(found["dropped"], "pcieBusID") == {
        "name": "pcieBusID",
        "since": "25.12.0",
        "replacedBy": "resource.kubernetes.io/pciBusID",
    }
    memory = by_name(found["capacity"], "memory")
    assert (memory["unit"], memory["enforces"]) == ("bytes", "none")
    assert by_name(found["gates"], "MPSSupport")["enabled"] is True
    assert by_name(found["gates"], "DynamicMIG")["enabled"] is False
    fact = by_name(found["facts"], "refusesDoublePrepare")
    assert fact["answer"] == "yes"
    assert fact["source"].startswith("kubernetes-sigs/dra-driver-nvidia-gpu@")


def test_driver_without_preset(judged: Judgement) -> None:
    found = shown(judged, "driver", "gpu.example.org")
    assert found["releaseKnown"] is False
    assert found["attributes"] == [{"name": "model", "type": "string", "source": "catalog"}]
    assert by_name(found["capacity"], "memory")["enforces"] == "driver"
    assert found["shareable"]["devices"] == "where-listed"
    assert found["facts"] == []


def test_tenant(judged: Judgement) -> None:
    (cluster,) = shown(judged, "tenant", "vision")["clusters"]
    (whole,) = by_name(cluster["grants"], "gpu")["amounts"]
    assert whole == {
        "class": "a100",
        "guaranteed": 16,
        "limit": 32,
        "byNamespace": {"vision-train": 24, "vision-dev": 8},
        "quotaKeys": ["a100.deviceclass.resource.k8s.io/devices"],
    }
    assert by_name(cluster["grants"], "gpu")["pools"] == ["training"]
    assert by_name(cluster["grants"], "part")["pools"] == ["teaching"]
    small, large = by_name(cluster["grants"], "slice")["amounts"]
    assert (small["size"], small["guaranteed"], small["limit"], small["lent"]) == ("10Gi", 6, 6, 2)
    assert (large["size"], large["guaranteed"], large["limit"]) == ("20Gi", 0, 4)
    assert by_name(cluster["profiles"], "small")["templates"] == [
        {"namespace": "vision-train", "name": "small-v2"},
        {"namespace": "vision-dev", "name": "small-v2"},
    ]
    either = by_name(cluster["profiles"], "either")["requests"]
    assert [entry["class"] for entry in either[0]["firstAvailable"]] == [
        "a100-mig-1g-5gb",
        "l40s-slices-10gi",
    ]
    assert [shared["name"] for shared in cluster["sharedClaims"]] == ["shared"]


def test_tenant_who_and_what(judged: Judgement) -> None:
    found = shown(judged, "tenant", "vision")
    assert found["access"] == {
        "use": [{"group": "vision-eng"}, {"user": "ann"}],
        "view": [],
        "visibility": "none",
    }
    assert found["ownClaims"] is False
    (cluster,) = found["clusters"]
    assert cluster["adminAccess"] == [
        {
            "namespace": "vision-dev",
            "tier": "a100",
            "reason": "exporter of the platform",
            "class": "a100-admin",
            "templates": ["a100-admin"],
        }
    ]
    assert cluster["priorities"] == []
    assert "kueue" not in cluster


def test_offers_are_shown_from_both_sides(judged: Judgement) -> None:
    what = {"entitlement": "slice", "tier": "l40s", "sharing": "slices", "size": "10Gi", "count": 2}
    given = shown(judged, "tenant", "vision")["offers"]
    taken = shown(judged, "tenant", "lab")["acceptedOffers"]
    assert given == [{"to": "lab", **what, "accepted": 2, "takenAs": "vision-slice"}]
    assert taken == [{"from": "vision", **what, "offered": 2, "takenAs": "vision-slice"}]
    assert shown(judged, "tenant", "lab")["offers"] == []


@pytest.mark.parametrize(
    ("old", "new", "accepted", "offered"),
    [
        ("acceptedOffers: [{from: vision, entitlement: slice, size: 10Gi, count: 2}]",
         "acceptedOffers: [{from: vision, entitlement: slice, size: 10240Mi, count: 1}]", 1, 2),
        ("acceptedOffers: [{from: vision, entitlement: slice, size: 10Gi, count: 2}]",
         "acceptedOffers: [{from: vision, entitlement: slice, size: 20Gi, count: 2}]", 0, 0),
    ],
)  # fmt: skip
def test_offers_that_differ(
    repository: Repository, old: str, new: str, accepted: int, offered: int
) -> None:
    judged = repository((old, new))
    (given,) = shown(judged, "tenant", "vision")["offers"]
    (taken,) = shown(judged, "tenant", "lab")["acceptedOffers"]
    assert (given["accepted"], taken["offered"]) == (accepted, offered)


def test_namespaces_carry_what_is_emitted(judged: Judgement) -> None:
    (cluster,) = shown(judged, "tenant", "vision")["clusters"]
    emitted = {
        artifact.object["metadata"]["name"]: artifact.object["metadata"]
        for unit in judged.units
        for artifact in unit.artifacts
        if artifact.object.get("kind") == "Namespace"
    }
    assert [namespace["name"] for namespace in cluster["namespaces"]] == [
        "vision-train",
        "vision-dev",
    ]
    for namespace in cluster["namespaces"]:
        metadata = emitted[namespace["name"]]
        assert len(namespace["annotations"]) > 4
        assert namespace["annotations"].items() <= metadata["annotations"].items()
        assert namespace["labels"].items() <= metadata["labels"].items()
    noted = by_name(cluster["namespaces"], "vision-dev")["annotations"]
    assert "claim/shared" in noted["dracfg.dev/claims"].split(",")


def test_every_quota_key_is_emitted(repository: Repository) -> None:
    """On a pool of both owners, from 1.35, and with the extended resource of a class."""
    judged = repository(
        ('kubernetes: "1.34"', 'kubernetes: "1.36"'),
        ("legacyResource: nvidia.com/gpu", "legacyResource: nvidia.com/gpu\n  takesOverLegacyName: true"),
        ("devices: [{tier: a100, perNode: 8}]\n  sharing: [mig]\n  owner: {gpu.nvidia.com: dra}",
         "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.nvidia.com: devicePlugin}"),
        ("    - {name: part, tier: a100, sharing: mig, guaranteed: {1g.5gb: 4}}\n", ""),
        ("{entitlement: part, size: 1g.5gb}", "{entitlement: gpu}"),
    )  # fmt: skip
    (cluster,) = shown(judged, "tenant", "vision")["clusters"]
    grant = by_name(cluster["grants"], "gpu")
    assert (grant["owners"], grant["legacyResource"]) == (["devicePlugin", "dra"], "nvidia.com/gpu")
    (whole,) = grant["amounts"]
    assert whole["extendedResource"] == "nvidia.com/gpu"
    assert whole["quotaKeys"] == [
        "a100.deviceclass.resource.k8s.io/devices",
        "requests.deviceclass.resource.kubernetes.io/a100",
        "requests.nvidia.com/gpu",
    ]
    hard = next(
        artifact.object["spec"]["hard"]
        for unit in judged.units
        for artifact in unit.artifacts
        if artifact.object.get("kind") == "ResourceQuota"
    )
    for entry in cluster["grants"]:
        for amount in entry["amounts"]:
            assert set(amount["quotaKeys"]) <= hard.keys()


def test_device_plugins_are_charged_by_their_resource(repository: Repository) -> None:
    judged = repository(
        (
            "sharing: [whole]\n  owner: {gpu.nvidia.com: dra}",
            "owner: {gpu.nvidia.com: devicePlugin}",
        )
    )
    (cluster,) = shown(judged, "tenant", "vision")["clusters"]
    grant = by_name(cluster["grants"], "gpu")
    assert grant["legacyResource"] == "nvidia.com/gpu"
    assert "requests.nvidia.com/gpu" in grant["amounts"][0]["quotaKeys"]


def test_priorities_and_queues(repository: Repository) -> None:
    judged = repository(
        ("distribution: kubeadm\n", 'distribution: kubeadm\n  addons: {kueue: "0.18"}\n'),
        (
            "distribution: kubeadm\n",
            "distribution: kubeadm\n  priorities: [{name: urgent, value: 1000}, {name: idle, value: 1}]\n",
        ),
        ("guaranteed: 16, limit: 32}", "guaranteed: 16, limit: 32, priority: urgent}"),
    )
    (cluster,) = shown(judged, "tenant", "vision")["clusters"]
    assert cluster["priorities"] == [
        {
            "name": "urgent",
            "value": 1000,
            "preempts": True,
            "grants": ["gpu"],
            "podsByNamespace": {"vision-train": 24, "vision-dev": 8},
        }
    ]
    assert by_name(cluster["grants"], "gpu")["priority"] == "urgent"
    emitted = {
        artifact.object["kind"]: artifact.object
        for unit in judged.units
        for artifact in unit.artifacts
        if artifact.object.get("kind") in ("ClusterQueue", "LocalQueue", "Cohort")
        and artifact.object["metadata"]["name"] != "dracfg-lab"
    }
    kueue = cluster["kueue"]
    for kind, key in (
        ("ClusterQueue", "clusterQueue"),
        ("LocalQueue", "localQueue"),
        ("Cohort", "cohort"),
    ):
        assert emitted[kind]["metadata"]["name"] == kueue[key]
    assert kueue["stopPolicy"] == "None"
    assert kueue["namespaces"] == ["vision-train", "vision-dev"]
    (group,) = emitted["ClusterQueue"]["spec"]["resourceGroups"]
    assert {
        entry["resource"]: (str(entry["nominalQuota"]), str(entry["borrowingLimit"]))
        for entry in kueue["resources"]
    } == {
        entry["name"]: (entry["nominalQuota"], entry["borrowingLimit"])
        for entry in group["flavors"][0]["resources"]
    }


def test_split_is_what_quota_has(judged: Judgement) -> None:
    (cluster,) = shown(judged, "tenant", "vision")["clusters"]
    hard = {
        artifact.object["metadata"]["namespace"]: artifact.object["spec"]["hard"]
        for unit in judged.units
        for artifact in unit.artifacts
        if artifact.object.get("kind") == "ResourceQuota"
    }
    amounts = [amount for grant in cluster["grants"] for amount in grant["amounts"]]
    assert len(amounts) == 4
    for amount in amounts:
        for namespace, number in amount["byNamespace"].items():
            key = f"{amount['class']}.deviceclass.resource.k8s.io/devices"
            assert hard[namespace][key] == str(number)


def test_borrowed(judged: Judgement) -> None:
    (cluster,) = shown(judged, "tenant", "lab")["clusters"]
    (grant,) = cluster["grants"]
    assert (grant["name"], grant["borrowedFrom"]) == ("vision-slice", "vision")
    assert (grant["amounts"][0]["guaranteed"], grant["amounts"][0]["limit"]) == (2, 2)


def test_removed_tenants_hold_nothing(repository: Repository) -> None:
    judged = repository(("  access:\n", "  state: removed\n  access:\n"))
    (cluster,) = shown(judged, "tenant", "vision")["clusters"]
    (whole,) = by_name(cluster["grants"], "gpu")["amounts"]
    assert whole["byNamespace"] == {"vision-train": 0, "vision-dev": 0}
    assert by_name(cluster["profiles"], "small")["templates"] == []


@pytest.mark.parametrize("word", WORDS)
def test_documents_are_json(judged: Judgement, word: str) -> None:
    catalog = judged.catalog
    groups = {
        "cluster": catalog.clusters,
        "driver": catalog.drivers,
        "policy": catalog.policies,
        "pool": catalog.pools,
        "tenant": catalog.tenants,
        "tier": catalog.tiers,
    }
    for name in groups[word]:
        found = shown(judged, word, name)
        assert found["schemaVersion"] == 1
        assert found["name"] == name
        assert json.loads(json.dumps(found)) == found
