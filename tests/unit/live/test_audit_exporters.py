"""What device exporters count, as a file beside `--live` and asked of a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dracfg.check.exporters import exporter_query
from dracfg.cli import exporters
from dracfg.cli.main import invoke
from dracfg.pipeline import InventoryFile, Judgement, judge
from dracfg.rollout.prometheus import Server
from tests.unit.live.conftest import FakeServer
from tests.unit.live.test_audit_live import DUMPS, codes, east, live, report

__all__ = ["east"]

NODE = "a100-east-1"


def answer(number: int) -> str:
    """As many cards of one node as the exporter sees (NVIDIA/dcgm-exporter: UUID and Hostname)."""
    result: list[dict[str, Any]] = [
        {
            "metric": {
                "__name__": "DCGM_FI_DEV_GPU_TEMP",
                "Hostname": NODE,
                "UUID": f"GPU-{i}",
            },
            "value": [1795305600.1, "41"],
        }
        for i in range(number)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})


def told(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (one["expected"], one["objects"][0])
        for one in document["findings"]
        if one["code"] == "INV049"
    ]


@pytest.mark.parametrize(("number", "found"), [(8, []), (7, [("7", "NodePool/a100-east")])])
@pytest.mark.usefixtures("east")
def test_a_file_beside_the_server(
    judged: Judgement,
    written: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    number: int,
    found: list[tuple[str, str]],
) -> None:
    file = tmp_path / "exporters.json"
    file.write_text(answer(number))
    assert told(report(judged.root, capsys, *live(written), str(file))) == found
    dumps = [*map(str, DUMPS), str(file)]
    assert told(report(judged.root, capsys, *dumps)) == found


@pytest.mark.usefixtures("east")
def test_a_server_is_asked(
    judged: Judgement,
    written: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, str]] = []

    def query(server: Server, promql: str) -> tuple[bytes, str | None]:
        asked.append((server.url, promql))
        return answer(7).encode(), None

    monkeypatch.setattr(exporters, "query", query)
    named = ("--prometheus", "prod-east=http://prometheus:9090")
    assert told(report(judged.root, capsys, *live(written), *named)) == [
        ("7", "NodePool/a100-east")
    ]
    other = ("--prometheus", "prod-west=http://prometheus:9090")
    assert told(report(judged.root, capsys, *live(written), *other)) == []
    assert asked == [("http://prometheus:9090", exporter_query())]


@pytest.mark.parametrize(
    ("body", "trouble", "said"),
    [
        (b"", "the server answers 401", "the server answers 401"),
        (b"<html>", None, "not one of Prometheus"),
        (b'{"kind": "Node"}', None, "not one of Prometheus"),
    ],
)
@pytest.mark.usefixtures("east")
def test_a_server_that_gives_no_answer_is_told(
    judged: Judgement,
    written: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    body: bytes,
    trouble: str | None,
    said: str,
) -> None:
    monkeypatch.setattr(exporters, "query", lambda *_: (body, trouble))
    found = report(judged.root, capsys, *live(written), "--prometheus", "http://prometheus:9090")
    (one,) = (finding for finding in found["findings"] if finding["code"] == "INV062")
    assert said in one["message"]
    assert codes(found).count("INV049") == 0


@pytest.mark.usefixtures("judged")
def test_nobody_is_asked_without_a_server(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporters, "query", lambda *_: pytest.fail("asked"))
    assert exporters.ask_exporters("prod-east", (), 1.0, ["prod-east"]) == ([], [])
    assert server.requests == []


def test_an_answer_stands_beside_the_record_that_the_cluster_names(
    judged: Judgement, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any other record takes its place; of a node that is not recorded an answer counts nothing."""
    file = tmp_path / "exporters.json"
    file.write_text(answer(7))
    found = judge(judged.root, inventories=[InventoryFile(file, "prod-east")]).findings
    new = {one.code for one in found} - {one.code for one in judge(judged.root).findings}
    assert new == {"INV062"}
    assert invoke(["check", "-C", str(judged.root), "--inventory", f"prod-east={file}"]) == 0
    assert NODE in capsys.readouterr().out
