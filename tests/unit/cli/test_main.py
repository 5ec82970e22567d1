"""Exit codes and messages of the command line."""

import gc
import json
import shutil
from pathlib import Path

import pytest

from dracfg.cli.main import COMMANDS, invoke, run
from dracfg.model.jsonschema import schemas

ROOT = Path(__file__).parents[3]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_compile_then_check(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["compile", "--check", "-C", str(repository)]) == 1
    assert "stale: out/" in capsys.readouterr().err
    assert not (repository / "out").exists()
    assert invoke(["compile", "-C", str(repository)]) == 0
    assert capsys.readouterr().err.startswith("compiled ")
    assert invoke(["compile", "--check", "-C", str(repository)]) == 0
    assert "is fresh" in capsys.readouterr().err


def test_error_writes_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["compile", "-q", "-C", str(repository)])
    before = sorted((repository / "out").rglob("*"))
    (repository / "tenants" / "broken.yaml").write_text("kind: [\n")
    assert invoke(["compile", "-C", str(repository)]) == 1
    shown = capsys.readouterr()
    assert "error[SRC005]" in shown.out
    assert "tenants/broken.yaml:2:1" in shown.out
    assert "nothing was written" in shown.err
    assert sorted((repository / "out").rglob("*")) == before


def test_json_report(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "tenants" / "broken.yaml").write_text("apiVersion: v1\nkind: Pod\n")
    assert invoke(["check", "--format", "json", "-C", str(repository)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["schemaVersion"] == 1
    assert report["kind"] == "CheckReport"
    assert report["verdict"] == "refuted"
    (finding,) = [f for f in report["findings"] if f["code"] == "MOD002"]
    assert (finding["file"], finding["line"], finding["column"]) == ("tenants/broken.yaml", 1, 13)


def test_stray_files(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["compile", "-q", "-C", str(repository)])
    (repository / "out" / "notes.txt").write_text("mine")
    assert invoke(["compile", "-C", str(repository)]) == 0
    assert "warning[OBJ006]" in capsys.readouterr().out
    stray = repository / "out" / "prod-east" / "platform" / "mine.yaml"
    stray.write_text("kind: ConfigMap\n")
    assert invoke(["compile", "-C", str(repository)]) == 1
    assert "error[OBJ007]" in capsys.readouterr().out
    assert stray.read_text() == "kind: ConfigMap\n"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["compile", "--nope"], "No such option"),
        (["nope"], "No such command"),
        (["schema", "Tenat"], "did you mean tenant"),
        (["schema", "--check"], "needs --out"),
        (["compile", "--jobs", "0"], "0 is not in the range"),
    ],
)
def test_wrong_use(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(arguments) == 3
    assert part in capsys.readouterr().err


def test_wrong_folder_names_the_right_one(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "tenants")
    assert invoke(["check"]) == 3
    assert "no catalog/ here; found one in .. (use -C)" in capsys.readouterr().err


def test_fault_has_its_own_exit_code(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("dracfg.building.build", fail)
    assert invoke(["check", "-C", str(repository)]) == 4
    shown = capsys.readouterr().err
    assert "RuntimeError: boom" in shown
    assert "Traceback" not in shown


def test_interrupt(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dracfg.building.build", interrupt)
    assert invoke(["check", "-C", str(repository)]) == 130


def test_schema_of_one_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["schema", "Tenant"]) == 0
    assert json.loads(capsys.readouterr().out) == schemas()["tenant"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([name, "--help"]) == 0
    assert "Example: dracfg" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["compiel"], 3)])
def test_the_process_ends_with_the_code_and_looks_for_no_garbage(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        with pytest.raises(SystemExit) as ended:
            run(arguments)
        assert ended.value.code == code
        assert gc.get_freeze_count()
        assert any(capsys.readouterr())
    finally:
        gc.unfreeze()
