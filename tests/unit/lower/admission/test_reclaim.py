"""What `reclaim: hold` keeps taken: pods, claims and nodes."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.link.catalog import Catalog

KUBELET = "system:node:n1"
FENCER = "system:serviceaccount:remedy:fencer"
AUTOSCALER = "system:serviceaccount:kube-system:cluster-autoscaler"
OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
PROTECTION = "resource.kubernetes.io/delete-protection"
POD_DELETERS = [
    "system:kube-controller-manager",
    "system:serviceaccount:kube-system:pod-garbage-collector",
    "system:serviceaccount:kube-system:namespace-controller",
    "system:serviceaccount:kube-system:device-taint-eviction-controller",
]
GUARDS = """  nodeGuards:
    fencers: {serviceAccounts: [{namespace: remedy, name: fencer}], groups: [remedy-people]}
    autoscalers: {serviceAccounts: [{namespace: kube-system, name: cluster-autoscaler}]}
"""


@pytest.fixture
def platform(platform: str) -> str:
    """A100s are held; cards of notebooks are not."""
    return platform.replace("kubeadm\n", f"kubeadm\n{GUARDS}", 1).replace(
        "match: {attributes: {model: A100}}",
        "match: {attributes: {model: A100}}\n  reclaim: {onUnknownNode: hold, timeout: 15m}",
    )


@pytest.fixture
def catalog(catalog_of: Any, platform: str, vision: str) -> Catalog:
    linked: Catalog = catalog_of(platform, vision)
    return linked


@pytest.fixture
def judge(policies_of: Any, rights_of: Any, catalog: Catalog) -> Any:
    """The codes with which requests in vision's namespace are denied."""

    def denials(made: dict[str, Any] | None, **more: Any) -> list[str]:
        found = policies_of(catalog).denials(made, rights_of(catalog), **more)
        return [message[:6] for message in found]

    return denials


# -- pods ------------------------------------------------------------------------------------------


def pod(phase: str = "Running", node: str | None = "n1", **spec: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"resourceClaims": [{"name": "gpu"}], **spec}
    if node is not None:
        body["nodeName"] = node
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "here"},
        "spec": body,
        "status": {"phase": phase},
    }


AT_ONCE = {"gracePeriodSeconds": 0}


def extended() -> dict[str, Any]:
    """A pod whose claim the scheduler made."""
    made = pod(resourceClaims=[])
    made["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": "x"}
    return made


@pytest.mark.parametrize("holder", [pod(), pod("Unknown"), extended()])
def test_pods_that_hold_claims_are_not_deleted_at_once(judge: Any, holder: Any) -> None:
    assert judge(None, old=holder, options=AT_ONCE) == ["TEN040"]
    assert judge(None, old=holder, options={"gracePeriodSeconds": 1}) == []
    assert judge(None, old=holder, options={}) == []
    assert judge(None, old=holder) == []


def test_a_grace_period_of_zero_in_the_pod_counts(judge: Any) -> None:
    made = pod(terminationGracePeriodSeconds=0)
    assert judge(None, old=made) == ["TEN040"]
    assert judge(None, old=made, options={"gracePeriodSeconds": 30}) == []


@pytest.mark.parametrize(
    "free",
    [pod("Succeeded"), pod("Failed"), pod("Pending", node=None), pod(resourceClaims=[])],
)
def test_pods_that_hold_nothing_go_at_once(judge: Any, free: Any) -> None:
    assert judge(None, old=free, options=AT_ONCE) == []


@pytest.mark.parametrize("user", [KUBELET, FENCER, *POD_DELETERS])
def test_who_may_delete_at_once(judge: Any, user: str) -> None:
    assert judge(None, old=pod(), options=AT_ONCE, user=user) == []


def test_kubelets_of_other_nodes_may_not(judge: Any) -> None:
    assert judge(None, old=pod(), options=AT_ONCE, user="system:node:n2") == ["TEN040"]
    assert judge(None, old=pod(), options=AT_ONCE, groups=["remedy-people"]) == []
    assert judge(None, old=pod(), options=AT_ONCE, groups=["system:masters"]) == []


def test_namespaces_without_held_classes_are_free(policies_of: Any, catalog: Catalog) -> None:
    policies = policies_of(catalog)
    for noted in ({}, {"dracfg.dev/tenant": "x", "classes.dracfg.dev/l40s-slices-10gi": "count=1"}):
        assert policies.denials(None, noted, old=pod(), options=AT_ONCE) == []


def eviction(**options: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "p", "namespace": "here"},
        **options,
    }


def test_evictions_keep_their_grace(policies_of: Any, rights_of: Any, catalog: Catalog) -> None:
    """The request's resource is that of the pod; the object is of another group."""
    policies = policies_of(catalog)

    def codes(made: dict[str, Any], **more: Any) -> list[str]:
        found = policies.denials(
            made | {"apiVersion": "v1"},
            rights_of(catalog),
            resource="pods",
            subresource="eviction",
            **more,
        )
        return [message[:6] for message in found]

    assert codes(eviction(deleteOptions=AT_ONCE)) == ["TEN040"]
    assert codes(eviction(deleteOptions={"gracePeriodSeconds": 5})) == []
    assert codes(eviction()) == []
    assert codes(eviction(deleteOptions=AT_ONCE), user=FENCER) == []


