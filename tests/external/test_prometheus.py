"""Gates against a real Prometheus: every built-in measure, ranges, silence, refusals and credentials.

The server is Debian's package `prometheus`; its data come from `promtool tsdb create-blocks-from
openmetrics`. Both are started here and stopped again, on a free port of the loopback interface.
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.link.catalog import Catalog
from dracfg.link.gates import AskedGate, clusters_of, gates_of, query_of, words_of
from dracfg.link.measures import measures
from dracfg.model.kinds import Rollout
from dracfg.pipeline import judge
from dracfg.rollout.gates import Judged, judge_gates
from dracfg.rollout.measuring import EVERY, measure
from dracfg.rollout.prometheus import Question, Server, ask
from tests.external.prometheusworlds import World, exposition, oddities

BASE = Path(__file__).parents[1] / "cases" / "_base" / "rollout.yaml"
WANTED = ("prometheus", "promtool")
MISSING = [name for name in WANTED if shutil.which(name) is None]
QUERIED = [name for name, one in measures().items() if one.query is not None]
NAME = "sim-to-claims"
# bcrypt of "measure me", with the least work that the format knows.
HASH = "$2b$04$abcdefghijklmnopqrstuuI7swA9fTt.u4XWoc4KnhA6.7Kde5nXW"
USER, PASSWORD = "gates", "measure me"

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} not installed: apt-get install prometheus"
)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def running(folder: Path, *options: str) -> Iterator[str]:
    """A server over a data folder, once it is ready; it is stopped in any case."""
    port = free_port()
    config = folder / "prometheus.yml"
    config.write_text("global: {}\n")
    (folder / "data").mkdir(exist_ok=True)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
                *options,
            ],
            stdout=log,
            stderr=log,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, process, folder / "log")
            yield url
        finally:
            process.terminate()
            process.wait(timeout=30)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=5):
                return
        except urllib.error.HTTPError as refused:
            if refused.code == 401:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def fill(folder: Path, text: str) -> None:
    """Makes blocks of what a text says."""
    source = folder / "world.om"
    source.write_text(text)
    subprocess.run(
        [
            "promtool",
            "tsdb",
            "create-blocks-from",
            "openmetrics",
            str(source),
            str(folder / "data"),
        ],
        check=True,
        capture_output=True,
    )


@pytest.fixture(scope="module")
def now() -> int:
    return int(time.time())


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, now: int) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("good")
    fill(folder, exposition(World(now, bad=False)))
    with running(folder) as url:
        yield url


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory, now: int) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("bad")
    fill(folder, exposition(World(now, bad=True)))
    with running(folder) as url:
        yield url


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("empty")) as url:
        yield url


def repository(root: Path, gates: str, *, phase: str = "open", minor: str = "1.36") -> Path:
    """Three pools at the stage canary; documents declare all metrics that measures can have."""
    files: dict[str, str] = yaml.safe_load(BASE.read_text())["files"]
    platform = files["catalog/platform.yaml"]
    platform = platform.replace('kubernetes: "1.36"', f'kubernetes: "{minor}"')
    platform = platform.replace(
        "gitops: {engine: plain}\n",
        "gitops: {engine: plain}\n"
        "  addons: {claimMetrics: true}\n"
        "  metrics: {trainingRestarts: training_restarts_total, "
        "checkpointRestores: checkpoint_restores_total}\n",
    )
    platform = platform.replace(
        "resetsAtUnprepare: true}",
        "resetsAtUnprepare: true, serviceAccount: {namespace: gpu, name: plugin}, "
        "deviceMetrics: {utilisation: gpu_utilisation, unhealthy: gpu_unhealthy}}",
    )
    files["catalog/platform.yaml"] = platform
    rollout = files["catalog/rollout.yaml"].split("  gates:")[0] + f"  gates:\n{gates}"
    files["catalog/rollout.yaml"] = rollout.replace(
        "stage: canary\n", f"stage: canary\n  phase: {phase}\n"
    )
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def listed(names: list[str]) -> str:
    return "".join(f"    - {{measure: {name}}}\n" for name in names)


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Catalog]:
    """Where pools are open, and where the next ones are fenced."""
    found = {}
    for phase in ("open", "fenced"):
        root = repository(tmp_path_factory.mktemp(phase), listed(QUERIED), phase=phase)
        judged = judge(root, level="intent")
        assert not [one for one in judged.findings if one.code.startswith(("MOD", "ROL"))]
        found[phase] = judged.catalog
    return found


def asked_of(catalogs: dict[str, Catalog], name: str) -> tuple[Catalog, Rollout, AskedGate]:
    catalog = catalogs["fenced" if measures()[name].asked == "fenced" else "open"]
    rollout = catalog.rollouts[NAME]
    return catalog, rollout, next(g for g in gates_of(rollout.spec) if g.name == name)


def judged_by(url: str, catalogs: dict[str, Catalog], name: str) -> Judged:
    catalog, rollout, gate = asked_of(catalogs, name)
    answers = measure(catalog, rollout, [gate], {EVERY: Server(url, {})}, None)
    return judge_gates([gate], answers.by_gate)[0]


FAILING = {
    "podsOnFencedNodes": "4 above 0 by 4",
    "allocationErrors": "0.1 above 0.01 by 0.09",
    "driverErrors": "0.1 above 0.01 by 0.09",
    "prepareRetries": "0.75 above 0.05 by 0.7",
    "claimToAllocatedP50": "700s above 10s by 690s",
    "claimToAllocatedP99": "700s above 1m by 640s",
    "allocatedToPreparedP50": "7.5s above 1s by 6.5s",
    "allocatedToPreparedP99": "9.95s above 5s by 4.95s",
    "podReadyP50": "2000s above 1m by 1940s",
    "podReadyP99": "2000s above 5m by 1700s",
    "pendingClaims": "25 above 0 by 25",
    "missingDevices": "5 above 0 by 5",
    "utilisationLoss": "0.5 above 0.05 by 0.45",
    "allocationLoss": "0.5 above 0.02 by 0.48",
    "waitingGrowth": "116.8 above 1.25 by 115.6",
    "fragmentationGrowth": "1 above 0.1 by 0.9",
    "recoveryAfterRestart": "400s above 1m by 340s",
    "recoveryAfterNodeLoss": "2400s above 5m by 2100s",
    "rejectedForCapacity": "0.3333 above 0.05 by 0.2833",
    "rejectedByPolicy": "0.6 above 0.05 by 0.55",
    "unhealthyDevices": "3 above 0 by 3",
    "taintEvictions": "60 above 0 by 60",
    "containerRestarts": "60 above 3 by 57",
    "jobRestarts": "60 above 0 by 60",
    "checkpointRestores": "60 above 0 by 60",
}


def test_every_query_has_a_failing_value() -> None:
    assert list(FAILING) == QUERIED


@pytest.mark.parametrize("name", QUERIED)
def test_a_measure_that_holds(good: str, catalogs: dict[str, Catalog], name: str) -> None:
    judged = judged_by(good, catalogs, name)
    if name == "podsOnFencedNodes":
        assert judged.says == "0 within 0"
    assert judged.verdict == "passed", judged.says
    assert not judged.halts


@pytest.mark.parametrize("name", QUERIED)
def test_a_measure_that_does_not(bad: str, catalogs: dict[str, Catalog], name: str) -> None:
    judged = judged_by(bad, catalogs, name)
    assert judged.verdict == "failed", judged.says
    assert judged.says == FAILING[name]
    assert judged.halts is (judged.gate.halt is not None)


@pytest.mark.parametrize("name", QUERIED)
def test_silence_is_no_pass(empty: str, catalogs: dict[str, Catalog], name: str) -> None:
    judged = judged_by(empty, catalogs, name)
    assert judged.verdict == "missing"
    assert judged.says == "no data: the query gave no sample"


@pytest.mark.parametrize("name", QUERIED)
def test_every_query_has_one_sample_without_labels(
    good: str, catalogs: dict[str, Catalog], name: str
) -> None:
    catalog, rollout, gate = asked_of(catalogs, name)
    (cluster,) = clusters_of(catalog, rollout.spec)
    query = query_of(gate, words_of(catalog, rollout, cluster))
    assert isinstance(query, str)
    with urllib.request.urlopen(
        f"{good}/api/v1/query",
        data=f"query={urllib.request.quote(query)}".encode(),  # type: ignore[attr-defined]  # urllib.parse's
    ) as reply:
        result = json.load(reply)["data"]["result"]
    assert [sample["metric"] for sample in result] == [{}]


@pytest.mark.parametrize("name", ["driverErrors", "claimToAllocatedP99", "waitingGrowth"])
def test_a_measure_that_must_have_held(
    good: str, bad: str, catalogs: dict[str, Catalog], name: str
) -> None:
    """Every value of the time is judged, and moments without one are left out."""
    catalog, rollout, gate = asked_of(catalogs, name)
    longer = replace(gate, over="90m")
    verdicts = []
    for url in (good, bad):
        answers = measure(catalog, rollout, [longer], {EVERY: Server(url, {})}, None)
        (judged,) = judge_gates([longer], answers.by_gate)
        assert len(judged.answer.values) > 100
        verdicts.append(judged.verdict)
    assert verdicts == ["passed", "failed"]


def test_names_follow_the_minor(
    tmp_path: Path, now: int, good: str, catalogs: dict[str, Catalog]
) -> None:
    root = repository(tmp_path / "catalog", listed(["pendingClaims"]), minor="1.37")
    newer = {"open": judge(root, level="intent").catalog}
    assert judged_by(good, newer, "pendingClaims").verdict == "missing"
    folder = tmp_path / "newer"
    folder.mkdir()
    fill(folder, exposition(World(now, bad=True, minor="1.37")))
    with running(folder) as url:
        assert judged_by(url, newer, "pendingClaims").says == "25 above 0 by 25"
        assert judged_by(url, catalogs, "pendingClaims").verdict == "missing"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory, now: int) -> Iterator[str]:
    """Series that are odd, behind a password."""
    folder = tmp_path_factory.mktemp("odd")
    fill(folder, oddities(now))
    web = folder / "web.yml"
    web.write_text(yaml.safe_dump({"basic_auth_users": {USER: HASH}}))
    with running(folder, f"--web.config.file={web}", "--query.max-samples=2000") as url:
        yield url


def header() -> str:
    return f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"


def answered(url: str, promql: str, over: str | None = None) -> Any:
    server = Server(url, {"Authorization": header()})
    return ask(server, [Question("one", promql, over)])


@pytest.mark.parametrize(
    ("promql", "over", "values"),
    [
        ("spike", None, {1.0}),
        ("spike", "2h", {1.0, 9.0}),
        ("spike", "30m", {1.0}),
        ("ended", None, set()),
        ("ended", "20m", {1.0}),
        ("absent_from_the_start", None, set()),
        ("steady", "1h", {2.0}),
        ("scalar(steady)", None, {2.0}),
        ("steady > 3", "1h", set()),
    ],
)
def test_instants_and_ranges(odd: str, promql: str, over: str | None, values: set[float]) -> None:
    answers = answered(odd, promql, over)
    assert answers.by_gate["one"].trouble is None
    assert set(answers.by_gate["one"].values) == values
    assert answers.at is not None


@pytest.mark.parametrize("promql", ["odd", "steady / 0 - steady / 0"])
def test_what_is_no_number_is_no_pass(odd: str, promql: str) -> None:
    gate = AskedGate("one", promql, None, "30s", None, None, ("forward",), 0)
    (judged,) = judge_gates([gate], answered(odd, promql).by_gate)
    assert judged.verdict == "missing"
    assert judged.says == "no data: a sample is not a number"


@pytest.mark.parametrize(
    ("promql", "over", "said"),
    [
        ("sum(", None, "the server answers 400: "),
        ("steady{", "1h", "the server answers 400: "),
        (
            "sum_over_time(steady[3h:1s])",
            None,
            "the server answers 422: query processing would load",
        ),
    ],
)
def test_a_refusal_is_told(odd: str, promql: str, over: str | None, said: str) -> None:
    assert answered(odd, promql, over).by_gate["one"].trouble.startswith(said)


def test_without_the_header_nobody_is_let_in(odd: str) -> None:
    answers = ask(Server(odd, {}), [Question("one", "steady")])
    assert answers.by_gate["one"].trouble == "the server answers 401"
    assert answers.at is None


def test_a_server_that_says_nothing() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        server = Server(f"http://127.0.0.1:{silent.getsockname()[1]}", {}, timeout=0.2)
        answers = ask(server, [Question("one", "steady")])
    assert "can't be asked: timed out" in str(answers.by_gate["one"].trouble)


QUERIES = """\
    - {name: steady, promql: steady, max: 2, halt: 8}
    - {name: spike, promql: spike, max: 5, halt: 8}
