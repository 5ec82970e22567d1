"""The manual page: whole, and sound to those who read such pages."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from dracfg.cli.exits import MEANINGS
from dracfg.cli.main import COMMANDS, invoke, main


@pytest.fixture
def page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert invoke(["man"]) == 0
    path = tmp_path / "dracfg.1"
    path.write_text(capsys.readouterr().out)
    return path


def test_every_command_and_code_is_in_it(page: Path) -> None:
    text = page.read_text()
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert isinstance(command, click.Command)
        inner = [*command.commands] if isinstance(command, click.Group) else [""]
        assert all(f'.SS "dracfg {f"{name} {one}".strip()}' in text for one in inner)
    assert all(f".B {code}\n" in text for code in MEANINGS)
    assert "[DRACFG_ROOT]" in text
    assert "\n.B \\-C, \\-\\-root DIRECTORY\n" in text


def test_man_finds_no_fault(page: Path) -> None:
    if shutil.which("man") is None or shutil.which("groff") is None:
        pytest.skip("man or groff is not installed")
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", str(page)],
        env={**os.environ, "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MANWIDTH": "80"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not done.stderr
    shown = re.sub(".\b", "", done.stdout)
    assert "dracfg compile [OPTIONS]" in shown
    assert '"${fpath[1]}/_dracfg"' in shown


def test_mandoc_finds_no_fault(page: Path) -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-Tlint", str(page)], capture_output=True, text=True)
    found = [line for line in done.stdout.splitlines() if "STYLE" not in line]
    # A date would change the page with the day that it is made on.
    assert [line for line in found if "missing date" not in line] == []
