"""Every command of every page is run, in a folder of its own, or says what it would need for that."""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import click
import pytest
import yaml

from dracfg.cli.main import invoke, main
from dracfg.diagnostics.registry import rules
from dracfg.diff.change import change_kinds
from tests.docs.blocks import ROOT, SHELLS, Block, Command, blocks, commands, is_shown, pages

PROGRAMS = ("dracfg", "git", "cp", "mkdir", "cat", "ls")
NEEDS = {
    "a cluster", "a node", "a Prometheus", "the network", "a code host", "an application", "hours",
}  # fmt: skip
"""What a command may need that a test does not have."""
PAGES = pages()
RUN = [page for page in PAGES if any(block.language == "console" for block in blocks(page))]
INLINE = re.compile(r"`(dracfg [^`]*)`")
READER = {
    "GIT_AUTHOR_NAME": "a reader", "GIT_AUTHOR_EMAIL": "reader@example.com",
    "GIT_COMMITTER_NAME": "a reader", "GIT_COMMITTER_EMAIL": "reader@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_DATE": "2026-11-29T12:00:00Z", "GIT_COMMITTER_DATE": "2026-11-29T12:00:00Z",
    "COLUMNS": "80",
}  # fmt: skip


@pytest.fixture(autouse=True)
def reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings of its own, and a name for commits."""
    for name in [name for name in os.environ if name.startswith("DRACFG_")]:
        monkeypatch.delenv(name)
    for name, value in READER.items():
        monkeypatch.setenv(name, value)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", RUN, ids=named)
def test_a_reader_gets_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    here = tmp_path
    for block in blocks(page):
        if "start" in block.notes:
            here = tmp_path / Path(block.notes["start"]).name
            shutil.copytree(ROOT / block.notes["start"], here)
        elif "file" in block.notes:
            file = here / block.notes["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif "patch" in block.notes:
            patch(block, here)
        elif block.language == "console" and "not run" not in block.notes:
            for command in commands(block):
                here = run(command, here, int(block.notes.get("exit", 0)))


def patch(block: Block, here: Path) -> None:
    done = subprocess.run(
        ["git", "apply", "--unidiff-zero", "-"],
        cwd=here, input=block.text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{block.text}\n{done.stderr}"


def run(command: Command, here: Path, expected: int) -> Path:
    """Runs a command and gives back the folder in which the next one runs."""
    words = shlex.split(command.line)
    if words[0] == "cd":
        return here / words[1]
    assert words[0] in PROGRAMS, command.line
    code, printed = ours(words[1:], here) if words[0] == "dracfg" else other(words, here)
    assert code == expected, f"{command.line}\n{printed}"
    assert is_shown(command.shown, printed), f"{command.line}\n{printed}"
    return here


def ours(arguments: list[str], here: Path) -> tuple[int, str]:
    """A run of dracfg in this process, as most of a short run is its start."""
    printed = io.StringIO()
    with (
        contextlib.chdir(here),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        code = invoke(arguments)
    return code, printed.getvalue()


def other(words: list[str], here: Path) -> tuple[int, str]:
    done = subprocess.run(
        words, cwd=here, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_what_is_not_run_says_why(page: Path) -> None:
    for block in blocks(page):
        if block.language in SHELLS and (block.language != "console" or "not run" in block.notes):
            assert block.notes.get("not run") in NEEDS, f"{named(page)}\n{block.text}"


def test_most_is_run() -> None:
    """What says that it can't be run stays the smaller part, reason by reason a handful."""
    shells = [block for page in PAGES for block in blocks(page) if block.language in SHELLS]
    reasons = Counter(block.notes["not run"] for block in shells if "not run" in block.notes)
    assert reasons.total() * 2 <= len(shells), reasons
    assert max(reasons.values()) <= 9, reasons


def lines(page: Path) -> list[str]:
    """Every line of dracfg's that a page has, in blocks of any kind and in its text."""
    text = page.read_text(encoding="utf-8")
    found = [line.split("|")[0] for line in INLINE.findall(text)]
    for block in blocks(page):
        if block.language in SHELLS:
            found += re.findall(r"^(?:\$ )?(dracfg .*)", block.text, re.MULTILINE)
    return found


