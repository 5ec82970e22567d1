"""A node lost in four forms, at one time: what Kubernetes does by itself, what the guard denies, what
the ledger shows, and how order comes back.

The node lifecycle controller runs as in a cluster, with less patience. Each test is about one node of
`losses`, which are lost when the first of them asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pytest

from tests.cluster.client import Client, Object, Refused
from tests.cluster.drivers import RESOURCE
from tests.cluster.processes import wait_for
from tests.cluster.yard import CARDS, PATIENCE, TENANT, Audit, Yard, about, results_of

SILENT, DELETED, FENCED, FORCED, WELL = CARDS
OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
CONTROLLERS = "kube-controller-manager"


@dataclass
class Losses:
    """A pod with a share on each node, of which the first four no longer answer."""

    yard: Yard
    pods: dict[str, Object]
    claims: dict[str, Object]

    def recreated(self, node: str) -> None:
        """The tenant's pod comes back on the node, beside nothing that is left over."""
        late = self.yard.running(self.yard.pod(f"late-{node}", "large", node))
        assert results_of(self.yard.claim_of(late))[0]["pool"] == node
        (holder,) = self.yard.audit().card(node)["holders"]
        assert holder["tenant"] == TENANT
        self.yard.end(late)


@pytest.fixture(scope="module")
def losses(standing_yard: Yard) -> Iterator[Losses]:
    yard = standing_yard
    pods = {node: yard.pod(f"user-{node}", "medium", node, leaves=True) for node in CARDS}
    claims = {node: yard.claim_of(yard.running(one)) for node, one in pods.items()}
    yard.kubelet.lose(SILENT, DELETED, FENCED, FORCED)
    for node in (SILENT, DELETED, FENCED, FORCED):
        yard.drivers[node].kill()
        wait_for(partial(is_unknown, yard, node), f"{node} is given up", PATIENCE)
        wait_for(partial(is_terminating, yard, pods[node]), f"{node} is evicted", PATIENCE)
    yield Losses(yard, pods, claims)
    for node in CARDS:
        yard.client.apply(node_object(node), "kubelet", force=True)
        yard.client.patch(node_object(node), {"spec": {"taints": None}})
    yard.kubelet.restart(*CARDS)
    yard.clear()


