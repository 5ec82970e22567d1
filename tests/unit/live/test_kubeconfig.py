"""Kubeconfigs that can't be used say why, and nobody is asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from dracfg.live.kubeconfig import Access, BadKubeconfig, NoClient, connect
from tests.unit.live.conftest import connected, kubeconfig

if TYPE_CHECKING:
    from tests.unit.live.conftest import FakeServer


def reason(file: Path, context: str | None = None) -> str:
    with pytest.raises(BadKubeconfig) as raised:
        connect(Access(file, context), "prod-west")
    assert str(raised.value).startswith(f"{file}: ")
    return raised.value.reason


def whole() -> dict[str, Any]:
    return kubeconfig("https://127.0.0.1:1", "/nowhere/ca.pem")


PUBLIC = [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}]
"""Trusts what the machine trusts."""


def test_nothing_there(tmp_path: Path) -> None:
    assert reason(tmp_path / "none") == "there is no such file"
    assert reason(tmp_path) == "there is no such file"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("a: b: c\n", "line 1 is not YAML"),
        ("x: 1\n\ty: 2\n", "line 2 is not YAML"),
        ("- 1\n", "form of a kubeconfig"),
        ("just text\n", "form of a kubeconfig"),
        ("kind: Config\n", "current-context"),
        ("contexts: 3\nclusters: 4\nusers: 5\n", "form of a kubeconfig"),
    ],
)
def test_no_kubeconfig(written: Path, text: str, part: str) -> None:
    written.write_text(text, encoding="utf-8")
    assert part in reason(written)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"current-context": "y"}, "Expected object with name y in"),
        ({"contexts": [{"name": "x", "context": {"cluster": "d", "user": "u"}}]}, "name d in"),
        ({"clusters": [{"name": "c", "cluster": {"server": "10.0.0.1:6443"}}]}, "no address"),
        ({"clusters": PUBLIC, "users": [{"name": "u", "user": {"exec": {}}}]}, "command"),
        ({}, "File does not exist: /nowhere/ca.pem"),
    ],
)
def test_what_does_not_hold_together(written: Path, change: dict[str, Any], part: str) -> None:
    written.write_text(yaml.safe_dump({**whole(), **change}), encoding="utf-8")
    assert part in reason(written)


def test_a_failing_plugin_is_told_once_and_not_printed(
    written: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/false"}
    users = [{"name": "u", "user": {"exec": plugin}}]
    content = {**whole(), "clusters": PUBLIC, "users": users}
    written.write_text(yaml.safe_dump(content), encoding="utf-8")
    assert reason(written).startswith("its credentials can't be had: ")
    assert capfd.readouterr() == ("", "")


def test_contexts(server: FakeServer, written: Path) -> None:
    server.kubeconfig["current-context"] = "gone"
    written.write_text(yaml.safe_dump(server.kubeconfig), encoding="utf-8")
    assert connect(Access(written, "x"), "prod-west").get("/version").is_good
    assert "y" in reason(written, "y")


def test_certificates_lie_beside_the_kubeconfig(server: FakeServer, written: Path) -> None:
    cluster = server.kubeconfig["clusters"][0]["cluster"]
    cluster["certificate-authority"] = Path(cluster["certificate-authority"]).name
    assert connected(server, written).get("/version").is_good


def test_the_environment_names_no_server(
    written: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written.write_text(yaml.safe_dump(whole()), encoding="utf-8")
    monkeypatch.setenv("KUBECONFIG", str(written))
    assert reason(tmp_path / "none") == "there is no such file"


def test_without_the_client(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(NoClient) as raised:
        connect(Access(written), "prod-west")
    assert "pip install 'dracfg[live]'" in str(raised.value)
