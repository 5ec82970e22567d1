"""A cluster read as a record."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from dracfg.live.reading import (
    DEVICE_KINDS,
    DEVICE_TAINT_RULES,
    NODES,
    PODS,
    RESOURCE_SLICES,
    read_live,
)
from dracfg.pipeline import Judgement
from tests.unit.live.conftest import Reply, status

if TYPE_CHECKING:
    from dracfg.link.catalog import Cluster
    from dracfg.live.connection import Connection
    from tests.unit.live.conftest import FakeServer

SLICES = "/apis/resource.k8s.io/v1/resourceslices"


@pytest.fixture
def cluster(judged: Judgement) -> Cluster:
    return judged.catalog.clusters["prod-west"]


def item(name: str, namespace: str = "", **body: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"metadata": metadata, **body}


def page(*items: dict[str, Any], more: str = "") -> Reply:
    return Reply(200, {"metadata": {"continue": more}, "items": list(items)})


def test_pages(server: FakeServer, connection: Connection, cluster: Cluster) -> None:
    server.say(
        "GET", SLICES, page(item("a"), more="t1"), page(item("b"), more="t2"), page(item("c"))
    )
    record, findings, _ = read_live(connection, cluster, [RESOURCE_SLICES])
    assert findings == ()
    assert [one.data["metadata"]["name"] for one in record.objects] == ["a", "b", "c"]
    asked = [request.query for request in server.requests if request.path == SLICES]
    assert asked == [
        {"limit": "500"},
        {"limit": "500", "continue": "t1"},
        {"limit": "500", "continue": "t2"},
    ]


def test_a_list_that_the_server_forgot(
    server: FakeServer, connection: Connection, cluster: Cluster
) -> None:
    gone = status(410, "The provided continue parameter is too old", "Expired")
    server.say("GET", SLICES, page(item("a"), more="t1"), gone, page(item("a"), item("b")))
    record, findings, _ = read_live(connection, cluster, [RESOURCE_SLICES])
    assert findings == ()
    assert [one.data["metadata"]["name"] for one in record.objects] == ["a", "b"]
    assert server.requests[-1].query == {}


def test_objects_as_in_a_dump(server: FakeServer, connection: Connection, cluster: Cluster) -> None:
    pod = item("p", "team", spec={"nodeName": None, "weight": 1.5, "count": 2.0})
    server.say("GET", "/api/v1/pods", page(pod))
    server.say("GET", "/api/v1/nodes", page(item("n")))
    record, _, _ = read_live(connection, cluster, [PODS, NODES])
    first, second = record.objects
    assert first.data == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "team"},
        "spec": {"weight": Decimal("1.5"), "count": 2},
    }
    assert record.path == "live:prod-west"
    assert str(first.span("spec", "weight")) == "live:prod-west/Pod/team/p:1:1"
    assert second.span().path == "live:prod-west/Node/n"


def test_every_kind_in_the_version_that_the_server_puts_first(
    server: FakeServer, connection: Connection, cluster: Cluster
) -> None:
    for path in (
        SLICES,
        "/api/v1/nodes",
        "/apis/resource.k8s.io/v1/deviceclasses",
        "/apis/resource.k8s.io/v1/resourceclaims",
        "/apis/resource.k8s.io/v1/resourceclaimtemplates",
        "/api/v1/pods",
        "/api/v1/namespaces",
        "/api/v1/resourcequotas",
        "/apis/resource.k8s.io/v1beta2/devicetaintrules",
        "/api/v1/events",
    ):
        server.say("GET", path, page(item("one")))
    record, findings, _ = read_live(connection, cluster)
    assert findings == ()
    assert [one.data["kind"] for one in record.objects] == [kind for _, kind in DEVICE_KINDS]


def test_what_can_not_be_read_is_told_and_the_rest_is_read(
    server: FakeServer, connection: Connection, cluster: Cluster
) -> None:
    del server.served["resource.k8s.io/v1beta2"]
    message = (
        'resourceslices.resource.k8s.io is forbidden: User "ann" cannot list resource '
        '"resourceslices" in API group "resource.k8s.io" at the cluster scope'
    )
    server.say("GET", SLICES, status(403, message, "Forbidden"))
    server.say("GET", "/api/v1/nodes", status(500, "etcdserver: leader changed"))
    server.say("GET", "/api/v1/pods", page(item("p", "team")))
    unknown = ("example.org", "Thing")
    kinds = [RESOURCE_SLICES, DEVICE_TAINT_RULES, unknown, NODES, PODS]
    record, findings, listed = read_live(connection, cluster, kinds)
    assert listed == ("DeviceTaintRule", "Pod")
    assert [one.data["kind"] for one in record.objects] == ["Pod"]
    assert [finding.code for finding in findings] == ["LIV009", "LIV015", "LIV019"]
    assert "ann may not list resourceslices.resource.k8s.io" in findings[0].message
    assert "Thing" in findings[1].message
    assert "leader changed" in findings[2].message


@pytest.mark.parametrize("items", [3, [1], [{"kind": "Pod"}]])
def test_a_list_that_is_none(
    server: FakeServer, connection: Connection, cluster: Cluster, items: Any
) -> None:
    server.say("GET", "/api/v1/pods", Reply(200, {"items": items}))
    record, findings, _ = read_live(connection, cluster, [PODS, NODES])
    assert record.objects == ()
    assert [finding.code for finding in findings] == ["LIV006"]
