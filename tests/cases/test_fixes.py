"""Each kind of fix that a finding can carry: once it is made, the finding is gone."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from dracfg.cli.main import invoke
from dracfg.diagnostics import Diagnostic
from dracfg.pipeline import judge
from dracfg.source.edits import Edit, edit_file

CASES = Path(__file__).parent


def _cases() -> ModuleType:
    """The module that builds cases; suites are no package."""
    spec = importlib.util.spec_from_file_location("cases", CASES / "test_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASE = _cases()
SAFE = {
    "MOD006": "mod/unquoted-minor",
    "SEL001": "sel/cel-types",
    "SEL003": "sel/another-type",
    "SEL015": "sel/two-spellings",
    "SRC006": "src/merge-key",
}
"""Code → a case with a fix that `check --fix` makes."""
OTHERS = {
    "CAP006": "cap/plural-alternative",
    "MOD003": "mod/unknown-kind",
    "MOD004": "src/crlf",
    "OWN008": "own/no-such-owner",
    "REF001": "ref/stage-that-is-none",
    "REF003": "ref/unknown-preset",
    "REF005": "ref/inside-a-tenant",
    "SEL002": "sel/cel-names",
    "SEL005": "sel/dropped-by-a-release",
    "SEL006": "sel/cel-refused",
    "SEL011": "sel/cel-names",
    "SEL012": "sel/cel-names",
    "SEL017": "sel/cel-names",
    "SHR001": "shr/size-outside-its-bounds",
    "SHR002": "shr/unknown-size",
    "SHR004": "shr/rounded-by-the-driver",
    "SHR008": "shr/max-shares",
    "SHR011": "shr/sized-by-nothing",
    "SHR016": "shr/impossible-reclaim",
    "TEN056": "ten/priority-not-there",
}
"""Code → a case with a fix that is left to a person unless `--unsafe-fixes` is given."""


def build(root: Path, case: str) -> None:
    CASE.build(CASE.read(CASES / f"{case}.yaml"), root)


def fixable(root: Path, code: str) -> list[Diagnostic]:
    return [one for one in judge(root).findings if one.code == code and one.fix is not None]


@pytest.mark.parametrize(("code", "case"), [*SAFE.items(), *OTHERS.items()])
def test_a_fix_mends(code: str, case: str, tmp_path: Path) -> None:
    build(tmp_path, case)
    before = judge(tmp_path)
    found = [one for one in before.findings if one.code == code and one.fix is not None]
    assert found
    for finding in found:
        assert finding.has_safe_fix == (code in SAFE)
    for mended in found:
        assert mended.span is not None
        assert mended.fix is not None
        file = before.sources.files[mended.span.path]
        edited = edit_file(tmp_path, file, [Edit(mended.span, mended.fix)])
        if edited.made:
            break
    assert edited.made
    (tmp_path / file.path).write_bytes(edited.data)
    same = {(one.code, one.message) for one in fixable(tmp_path, code)}
    assert (mended.code, mended.message) not in same


@pytest.mark.parametrize(("code", "case"), SAFE.items())
def test_check_makes_safe_fixes_once(
    code: str, case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path, case)
    invoke(["check", "--fix", "-C", str(tmp_path)])
    assert "fixed " in capsys.readouterr().err
    assert not [one for one in fixable(tmp_path, code) if one.has_safe_fix]
    after = {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")}
    invoke(["check", "--fix", "-C", str(tmp_path)])
    assert "0 edits made" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")} == after


def test_others_are_made_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path, "ten/priority-not-there")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")}
    invoke(["check", "--fix", "-C", str(tmp_path)])
    assert "0 edits made; 1 fix left to you" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")} == before
    invoke(["check", "--fix", "--unsafe-fixes", "-C", str(tmp_path)])
    assert "1 edit made\n" in capsys.readouterr().err
    assert fixable(tmp_path, "TEN056") == []


def test_everything_else_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path, "mod/unquoted-minor")
    file = tmp_path / "catalog" / "clusters.yaml"
    text = f"# a comment\r\n{file.read_text()}".replace(": 1.34\n", ":   1.34   # why\r\n")
    file.write_bytes(text.encode())
    file.chmod(0o640)
    invoke(["check", "--fix", "-C", str(tmp_path)])
    assert '1.34 -> "1.34"' in capsys.readouterr().err
    assert file.read_bytes() == text.replace(":   1.34 ", ':   "1.34" ').encode()
    assert file.stat().st_mode & 0o777 == 0o640


def test_selection_bounds_what_is_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(tmp_path, "mod/unquoted-minor")
    invoke(["check", "--fix", "--ignore", "MOD", "-C", str(tmp_path)])
    assert "0 edits made" in capsys.readouterr().err
