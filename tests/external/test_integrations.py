"""What teams copy in: the GitHub action, the GitLab job, hooks, Argo CD's plugin and the image.

Their scripts run here against a local git repository, with a `gh` and a GitLab that only write down what
they are asked.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
BIN = Path(sys.executable).parent

pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None or shutil.which("git") is None, reason="needs bash and git"
)


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone of a repository from `dracfg init`, on a branch that freezes a tenant."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    dracfg("init", str(origin), "--ci", "none")
    dracfg("compile", cwd=origin)
    git(origin, "init", "-q")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "base")
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    git(clone, "checkout", "-qb", "change")
    file = clone / "tenants" / "sandbox.yaml"
    file.write_text(file.read_text().replace("state: active", "state: frozen"))
    dracfg("compile", cwd=clone)
    git(clone, "commit", "-qam", "freeze")
    return clone


def dracfg(*arguments: str, cwd: Path | None = None) -> None:
    subprocess.run(
        [sys.executable, "-m", "dracfg", *arguments], cwd=cwd, check=True, capture_output=True
    )


class Job:
    """Runs the steps of a composite action that are scripts, as a runner would."""

    def __init__(self, folder: Path, here: Path, **inputs: str) -> None:
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())
        self.folder, self.here = folder, here
        self.inputs = {
            name: str(one.get("default", "")) for name, one in self.action["inputs"].items()
        } | inputs
        self.outputs: dict[str, dict[str, str]] = {}
        self.summary = here / "summary.md"
        self.log = here / "gh.log"
        tools = here / "bin"
        tools.mkdir()
        (tools / "gh").write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$*" >> {self.log}\n'
            'case "$GH_FOUND$*" in [0-9]*--jq*) echo "$GH_FOUND";; esac\n'
        )
        (tools / "gh").chmod(0o755)
        self.path = f"{tools}:{BIN}:{os.environ['PATH']}"

    def value(self, text: str) -> str:
        return EXPRESSION.sub(lambda match: self.known(match[1]), text)

    def known(self, expression: str) -> str:
        if expression.startswith("inputs."):
            return self.inputs[expression.removeprefix("inputs.")]
        if expression.startswith("steps."):
            _, step, _, name = expression.split(".")
            return self.outputs[step].get(name, "")
        return {
            "github.action_path": str(ROOT),
            "github.base_ref": "main",
            "github.server_url": "https://git.example.com",
            "github.repository": "o/r",
            "github.event.pull_request.head.sha || github.sha": "abc",
            "github.event.pull_request.number": "7",
            "github.run_id": "1",
            "github.token": "t",
        }[expression]

    def run(self, *names: str, **environment: str) -> int:
        code = 0
        for step in self.action["runs"]["steps"]:
            if step.get("name") in names:
                code = self.step(step, environment)
                if code:
                    return code
        return code

    def step(self, step: dict[str, Any], environment: dict[str, str]) -> int:
        output = self.here / f"output-{step['name']}"
        output.touch()
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={
                "PATH": self.path,
                "HOME": str(self.here),
                "RUNNER_TEMP": str(self.here),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                **{name: self.value(text) for name, text in step.get("env", {}).items()},
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        print(done.stdout, done.stderr)
        pairs = (line.split("=", 1) for line in output.read_text().splitlines())
        self.outputs[step.get("id", step["name"])] = dict(pairs)
        return done.returncode


STEPS = ("check", "diff", "comment", "verdict")


def test_the_action_tells_a_pull_request(repository: Path, tmp_path: Path) -> None:
    job = Job(repository, tmp_path)
    assert job.run(*STEPS) == 0
    assert job.outputs["diff"]["max-impact"] == "restrictive"
    assert "somebody can ask for less" in job.summary.read_text()
    assert json.loads(Path(job.outputs["check"]["sarif"]).read_text())["version"] == "2.1.0"
    assert "https://git.example.com/o/r/blob/abc/tenants/sandbox.yaml" in job.summary.read_text()
    asked = job.log.read_text()
    assert "--method POST repos/o/r/issues/7/comments" in asked
    assert "PATCH" not in asked


def test_the_action_keeps_one_comment(repository: Path, tmp_path: Path) -> None:
    job = Job(repository, tmp_path)
    assert job.run(*STEPS, GH_FOUND="42") == 0
    assert "--method PATCH repos/o/r/issues/comments/42" in job.log.read_text()


def test_the_action_fails_by_impact_after_it_has_told(repository: Path, tmp_path: Path) -> None:
    job = Job(repository, tmp_path, **{"fail-on": "restrictive"})
    assert job.run(*STEPS) == 1
    assert job.outputs["diff"]["code"] == "1"
    assert "POST" in job.log.read_text()


def test_the_action_fails_where_out_is_stale(repository: Path, tmp_path: Path) -> None:
    file = repository / "tenants" / "sandbox.yaml"
    file.write_text(file.read_text().replace("state: frozen", "state: active"))
    job = Job(repository, tmp_path)
    assert job.run(*STEPS) == 1
    assert job.outputs["check"]["stale"] == "1"


def test_no_expression_stands_in_a_script() -> None:
    """What a pull request can choose must not become part of a script."""
    for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]:
        assert not EXPRESSION.search(step.get("run", ""))


class GitLab(BaseHTTPRequestHandler):
    """Two pages of notes; what is written is kept."""

    notes: tuple[list[dict[str, Any]], ...] = ([],)
    written: list[tuple[str, str, str]]

    def do_GET(self) -> None:
        page = int(self.path.rsplit("=", 1)[1])
        more = str(page + 1) if page < len(self.notes) else ""
        self.answer(self.notes[page - 1], more)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.written.append((self.command, self.path, body["body"]))
        self.answer({})

    def do_PUT(self) -> None:
        self.do_POST()

    def answer(self, value: object, page: str = "") -> None:
        self.send_response(200)
        self.send_header("X-Next-Page", page)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def gitlab() -> Iterator[tuple[str, type[GitLab]]]:
    class Server(GitLab):
        written = []  # noqa: RUF012  one list a test

    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/api/v4", Server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("notes", "method", "path"),
    [
        (([], []), "POST", "/api/v4/projects/5/merge_requests/9/notes"),
        (
            (
                [{"id": 1, "body": "hello"}],
                [{"id": 2, "body": "<!-- dracfg:diff:default -->\nold"}],
            ),
            "PUT",
            "/api/v4/projects/5/merge_requests/9/notes/2",
        ),
    ],
)
def test_the_gitlab_job_keeps_one_note(
    repository: Path,
    gitlab: tuple[str, type[GitLab]],
    notes: tuple[list[dict[str, Any]], ...],
    method: str,
    path: str,
) -> None:
    address, server = gitlab
    server.notes = notes
    job = yaml.safe_load((ROOT / "integrations" / "gitlab.yml").read_text())["dracfg"]
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])],
        cwd=repository,
        env={
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(repository.parent),
            "CI_API_V4_URL": address,
            "CI_PROJECT_ID": "5",
            "CI_MERGE_REQUEST_IID": "9",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": "origin/main",
            "CI_PROJECT_URL": "https://git.example.com/o/r",
            "CI_COMMIT_SHA": "abc",
            "CI_JOB_URL": "https://git.example.com/o/r/-/jobs/1",
            "DRACFG_NOTE_TOKEN": "t",
            **job["variables"],
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ((sent, where, body),) = server.written
    assert (sent, where) == (method, path)
    assert "somebody can ask for less" in body
    report = repository / ".dracfg-report"
    assert isinstance(json.loads((report / "code-quality.json").read_text()), list)
    assert (report / "junit.xml").read_text().startswith("<?xml")


def test_the_plugin_writes_one_stream_of_manifests(repository: Path) -> None:
    plugin = yaml.safe_load((ROOT / "integrations" / "argocd-plugin.yaml").read_text())
    generate = plugin["spec"]["generate"]
    done = subprocess.run(
        [*generate["command"], *generate["args"]],
        cwd=repository,
        env={
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(repository.parent),
            "ARGOCD_ENV_DRACFG_UNIT": "prod/platform",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    kinds = {thing["kind"] for thing in yaml.safe_load_all(done.stdout) if thing}
    assert "DeviceClass" in kinds
    assert "Kustomization" not in kinds


def test_hooks_name_commands_that_exist() -> None:
    from dracfg.cli.main import COMMANDS

    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {hook["entry"].split()[1] for hook in hooks} <= set(COMMANDS)
    assert all(hook["language"] == "python" for hook in hooks)


@pytest.mark.skipif(
    "DRACFG_TRY_HOOKS" not in os.environ, reason="builds environments; DRACFG_TRY_HOOKS=1 runs it"
)
@pytest.mark.parametrize("hook", ["dracfg-check", "dracfg-compile"])
def test_hooks_run_in_an_environment_of_their_own(repository: Path, hook: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), hook, "--all-files"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_the_image_runs_as_nobody_in_particular() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert "USER 999" in lines
    assert lines.index("USER 999") < lines.index('ENTRYPOINT ["dracfg"]')
    copied = {line.split()[1] for line in lines if line.startswith("COPY") and "--from" not in line}
    assert all((ROOT / path).exists() for path in copied)
