"""Each small repository of docs/examples compiles, is free of findings, and asks nothing that stays open."""

import json
import shutil
from pathlib import Path

import pytest

from dracfg.cli.main import invoke
from tests.docs.blocks import ROOT

FOLDERS = sorted(folder for folder in (ROOT / "docs" / "examples").iterdir() if folder.is_dir())


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return shutil.copytree(request.param, tmp_path / request.param.name)


def test_it_checks_clean(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["check", "-C", str(example), "--format", "json", "--no-cache"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [one for one in report["findings"] if one["severity"] != "note"] == []
    assert report["verdict"] == "proven"


def test_it_compiles_and_stays(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["compile", "-q", "-C", str(example), "--no-cache"]) == 0
    assert invoke(["compile", "-q", "--check", "-C", str(example), "--no-cache"]) == 0
    assert (example / "out" / "prod" / "platform" / "device-classes.yaml").is_file()
    capsys.readouterr()


def test_it_is_written_in_the_canonical_form(example: Path) -> None:
    assert invoke(["fmt", "--check", "-q", "-C", str(example)]) == 0


def test_schemas_of_editors_are_where_the_files_say(example: Path) -> None:
    here = ROOT / "docs" / "examples" / example.name
    for file in sorted(here.rglob("*.yaml")):
        first = file.read_text(encoding="utf-8").splitlines()[0]
        if "$schema=" in first:
            assert (file.parent / first.partition("$schema=")[2]).is_file(), file


def test_examples_are_listed() -> None:
    text = (ROOT / "docs" / "examples" / "README.md").read_text(encoding="utf-8")
    assert FOLDERS
    for folder in FOLDERS:
        assert f"({folder.name}/README.md)" in text
        assert not (folder / "out").exists()