# -- claims ----------------------------------------------------------------------------------------


def claim(
    *finalizers: str, device_class: str = "a100", allocated: bool = True, several: bool = False
) -> dict[str, Any]:
    ask = {"deviceClassName": device_class}
    request = {"firstAvailable": [{"deviceClassName": "x"}, ask]} if several else {"exactly": ask}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "here", "finalizers": list(finalizers)},
        "spec": {"devices": {"requests": [{"name": "r", **request}]}},
        "status": {"allocation": {}} if allocated else {},
    }


@pytest.mark.parametrize("several", [False, True])
def test_allocated_claims_keep_their_protection(judge: Any, several: bool) -> None:
    held, freed = claim(PROTECTION, "a/b", several=several), claim("a/b", several=several)
    assert judge(freed, old=held) == ["TEN041"]
    assert judge(held, old=held) == []
    assert judge(claim(PROTECTION, several=several), old=held) == []
    for user in (
        FENCER,
        "system:kube-scheduler",
        "system:serviceaccount:kube-system:resource-claim-controller",
    ):
        assert judge(freed, old=held, user=user) == []
    assert judge(freed, old=held, groups=["system:masters"]) == []


def test_other_claims_lose_it(judge: Any) -> None:
    idle = claim(PROTECTION, allocated=False)
    assert judge(claim(allocated=False), old=idle) == []
    notebook = claim(PROTECTION, device_class="l40s-slices-10gi")
    assert judge(claim(device_class="l40s-slices-10gi"), old=notebook) == []


# -- nodes -----------------------------------------------------------------------------------------


def node(*taints: dict[str, str], ready: str = "True", pool: str = "training") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {"pool": pool}},
        "spec": {"taints": list(taints)} if taints else {},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


def test_nodes_are_deleted_once_they_are_silent(judge: Any) -> None:
    assert judge(None, old=node()) == ["TEN042"]
    assert judge(None, old=node(ready="Unknown")) == ["TEN042"], "only by fencers"
    assert judge(None, old=node(), user=FENCER) == ["TEN042"], "only once the lease ran out"
    assert judge(None, old=node(ready="False"), user=FENCER) == ["TEN042"]
    assert judge(None, old=node(ready="Unknown"), user=FENCER) == []
    assert judge(None, old=node(), groups=["system:masters"]) == []
    assert judge(None, old=node(pool="notebooks")) == []


@pytest.mark.parametrize("user", [AUTOSCALER, "system:serviceaccount:kube-system:node-controller"])
def test_who_drains_nodes_needs_no_fence(judge: Any, user: str) -> None:
    assert judge(None, old=node(), user=user) == []


def test_nodes_are_taken_out_of_service_once_they_are_silent(judge: Any) -> None:
    out = node(OUT_OF_SERVICE)
    assert judge(out, old=node()) == ["TEN043"]
    assert judge(out, old=node(), user=AUTOSCALER) == ["TEN043"]
    assert judge(out, old=node(), user=FENCER) == ["TEN043"]
    silent = node(ready="Unknown")
    assert judge(out, old=silent) == ["TEN043"]
    assert judge(out, old=silent, user=FENCER) == []
    assert judge(out, old=out) == [], "it is already"
    assert judge(node(), old=out) == [], "back in service"
    assert judge(node({"key": "x", "effect": "NoSchedule"}), old=node()) == []
    assert judge(node(OUT_OF_SERVICE, pool="notebooks"), old=node(pool="notebooks")) == []


@pytest.mark.parametrize(
    ("fencing", "before", "after"),
    [("outOfServiceTaint", ["TEN042"], []), ("none", [], [])],
)
def test_other_fences(
    catalog_of: Any,
    platform: str,
    policies_of: Any,
    fencing: str,
    before: list[str],
    after: list[str],
) -> None:
    """The taint is itself the record of a fence; without a fence the fencers' word is enough."""
    policies = policies_of(
        catalog_of(
            platform.replace("onUnknownNode: hold,", f"onUnknownNode: hold, fencing: {fencing},")
        )
    )

    def codes(made: dict[str, Any] | None, old: dict[str, Any], user: str) -> list[str]:
        return [message[:6] for message in policies.denials(made, old=old, user=user)]

    assert codes(None, node(), FENCER) == before
    assert codes(None, node(OUT_OF_SERVICE), FENCER) == after
    assert codes(None, node(OUT_OF_SERVICE), "ann") == ["TEN042"]
    assert codes(node(OUT_OF_SERVICE), node(), FENCER) == []
    assert codes(node(OUT_OF_SERVICE), node(), "ann") == ["TEN043"]


def test_messages(policies_of: Any, rights_of: Any, catalog: Catalog) -> None:
    policies = policies_of(catalog)
    (message,) = policies.denials(None, rights_of(catalog), old=pod(), options=AT_ONCE)
    assert message == (
        "TEN040: ann deletes pod p of tenant vision without a grace period while it holds claims; "
        "its devices are held until its node is fenced"
    )
    (message,) = policies.denials(None, old=node(), user=FENCER)
    assert message == (
        f"TEN042: {FENCER} deletes node n1, whose devices are held; the fence nodeLease is not "
        "recorded on it"
    )
    (message,) = policies.denials(None, old=node())
    assert message.endswith("only the cluster's node guards may, once it is fenced")
