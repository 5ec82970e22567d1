"""Where colour and links go, and where they don't."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dracfg.cli import hyperlinks, output
from dracfg.cli.hyperlinks import span_address, terminal_links, wants_links
from dracfg.cli.main import invoke
from dracfg.cli.output import wants_colour
from dracfg.diagnostics import Span

VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM", "FORCE_HYPERLINK")
TENANT = "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: vision}\nspec: 1\n"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("choice", "environment", "is_terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, True, False),
        ("auto", {"CLICOLOR_FORCE": "1"}, False, True),
        ("auto", {"CLICOLOR": "0"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
    ],
)
def test_colour(
    choice: str,
    environment: dict[str, str],
    is_terminal: bool,
    wanted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stdout = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: is_terminal))
    monkeypatch.setattr(output, "sys", stdout)
    assert wants_colour(choice) is wanted


@pytest.mark.parametrize(
    ("colour", "environment", "is_terminal", "wanted"),
    [
        ("auto", {"TERM_PROGRAM": "vscode"}, True, True),
        ("auto", {"TERM_PROGRAM": "vscode"}, False, False),
        ("always", {"TERM_PROGRAM": "vscode"}, False, False),
        ("never", {"TERM_PROGRAM": "vscode"}, True, False),
        ("auto", {"TERM": "xterm-kitty"}, True, True),
        ("auto", {"TERM": "xterm-256color"}, True, False),
        ("auto", {"VTE_VERSION": "7200"}, True, True),
        ("auto", {"VTE_VERSION": "5000"}, True, False),
        ("auto", {"VTE_VERSION": "new"}, True, False),
        ("auto", {"KONSOLE_VERSION": "230804"}, True, True),
        ("auto", {"KONSOLE_VERSION": "230804", "CI": "true"}, True, False),
        ("auto", {"KONSOLE_VERSION": "230804", "FORCE_HYPERLINK": "0"}, True, False),
        ("auto", {"FORCE_HYPERLINK": "1"}, False, True),
        ("never", {"FORCE_HYPERLINK": "1"}, False, False),
    ],
)
def test_links(colour: str, environment: dict[str, str], is_terminal: bool, wanted: bool) -> None:
    assert wants_links(colour, environment, is_terminal=is_terminal) is wanted


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        hyperlinks, "os", SimpleNamespace(uname=lambda: SimpleNamespace(nodename="desk"))
    )
    span = Span("a b/\u00fc\x1b.yaml", 3, 7)
    assert span_address(span, tmp_path) == f"file://desk{tmp_path}/a%20b/%C3%BC%1B.yaml"
    form = "vscode://file{path}:{line}:{column}"
    assert (
        span_address(Span("a.yaml", 3, 7), tmp_path, form) == f"vscode://file{tmp_path}/a.yaml:3:7"
    )


def test_the_page_of_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    address = terminal_links("auto", Path()).of_rule("SHR004")
    assert address is not None
    assert address.endswith("/dracfg/diagnostics/pages/SHR004.md")
    assert terminal_links("auto", Path()).of_rule("XXX000") is None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "tenants").mkdir()
    (tmp_path / "tenants/vision.yaml").write_text(TENANT)
    return tmp_path


def test_a_run_with_links(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    other = root / "found.txt"
    assert invoke(["check", "-C", str(root), "-o", f"text={other}"]) == 1
    shown = capsys.readouterr().out
    assert "/tenants/vision.yaml\x1b\\tenants/vision.yaml:4:7\x1b]8;;\x1b\\" in shown
    assert "\x1b" not in other.read_text()
    assert invoke(["check", "-C", str(root), "--format", "concise"]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_colour_that_is_asked_for_is_not_taken_away(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not sys.stdout.isatty()
    assert invoke(["check", "-C", str(root), "--color", "always"]) == 1
    assert "\x1b[1;31merror[" in capsys.readouterr().out
    assert invoke(["check", "-C", str(root)]) == 1
    assert "\x1b" not in capsys.readouterr().out
