"""`dracfg capacity --usage`: how full tiers were, until when they last, and whether objectives were met."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from dracfg.cli.main import invoke

BASE = Path(__file__).parents[2] / "cases" / "_base" / "proofs.yaml"
GIBI = 2**30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    said = "  distribution: kubeadm\n"
    for path, text in yaml.safe_load(BASE.read_text())["files"].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        more = f"{said}  objectives: {{allocationP99: 30s}}\n"
        (tmp_path / path).write_text(text.replace(said, more))
    return tmp_path


def record(root: Path, name: str, values: Sequence[float], **labels: str) -> str:
    """A file as Prometheus answers; its path."""
    points = [[1_790_000_000 + day * 86400, str(value)] for day, value in enumerate(values)]
    metric = {"__name__": name, "cluster": "prod-east", **labels}
    answer = {"resultType": "matrix", "result": [{"metric": metric, "values": points}]}
    file = root / f"{name.replace(':', '-')}.json"
    file.write_text(json.dumps({"status": "success", "data": answer}))
    return str(file)


def memory(root: Path) -> str:
    """From 100Gi on 10Gi more a day, where 240Gi can be promised."""
    amounts = [(100 + 10 * day) * GIBI for day in range(11)]
    return record(root, "memory_in_use", amounts, tier="card-40g", key="memory")


def test_use_as_text(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usage = [memory(root), record(root, "elsewhere", [1.0], tier="h100")]
    arguments = [word for file in usage for word in ("--usage", file)]
    assert invoke(["capacity", "-C", str(root), *arguments]) == 0
    shown = capsys.readouterr().out
    (row,) = (line.split() for line in shown.splitlines() if line.startswith("  card-40g on"))
    amounts = ["memory", "150Gi", "200Gi", "200Gi", "200Gi", "100Gi", "240Gi"]
    assert row == ["card-40g", "on", "prod-east", *amounts, "+4.17%", "a", "day", "4", "days"]
    assert "not of the catalog: __name__=elsewhere, cluster=prod-east, tier=h100" in shown


def test_use_as_data(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["capacity", "-C", str(root), "--usage", memory(root), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (use,) = document["usage"]
    assert (use["tier"], use["key"], use["points"]) == ("card-40g", "memory", 11)
    assert (use["first"], use["share"], use["lastsDays"]) == ("2026-09-21T14:13:20Z", "0.83", 4)
    (objective,) = document["objectives"]
    assert (objective["objective"], objective["verdict"]) == ("allocationP99", "unknown")
    assert document["notOfTheCatalog"] == []


@pytest.mark.parametrize(("slow", "code", "word"), [(1, 0, "met"), (5, 1, "missed")])
def test_an_objective_that_was_missed_is_a_finding(
    root: Path, capsys: pytest.CaptureFixture[str], slow: int, code: int, word: str
) -> None:
    values = [31.0] * slow + [12.0] * (100 - slow)
    usage = record(root, "dracfg:allocation_seconds:p99", values)
    assert invoke(["capacity", "-C", str(root), "--usage", usage]) == code
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "allocationP99" in line)
    assert row.split() == [
        "prod-east",
        "allocationP99",
        "30s",
        "12",
        row.split()[4],
        f"{slow}.0%",
        word,
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [("no: json: at all", "is not JSON"), ('{"data": {}}', "is no answer of a range query")],
)
def test_wrong_files(root: Path, capsys: pytest.CaptureFixture[str], text: str, why: str) -> None:
    (root / "usage.json").write_text(text)
    assert invoke(["capacity", "-C", str(root), "--usage", str(root / "usage.json")]) == 3
    assert why in capsys.readouterr().err


def test_use_is_nothing_to_place_pods_by(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "jobs.yaml").write_text("{}")
    arguments = ["--usage", memory(root), "--what-if", str(root / "jobs.yaml")]
    assert invoke(["capacity", "-C", str(root), *arguments]) == 3
    assert "--usage says nothing of what --what-if places" in capsys.readouterr().err


def test_nothing_is_said_where_nothing_was_recorded(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["capacity", "-C", str(root), "--format", "json"]) == 0
    assert "usage" not in json.loads(capsys.readouterr().out)
