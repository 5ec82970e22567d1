"""`dracfg audit`: the text of a whole report, JSON, and wrong use.

The dump is written by hand: the shapes of published claims and pods, for devices of the example.
"""

import json
import shutil
from pathlib import Path

import pytest

from dracfg.cli.main import invoke

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "audit"
DUMP = "prod-east.yaml"
SLICES = "catalog/inventory/prod-east.yaml"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(GOLDEN / DUMP, tmp_path / DUMP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("repository")
def test_text(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> None:
    assert invoke(["audit", DUMP, SLICES, "--cluster", "prod-east"]) == 1
    shown = capsys.readouterr()
    golden = GOLDEN / "prod-east.txt"
    if request.config.getoption("--update-golden"):
        golden.write_text(shown.out, encoding="utf-8")
    assert shown.out == golden.read_text(encoding="utf-8")
    assert "2 need a person" in shown.err


@pytest.mark.usefixtures("repository")
def test_document(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", DUMP, SLICES, "--cluster", "prod-east", "--format", "json"]
    assert invoke(arguments) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["kind"], report["verdict"], report["cluster"]) == (
        "AuditReport",
        "refuted",
        "prod-east",
    )
    assert {finding["code"] for finding in report["findings"]} == {
        "LIV035", "LIV038", "LIV048", "LIV054", "LIV056",
    }  # fmt: skip
    held = [entry for entry in report["ledger"] if entry["holders"]]
    assert len(held) == 7
    assert {cause["cause"] for cause in report["causes"]} == {"driverNotRegistered", "capacity"}
    (lent,) = report["offers"]
    assert (lent["from"], lent["to"], lent["size"]) == ("notebooks", "search", "10Gi")
    assert (lent["count"], lent["held"]) == (2, 0)


def test_without_a_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["audit", str(GOLDEN / DUMP), str(ROOT / SLICES), "--format", "concise"]) == 1
    shown = capsys.readouterr().out
    assert "LIV035 error: claim vision-train/sweep-4-gpu-t5w9z" in shown
    assert "LIV038" not in shown


@pytest.mark.usefixtures("repository")
def test_idle_devices_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["audit", DUMP, SLICES, "--cluster", "prod-east", "--all-devices"])
    assert "l40s-east-10/hami-gpu-0" in capsys.readouterr().out


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "name at least one DUMP"),
        (["none.yaml"], "does not exist"),
        ([DUMP], "say which was recorded"),
        ([DUMP, "--cluster", "prod-eest"], "did you mean prod-east"),
        ([DUMP, "--cluster", "prod-east", "--at", "today"], "today is no time"),
    ],
)
def test_wrong_use(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["audit", *arguments]) == 3
    assert part in capsys.readouterr().err


@pytest.mark.usefixtures("repository")
def test_a_dump_that_is_no_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.yaml").write_text("a: [", encoding="utf-8")
    assert invoke(["audit", "bad.yaml", "--cluster", "prod-east"]) == 3
    assert "bad.yaml" in capsys.readouterr().err


@pytest.mark.usefixtures("repository")
def test_a_later_moment(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", DUMP, SLICES, "--cluster", "prod-east", "--at", "2026-12-02T00:00:00Z"]
    assert invoke([*arguments, "--format", "concise"]) == 1
    assert "INV047 warning" in capsys.readouterr().out


@pytest.mark.usefixtures("repository")
def test_some_codes_and_a_second_form(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", DUMP, SLICES, "--cluster", "prod-east", "--format", "concise"]
    assert invoke([*arguments, "--ignore", "LIV035,LIV054", "-o", "json=report.json"]) == 0
    assert "LIV035" not in capsys.readouterr().out
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert (report["kind"], report["verdict"]) == ("AuditReport", "unknown")
