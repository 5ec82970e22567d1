"""Completion in the shells themselves, from a repository and from none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dracfg.cli.completion import SHELLS
from dracfg.cli.main import COMMANDS, invoke
from dracfg.diagnostics.registry import rules

TENANT = """\
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
spec: {profiles: [{name: train-x1}, {name: train-x8}, {nam: slip}]}
"""
CLUSTER = "kind: Cluster\nmetadata: {name: prod-east}\n---\nkind: Cluster\nmetadata: [\n"
ROLLOUT = "spec: {}\nkind: Rollout\nmetadata: {name: a100-to-dra}\n"

BASH = """
source <(dracfg completion bash)
COMP_WORDS=({words} {last!r}); COMP_CWORD={at}; _dracfg_completion dracfg
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ : }}
_describe() {{ print -rl -- ${{(P)3}} }}
compadd() {{ print -rl -- ${{(P)5}} }}
source <(dracfg completion zsh)
words=({words} {last!r}); CURRENT={at}+1; _dracfg_completion
"""
FISH = "source (dracfg completion fish | psub); complete -C '{words} {last}'"
SCRIPTS = {"bash": (BASH, ["--norc"]), "zsh": (ZSH, ["-f"]), "fish": (FISH, ["--no-config"])}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "tenants").mkdir()
    (tmp_path / "catalog/clusters.yaml").write_text(CLUSTER)
    (tmp_path / "catalog/rollouts.yml").write_text(ROLLOUT)
    (tmp_path / "tenants/vision.yaml").write_text(TENANT)
    return tmp_path


def offered(shell: str, root: Path, words: str, last: str) -> list[str]:
    """What a shell offers for the last word, without what stands beside it."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script, arguments = SCRIPTS[shell]
    text = script.format(words=words, last=last, at=len(words.split()))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(root), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [shell, *arguments, "-c", text],
        cwd=root, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not done.stderr
    lines = done.stdout.splitlines()
    separator = ":" if shell == "zsh" else "\t"
    return [line.split(separator)[0] for line in lines if line]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("words", "last", "found"),
    [
        ("dracfg", "co", ["compile", "completion"]),
        ("dracfg compile", "--cl", ["--cluster"]),
        ("dracfg compile --cluster", "prod", ["prod-east"]),
        ("dracfg place", "vision/", ["vision/train-x1", "vision/train-x8"]),
        ("dracfg show", "cl", ["cluster/prod-east"]),
        (
            "dracfg check --select",
            "CAP001,SHR00",
            [f"CAP001,{code}" for code in rules() if code.startswith("SHR00")],
        ),
        ("dracfg rollout status", "", ["a100-to-dra"]),
        ("dracfg explain", "CAP00", [code for code in rules() if code.startswith("CAP00")]),
        ("dracfg explain", "Tenant.spec.namespaces.sh", ["Tenant.spec.namespaces.share"]),
        ("dracfg compile -C nowhere --cluster", "", []),
    ],
)
def test_words(shell: str, words: str, last: str, found: list[str], root: Path) -> None:
    assert offered(shell, root, words, last) == found


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command(shell: str, root: Path) -> None:
    assert set(offered(shell, root, "dracfg", "")) == set(COMMANDS)


def test_help_beside_a_word_in_fish(root: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    text = FISH.format(words="dracfg", last="comple")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", text],
        env={"PATH": path, "HOME": str(root)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"completion\t{COMMANDS['completion']}\n"


def test_faults_are_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_DRACFG_COMPLETE", "bash_complete")
    monkeypatch.delenv("COMP_WORDS", raising=False)
    assert invoke([]) == 4
    assert capsys.readouterr() == ("", "")


def test_commands_are_offered_without_an_import_of_any() -> None:
    environment = {**os.environ, "_DRACFG_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "dracfg"],
        env={**environment, "COMP_WORDS": "dracfg c"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "plain,check\n" in done.stdout
    assert "dracfg.cli.check" not in done.stderr


def test_another_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["completion", "tcsh"]) == 3
    assert "bash" in capsys.readouterr().err
