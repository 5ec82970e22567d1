"""`dracfg import cluster`: what it prints and writes, where it refuses, and that it overwrites nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.cli.main import invoke

DATA = Path(__file__).parents[2] / "data" / "legacy"
FLEET = [str(path) for path in sorted((DATA / "fleet").glob("*.yaml"))]


def files_in(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_a_draft_that_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "draft"
    assert invoke(["import", "cluster", *FLEET, "--out", str(out), "--cluster", "prod"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [
        "stay  vpc.amazonaws.com/efa on vpc-efa",
        "move  nvidia.com/gpu on nvidia-h100-80gb-hbm3",
        "stay  nvidia.com/gpu on tesla-t4",
    ]
    assert "DECISIONS.md" in shown.err
    assert set(files_in(out)) == {
        "DECISIONS.md",
        *(f"catalog/{name}.yaml" for name in
          ("clusters", "drivers", "policies", "pools", "rollouts", "tiers")),
        "tenants/research.yaml",
        "tenants/serving.yaml",
    }  # fmt: skip
    assert invoke(["check", "-C", str(out), "-q"]) == 0
    assert invoke(["compile", "-C", str(out), "-q"]) == 0


def test_a_record_of_nothing_is_a_cluster(tmp_path: Path) -> None:
    dump = tmp_path / "namespaces.yaml"
    dump.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n", encoding="utf-8")
    out = tmp_path / "draft"
    assert invoke(["import", "cluster", str(dump), "-o", str(out)]) == 0
    assert set(files_in(out)) == {"DECISIONS.md", "catalog/clusters.yaml"}
    assert invoke(["check", "-C", str(out), "-q"]) == 0


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "notes.txt"
    kept.write_text("mine", encoding="utf-8")
    assert invoke(["import", "cluster", *FLEET, "-o", str(tmp_path)]) == 3
    assert "is not empty: notes.txt" in capsys.readouterr().err
    assert files_in(tmp_path) == {"notes.txt": b"mine"}


def test_a_new_git_repository_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert invoke(["import", "cluster", *FLEET, "-o", str(tmp_path)]) == 0


def test_what_is_wrong_with_a_dump_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = tmp_path / "dump.yaml"
    dump.write_text("a: 1\n---\nkind: [\n", encoding="utf-8")
    assert invoke(["import", "cluster", str(dump), "-o", str(tmp_path / "draft")]) == 0
    assert f"{dump.as_posix()}:1:1: what stands here has no kind" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name at least one DUMP"),
        (["--live"], "--live needs a --kubeconfig"),
        (["--live", "--kubeconfig", "none", FLEET[0]], "leave the dumps out"),
        (["--live", "--kubeconfig", "none"], "there is no such file"),
        (["no-such-file.yaml"], "does not exist"),
    ],
)
def test_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    out = tmp_path / "draft"
    assert invoke(["import", "cluster", *arguments, "-o", str(out)]) == 3
    assert says in capsys.readouterr().err
    assert not out.exists()
