"""The commands that README and docs show do what they say, in an empty folder."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"^make ([\w-]+)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)\)")


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda p: p.name)
def test_console_blocks_run(page: Path, tmp_path: Path) -> None:
    here = tmp_path
    for block in blocks(page):
        for line in block.splitlines():
            if not line.startswith("$ "):
                continue
            command = shlex.split(line[2:])
            if command[0] == "cd":
                here = here / command[1]
                continue
            assert command[0] == "dracfg", line
            done = subprocess.run(
                [sys.executable, "-m", *command],
                cwd=here,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_make_targets_exist() -> None:
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        assert set(TARGET.findall(page.read_text(encoding="utf-8"))) <= known, page.name


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:")):
            assert os.path.lexists(page.parent / target), target


def test_the_finding_shown_is_what_dracfg_says(tmp_path: Path) -> None:
    """README's example of a mistake, made in a new repository."""
    run = [sys.executable, "-m", "dracfg"]
    subprocess.run([*run, "init", str(tmp_path)], check=True, capture_output=True)
    pools = tmp_path / "catalog" / "pools.yaml"
    text = pools.read_text(encoding="utf-8")
    pools.write_text(text.replace("[whole]", "[whole, memory-slice]", 1))
    policy = tmp_path / "catalog" / "policies.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    done = subprocess.run(
        [*run, "check", "-q", "-C", str(tmp_path)], capture_output=True, text=True, check=False
    )
    shown = re.search(r"^(error\[REF001\].*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    assert shown is not None
    assert shown.group(1).strip() in done.stdout


POLICY = """\
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: memory-slices}
spec:
  mode: consumable
  capacity: {memory: {min: 5Gi, max: 40Gi}}
  tenancy: sameTenant
  sizes: [5Gi]
"""
