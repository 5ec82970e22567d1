"""Faults on a real control plane: `dracfg audit --live` names them, and its next step mends them.

After each fault nothing is given out beyond what there is, which every audit of the yard sums up from
the claims, and what Kubernetes holds is still held.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.cluster.client import Object, Refused
from tests.cluster.controlplane import account_of
from tests.cluster.objects import pod
from tests.cluster.processes import wait_for
from tests.cluster.yard import (
    CARDS,
    DRIVER,
    HOUR,
    OTHER,
    PATIENCE,
    TENANT,
    Yard,
    about,
    cards,
    results_of,
)

NODE, EXEMPT = CARDS[0], "acceptance"
CONTROLLERS = "kube-controller-manager"


def prepare_failed(yard: Yard, one: Object) -> None:
    """What the kubelet says where the driver of a claim does not answer.

    (kubernetes/kubernetes@v1.36.3: pkg/kubelet/kuberuntime/kuberuntime_manager.go,
    pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go.)
    """
    metadata = one["metadata"]
    about_pod = {"apiVersion": "v1", "kind": "Pod", "uid": metadata["uid"]}
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    yard.client.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": "prepare-", "namespace": metadata["namespace"]},
            "involvedObject": about_pod
            | {"name": metadata["name"], "namespace": metadata["namespace"]},
            "reason": "FailedPrepareDynamicResources",
            "message": "Failed to prepare dynamic resources: prepare dynamic resources: "
            f"DRA driver {DRIVER} is not registered",
            "type": "Warning",
            "source": {"component": "kubelet"},
            "firstTimestamp": now,
            "lastTimestamp": now,
        }
    )


def test_nothing_is_found_where_nothing_is_wrong(yard: Yard) -> None:
    users = [yard.running(yard.pod(name, name, NODE)) for name in ("small", "medium")]
    said = yard.audit()
    assert said.codes == set()
    card = said.card(NODE)
    assert card["state"] == "shared"
    assert card["capacity"]["memory"]["used"] == "15Gi"
    yard.end(*users)
    yard.settled()
    assert yard.audit().card(NODE)["state"] == "idle"


def test_driver_killed_while_it_prepares(yard: Yard) -> None:
    driver, asked = yard.drivers[NODE], threading.Event()
    driver.refuses, driver.delay = lambda _: asked.set(), PATIENCE
    user = yard.pod("user", "medium", NODE)
    assert asked.wait(PATIENCE)
    driver.kill()
    held = yard.allocated(user)
    late = yard.audit(HOUR)
    assert late.codes == {"LIV037"}
    assert late.about("LIV037", about(user), about(held))
    prepare_failed(yard, user)
    said = yard.audit(HOUR)
    assert said.codes == {"LIV054"}
    found = said.about("LIV054", about(user), about(held))
    assert found["handling"] == "retryable"
    assert "the kubelet tries again by itself" in found["help"]
    assert said.card(NODE)["state"] == "shared"
    assert yard.is_held(held)
    driver.refuses, driver.delay = lambda _: None, 0.0
    driver.start()
    yard.running(user)
    assert yard.is_held(held)
    yard.settled()


def test_api_server_restarted(yard: Yard) -> None:
    """Nobody learns anything meanwhile; afterwards everything stands as before."""
    user = yard.running(yard.pod("user", "large", NODE))
    held, before = yard.claim_of(user), yard.audit()
    server = yard.plane.programs["kube-apiserver"]
    server.stop()
    away = yard.read_audit()
    assert away.code == 1
    assert away.document["verdict"] == "unknown"
    assert "LIV001" in {finding["code"] for finding in away.document["findings"]}
    yard.plane.restart("kube-apiserver")
    # Nodes may count as lost until the controllers watch their leases again.
    wait_for(lambda: yard.audit().card(NODE) == before.card(NODE), "the card as before", PATIENCE)
    yard.settled()
    assert yard.is_held(held)
    late = yard.running(yard.pod("late", "large", NODE))
    assert results_of(yard.claim_of(late))[0]["device"] == results_of(held)[0]["device"]


def second_pool(slices: list[Object]) -> list[Object]:
    """The card of the node is published once more, in a pool of its own."""
    again = copy.deepcopy(slices[-1])
    again["metadata"]["name"] += "-again"
    again["spec"]["pool"]["name"] += "-again"
    return [*slices, again]


def test_device_published_twice(yard: Yard) -> None:
    driver = yard.drivers[NODE]
    driver.lies = (second_pool,)
    driver.change(driver.devices)
    users = [yard.pod(f"user-{number}", "medium", NODE) for number in range(5)]
    claims = [yard.allocated(one) for one in users]
    assert {results_of(one)[0]["pool"] for one in claims} == {NODE, f"{NODE}-again"}
    said = yard.audit()
    found = said.about("LIV034", f"Device/{DRIVER}/{NODE}/card-0")
    assert f"Device/{DRIVER}/{NODE}-again/card-0" in found["objects"]
    assert "stop one of the two publishers" in found["help"]
    assert all(map(yard.is_held, claims))
    driver.lies = ()
    driver.change(driver.devices)
    said = yard.audit()
    assert said.codes == {"LIV033"}
    stray = [
        user
        for user, claim in zip(users, claims, strict=True)
        if results_of(claim)[0]["pool"] != NODE
    ]
    yard.end(*stray)
    yard.settled()


def test_slice_shrunk_under_its_claims(yard: Yard) -> None:
    """The driver publishes half of the card; what is held is kept, and nothing is added."""
    users = [yard.running(yard.pod(f"user-{number}", "large", NODE)) for number in range(2)]
    claims = [yard.claim_of(one) for one in users]
    yard.drivers[NODE].change(cards(NODE, 20))
    said = yard.audit()
    assert said.codes == {"LIV030", "LIV040"}
    found = said.about("LIV030", *map(about, claims))
    assert (found["found"], found["expected"]) == ("40Gi", "20Gi or less")
    late = yard.pod("late", "small", NODE)
    wait_for(lambda: pending(yard, late), "the late pod waits", PATIENCE)
    assert all(map(yard.is_held, claims))
    yard.end(users[-1], late)
    assert yard.audit().codes == {"LIV040"}
    yard.drivers[NODE].change(cards(NODE))
    yard.settled()
    assert yard.is_held(claims[0])


def test_device_gone_under_its_claim(yard: Yard) -> None:
    user = yard.running(yard.pod("user", "large", NODE))
    held = yard.claim_of(user)
    yard.drivers[NODE].change([])
    said = yard.audit()
    assert said.codes == {"LIV033"}
    assert said.about("LIV033", about(held))
    assert said.card(NODE)["state"] == "unpublished"
    assert yard.is_held(held)
    yard.drivers[NODE].change(cards(NODE))
    yard.settled()
    assert yard.is_held(held)


def pending(yard: Yard, one: Object) -> bool:
    conditions = yard.client.read(one)["status"].get("conditions", ())
    return any(condition.get("reason") == "Unschedulable" for condition in conditions)


@pytest.fixture
def shared(yard: Yard) -> Object:
    """The tenant's claim that several pods may name."""
    (found,) = [one for one in yard.claims() if one["metadata"]["name"] == "shared"]
    return found


