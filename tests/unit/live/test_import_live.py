"""`dracfg import cluster --live`: the draft of a server is that of its dumps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.draft.facts import facts
from dracfg.source.records import read_record
from tests.unit.live.conftest import FakeServer, status

FLEET = Path(__file__).parents[2] / "data" / "legacy" / "fleet"
KINDS = {
    "v1": {"nodes": "Node", "namespaces": "Namespace", "-resourcequotas": "ResourceQuota",
           "-pods": "Pod", "-configmaps": "ConfigMap"},
    "apps/v1": {"-deployments": "Deployment", "-replicasets": "ReplicaSet"},
    "batch/v1": {"-jobs": "Job"},
}  # fmt: skip


def listed(kind: str) -> list[dict[str, Any]]:
    """What the server gives of a kind: items of a list have no kind of their own."""
    records = [read_record(FLEET, path.name)[0] for path in sorted(FLEET.glob("*.yaml"))]
    return [
        {key: value for key, value in item.data.items() if key not in ("apiVersion", "kind")}
        for record in records
        for item in record.objects
        if item.data["kind"] == kind
    ]


@pytest.fixture
def fleet(server: FakeServer, written: Path) -> FakeServer:
    server.served = {group: dict(kinds) for group, kinds in KINDS.items()}
    for api_version, kinds in KINDS.items():
        root = "/apis/" if "/" in api_version else "/api/"
        for plural, kind in kinds.items():
            path = f"{root}{api_version}/{plural.lstrip('-')}"
            server.live[path] = {"items": listed(kind)}
    written.write_text(yaml.safe_dump(server.kubeconfig), encoding="utf-8")
    return server


def run(written: Path, out: Path) -> int:
    return invoke(["import", "cluster", "--live", "--kubeconfig", str(written), "-o", str(out)])


def test_as_from_dumps(
    fleet: FakeServer, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(written, tmp_path / "draft") == 0
    assert capsys.readouterr().out.splitlines() == [
        "stay  vpc.amazonaws.com/efa on vpc-efa",
        "move  nvidia.com/gpu on nvidia-h100-80gb-hbm3",
        "stay  nvidia.com/gpu on tesla-t4",
    ]
    page = (tmp_path / "draft" / "DECISIONS.md").read_text(encoding="utf-8")
    assert "whether the API server runs" not in page, "the server has told"
    assert "live:imported/Node/h100-a-1" in page
    methods = {request.method for request in fleet.requests}
    assert methods == {"GET"}
    asked = [request.query for request in fleet.requests if request.path == "/api/v1/configmaps"]
    assert [one["fieldSelector"].partition("=")[2] for one in asked] == [*facts().config_namespaces]


def test_what_may_not_be_read_is_told(
    fleet: FakeServer, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.say("GET", "/api/v1/pods", status(403, "pods is forbidden", "Forbidden"))
    assert run(written, tmp_path / "draft") == 0
    assert "not read: Pod: pods is forbidden" in capsys.readouterr().err


def test_a_server_that_is_none(
    fleet: FakeServer, written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.minor = "one.two"
    assert run(written, tmp_path / "draft") == 3
    assert "names no minor" in capsys.readouterr().err
    assert not (tmp_path / "draft").exists()