@pytest.mark.parametrize(
    "page",
    [
        *PAGES,
        *sorted((ROOT / "docs" / "reference").rglob("*.md")),
        *sorted((ROOT / "dracfg" / "diagnostics" / "pages").glob("*.md")),
    ],
    ids=named,
)
def test_commands_and_options_exist(page: Path) -> None:
    """Also of commands that are named in passing, and in the pages of rules."""
    for line in lines(page):
        words = line.split("#")[0].replace("…", "").replace("[", " ").replace("]", " ").split()[1:]
        command: click.Command = main
        context = click.Context(main)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            name = words.pop(0)
            inner = command.get_command(context, name)
            assert inner is not None, f"{line}: no command {name}"
            command = inner
        known = {
            "--help",
            *(name for one in command.params for name in (*one.opts, *one.secondary_opts)),
        }
        asked = {word.split("=")[0] for word in words if word.startswith("-") and len(word) > 1}
        assert asked <= known, f"{line}: {asked - known}"
        if command.name == "explain" and words:
            explained(words[0])


ELSEWHERE = re.compile(r"^[~/>]|^origin/|^http")
"""A word of an example that names a server, a branch, or a place outside of the folder."""
RECORDED = {"claims": "ResourceClaim", "slices": "ResourceSlice", "pods": "Pod", "nodes": "Node"}
FOUND = ("fmt", "audit", "report", "migrate")
"""Commands whose examples may find something in what they are given, and so end with 1."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, compiled, with the records and manifests that examples name."""
    here = tmp_path_factory.mktemp("example")
    for folder in ("catalog", "tenants", "tests/policy"):
        shutil.copytree(ROOT / folder, here / folder)
    assert invoke(["compile", "-q", "-C", str(here)]) == 0
    dump = yaml.safe_load((ROOT / "tests/golden/audit/prod-east.yaml").read_text(encoding="utf-8"))
    for name, kind in RECORDED.items():
        items = [one for one in dump["items"] if one["kind"] == kind]
        text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
        (here / f"{name}.yaml").write_text(text, encoding="utf-8")
    guide = ROOT / "docs" / "migrate-workloads.md"
    job = next(block.text for block in blocks(guide) if block.language == "yaml")
    (here / "jobs").mkdir()
    for path in ("train.yaml", "workloads.yaml", "jobs/train.yaml"):
        (here / path).write_text(job, encoding="utf-8")
    (here / "jobs.yaml").write_text(CLAIMING, encoding="utf-8")
    (here / "configmaps.yaml").write_text("{kind: List, items: []}\n", encoding="utf-8")
    return here


CLAIMING = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: vision-train}
spec:
  template:
    spec:
      restartPolicy: Never
      resourceClaims: [{name: gpu, resourceClaimTemplateName: train-x1}]
      containers:
        - name: train
          image: registry.example.com/vision/train:7
          resources: {claims: [{name: gpu}]}
"""


def examples_of_help() -> list[str]:
    text = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    return re.findall(r"^Example: `dracfg (.*)`$", text, re.MULTILINE)


def is_elsewhere(example: str) -> bool:
    return any(map(ELSEWHERE.search, example.split()))


@pytest.mark.parametrize("example", [one for one in examples_of_help() if not is_elsewhere(one)])
def test_the_example_of_a_command_runs(example: str, repository: Path, tmp_path: Path) -> None:
    """As --help shows it."""
    here = shutil.copytree(repository, tmp_path / "here")
    code, printed = ours(shlex.split(example), here)
    assert code in ((0, 1) if example.startswith(FOUND) else (0,)), printed


def test_most_examples_run() -> None:
    """The others name a server, a branch, or a node; their words are held to be options that exist."""
    assert sum(map(is_elsewhere, examples_of_help())) * 3 <= len(examples_of_help())


def explained(subject: str) -> None:
    """A code or a kind of change that a page sends its reader to is there."""
    if re.fullmatch(r"[A-Z]{3}\d{3}", subject):
        assert subject in rules()
    elif re.fullmatch(r"[a-z-]+", subject) and subject != "changes":
        assert subject in change_kinds()


def test_make_targets_exist() -> None:
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        asked = re.findall(r"^make ([\w-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(asked) <= known, named(page)


def test_an_output_is_compared_line_by_line() -> None:
    assert is_shown(("a", "...", "d"), "a\nb\nc\nd\n")
    assert is_shown(("...", "d"), "a\nd\n")
    assert is_shown(("a", "..."), "a\nd\n")
    assert is_shown(("… of 3",), "2 of 3\n")
    assert not is_shown(("… of 3",), "2 of 4\n")
    assert not is_shown(("a", "d"), "a\nb\nd\n")
    assert not is_shown(("a", "...", "e"), "a\nb\nd\n")
