"""`dracfg verify`: exit codes, the report, and what is said of a tree that is not fresh."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.pipeline import Judgement
from tests.unit.live.conftest import FakeServer, Reply, status

WEST = ("--cluster", "prod-west")


@pytest.fixture
def ready(server: FakeServer, judged: Judgement, written: Path) -> FakeServer:
    """A server of the right minor that also serves Flux, its kubeconfig written."""
    server.minor = judged.catalog.clusters["prod-west"].document.spec.kubernetes
    server.served["kustomize.toolkit.fluxcd.io/v1"] = {"-kustomizations": "Kustomization"}
    written.write_text(yaml.safe_dump(server.kubeconfig), encoding="utf-8")
    return server


def run(root: Path, kubeconfig: Path, *options: str) -> int:
    return invoke(["verify", "-C", str(root), "--kubeconfig", str(kubeconfig), *options])


def test_green(
    ready: FakeServer,
    judged: Judgement,
    written: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(judged.root, written, *WEST, "--fail-on", "warning") == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    count = len(ready.asked("PATCH"))
    assert shown.err == (
        f"{count} of {count} objects accepted by prod-west (Kubernetes v{ready.minor}.2); "
        "no findings\n"
    )


@pytest.mark.usefixtures("ready")
def test_document(
    judged: Judgement,
    written: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = (*WEST, "--tenant", "serving", "--drift", "--format", "json")
    assert run(judged.root, written, *arguments) == 1
    report = json.loads(capsys.readouterr().out)
    assert {key: report[key] for key in report if key not in ("findings", "server")} == {
        "schemaVersion": 1,
        "kind": "VerifyReport",
        "verdict": "refuted",
        "cluster": "prod-west",
        "stale": False,
        "objects": report["objects"],
        "accepted": report["objects"],
        "drift": {"compared": report["objects"], "drifted": report["objects"]},
        "notSelected": 0,
    }
    assert report["server"]["version"].startswith("v1.")
    assert {finding["code"] for finding in report["findings"]} == {"LIV021"}


def test_findings(
    ready: FakeServer,
    judged: Judgement,
    written: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ready.say("GET", "/version", Reply(200, b"<html>"))
    assert run(judged.root, written, *WEST) == 1
    shown = capsys.readouterr()
    assert "error[LIV006]" in shown.out
    assert "0 of " in shown.err


def test_other_forms_and_a_selection(
    ready: FakeServer,
    judged: Judgement,
    written: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ready.minor = "1.30"
    sarif = tmp_path / "verify.sarif"
    options = ("-o", f"sarif={sarif}", "--format", "concise")
    assert run(judged.root, written, *WEST, *options) == 1
    assert "LIV007" in capsys.readouterr().out
    assert '"LIV007"' in sarif.read_text(encoding="utf-8")
    assert run(judged.root, written, *WEST, "--ignore", "LIV007", "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["findings"], report["notSelected"], report["verdict"]) == ([], 1, "refuted")


def test_the_emitted_line_is_shown(
    ready: FakeServer, judged: Judgement, written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "/api/v1/namespaces/serving-prod/resourcequotas/dracfg-devices"
    cause = {"field": "spec.hard", "message": "bad"}
    ready.say("PATCH", path, status(422, "no", "Invalid", causes=[cause]))
    assert run(judged.root, written, *WEST) == 1
    shown = capsys.readouterr().out
    assert "::: out/prod-west/guard/quotas.yaml:" in shown
    assert "as emitted" in shown
    assert "count/resourceclaims.resource.k8s.io" in shown or "hard" in shown


def test_a_stale_tree_is_told_and_verified(
    ready: FakeServer,
    judged: Judgement,
    written: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    quotas = judged.root / "out/prod-west/guard/quotas.yaml"
    before = quotas.read_text(encoding="utf-8")
    quotas.write_text(before.replace("dracfg-devices", "dracfg-renamed"), encoding="utf-8")
    try:
        assert run(judged.root, written, *WEST) == 0
    finally:
        quotas.write_text(before, encoding="utf-8")
    assert "warning[LIV023]" in (shown := capsys.readouterr()).out
    assert "out/prod-west/guard" in shown.out
    assert any(path.endswith("/dracfg-renamed") for path in ready.asked("PATCH"))


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ((), "--cluster prod-east|prod-west"),
        (("--cluster", "prod-wst"), "did you mean prod-west?"),
        ((*WEST, "--context", "other"), "Expected object with name other"),
        ((*WEST, "--tenant", "nobody"), "out/ holds no object for nobody on prod-west"),
        ((*WEST, "--request-timeout", "0"), "0.1"),
    ],
)
@pytest.mark.usefixtures("ready")
def test_wrong_use(
    judged: Judgement,
    written: Path,
    options: tuple[str, ...],
    part: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(judged.root, written, *options) == 3
    assert part in capsys.readouterr().err


def test_no_server_is_found_by_itself(
    ready: FakeServer,
    judged: Judgement,
    written: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(written))
    assert invoke(["verify", "-C", str(judged.root), *WEST]) == 3
    assert "--kubeconfig" in capsys.readouterr().err
    assert ready.requests == []


@pytest.mark.usefixtures("ready")
def test_without_the_client(
    judged: Judgement,
    written: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    assert run(judged.root, written, *WEST) == 3
    assert "pip install 'dracfg[live]'" in capsys.readouterr().err
