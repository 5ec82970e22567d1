"""What `check` and `compile` show, leave out, write beside and count."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dracfg.cli.main import invoke

ROOT = Path(__file__).parents[3]
WAIVER = "# dracfg: allow SRC015 until 2027-01-31 because it is being written"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new repository, with a warning (SRC015) and an error (MOD002)."""
    assert invoke(["init", "--ci", "none", str(tmp_path)]) == 0
    (tmp_path / "tenants" / "wrong.yaml").write_text("apiVersion: v1\nkind: Pod\n")
    (tmp_path / "tenants" / "void.yaml").write_text("# nothing\n")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    return tmp_path


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The repository's own catalog."""
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def codes(shown: str) -> list[str]:
    return [finding["code"] for finding in json.loads(shown)["findings"]]


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        ([], 1, ["SRC015", "MOD002"]),
        (["--select", "SRC"], 0, ["SRC015"]),
        (["--select", "SRC,MOD"], 1, ["SRC015", "MOD002"]),
        (["--select", "SRC", "--select", "MOD"], 1, ["SRC015", "MOD002"]),
        (["--ignore", "MOD002"], 0, ["SRC015"]),
        (["--ignore", "MOD,SRC"], 0, []),
        (["--select", "SRC", "--fail-on", "warning"], 1, ["SRC015"]),
        (["--select", "SRC", "--fail-on", "unknown"], 0, ["SRC015"]),
    ],
)
def test_selection(
    options: list[str],
    code: int,
    shown: list[str],
    repository: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert invoke(["check", "--format", "json", "-C", str(repository), *options]) == code
    captured = capsys.readouterr()
    assert codes(captured.out) == shown
    assert json.loads(captured.out)["notSelected"] == 2 - len(shown)
    assert json.loads(captured.out)["verdict"] == "refuted"
    assert ("not selected" in captured.err) == (len(shown) < 2)


def test_selection_by_environment(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRACFG_IGNORE", "MOD,REF")
    monkeypatch.setenv("DRACFG_OUTPUT", f"concise={repository}/a.txt json={repository}/b.json")
    assert invoke(["check", "-C", str(repository)]) == 0
    assert "SRC015" in capsys.readouterr().out
    assert (repository / "a.txt").read_text().count("\n") == 1
    assert codes((repository / "b.json").read_text()) == ["SRC015"]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--select", "CAP,SHRX"], "no code is or begins with SHRX; did you mean SHR?"),
        (["--ignore", "cap004"], "did you mean CAP004?"),
        (["-o", "sarif"], "sarif is not FORMAT=FILE"),
        (["-o", "html=x"], "html=x is not FORMAT=FILE"),
        (["--today", "soon"], "soon is no day"),
        (["--unsafe-fixes"], "--unsafe-fixes needs --fix"),
        (["--level", "live"], "'live' is not one of"),
    ],
)
def test_wrong_use(
    options: list[str], part: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["check", "-C", str(repository), *options]) == 3
    assert part in capsys.readouterr().err


def test_compile_writes_nothing_for_errors_that_are_not_shown(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["compile", "--ignore", "MOD", "-C", str(repository)]) == 1
    shown = capsys.readouterr()
    assert "MOD002" not in shown.out
    assert "1 error, 1 warning; nothing was written" in shown.err
    assert not (repository / "out").exists()


