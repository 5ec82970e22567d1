"""`dracfg init`: what it writes, for which code host, and that it overwrites nothing."""

import json
import posixpath
from pathlib import Path

import pytest
import yaml

from dracfg.cli.init import initial_contents, initial_files
from dracfg.cli.main import invoke
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.live.reading import AUDIT_KINDS, NODES
from dracfg.model.jsonschema import schemas
from dracfg.model.parse import parse
from dracfg.source import read_repository

PIPELINES = {".github/workflows/dracfg.yml", ".gitlab-ci.yml"}


def files_in(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("arguments", "pipelines"),
    [
        ([], {".github/workflows/dracfg.yml"}),
        (["--ci", "github"], {".github/workflows/dracfg.yml"}),
        (["--ci", "gitlab"], {".gitlab-ci.yml"}),
        (["--ci", "none"], set()),
    ],
)
def test_pipeline_of_the_code_host(
    tmp_path: Path, arguments: list[str], pipelines: set[str]
) -> None:
    assert invoke(["init", str(tmp_path), *arguments]) == 0
    assert files_in(tmp_path).keys() & PIPELINES == pipelines


def test_writes_what_is_listed_and_every_schema(tmp_path: Path) -> None:
    assert invoke(["init", str(tmp_path / "new" / "devices")]) == 0
    written = files_in(tmp_path / "new" / "devices")
    listed = {file.target for file in initial_files() if file.ci in (None, "github")}
    assert written.keys() == listed | {f"schemas/{name}.json" for name in schemas()}
    assert all(b"\r" not in data and data.endswith(b"\n") for data in written.values())


def test_every_file_of_the_folder_is_listed() -> None:
    folder = Path(__file__).parents[3] / "dracfg" / "cli" / "initial"
    stored = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert stored == {file.source for file in initial_files()} | {"files.yaml"}
    assert not [path for path in stored if any(part.startswith(".") for part in path.split("/"))]


def test_the_new_repository_has_no_findings(tmp_path: Path) -> None:
    invoke(["init", str(tmp_path)])
    sources = read_repository(tmp_path)
    parsed = parse(sources.documents)
    named, twice = index(parsed.documents)
    linked = link(named, parsed.poisoned)
    assert (*sources.faults, *parsed.faults, *twice, *linked.faults) == ()
    assert {kind: len(found) for kind, found in named.by_kind.items() if found} == {
        "Cluster": 1,
        "Driver": 1,
        "HardwareTier": 1,
        "NodePool": 1,
        "Tenant": 2,
    }


def test_the_new_repository_compiles(tmp_path: Path) -> None:
    invoke(["init", str(tmp_path)])
    assert invoke(["check", "--fail-on", "warning", "-C", str(tmp_path)]) == 0
    assert invoke(["compile", "-C", str(tmp_path)]) == 0
    assert invoke(["compile", "--check", "-C", str(tmp_path)]) == 0


def test_schemas_are_those_that_the_schema_command_writes(tmp_path: Path) -> None:
    invoke(["init", str(tmp_path)])
    assert invoke(["schema", "--out", str(tmp_path / "schemas"), "--check"]) == 0


@pytest.mark.parametrize(
    "target", [t for t in initial_contents("none") if t.startswith(("catalog/", "tenants/"))]
)
def test_mode_lines_lead_to_a_schema(target: str) -> None:
    contents = initial_contents("none")
    start, _, schema = contents[target].decode().partition("\n")[0].partition("=")
    assert start == "# yaml-language-server: $schema"
    assert posixpath.normpath(posixpath.join(posixpath.dirname(target), schema)) in contents


@pytest.mark.parametrize("ci", ["github", "gitlab", "none"])
def test_settings_are_well_formed(ci: str) -> None:
    for target, data in initial_contents(ci).items():
        if target.endswith(".json"):
            json.loads(data)
        elif target.endswith((".yaml", ".yml")):
            assert list(yaml.safe_load_all(data))


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_the_audit_is_scheduled_and_reads_nodes_and_exporters(ci: str) -> None:
    (target,) = PIPELINES & set(initial_contents(ci))
    text = initial_contents(ci)[target].decode()
    job = yaml.safe_load(text)
    # The core schema would read `on`; the loader of these tests takes it for a flag.
    planned = job[True]["schedule"] if ci == "github" else job["audit"]["rules"]
    assert "schedule" in str(planned) or planned == [{"cron": "17 * * * *"}]
    assert "dracfg audit --live" in text
    assert "DRACFG_PROMETHEUS" in text
    assert NODES in AUDIT_KINDS


@pytest.mark.parametrize(
    ("standing", "blocked"),
    [
        (["README.md"], "README.md"),
        ([".gitignore", "tenants/sandbox.yaml"], "tenants/sandbox.yaml"),
        (["schemas/any.json"], "schemas/any.json"),
        (["catalog"], "catalog"),
    ],
)
def test_nothing_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], standing: list[str], blocked: str
) -> None:
    for name in standing:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    before = files_in(tmp_path)
    assert invoke(["init", str(tmp_path)]) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    named = shown.err.splitlines()[1:]
    assert [line.strip() for line in named] == [str(tmp_path / name) for name in standing]
    assert str(tmp_path / blocked) in shown.err
    assert files_in(tmp_path) == before


def test_a_dangling_link_stands_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "README.md").symlink_to("nowhere.md")
    assert invoke(["init", str(tmp_path)]) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "tenants").mkdir()
    (tmp_path / "tenants" / "ours.txt").write_text("mine")
    assert invoke(["init", str(tmp_path)]) == 0
    assert (tmp_path / "tenants" / "ours.txt").read_text() == "mine"


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert invoke(["init", str(tmp_path / "file")]) == 3
    assert invoke(["init", str(tmp_path / "file" / "below")]) == 3
    assert (tmp_path / "file").read_text() == "mine"


def test_next_commands_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    invoke(["init"])
    assert capsys.readouterr().out.splitlines() == ["dracfg check", "dracfg compile"]
    invoke(["init", "two words"])
    shown = capsys.readouterr().out.splitlines()
    assert shown == ["dracfg check -C 'two words'", "dracfg compile -C 'two words'"]
