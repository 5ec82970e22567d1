"""What is asked where: one server or one a cluster, files before servers, no cluster hidden by another."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from dracfg.link.catalog import Catalog
from dracfg.link.gates import gates_of
from dracfg.pipeline import judge
from dracfg.rollout.gates import Judged, judge_gates
from dracfg.rollout.measuring import EVERY, Measured, measure
from dracfg.rollout.prometheus import Server
from dracfg.rollout.recorded import EvidenceFile, read_evidence

BASE = Path(__file__).parents[2] / "cases" / "_base" / "rollout.yaml"
GATES = """\
  gates:
    - {measure: driverErrors}
    - {measure: unhealthyDevices}
    - {name: mine, promql: sum(mine), max: 1, halt: 2}
    - {measure: utilisationLoss}
"""


class Handler(BaseHTTPRequestHandler):
    value: str | None = "0"
    asked: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.asked.append(parse_qs(body)["query"][0])
        result = [] if self.value is None else [{"metric": {}, "value": [1, self.value]}]
        data = {"status": "success", "data": {"resultType": "vector", "result": result}}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(data).encode())

    def date_time_string(self, timestamp: float | None = None) -> str:  # noqa: ARG002
        return "Sun, 29 Nov 2026 22:00:00 GMT"

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def servers() -> Iterator[dict[str, tuple[Server, Any]]]:
    """One for each of two clusters."""
    found, running = {}, []
    for name in ("lab", "west"):

        class Here(Handler):
            asked = []  # noqa: RUF012  one list a server

        one = HTTPServer(("127.0.0.1", 0), Here)
        threading.Thread(target=one.serve_forever, daemon=True).start()
        found[name] = (Server(f"http://127.0.0.1:{one.server_port}", {}), Here)
        running.append(one)
    yield found
    for one in running:
        one.shutdown()
        one.server_close()


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The base on two clusters: `one` and `two` on lab, `three` on west, which has moved too."""
    root = tmp_path_factory.mktemp("repository")
    files: dict[str, str] = yaml.safe_load(BASE.read_text())["files"]
    platform = files["catalog/platform.yaml"]
    cluster = platform.split("---\n")[0].replace("{name: lab}", "{name: west}")
    platform = platform.replace(
        "resetsAtUnprepare: true}",
        "resetsAtUnprepare: true, deviceMetrics: {unhealthy: gpu_unhealthy}}",
    )
    files["catalog/platform.yaml"] = f"{platform}---\n{cluster}"
    pools = files["catalog/pools.yaml"].split("---\n")
    pools[2] = pools[2].replace("cluster: lab", "cluster: west")
    files["catalog/pools.yaml"] = "---\n".join(pools)
    rollout = files["catalog/rollout.yaml"].split("  gates:")[0] + GATES
    files["catalog/rollout.yaml"] = rollout.replace("pools: [one]", "pools: [one, three]").replace(
        "pools: [one, two]", "pools: [one, two, three]"
    )
    files["tenants/teams.yaml"] = files["tenants/teams.yaml"].replace(
        "clusters: [lab]", "clusters: [lab, west]"
    )
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return judge(root, level="intent").catalog


def measured(
    catalog: Catalog, name: str, servers: Mapping[str, Server], *files: Mapping[str, Any]
) -> tuple[Judged, Measured]:
    rollout = catalog.rollouts["sim-to-claims"]
    gates = [gate for gate in gates_of(rollout.spec) if gate.name == name]
    read = [EvidenceFile(f"{i}.json", b"x", data) for i, data in enumerate(files)]
    recorded = read_evidence(read) if read else None
    answers = measure(catalog, rollout, gates, servers, recorded)
    return judge_gates(gates, answers.by_gate)[0], answers


