"""`dracfg diff --live`: what a sync would change on a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.pipeline import Judgement
from tests.unit.live.conftest import FakeServer, status

WEST = ("--cluster", "prod-west")
QUOTA = "/api/v1/namespaces/serving-prod/resourcequotas/dracfg-devices"


@pytest.fixture
def ready(server: FakeServer, judged: Judgement, written: Path) -> FakeServer:
    """A server that has all that stands under `out/`, its kubeconfig written."""
    server.minor = judged.catalog.clusters["prod-west"].document.spec.kubernetes
    server.served["kustomize.toolkit.fluxcd.io/v1"] = {"-kustomizations": "Kustomization"}
    written.write_text(yaml.safe_dump(server.kubeconfig), encoding="utf-8")
    for unit in judged.units:
        if unit.path.startswith(("prod-west/", "gitops/flux/prod-west")) and unit.synced:
            for artifact in unit.artifacts:
                server.live[path_of(server, artifact.object)] = artifact.object
    return server


def path_of(server: FakeServer, thing: dict[str, Any]) -> str:
    version = thing["apiVersion"]
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    kinds = server.served.get(version, {})
    plural = next((key for key, kind in kinds.items() if kind == thing["kind"]), "none")
    metadata = thing["metadata"]
    inside = f"namespaces/{metadata['namespace']}/" if plural.startswith("-") else ""
    return f"{base}/{inside}{plural.removeprefix('-')}/{metadata['name']}"


def run(root: Path, kubeconfig: Path, *options: str) -> int:
    return invoke(
        ["diff", "-C", str(root), "--live", "--kubeconfig", str(kubeconfig), *WEST, *options]
    )


def planned(
    root: Path, kubeconfig: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> dict[str, Any]:
    capsys.readouterr()
    run(root, kubeconfig, "--format", "json", *options)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.usefixtures("ready")
def test_a_cluster_in_step(
    judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planned(judged.root, written, capsys)
    assert plan["changes"] == []
    assert run(judged.root, written, "--detailed-exitcode") == 0


def test_what_a_sync_would_do(
    ready: FakeServer, judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert QUOTA in ready.live
    quota = json.loads(json.dumps(ready.live[QUOTA]))
    key = next(iter(quota["spec"]["hard"]))
    quota["spec"]["hard"][key] = "77"
    ready.live[QUOTA] = quota
    gone = next(path for path in ready.live if "/deviceclasses/" in path)
    del ready.live[gone]
    assert run(judged.root, written, "--detailed-exitcode") == 2
    changes = {one["kind"]: one for one in planned(judged.root, written, capsys)["changes"]}
    assert changes.keys() == {"object-added", "object-changed"}
    assert changes["object-added"]["object"] == f"DeviceClass {gone.rpartition('/')[2]}"
    changed = changes["object-changed"]
    assert (changed["tenant"], changed["cluster"]) == (None, "prod-west")
    assert changed["details"][0].startswith(f"spec.hard[{key}]: 77 -> ")
    assert changed["file"] == "out/prod-west/guard/quotas.yaml"


def test_what_may_not_be_read_is_told(
    ready: FakeServer, judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forbidden = (
        'resourcequotas "dracfg-devices" is forbidden: User "bot" cannot get resource '
        '"resourcequotas" in API group "" in the namespace "serving-prod"'
    )
    ready.say("GET", QUOTA, status(403, forbidden, "Forbidden"))
    plan = planned(judged.root, written, capsys)
    assert [finding["code"] for finding in plan["findings"]] == ["LIV009"]
    assert plan["changes"] == []


def test_which_cluster_has_to_be_said(
    judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["diff", "-C", str(judged.root), "--live", "--kubeconfig", str(written)]
    assert invoke(arguments) == 3
    assert "--cluster prod-east|prod-west" in capsys.readouterr().err
    assert invoke([*arguments, "--cluster", "prod-wst"]) == 3
    assert "did you mean prod-west?" in capsys.readouterr().err