def test_claim_reserved_by_a_pod_that_is_gone(yard: Yard, shared: Object) -> None:
    """The claim controller hangs while the pod is deleted; once it is back, it mends it."""
    user = yard.running(yard.create(pod(TENANT, "user", claim="shared"), NODE))
    held = yard.client.read(shared)
    with yard.paused(CONTROLLERS):
        yard.end(user)
        said = yard.audit()
        assert said.codes == {"LIV035"}
        assert "the claim controller clears this" in said.about("LIV035", about(held))["help"]
        assert said.card(NODE)["holders"][0]["pods"] == ["user (gone)"]
        assert yard.is_held(held)
    yard.released(held)
    yard.settled()


def test_claim_unreserved_under_its_pod(yard: Yard, shared: Object) -> None:
    """As long as the claim is allocated and the pod is there, the claim controller reserves it anew."""
    user = yard.running(yard.create(pod(TENANT, "user", claim="shared"), NODE))
    held = yard.client.read(shared)
    with yard.paused(CONTROLLERS):
        yard.client.patch(shared, {"status": {"reservedFor": None}}, "status")
        said = yard.audit()
        assert said.codes == {"LIV062"}
        assert said.about("LIV062", about(user))
        assert yard.is_held(held)
    yard.settled()
    assert yard.client.read(shared)["status"]["reservedFor"] == held["status"]["reservedFor"]