"""


def rollout(root: Path, what: str, url: str) -> int:
    return invoke(["rollout", what, NAME, "--root", str(root), "--prometheus", url])


def test_a_step_on_what_a_server_says(
    tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = repository(tmp_path, QUERIES)
    file = root / "catalog/rollout.yaml"
    before = file.read_text()
    assert rollout(root, "advance", odd) == 1
    assert "steady: no data: the server answers 401" in capsys.readouterr().err
    assert file.read_text() == before
    monkeypatch.setenv("DRACFG_PROMETHEUS_HEADER", f"Authorization: {header()}")
    assert rollout(root, "advance", odd) == 0
    (kept,) = yaml.safe_load(file.read_text())["spec"]["evidence"]
    assert kept["source"] == odd
    assert [one["value"] for one in kept["readings"]] == ["2", "1"]


def test_beyond_the_outer_limit_status_names_the_command(
    tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DRACFG_PROMETHEUS_HEADER", f"Authorization: {header()}")
    root = repository(tmp_path, QUERIES)
    assert rollout(root, "status", odd) == 0
    file = root / "catalog/rollout.yaml"
    file.write_text(
        file.read_text().replace("promql: spike, max: 5", "promql: spike, over: 2h, max: 5")
    )
    capsys.readouterr()
    assert rollout(root, "status", odd) == 1
    told = capsys.readouterr()
    assert "blocks  spike: 9 above 5 by 4; beyond the limit that halts" in told.out
    assert f"halt it: dracfg rollout halt {NAME}" in told.err
