"""Drivers whose identity the catalog names: their slices and their part of a claim's status."""

from __future__ import annotations

from typing import Any

import pytest

PLUGIN = "system:serviceaccount:gpu-driver:kubelet-plugin"
ON_N1 = {"authentication.kubernetes.io/node-name": ["n1"]}


@pytest.fixture
def judge(catalog_of: Any, platform: str, policies_of: Any) -> Any:
    """The codes with which the driver's requests are denied."""
    account = "serviceAccount: {namespace: gpu-driver, name: kubelet-plugin}"
    policies = policies_of(
        catalog_of(platform.replace("shareable: true}", f"shareable: true, {account}}}"))
    )

    def denials(
        made: dict[str, Any] | None, user: str = PLUGIN, extra: Any = ON_N1, **more: Any
    ) -> list[str]:
        found = policies.denials(made, user=user, extra=extra, **more)
        return [message[:6] for message in found]

    return denials


def published(driver: str = "gpu.example.org", **place: Any) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {"driver": driver, **(place or {"nodeName": "n1"})},
    }


def test_own_slices_of_the_own_node(judge: Any) -> None:
    assert judge(published()) == []
    assert judge(published(), old=published()) == []
    assert judge(None, old=published()) == []


@pytest.mark.parametrize("place", [{"nodeName": "n2"}, {"allNodes": True}, {"nodeSelector": {}}])
def test_slices_of_other_nodes(judge: Any, place: Any) -> None:
    assert judge(published(**place)) == ["TEN045"]
    assert judge(published(**place), old=published()) == ["TEN045"]
    assert judge(None, old=published(**place)) == ["TEN045"]


def test_slices_of_other_drivers(judge: Any) -> None:
    foreign = published("net.example.org")
    assert judge(foreign) == ["TEN044"]
    assert judge(None, old=foreign) == ["TEN044"]


def test_tokens_that_name_no_node_publish_nothing(judge: Any) -> None:
    assert judge(published(), extra={}) == ["TEN045"]


@pytest.mark.parametrize("user", ["ann", "system:node:n2"])
def test_others_are_left_to_their_roles(judge: Any, user: str) -> None:
    assert judge(published("x", nodeName="n9"), user=user) == []


ALLOCATION = {"devices": {"results": [{"request": "r", "driver": "gpu.example.org"}]}}
RESERVED = [{"resource": "pods", "name": "p", "uid": "u"}]
OWN = {"driver": "gpu.example.org", "pool": "n1", "device": "gpu-0"}
FOREIGN = {"driver": "net.example.org", "pool": "n1", "device": "nic-0"}


def claim(**status: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "here"},
        "spec": {},
    }
    return made | {"status": status} if status else made


BOUND = {"allocation": ALLOCATION, "reservedFor": RESERVED}


def test_own_devices_are_reported(judge: Any) -> None:
    where = {"subresource": "status"}
    assert judge(claim(**BOUND, devices=[OWN]), old=claim(**BOUND), **where) == []
    assert judge(claim(**BOUND), old=claim(**BOUND, devices=[OWN]), **where) == []
    both = claim(**BOUND, devices=[FOREIGN, OWN])
    assert judge(both, old=claim(**BOUND, devices=[FOREIGN]), **where) == []


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (claim(allocation={}, reservedFor=RESERVED), claim(**BOUND)),
        (claim(reservedFor=RESERVED), claim(**BOUND)),
        (claim(allocation=ALLOCATION), claim(**BOUND)),
        (claim(allocation=ALLOCATION, reservedFor=RESERVED * 2), claim(**BOUND)),
        (claim(**BOUND), claim()),
        (claim(allocation=ALLOCATION), claim()),
        (claim(reservedFor=RESERVED), claim()),
    ],
)
def test_allocation_and_reservations_are_not_theirs(judge: Any, new: Any, old: Any) -> None:
    assert judge(new, old=old, subresource="status") == ["TEN046"]
    assert judge(new, old=old, subresource="status", user="system:kube-scheduler") == []


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (claim(**BOUND, devices=[FOREIGN]), claim(**BOUND)),
        (claim(**BOUND), claim(**BOUND, devices=[FOREIGN])),
        (claim(**BOUND, devices=[FOREIGN | {"data": {}}]), claim(**BOUND, devices=[FOREIGN])),
    ],
)
def test_state_of_other_drivers_is_not_theirs(judge: Any, new: Any, old: Any) -> None:
    assert judge(new, old=old, subresource="status") == ["TEN047"]
    assert judge(new, old=old, subresource="status", user="ann") == []
