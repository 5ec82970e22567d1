"""Every built-in measure: what holds, what blocks and by how much, that silence blocks, and what halts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.cli.main import invoke
from dracfg.kube.features import feature_matrix
from dracfg.kube.metrics import metrics
from dracfg.link.gates import AskedGate, gates_of
from dracfg.link.measures import fits, measures, protection
from dracfg.model.rollout import Gate, Protects, RolloutSpec, Stage
from dracfg.rollout.gates import judge_gates
from dracfg.rollout.recorded import EvidenceFile, read_evidence

HERE = Path(__file__).parent
BASE = HERE.parents[1] / "cases" / "_base" / "rollout.yaml"
TABLE: Mapping[str, Mapping[str, Any]] = yaml.safe_load((HERE / "measured.yaml").read_text())
HALTING = [name for name, one in measures().items() if one.halt is not None]
PROTECTS: tuple[Protects, ...] = ("continuity", "throughput", "utilisation")


def spec(gates: tuple[Gate, ...], protects: Protects = "continuity") -> RolloutSpec:
    stage = Stage(name="one", pools=("one",), tenants=("ann",), workloads="retryable")
    return RolloutSpec(tier="sim", stage="one", stages=(stage,), gates=gates, protects=protects)


def gate_of(name: str) -> AskedGate:
    (gate,) = gates_of(spec((Gate(measure=name),)))
    return gate


def says(name: str, value: object) -> tuple[str, str]:
    data = {"at": "2026-11-29T22:00:00Z", "gates": {name: value}}
    recorded = read_evidence([EvidenceFile("e.yaml", b"", data)])
    (judged,) = judge_gates([gate_of(name)], recorded.by_gate)
    return judged.verdict, judged.says


def test_the_table_has_every_measure() -> None:
    assert list(TABLE) == list(measures())
    assert [name for name, row in TABLE.items() if "halts" in row] == HALTING


@pytest.mark.parametrize("name", TABLE)
def test_a_value_that_holds(name: str) -> None:
    assert says(name, TABLE[name]["holds"])[0] == "passed"


@pytest.mark.parametrize("name", TABLE)
def test_a_value_that_does_not_is_told_by_how_much(name: str) -> None:
    assert says(name, TABLE[name]["fails"]) == ("failed", TABLE[name]["says"])


@pytest.mark.parametrize("name", TABLE)
def test_no_value_is_no_pass(name: str) -> None:
    assert says(name, None) == ("missing", "no data: the query gave no sample")
    assert says(name, []) == ("missing", "no data: the query gave no sample")
    (judged,) = judge_gates([gate_of(name)], {})
    assert (judged.verdict, judged.halts) == ("missing", False)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every measure is a gate, and every metric is declared; the next pools are fenced."""
    folder = tmp_path_factory.mktemp("repository")
    files = yaml.safe_load(BASE.read_text())["files"]
    platform = files["catalog/platform.yaml"]
    platform = platform.replace(
        "gitops: {engine: plain}\n",
        "gitops: {engine: plain}\n  metrics: {trainingRestarts: a, checkpointRestores: b}\n",
    )
    files["catalog/platform.yaml"] = platform.replace(
        "resetsAtUnprepare: true}",
        "resetsAtUnprepare: true, serviceAccount: {namespace: gpu, name: plugin}, "
        "deviceMetrics: {utilisation: c, unhealthy: d}}",
    )
    gates = "".join(f"    - {{measure: {name}}}\n" for name in measures())
    rollout = files["catalog/rollout.yaml"].split("  gates:")[0] + f"  gates:\n{gates}"
    files["catalog/rollout.yaml"] = rollout.replace(
        "stage: canary\n", "stage: canary\n  phase: fenced\n"
    )
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    return folder


def status(root: Path, values: Mapping[str, object]) -> int:
    file = root / "evidence.json"
    file.write_text(json.dumps({"at": "2026-11-29T22:00:00Z", "gates": values}))
    return invoke(["rollout", "status", "sim-to-claims", "-C", str(root), "--evidence", str(file)])


@pytest.mark.parametrize("name", HALTING)
def test_beyond_the_outer_limit_status_exits_with_the_command(
    root: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {other: row["holds"] for other, row in TABLE.items()}
    assert status(root, values | {name: TABLE[name]["halts"]}) == 1
    told = capsys.readouterr()
    (line,) = (one for one in told.out.splitlines() if "blocks" in one)
    assert line.lstrip().startswith(f"blocks  {name}: ")
    assert line.endswith("; beyond the limit that halts")
    assert "halt it: dracfg rollout halt sim-to-claims --record record.json" in told.err


def test_all_values_that_hold_let_on(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(root, {name: row["holds"] for name, row in TABLE.items()}) == 0
    told = capsys.readouterr().out
    assert told.count("  holds  ") == len(TABLE)
    assert "blocks" not in told


@pytest.mark.parametrize("name", measures())
def test_what_the_data_say_of_a_measure(name: str) -> None:
    """Limits have its unit and an order; it can be asked on some way, by something."""
    one = measures()[name]
    assert fits(one, one.max)
    assert one.halt is None or fits(one, one.halt)
    assert one.query or one.documents
    assert one.directions
    assert one.like and one.says
    assert ("rollback" in one.directions) == (name == "podsOnFencedNodes")


@pytest.mark.parametrize("minor", feature_matrix().minors)
def test_metrics_are_named_by_purpose(minor: str) -> None:
    """No query spells a metric that the table of metrics has, or a rename would pass it by."""
    for one in measures().values():
        for metric in metrics(minor):
            assert metric not in (one.query or "")


@pytest.mark.parametrize("protects", PROTECTS)
def test_gates_that_are_picked(protects: Protects) -> None:
    picked = gates_of(spec((), protects))
    assert tuple(gate.name for gate in picked) == protection(protects).gates
    assert any(gate.measure is not None and gate.measure.asked == "always" for gate in picked)
    assert any("rollback" in gate.directions for gate in picked)
    assert len(protection(protects).order) == 5


def test_gates_are_picked_for_what_moves() -> None:
    """Without a device plugin on the other side there is nothing by plugin to compare with."""
    sharing = spec((), "throughput").model_copy(update={"subject": "sharing"})
    names = {gate.name for gate in gates_of(sharing)}
    assert set(protection("throughput").gates) - names == {"allocationLoss"}


def test_gates_of_ones_own_replace_them() -> None:
    (gate,) = gates_of(spec((Gate(measure="driverErrors", halt=None, name="errors"),)))
    assert (gate.name, gate.halt, gate.place) == ("errors", measures()["driverErrors"].halt, 0)
