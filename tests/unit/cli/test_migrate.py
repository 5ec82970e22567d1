"""`dracfg migrate workload`: diffs, files, documents and exit codes."""

import json
import shutil
from pathlib import Path

import pytest

from dracfg.cli.main import invoke

LAB = Path(__file__).parents[2] / "data" / "workloads" / "lab"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team}
spec:
  automountServiceAccountToken: false
  containers:
  - name: main
    resources:
      limits:
        nvidia.com/gpu: COUNT
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRACFG_ROOT", str(LAB))


def write(name: str, count: int) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(POD.replace("COUNT", str(count)))
    return path


def run(*arguments: str) -> int:
    return invoke(["migrate", "workload", *arguments])


def test_a_diff_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("w.yaml", 2)
    before = path.read_text()
    assert run("w.yaml") == 0
    out, err = capsys.readouterr()
    assert out.startswith("--- a/w.yaml\n+++ b/w.yaml\n@@ ")
    assert "+    resourceClaimTemplateName: gpu-x2 # dracfg: added\n" in out
    assert err.endswith("1 file to rewrite; 1 note\n")
    assert "note[ROL055]" in err
    assert path.read_text() == before


def test_files_in_place_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("jobs/w.yaml", 2)
    path.chmod(0o640)
    before = path.read_bytes()
    assert run("jobs", "--in-place") == 0
    out, err = capsys.readouterr()
    assert (out, "1 file rewritten" in err) == ("", True)
    assert b"gpu-x2" in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in path.parent.iterdir()] == ["w.yaml"]
    assert run("jobs", "--reverse", "--in-place") == 0
    assert path.read_bytes() == before


def test_reverse_needs_no_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write("w.yaml", 2)
    run("w.yaml", "--in-place")
    monkeypatch.setenv("DRACFG_ROOT", str(tmp_path))
    assert run("w.yaml", "--in-place") == 3
    assert run("w.yaml", "--reverse", "--in-place") == 0


def test_an_error_keeps_its_file_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = write("a.yaml", 2), write("b.yaml", 3)
    kept = bad.read_bytes()
    assert run("a.yaml", "b.yaml", "--in-place") == 1
    assert b"gpu-x2" in good.read_bytes()
    assert bad.read_bytes() == kept
    err = capsys.readouterr().err
    assert "error[ROL040]" in err
    assert "1 file rewritten, 1 file left as before" in err


def test_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    write("w.yaml", 2)
    assert run("w.yaml", "--format", "json", "-o", "sarif=w.sarif") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["verdict"], document["written"]) == (
        "MigrationReport",
        "proven",
        False,
    )
    (file,) = document["files"]
    assert (file["file"], file["outcome"]) == ("w.yaml", "rewritten")
    assert file["diff"].startswith("--- a/w.yaml")
    assert file["pods"] == [
        {
            "object": "Pod/p",
            "namespace": "team",
            "path": "/spec",
            "containers": [
                {
                    "container": "main",
                    "removed": ["nvidia.com/gpu"],
                    "claims": [
                        {"name": "gpu", "template": "gpu-x2", "profile": "gpu-x2", "beside": None}
                    ],
                }
            ],
        }
    ]
    assert [one["code"] for one in document["findings"]] == ["ROL055"]
    assert json.loads(Path("w.sarif").read_text())["runs"][0]["results"]


def test_a_profile_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    write("w.yaml", 3)
    assert run("w.yaml", "--profile", "gpu-x4") == 0
    assert "gpu-x4" in capsys.readouterr().out


def test_bump_leaves_current_names(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("w.yaml", 2)
    run("w.yaml", "--in-place")
    capsys.readouterr()
    before = path.read_bytes()
    assert run("w.yaml", "--bump", "--in-place") == 0
    assert path.read_bytes() == before
    assert "1 file without a change" in capsys.readouterr().err


def test_bump_names_the_current_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("w.yaml", 2)
    before = path.read_bytes()
    run("w.yaml", "--in-place")
    shutil.copytree(LAB, tmp_path / "lab")
    tenants = tmp_path / "lab" / "tenants" / "team.yaml"
    tenants.write_text(
        tenants.read_text().replace(
            "    - name: gpu-x2\n", "    - name: gpu-x2\n      revision: 3\n"
        )
    )
    monkeypatch.setenv("DRACFG_ROOT", str(tmp_path / "lab"))
    assert run("w.yaml", "--bump", "--in-place") == 0
    assert b"resourceClaimTemplateName: gpu-x2-v3 # dracfg: added" in path.read_bytes()
    assert run("w.yaml", "--reverse", "--in-place") == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ("absent.yaml",),
        ("w.yaml", "--reverse", "--bump"),
        ("w.yaml", "--tenant", "teem"),
        ("w.yaml", "--profile", "gpu-x3"),
        ("w.yaml", "--cluster", "nowhere"),
        ("empty",),
    ],
)
def test_wrong_use(wrong: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    write("w.yaml", 2)
    Path("empty").mkdir()
    assert run(*wrong) == 3
    assert capsys.readouterr().out == ""


def test_a_patch_for_what_is_not_edited(capsys: pytest.CaptureFixture[str]) -> None:
    write("k/w.yaml", 2)
    Path("k/kustomization.yaml").write_text("resources: [w.yaml]\n")
    assert run("k/kustomization.yaml") == 0
    out, err = capsys.readouterr()
    assert out.startswith("patches:\n- target:\n    version: v1\n    kind: Pod\n    name: p\n")
    assert "warning[ROL059]" in err
    assert run("k/kustomization.yaml", "--fail-on", "warning") == 1


def test_bytes_that_are_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    Path("w.yaml").write_bytes(b"\xff\xfe")
    assert run("w.yaml") == 1
    assert run("w.yaml", "--reverse") == 1
    assert run("w.yaml", "--bump") == 1
    assert "error[SRC003]" in capsys.readouterr().err
