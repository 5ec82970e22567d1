"""`dracfg capacity` without a file: figures, proofs and ways, for people and for programs."""

import json
from pathlib import Path

import pytest
import yaml

from dracfg.cli.main import invoke

BASE = Path(__file__).parents[2] / "cases" / "_base" / "proofs.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in yaml.safe_load(BASE.read_text())["files"].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_the_plan_as_text(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["capacity", "-C", str(root), "--target", "70%"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:3] == [
        "card-40g on prod-east (cards)",
        "  memory: 8 x 40Gi = 320Gi, -80Gi spare = 240Gi to promise; promised 100Gi, limits 130Gi (0.54x)",
        "    planned by utilisation alone: 224Gi",
    ]
    assert shown[3].split() == ["notebooks", "4", "slice", "10Gi", "fits", "proven"]


def test_the_plan_as_data(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["capacity", "-C", str(root), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["verdict"]) == ("CapacityPlan", "proven")
    (tier,) = document["tiers"]
    assert {proof["question"] for proof in tier["proofs"]} == {"fits", "nonBlocking"}
    rests = {ground["stage"] for proof in tier["proofs"] for ground in proof["restsOn"]}
    assert rests == {"stable", "beta", "released", "measured", "enforced"}


def test_the_plan_in_files_as_well(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [root / "made/plan.json", root / "plan.txt"]
    arguments = ["-o", f"json={files[0]}", "-o", f"text={files[1]}", "-o", "json=-"]
    assert invoke(["capacity", "-C", str(root), *arguments]) == 0
    shown = capsys.readouterr().out
    assert shown == files[1].read_text() + files[0].read_text()
    assert json.loads(files[0].read_text())["kind"] == "CapacityPlan"
    assert invoke(["capacity", "-C", str(root), "-o", "sarif=x"]) == 3
    assert "formats: text, json" in capsys.readouterr().err


def test_other_ways_stand_where_a_proof_fails(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = root / "tenants" / "search.yaml"
    file.write_text(file.read_text().replace("{5Gi: 8}", "{5Gi: 30}"))
    assert invoke(["capacity", "-C", str(root)]) == 1
    shown = capsys.readouterr().out
    assert "non-blocking  refuted" in shown
    assert "  as exclusive (whole): 10 devices on 5 nodes, 2 nodes to add" in shown


def test_numbers_of_pods_need_a_file(root: Path) -> None:
    assert invoke(["capacity", "-C", str(root), "--replicas", "a=1"]) == 3
