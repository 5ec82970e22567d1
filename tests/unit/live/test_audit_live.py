"""`dracfg audit --live`: the same findings as from dumps, and what a server leaves open."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.live.discovery import base_path
from dracfg.pipeline import Judgement
from tests.unit.live.conftest import KINDS, ROOT, FakeServer, status

DUMPS = (
    ROOT / "tests" / "golden" / "audit" / "prod-east.yaml",
    ROOT / "catalog" / "inventory" / "prod-east.yaml",
)
EAST = ("--cluster", "prod-east")
PODS = "/api/v1/pods"


def _items(root: Path) -> list[dict[str, Any]]:
    """Everything in the dumps, and the classes that stand on the cluster."""
    found = []
    for path in (*DUMPS, root / "out" / "prod-east" / "platform" / "device-classes.yaml"):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            found += document.get("items", [document])
    return found


@pytest.fixture
def east(server: FakeServer, judged: Judgement, written: Path) -> FakeServer:
    """A server on which everything stands that the dumps of the example tell of."""
    server.minor = judged.catalog.clusters["prod-east"].document.spec.kubernetes
    listed: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for item in _items(judged.root):
        listed[item["apiVersion"], item["kind"]].append(item)
    for api_version, kinds in KINDS.items():
        for name, kind in kinds.items():
            if "/" not in name:
                path = f"{base_path(api_version)}/{name.lstrip('-')}"
                server.live[path] = {"items": listed[api_version, kind]}
    written.write_text(yaml.safe_dump(server.kubeconfig), encoding="utf-8")
    return server


def report(root: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    invoke(["audit", "-C", str(root), *EAST, "--format", "json", *options])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def codes(document: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in document["findings"]]


def live(written: Path) -> tuple[str, ...]:
    return ("--live", "--kubeconfig", str(written))


def test_as_from_dumps(
    east: FakeServer, judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("--at", "2026-11-29T12:00:00Z")
    recorded = report(judged.root, capsys, *map(str, DUMPS), *at)
    read = report(judged.root, capsys, *live(written))
    assert read["at"] == "2026-11-29T12:00:00Z"
    assert sorted(codes(read)) == sorted(codes(recorded))
    assert read["ledger"] == recorded["ledger"]
    assert read["causes"] == recorded["causes"]
    asked = {request.path: request.query for request in east.requests}
    leases = asked["/apis/coordination.k8s.io/v1/leases"]
    assert leases["fieldSelector"] == "metadata.namespace=kube-node-lease"
    assert asked["/api/v1/configmaps"]["labelSelector"] == "dracfg.dev/policy-version"
    assert {request.method for request in east.requests} == {"GET"}


def test_the_time_of_the_server(
    east: FakeServer, judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    east.date = "Mon, 30 Nov 2026 07:00:00 GMT"
    assert report(judged.root, capsys, *live(written))["at"] == "2026-11-30T07:00:00Z"
    east.date = "soon"
    newest = report(judged.root, capsys, *map(str, DUMPS))["at"]
    assert report(judged.root, capsys, *live(written))["at"] == newest


@pytest.mark.usefixtures("east")
def test_an_empty_list_is_no_missing_record(
    judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    server.live[PODS] = {"items": []}
    found = report(judged.root, capsys, *live(written))
    assert "LIV058" not in codes(found)
    assert codes(found).count("LIV035") > 1


@pytest.mark.usefixtures("east")
def test_what_may_not_be_read_refutes_nothing(
    judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    message = 'pods is forbidden: User "ann" cannot list resource "pods" in API group ""'
    server.say("GET", PODS, status(403, message + " at the cluster scope", "Forbidden"))
    found = report(judged.root, capsys, *live(written), "--select", "LIV009,LIV058")
    assert sorted(codes(found)) == ["LIV009", "LIV058"]
    assert found["verdict"] == "unknown"


BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


@pytest.mark.usefixtures("east")
def test_who_may_read_claims_is_read(
    judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    account = {"kind": "ServiceAccount", "namespace": "vision-train", "name": "default"}
    for role, code in (("view", "LIV080"), ("made-by-hand", "LIV081")):
        server.live[BINDINGS] = {
            "items": [
                {
                    "metadata": {"name": "sees-devices"},
                    "roleRef": {"kind": "ClusterRole", "name": role},
                    "subjects": [account],
                }
            ]
        }
        found = report(judged.root, capsys, *live(written), "--select", "LIV080,LIV081")
        assert codes(found) == [code]


@pytest.mark.usefixtures("east")
def test_bindings_that_may_not_be_listed_are_told(
    judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    message = (
        'clusterrolebindings.rbac.authorization.k8s.io is forbidden: User "ann" cannot list resource '
        '"clusterrolebindings" in API group "rbac.authorization.k8s.io" at the cluster scope'
    )
    server.say("GET", BINDINGS, status(403, message, "Forbidden"))
    found = report(judged.root, capsys, *live(written), "--select", "LIV009,LIV080,LIV081")
    assert codes(found) == ["LIV009"]
    assert "clusterrolebindings" in found["findings"][0]["message"]


def test_a_server_that_does_not_answer(
    east: FakeServer, judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    east.kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    written.write_text(yaml.safe_dump(east.kubeconfig), encoding="utf-8")
    found = report(judged.root, capsys, *live(written))
    assert "LIV001" in codes(found)
    assert (found["verdict"], found["at"]) == ("unknown", None)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--live"], "--live needs a --kubeconfig"),
        (["--live", "--kubeconfig", "k", str(DUMPS[0])], "leave the dumps out"),
        (["--live", "--kubeconfig", "k", "--cluster", "prod-east"], "there is no such file"),
    ],
)
def test_wrong_use(
    arguments: list[str], part: str, judged: Judgement, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["audit", "-C", str(judged.root), *arguments]) == 3
    assert part in capsys.readouterr().err


def test_without_a_repository(
    tmp_path: Path, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["audit", "-C", str(tmp_path / "none"), *live(written)]) == 3
    assert "needs a repository" in capsys.readouterr().err
