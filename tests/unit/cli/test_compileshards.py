"""`dracfg compile --shard` and `--merge`: what they go with, what they tell, and two jobs and a merge."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dracfg.cli.main import invoke
from dracfg.shards import compiling

ROOT = Path(__file__).parents[3]
PARTS = ".cache/dracfg/shards"


def copy_of(target: Path) -> Path:
    for folder in ("catalog", "tenants"):
        shutil.copytree(ROOT / folder, target / folder)
    return target


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two clusters, prod-east and prod-west, of which nothing was compiled."""
    return copy_of(tmp_path / "repository")


@pytest.fixture
def one_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "release", lambda: "1.0.0 (this one)")


def run(root: Path, *options: str) -> int:
    return invoke(["compile", "-C", str(root), *options])


def files(root: Path) -> dict[str, bytes]:
    out = root / "out"
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shard", "3/2"], "there is no shard 3/2: the first is 1/N, the last N/N"),
        (["--shard", "two"], "'two' is not I/N, such as 1/4"),
        (["--shard", "1/2", "--merge"], "--shard and --merge are two steps"),
        (["--shard", "1/2", "--check"], "a shard leaves out/ alone; --check goes with --merge"),
        (["--shard", "1/2", "--keep-going"], "leave out --keep-going"),
        (["--shard", "1/2", "--cluster", "prod-*"], "leave out --cluster"),
        (
            ["--merge", "--tenant", "vision"],
            "--merge takes the whole repository; leave out --tenant",
        ),
        (["--merge", "--keep-going"], "leave out --keep-going"),
    ],
)
def test_wrong_use(
    options: list[str], message: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(repository, *options) == 3
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in repository.iterdir()) == ["catalog", "tenants"]


@pytest.mark.usefixtures("one_release")
def test_shards_and_a_merge(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = copy_of(tmp_path / "whole")
    assert run(whole) == 0
    told = capsys.readouterr()
    assert run(repository, "--shard", "1/2") == 0
    said = rf"shard 1/2: 1 cluster \(prod-east\), \d+ objects; left {PARTS}/1-of-2.json\n"
    assert re.fullmatch(said, capsys.readouterr().err)
    assert run(repository, "--merge") == 3
    assert capsys.readouterr().err == (
        "error: the part of shard 2/2 is missing: run `dracfg compile --shard 2/2`; "
        "nothing was written\n"
    )
    assert run(repository, "--shard", "2/2", "-q", "--executor", "thread", "--jobs", "2") == 0
    assert capsys.readouterr().err == ""
    assert run(repository, "--merge", "--check") == 1
    assert "stale: out/prod-east/guard (" in capsys.readouterr().err
    assert not (repository / "out").exists()
    assert run(repository, "--merge") == 0
    assert capsys.readouterr() == told
    assert files(repository) == files(whole)
    assert run(repository, "--check", "--no-cache") == 0
    for index in (1, 2):
        assert run(repository, "--shard", f"{index}/2") == 0
    capsys.readouterr()
    assert run(repository, "--merge", "--check") == 0
    assert capsys.readouterr().err.startswith("out/ is fresh: 2 clusters, ")


@pytest.mark.usefixtures("one_release")
def test_nothing_is_recalled_and_nothing_kept_for_recall(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRACFG_SHARD", "1/1")
    assert run(repository) == 0
    monkeypatch.delenv("DRACFG_SHARD")
    monkeypatch.setenv("DRACFG_MERGE", "1")
    assert run(repository) == 0
    kept = {p.name for p in (repository / ".cache/dracfg").rglob("*") if p.is_file()}
    assert kept == {".gitignore", "1-of-1.json"}
    monkeypatch.delenv("DRACFG_MERGE")
    assert run(repository) == 0
    (repository / PARTS / "1-of-1.json").unlink()
    assert run(repository, "--merge") == 3, "a compile that was kept is not taken for it"


@pytest.mark.usefixtures("one_release")
def test_a_shard_without_clusters(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(repository, "--shard", "3/3") == 0
    assert capsys.readouterr().err == (
        f"shard 3/3: no cluster is its own; left {PARTS}/3-of-3.json\n"
    )


@pytest.mark.usefixtures("one_release")
def test_a_report(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "tenants" / "void.yaml").write_text("# nothing\n")
    assert run(repository, "--shard", "1/2", "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["kind"] == "CompileReport"
    assert [one["code"] for one in report["findings"]] == ["SRC015"]
    assert (report["written"], report["stale"], report["units"]) == (False, None, [])
    assert run(repository, "--shard", "1/2", "--fail-on", "warning") == 1


@pytest.mark.usefixtures("one_release")
def test_errors(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(repository, "--shard", "1/1") == 0
    (repository / "tenants" / "broken.yaml").write_text("kind: [\n")
    capsys.readouterr()
    assert run(repository, "--shard", "1/1", "--ignore", "SRC") == 1
    assert capsys.readouterr().err.endswith("no part was left\n")
    assert not list((repository / PARTS).glob("*.json"))


def test_a_folder_that_can_not_be_written(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / ".cache").write_text("a file\n")
    assert run(repository, "--shard", "1/2") == 3
    assert capsys.readouterr().err == (
        f"error: {PARTS}/1-of-2.json can't be written: a file stands where a folder is needed; "
        "nothing was written\n"
    )


def test_two_jobs_side_by_side_and_a_merge_in_a_third(tmp_path: Path) -> None:
    """Each in a checkout of its own; nothing but the folder of parts goes from one to another."""
    whole = copy_of(tmp_path / "whole")
    program = [sys.executable, "-m", "dracfg", "compile"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([*program, "-q", "-C", str(whole)], check=True, env=environment)
    jobs = [copy_of(tmp_path / f"job-{index}") for index in (1, 2)]
    processes = [
        subprocess.Popen([*program, "--shard", f"{index}/2"], cwd=job, env=environment)
        for index, job in enumerate(jobs, 1)
    ]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    last = copy_of(tmp_path / "merge")
    for job in jobs:
        shutil.copytree(job / PARTS, last / PARTS, dirs_exist_ok=True)
        assert not (job / "out").exists()
    for options in (["--merge"], ["--check", "--no-cache"]):
        subprocess.run([*program, "-q", *options], cwd=last, check=True, env=environment)
    assert files(last) == files(whole)