def test_claim_that_nobody_reserves(yard: Yard, shared: Object) -> None:
    """Allocated and reserved by none, it stays so: no controller takes such an allocation back.

    As a scheduler leaves it that ends between the two.
    """
    user = yard.running(yard.create(pod(TENANT, "user", claim="shared"), NODE))
    allocated = yard.client.read(shared)
    yard.end(user)
    yard.released(allocated)
    finalizers = allocated["metadata"]["finalizers"]
    yard.client.patch(shared, {"metadata": {"finalizers": finalizers}})
    status = {"allocation": allocated["status"]["allocation"]}
    held = yard.client.patch(shared, {"status": status}, "status")
    assert yard.audit().codes == set()
    said = yard.audit(HOUR)
    assert said.codes == {"LIV036"}
    assert "delete the claim" in said.about("LIV036", about(held))["help"]
    assert yard.is_held(held)
    yard.client.delete(shared)
    yard.gone(shared)
    yard.settled()
    yard.apply(yard.compile())


def test_pod_recreated(yard: Yard, shared: Object) -> None:
    """A pod of the same name is another one: the claim is reserved anew and keeps its card.

    The claim controller may hear of the claim before it hears of the new pod, and then takes that for
    gone as well, until it does. A second user keeps the claim allocated meanwhile: with none left,
    the controller would take the card from under the new pod.
    """
    other = yard.running(yard.create(pod(TENANT, "other", claim="shared"), NODE))
    first = yard.running(yard.create(pod(TENANT, "user", claim="shared"), NODE))
    held = yard.client.read(shared)
    with yard.paused(CONTROLLERS):
        yard.end(first)
        second = yard.create(pod(TENANT, "user", claim="shared"), NODE)
        yard.running(second)
        said = yard.audit()
        assert said.codes == {"LIV035"}
        found = said.only("LIV035")
        assert "another pod of that name runs now" in found["label"]
        assert "2 other pods still use it" in found["message"]
    users = {one["metadata"]["uid"] for one in (other, second)}
    wait_for(lambda: reserved_by(yard, shared) == users, "both reserve the claim", PATIENCE)
    yard.settled()
    assert yard.is_held(held)


def reserved_by(yard: Yard, claim: Object) -> set[str]:
    return {one["uid"] for one in yard.client.read(claim)["status"].get("reservedFor", ())}


def test_recreated_pod_of_a_template_gets_a_claim_of_its_own(yard: Yard) -> None:
    first = yard.running(yard.pod("user", "large", NODE))
    held = yard.claim_of(first)
    yard.end(first)
    second = yard.running(yard.pod("user", "large", NODE))
    assert yard.claim_of(second)["metadata"]["uid"] != held["metadata"]["uid"]
    yard.gone(held)
    yard.settled()
    assert len(yard.audit().card(NODE)["holders"]) == 1


@pytest.fixture
def exempt(yard: Yard) -> Iterator[str]:
    """A namespace that the catalog exempts, so that no policy stands in a pod's way."""
    space: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": EXEMPT}}
    yard.client.create(space)
    wait_for(lambda: yard.client.find(account_of(EXEMPT)), f"the account of {EXEMPT}")
    yield EXEMPT
    yard.client.delete(space)


def test_claim_of_another_namespace(yard: Yard, shared: Object, exempt: str) -> None:
    """A pod names a claim that another namespace has: it gets nothing, and the claim no new user."""
    user = yard.running(yard.create(pod(TENANT, "user", claim="shared"), NODE))
    held = yard.client.read(shared)
    with pytest.raises(Refused, match="TEN033: tenant vision names claim/shared"):
        yard.create(pod(OTHER, "stray", claim="shared"), NODE)
    stray = yard.client.create(pod(exempt, "stray", claim="shared"))
    assert yard.audit().cause(f"{exempt}/stray")["cause"] == "missingClaim"
    said = yard.audit(HOUR)
    assert said.codes == {"LIV056"}
    found = said.about("LIV056", about(stray))
    assert "there is no claim shared in its namespace" in found["message"]
    assert "claims are of one namespace" in found["help"]
    assert found["handling"] == "notRetryable"
    reserved = yard.client.read(held)["status"]["reservedFor"]
    assert [one["uid"] for one in reserved] == [user["metadata"]["uid"]]
    yard.end(stray)
    own = yard.running(yard.pod("own", "medium", NODE, tenant=OTHER))
    assert yard.claim_of(own)["metadata"]["namespace"] == OTHER
    yard.settled()
