"""The diff that docs/migrate-workloads.md shows is the one that dracfg prints for the manifest there."""

import re
from pathlib import Path

import pytest

from dracfg.cli.main import invoke
from dracfg.diagnostics.registry import rules

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "migrate-workloads.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_diff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.yaml").write_text(block("yaml"), encoding="utf-8")
    assert invoke(["migrate", "workload", "train.yaml", "-C", str(ROOT)]) == 0
    assert capsys.readouterr().out == block("diff")


def test_every_rule_is_told_of() -> None:
    ours = {code for code in rules() if "ROL040" <= code <= "ROL059"}
    assert ours - set(re.findall(r"ROL0[45]\d", PAGE)) == {"ROL051", "ROL059"}
