"""`dracfg fmt`: what is written, what is only told, and what is left."""

import subprocess
import sys
from pathlib import Path

import pytest

from dracfg.cli import fmt
from dracfg.cli.main import invoke
from dracfg.format import Unformatted
from dracfg.source import SourceFile

GOOD = (
    "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata:\n  name: vision\nspec:\n"
    "  # who\n  state: active\n  namespaces:\n    - {name: a, clusters: [east]}\n"
)
UGLY = (
    "kind: Tenant\napiVersion: dracfg.dev/v1alpha1\nmetadata:\n    name: 'vision'\nspec:\n"
    "    namespaces:\n    - { name: a, clusters: [east] }\n    # who\n    state: active\n"
)
BROKEN = GOOD.replace("name: vision", "names: vision")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("catalog", "tenants", "tests/policy/objects"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tenants/good.yaml").write_text(GOOD)
    (tmp_path / "tenants/ugly.yaml").write_text(UGLY)
    (tmp_path / "tests/policy/objects/pod.yaml").write_text("kind: Pod\napiVersion: v1\n")
    return tmp_path


def run(root: Path, *arguments: str) -> int:
    return invoke(["fmt", "-C", str(root), *arguments])


def test_writing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "tenants/ugly.yaml").chmod(0o640)
    assert run(root) == 0
    shown = capsys.readouterr()
    assert shown.out == "tenants/ugly.yaml\n"
    assert shown.err == "1 file changed, 1 unchanged\n"
    assert (root / "tenants/ugly.yaml").read_text() == GOOD
    assert (root / "tenants/ugly.yaml").stat().st_mode & 0o777 == 0o640
    assert run(root, "--check", "-q") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_looking_writes_nothing(
    option: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, option) == 1
    shown = capsys.readouterr()
    assert shown.err == "1 file would change, 1 unchanged\n"
    assert (root / "tenants/ugly.yaml").read_text() == UGLY
    if option == "--check":
        assert shown.out == "tenants/ugly.yaml\n"
    else:
        assert shown.out.startswith("--- tenants/ugly.yaml\n+++ tenants/ugly.yaml\n@@ ")
        assert "\n+  name: vision\n" in shown.out


def test_named_files(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root / "tenants")
    assert invoke(["fmt", "-C", "..", "good.yaml"]) == 0
    assert capsys.readouterr().err == "0 files changed, 1 unchanged\n"
    assert invoke(["fmt", "-C", "..", "."]) == 0
    assert capsys.readouterr().out == "tenants/ugly.yaml\n"


def test_a_file_that_is_met_twice(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "tenants/link.yaml").symlink_to("ugly.yaml")
    monkeypatch.chdir(root)
    assert invoke(["fmt", "tenants/ugly.yaml", "tenants"]) == 0
    assert capsys.readouterr() == ("tenants/ugly.yaml\n", "1 file changed, 1 unchanged\n")
    assert (root / "tenants/link.yaml").is_symlink()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BROKEN, "error[MOD004]: "),
        ("a: [\n", "error[SRC005]: not YAML"),
        ("\ufffe", "error[SRC003]: character U+FFFE"),
    ],
)
def test_errors_leave_a_file(
    text: str, told: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "tenants/broken.yaml").write_text(text)
    assert run(root) == 1
    shown = capsys.readouterr()
    assert shown.out == "tenants/ugly.yaml\n"
    assert told in shown.err
    assert shown.err.endswith("1 file changed, 1 unchanged, 1 left as they are\n")
    assert (root / "tenants/broken.yaml").read_text() == text


def test_what_has_no_form_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = GOOD.replace("  state: active", "  ? state\n  : active")
    (root / "tenants/odd.yaml").write_text(odd)
    assert run(root) == 1
    assert "left tenants/odd.yaml:7: a key is marked by a question mark" in capsys.readouterr().err
    assert (root / "tenants/odd.yaml").read_text() == odd


def test_line_ends_and_a_mark(root: Path) -> None:
    (root / "tenants/ugly.yaml").write_bytes(UGLY.replace("\n", "\r\n").encode())
    assert run(root) == 0
    assert (root / "tenants/ugly.yaml").read_bytes() == GOOD.encode()


def test_a_file_that_changes_meanwhile(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    format_file = fmt.format_file

    def late(file: SourceFile) -> object:
        (root / file.path).write_text(GOOD.replace("active", "frozen"))
        return format_file(file)

    monkeypatch.setattr(fmt, "format_file", late)
    assert run(root) == 3
    assert "tenants/ugly.yaml changed since it was read" in capsys.readouterr().err
    assert "frozen" in (root / "tenants/ugly.yaml").read_text()


def test_nothing_to_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 3
    assert "no YAML file here" in capsys.readouterr().err


def test_a_form_that_is_not_proven(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fmt, "format_file", lambda file: Unformatted(file, reason="no proof"))
    assert run(root, "--check") == 1
    assert "left tenants/good.yaml:1: no proof\n" in capsys.readouterr().err


def test_a_new_repository_has_the_canonical_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["init", str(tmp_path / "new")]) == 0
    capsys.readouterr()
    assert invoke(["fmt", "--check", "-C", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "shown", "code", "told"),
    [
        (UGLY, GOOD, 0, ""),
        (GOOD, GOOD, 0, ""),
        (BROKEN, BROKEN, 1, "--> stdin:3:1"),
        ("\ufeffa: [\r\n", "\ufeffa: [\r\n", 1, "error[SRC005]"),
    ],
)
def test_stdin(text: str, shown: str, code: int, told: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dracfg", "fmt", "-"],
        input=text.encode(), capture_output=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.decode()) == (code, shown)
    assert told in done.stderr.decode()
    assert bool(told) == bool(done.stderr)