def node_object(name: str) -> Object:
    labels = {"kubernetes.io/hostname": name, "node.example.com/pool": "cards"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def is_unknown(yard: Yard, node: str) -> bool:
    conditions = yard.client.read(node_object(node))["status"]["conditions"]
    return any(one["type"] == "Ready" and one["status"] == "Unknown" for one in conditions)


def is_terminating(yard: Yard, one: Object) -> bool:
    return "deletionTimestamp" in yard.client.read(one)["metadata"]


def is_unknown_in_ledger(said: Audit, node: str) -> bool:
    card = said.card(node)
    assert card["capacity"]["memory"]["used"] == "10Gi"
    assert card["capacity"]["memory"]["unknown"] == "10Gi"
    return bool(card["state"] == "unknown")


def slices_of(yard: Yard, node: str) -> list[Object]:
    return yard.client.list(RESOURCE, "ResourceSlice", fieldSelector=f"spec.nodeName={node}")


def denied(code: str, client: Client, method: str, obj: Object, **call: object) -> None:
    """The guard refuses it, by the rule of this code."""
    with pytest.raises(Refused, match=code) as refused:
        getattr(client, method)(obj, **call)
    assert refused.value.code == 403


def tainted(yard: Yard, node: str) -> Object:
    """The node with the out-of-service taint beside those it has."""
    found = yard.client.read(node_object(node))
    taints = found["spec"].get("taints", [])
    return found | {"spec": found["spec"] | {"taints": [*taints, OUT_OF_SERVICE]}}


def test_what_the_guard_denies(losses: Losses) -> None:
    """Neither the tenant nor an operator releases what an unfenced node may still use."""
    yard, pod, claim = losses.yard, losses.pods[SILENT], losses.claims[SILENT]
    for who in (yard.tenant(), yard.operator):
        denied("TEN040", who, "delete", pod, grace=0)
    denied("TEN041", yard.operator, "patch", claim, change={"metadata": {"finalizers": None}})
    denied("TEN042", yard.operator, "delete", node_object(SILENT))
    denied("TEN043", yard.operator, "update", tainted(yard, SILENT))
    denied("TEN042", yard.fencer, "delete", node_object(WELL))
    with pytest.raises(Refused) as refused:
        yard.tenant().patch(claim, {"status": {"allocation": None}}, "status")
    assert refused.value.code == 403
    assert yard.is_held(claim)
    assert yard.audit().card(WELL)["state"] == "shared"


def test_node_that_does_not_answer(losses: Losses) -> None:
    """Its pods are marked for deletion and stay, and so does what they hold, until it is back."""
    yard, pod, claim = losses.yard, losses.pods[SILENT], losses.claims[SILENT]
    said = yard.audit()
    found = said.about("LIV048", f"Node/{SILENT}", about(claim))
    assert "the fence nodeLease is recorded" in found["help"]
    assert is_unknown_in_ledger(said, SILENT)
    assert is_terminating(yard, pod)
    assert yard.is_held(claim)
    yard.kubelet.restart(SILENT)
    yard.drivers[SILENT].start()
    yard.gone(pod)
    yard.gone(claim)
    losses.recreated(SILENT)
    assert not about_node(yard.audit(), SILENT)


def about_node(said: Audit, node: str) -> set[str]:
    findings = said.document["findings"]
    return {one["code"] for one in findings if f"Node/{node}" in one["objects"]}


def test_node_out_of_service(losses: Losses) -> None:
    """The node guard may put the taint on it; Kubernetes then deletes the pod and frees the card."""
    yard, pod, claim = losses.yard, losses.pods[FENCED], losses.claims[FENCED]
    with yard.paused(CONTROLLERS):
        yard.fencer.update(tainted(yard, FENCED))
        said = yard.audit()
        found = said.about("LIV050", f"Node/{FENCED}", about(claim))
        assert found["handling"] == "retryable"
        assert is_unknown_in_ledger(said, FENCED)
        assert yard.is_held(claim)
    yard.gone(pod)
    yard.gone(claim)
    said = yard.audit()
    assert not about_node(said, FENCED)
    assert said.card(FENCED)["holders"] == []
    yard.kubelet.restart(FENCED)
    yard.drivers[FENCED].start()
    node = yard.client.read(node_object(FENCED))
    kept = [one for one in node["spec"]["taints"] if one["key"] != OUT_OF_SERVICE["key"]]
    yard.fencer.patch(node, {"spec": {"taints": kept}})
    losses.recreated(FENCED)


def test_pod_deleted_by_force(losses: Losses) -> None:
    """Who breaks the glass takes the pod away, and the claim controller gives its card to others."""
    yard, pod, claim = losses.yard, losses.pods[FORCED], losses.claims[FORCED]
    with yard.paused(CONTROLLERS):
        yard.client.delete(pod, grace=0)
        said = yard.audit()
        assert said.about("LIV048", f"Node/{FORCED}", about(claim))
        found = said.about("LIV051", f"Node/{FORCED}", about(claim))
        assert "freeze the tier" in found["help"]
        assert found["handling"] == "needsPerson"
        assert is_unknown_in_ledger(said, FORCED)
        assert yard.is_held(claim)
    yard.gone(claim)
    said = yard.audit()
    assert not about_node(said, FORCED)
    assert said.card(FORCED)["holders"] == []
    yard.kubelet.restart(FORCED)
    yard.drivers[FORCED].start()
    losses.recreated(FORCED)


def test_node_object_deleted(losses: Losses) -> None:
    """Once it is fenced the guard lets it go; PodGC then deletes the pod within about a minute."""
    yard, pod, claim = losses.yard, losses.pods[DELETED], losses.claims[DELETED]
    yard.fencer.delete(node_object(DELETED))
    wait_for(lambda: not slices_of(yard, DELETED), "its slices go with the node", PATIENCE)
    said = yard.audit()
    assert said.about("LIV049", f"Node/{DELETED}", about(claim))
    assert "LIV033" not in said.codes
    card = said.card(DELETED)
    assert card["state"] == "unknown"
    assert card["holders"][0]["consumedCapacity"] == {"memory": "10Gi"}
    assert yard.is_held(claim)
    yard.gone(pod)
    yard.gone(claim)
    said = yard.audit()
    assert not about_node(said, DELETED)
    assert DELETED not in {one["pool"] for one in said.document["ledger"]}
    node = node_object(DELETED)
    yard.client.apply(node, "kubelet", force=True)
    yard.kubelet.restart(DELETED)
    yard.drivers[DELETED].start()
    losses.recreated(DELETED)