def test_one_run_feeds_many(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {form: repository / "reports" / form for form in ("sarif", "gitlab", "junit", "json")}
    outputs = [word for form, path in files.items() for word in ("-o", f"{form}={path}")]
    invoke(["check", "-C", str(repository), *outputs, "-o", "github=-", "--color", "always"])
    shown = capsys.readouterr().out
    assert "error[MOD002]" in shown
    assert "::error file=" in shown
    assert codes(files["json"].read_text()) == ["SRC015", "MOD002"]
    assert len(json.loads(files["sarif"].read_text())["runs"][0]["results"]) == 2
    assert len(json.loads(files["gitlab"].read_text())) == 2
    assert len(list(ElementTree.parse(files["junit"]).iter("testcase"))) == 2
    assert "\x1b" not in "".join(path.read_text() for path in files.values())


def test_a_file_that_can_not_be_written(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "taken").write_text("")
    assert invoke(["check", "-C", str(repository), "-o", f"json={repository}/taken/x"]) == 3
    assert "can't be written" in capsys.readouterr().err


def test_code_hosts_get_paths_from_where_they_work(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.parent)
    invoke(["check", "-q", "--format", "github", "-C", repository.name])
    assert f"file={repository.name}/tenants/wrong.yaml," in capsys.readouterr().out
    invoke(["check", "-q", "--format", "concise", "-C", repository.name])
    assert "\ntenants/wrong.yaml:" in capsys.readouterr().out


@pytest.mark.parametrize(("options", "annotated"), [([], True), (["--format", "text"], False)])
def test_annotations_in_github_actions(
    options: list[str],
    annotated: bool,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    invoke(["check", "-C", str(repository), *options])
    shown = capsys.readouterr().out
    assert "error[MOD002]" in shown
    assert ("::error " in shown) == annotated


def test_levels(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["check", "-C", str(example)])
    assert "(levels intent, inventory)" in capsys.readouterr().err
    invoke(["check", "--level", "intent", "-C", str(example)])
    assert "(level intent)" in capsys.readouterr().err
    shutil.rmtree(example / "catalog" / "inventory")
    for file in (example / "catalog").rglob("*.yaml"):
        kept = [
            line for line in file.read_text().split("\n") if not line.startswith("  inventory:")
        ]
        file.write_text("\n".join(kept))
    assert invoke(["check", "--level", "inventory", "-C", str(example)]) == 3
    assert "no recorded ResourceSlices" in capsys.readouterr().err


@pytest.fixture
def waived(repository: Path) -> Path:
    """The repository with nothing but a warning that a comment waives."""
    (repository / "tenants" / "wrong.yaml").unlink()
    (repository / "tenants" / "void.yaml").write_text(f"{WAIVER.replace('allow', 'allow-file')}\n")
    return repository


@pytest.mark.parametrize(
    ("today", "code", "shown"),
    [
        ("2027-01-31", 0, "no findings, 1 waived"),
        ("2027-02-01", 1, "2 warnings in"),
    ],
)
def test_waivers(
    today: str, code: int, shown: str, waived: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--fail-on", "warning", "--today", today, "-C", str(waived)]
    assert invoke(["check", *options]) == code
    assert shown in capsys.readouterr().err
    invoke(["check", "--format", "json", *options])
    (first, *_) = json.loads(capsys.readouterr().out)["findings"]
    kept = {"until": "2027-01-31", "reason": "it is being written"}
    assert first["waived"] == (None if code else kept)


def test_waived_findings_are_told_on_demand(
    waived: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--today", "2027-01-31", "-q", "-C", str(waived)]
    assert invoke(["check", *arguments]) == 0
    assert capsys.readouterr() == ("", "")
    assert invoke(["check", "-v", *arguments]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(
        "waived SRC015 at tenants/void.yaml:1:1 until 2027-01-31: it is being"
    )


def test_without_a_day_a_waiver_holds_and_that_is_said(
    waived: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(waived.parent))
    assert invoke(["check", "--fail-on", "unknown", "-C", str(waived)]) == 1
    shown = capsys.readouterr()
    assert "unknown[MOD025]" in shown.out
    assert "1 unknown, 1 waived in" in shown.err
    assert invoke(["check", "-C", str(waived)]) == 0


def test_waived_errors_do_not_keep_compile_from_writing(
    example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = example / "tenants" / "search.yaml"
    line = "requests: [{name: gpu, entitlement: gpu, count: 4}]"
    whole = line.replace("4", "12")
    tenant.write_text(tenant.read_text().replace(line, whole))
    assert invoke(["compile", "--today", "2027-01-01", "-C", str(example)]) == 1
    assert "error[CAP004]" in capsys.readouterr().out
    allowed = f"{whole}  # dracfg: allow CAP004 until 2027-01-31 because the limit follows"
    tenant.write_text(tenant.read_text().replace(whole, allowed))
    assert invoke(["compile", "--today", "2027-01-01", "-C", str(example)]) == 0
    assert "compiled " in capsys.readouterr().err
