"""`dracfg test`: exit codes, formats, and that a wrong expectation fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from dracfg.cli.main import invoke

pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel here")

ROOT = Path(__file__).parents[3]
FILES = ("classes", "quota")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with a part of its tests."""
    root = tmp_path_factory.mktemp("example")
    for name in ("catalog", "tenants"):
        shutil.copytree(ROOT / name, root / name)
    folder = root / "tests" / "policy"
    folder.mkdir(parents=True)
    for name in FILES:
        shutil.copy(ROOT / "tests" / "policy" / f"{name}.yaml", folder)
    return root


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = invoke(["test", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_json(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "-C", str(repository), "--format", "json")
    report: dict[str, Any] = json.loads(out)
    assert (code, report["kind"], report["verdict"]) == (0, "TestReport", "proven")
    assert report["schemaVersion"] == 1
    assert "0 failed" in err
    for result in report["results"]:
        assert result["passed"]
        wanted = {"name", "passed", "expected", "actual", "rule", "message"}
        assert wanted <= result.keys()
    rules = {result["rule"] for result in report["results"]}
    assert {"TEN003", "QUOTA", None} <= rules


def test_a_flipped_expectation_fails(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (repository / "tests" / "policy" / "classes.yaml").read_text()
    flipped = tmp_path / "flipped.yaml"
    flipped.write_text(text.replace("expect: deny", "expect: allow"))
    code, out, _ = run(capsys, "-C", str(repository), str(flipped))
    assert code == 1
    assert "FAIL  vision-may-not-have-slices" in out
    assert "expected allow, was deny" in out


def test_the_table_and_what_is_not_covered(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repository / "tests" / "policy" / "classes.yaml"
    code, out, _ = run(capsys, "-C", str(repository), "--coverage", str(path))
    assert code == 0
    assert "ok  vision-may-not-have-slices" in out
    assert "dracfg-taint-rules, validation 0" in out
    assert "no denial and no allowance tested" in out
    assert "dracfg-claims, validation 1 " not in out


def test_files_of_other_formats(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    xml, data = tmp_path / "out" / "junit.xml", tmp_path / "results.json"
    options = ("-o", f"junit={xml}", "-o", f"json={data}", "-q")
    code, _, err = run(capsys, "-C", str(repository), *options)
    assert (code, err) == (0, "")
    names = [case.attrib["name"] for case in ElementTree.parse(xml).iter("testcase")]
    assert sorted(names) == sorted(
        result["name"] for result in json.loads(data.read_text())["results"]
    )


@pytest.mark.parametrize("option", ["junit", "xml=a", "=a", "json="])
def test_wrong_use(repository: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "-C", str(repository), "-o", option)[0] == 3


def test_no_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "-C", str(tmp_path))[0] == 3


def test_a_fault_of_a_file_is_a_finding(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text(
        "apiVersion: dracfg.dev/v1alpha1\nkind: PolicyTest\nmetadata: {name: a}\n"
        "spec: {cluster: prod-esat, user: a, operation: CREATE, expect: allow,\n"
        "  object: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}}\n"
    )
    code, out, _ = run(capsys, "-C", str(repository), str(broken))
    assert code == 1
    assert "error[REF001]: there is no Cluster prod-esat" in out
    assert "did you mean prod-east?" in out


def test_export(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, _ = run(capsys, "-C", str(repository), "--export-kyverno", str(tmp_path / "k"))
    assert code == 0
    tests = sorted((tmp_path / "k").rglob("kyverno-test.yaml"))
    assert tests
    for path in tests:
        test = yaml.safe_load(path.read_text())
        assert (test["apiVersion"], test["kind"]) == ("cli.kyverno.io/v1alpha1", "Test")
        named = [*test["policies"], *test["resources"], test["variables"], test["userinfo"]]
        assert all((path.parent / name).is_file() for name in named)
    assert (tmp_path / "k" / "README.md").is_file()