def test_each_cluster_is_asked_at_its_own_server(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    servers["west"][1].value = "0.5"
    judged, answers = measured(catalog, "driverErrors", {n: s for n, (s, _) in servers.items()})
    assert judged.says == "0.5 above 0.01 by 0.49 (on lab; on west)"
    assert answers.at == "2026-11-29T22:00:00Z"
    assert answers.source == ", ".join(servers[name][0].shown for name in ("lab", "west"))
    for _, handler in servers.values():
        (asked,) = handler.asked
        assert 'driver_name="gpu.example.com"' in asked


def test_a_cluster_without_a_sample_is_not_hidden(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    servers["west"][1].value = None
    judged, _ = measured(catalog, "driverErrors", {n: s for n, (s, _) in servers.items()})
    assert judged.says == "no data: the query gave no sample on west"


def test_a_cluster_without_a_server_is_not_left_out(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    for name in ("driverErrors", "mine"):
        judged, _ = measured(catalog, name, {"lab": servers["lab"][0]})
        assert judged.says == "no data: no server of west is named: --prometheus west=URL"


def test_one_server_can_not_tell_clusters_apart(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    judged, _ = measured(catalog, "driverErrors", {EVERY: servers["lab"][0]})
    assert (
        judged.says
        == "no data: lab, west each need a server of their own: --prometheus CLUSTER=URL"
    )
    assert not servers["lab"][1].asked


def test_a_query_of_ones_own_tells_them_apart_itself(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    judged, _ = measured(catalog, "mine", {EVERY: servers["lab"][0]})
    assert judged.says == "0 within 1"
    assert servers["lab"][1].asked == ["sum(mine)"]


def test_what_a_file_says_of_a_gate_is_asked_nowhere(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    values = {"at": "2026-11-29T21:00:00Z", "gates": {"driverErrors": 0.3}}
    judged, answers = measured(
        catalog, "driverErrors", {n: s for n, (s, _) in servers.items()}, values
    )
    assert judged.says == "0.3 above 0.01 by 0.29"
    assert not servers["lab"][1].asked
    assert answers.at == "2026-11-29T21:00:00Z"


def test_evidence_is_as_old_as_the_oldest_of_it(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    values = {"at": "2026-11-29T21:00:00Z", "gates": {"another": 0}}
    _, answers = measured(catalog, "mine", {EVERY: servers["lab"][0]}, values)
    assert answers.at == "2026-11-29T21:00:00Z"
    assert answers.source == f"0.json, {servers['lab'][0].shown}"


def audit(cluster: str, *codes: str) -> dict[str, Any]:
    device = ["Device/gpu.example.com/n1/gpu-0"]
    lists: dict[str, list[Any]] = {key: [] for key in ("ledger", "totals", "causes", "trials")}
    findings = [{"code": code, "message": "is ill", "objects": device} for code in codes]
    head = {"kind": "AuditReport", "cluster": cluster, "at": "2026-11-29T21:30:00Z"}
    return {**head, "findings": findings, **lists}


def test_a_measure_with_two_ways_holds_by_both(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    each = {n: s for n, (s, _) in servers.items()}
    assert measured(catalog, "unhealthyDevices", each)[0].says == "0 within 0"
    told = [audit("lab"), audit("west", "LIV052")]
    assert measured(catalog, "unhealthyDevices", each, *told)[0].verdict == "failed"
    assert measured(catalog, "unhealthyDevices", {}, audit("lab"), audit("west"))[0].holds
    judged, _ = measured(catalog, "unhealthyDevices", each, audit("lab"))
    assert judged.says == "no data: no report of `dracfg audit --format json` on west is named"


def test_a_word_that_nothing_fills_is_told(
    catalog: Catalog, servers: dict[str, tuple[Server, Any]]
) -> None:
    judged, _ = measured(catalog, "utilisationLoss", {n: s for n, (s, _) in servers.items()})
    assert judged.says == "no data: lab has nothing for utilisation of the query"


def test_nothing_named_is_no_data(catalog: Catalog) -> None:
    assert measured(catalog, "driverErrors", {})[0].says == (
        "no data: no server is named: --prometheus URL"
    )
