"""A run is recalled only where every input and the whole tree stand; nothing else is believed."""

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dracfg.cache import inputs
from dracfg.cache import store as stores
from dracfg.cache.inputs import Inputs
from dracfg.cache.seals import KeptSeals
from dracfg.cli.main import invoke
from dracfg.emit import sealing
from dracfg.emit.seals import Moment

FORGED = "every finding was taken out"
needs_seals = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="there are no seals elsewhere"
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A compiled repository with a warning."""
    assert invoke(["init", "--ci", "none", str(tmp_path)]) == 0
    (tmp_path / "tenants" / "void.yaml").write_text("# nothing\n")
    assert run("compile", tmp_path) == 0
    return tmp_path


def run(command: str, root: Path, *options: str) -> int:
    return invoke([command, "-C", str(root), "--format", "concise", *options])


def entry(root: Path) -> Path:
    (path,) = (root / ".cache" / "dracfg").glob("compile-*.json")
    return path


def forge(root: Path, change: Callable[[dict], None]) -> None:
    """Change an entry and give it the digest of what it says now."""
    _, _, body = entry(root).read_bytes().partition(b"\n")
    data = json.loads(body)
    change(data)
    body = json.dumps(data).encode()
    entry(root).write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def mark(root: Path) -> None:
    """Make a recalled run tell itself from one that was worked out."""

    def change(data: dict) -> None:
        data["outcome"]["findings"][0]["message"] = FORGED

    forge(root, change)


def is_recalled(root: Path, capsys: pytest.CaptureFixture[str], *options: str) -> bool:
    capsys.readouterr()
    run("compile", root, *options)
    return FORGED in capsys.readouterr().out


@pytest.mark.parametrize("command", ["compile", "check", "compile --check"])
@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif"])
def test_what_is_recalled_is_shown_alike(
    command: str, form: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(*options: str) -> tuple[int, str, str]:
        capsys.readouterr()
        words = [*command.split(), "-C", str(repository), "--format", form, *options]
        code = invoke(words)
        return code, *capsys.readouterr()

    assert shown() == shown("--no-cache")
    mark(repository)
    assert FORGED in shown()[1]


def test_a_run_that_changed_the_tree_is_recalled(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark(repository)
    assert is_recalled(repository, capsys)


def test_no_cache_neither_reads_nor_writes(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark(repository)
    before = entry(repository).read_bytes()
    assert not is_recalled(repository, capsys, "--no-cache")
    assert entry(repository).read_bytes() == before
    shutil.rmtree(repository / ".cache")
    run("compile", repository, "--no-cache")
    assert not (repository / ".cache").exists()


def seal(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all that stands known by its stamps."""
    later = time.time_ns() + 10**9
    monkeypatch.setattr(KeptSeals, "moment", Moment(root.stat().st_dev, later))
    assert run("compile", root) == 0
    assert all((root / ".cache" / "dracfg" / name).exists() for name in ("inputs", "tree"))


@needs_seals
@pytest.mark.parametrize("command", ["compile", "check"])
def test_where_all_is_sealed_no_file_is_read(
    command: str,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mark(repository)
    seal(repository, monkeypatch)
    monkeypatch.setattr(inputs, "read_all", lambda *_: pytest.fail("an input was read"))
    monkeypatch.setattr(sealing, "read_stamped", lambda *_: pytest.fail("the tree was read"))
    capsys.readouterr()
    run(command, repository)
    assert FORGED in capsys.readouterr().out


@needs_seals
def test_no_cache_neither_reads_nor_writes_seals(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(repository, monkeypatch)
    kept = [repository / ".cache" / "dracfg" / name for name in ("inputs", "tree")]
    for path in kept:
        path.unlink()
    monkeypatch.setattr(KeptSeals, "recall", lambda *_: pytest.fail("it was asked for"))
    for command in ("compile", "check", "compile --check"):
        assert run(*command.split()[:1], repository, *command.split()[1:], "--no-cache") == 0
    assert not any(path.exists() for path in kept)


@needs_seals
def test_an_amended_run_knows_what_stands(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the file that changed is read as an input, and of the tree what is written anew."""
    seal(repository, monkeypatch)
    (repository / "tenants" / "void.yaml").write_text("# nothing, again\n")
    read: list[str] = []
    digest = Inputs.digest
    monkeypatch.setattr(sealing, "read_stamped", lambda *_: pytest.fail("the tree was read"))
    monkeypatch.setattr(
        Inputs,
        "digest",
        lambda self, path, most, expected: (
            read.append(path)
            if (found := digest(self, path, most, expected)) != expected
            else None,
            found,
        )[1],
    )
    assert run("compile", repository) == 0
    assert read == ["tenants/void.yaml"]


def edit(path: str, old: str, new: str) -> Callable[[Path], object]:
    def change(root: Path) -> None:
        text = (root / path).read_text(encoding="utf-8")
        assert old in text
        (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def one_of(root: Path, pattern: str) -> Path:
    return sorted((root / "out").rglob(pattern))[0]


CHANGES: dict[str, Callable[[Path], object]] = {
    "a comment in a file": edit("tenants/void.yaml", "nothing", "still nothing"),
    "a file more": lambda root: (root / "tenants" / "more.yaml").write_text("# nothing\n"),
    "a folder more": lambda root: (root / "catalog" / "more").mkdir(),
    "a file less": lambda root: (root / "tenants" / "void.yaml").unlink(),
    "a file that can't be read": lambda root: (root / "tenants" / "x.yaml").symlink_to("nowhere"),
    "a file of the tree edited": lambda root: one_of(root, "quotas.yaml").write_text("a: b\n"),
    "a file of the tree gone": lambda root: one_of(root, "quotas.yaml").unlink(),
    "a file of the tree a link": lambda root: (
        one_of(root, "quotas.yaml").rename(root / "moved.yaml"),
        one_of(root, "namespaces.yaml").with_name("quotas.yaml").symlink_to(root / "moved.yaml"),
    ),
    "a file more in the tree": lambda root: (root / "out" / "note.txt").write_text("mine\n"),
    "a link more in the tree": lambda root: (root / "out" / "link").symlink_to(root / "catalog"),
    "another lock": lambda root: (root / "out" / "dracfg.lock.json").write_text("{}\n"),
    "no tree": lambda root: shutil.rmtree(root / "out"),
    "an entry cut short": lambda root: entry(root).write_bytes(entry(root).read_bytes()[:-9]),
    "an entry of another digest": lambda root: entry(root).write_bytes(
        b"0" * 64 + entry(root).read_bytes()[64:]
    ),
    "an empty entry": lambda root: entry(root).write_bytes(b""),
    "an entry of no form": lambda root: forge(root, lambda data: data.pop("notes")),
    "an entry of other options": lambda root: forge(
        root, lambda data: data.update(options=["2026-01-01"])
    ),
    "an entry of another compiler": lambda root: forge(
        root, lambda data: data.update(compiler="0" * 64)
    ),
    "a finding of no form": lambda root: forge(
        root, lambda data: data["outcome"]["findings"][0].pop("code")
    ),
    "an unknown question": lambda root: forge(
        root, lambda data: data["notes"].append([["delete", "tenants"], "0" * 64])
    ),
}


@needs_seals
@pytest.mark.parametrize("change", [name for name in CHANGES if "entry" not in name])
def test_whatever_differs_is_worked_out_where_all_was_sealed(
    change: str,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mark(repository)
    seal(repository, monkeypatch)
    assert is_recalled(repository, capsys)
    CHANGES[change](repository)
    assert not is_recalled(repository, capsys)


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_differs_is_worked_out(
    change: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark(repository)
    CHANGES[change](repository)
    assert not is_recalled(repository, capsys)


def test_another_day_is_another_run(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark(repository)
    assert not is_recalled(repository, capsys, "--today", "2026-01-01")


@pytest.mark.parametrize("options", [("--keep-going",), ("--cluster", "*"), ("--tenant", "*")])
def test_runs_over_a_part_are_worked_out(
    options: tuple[str, ...], repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark(repository)
    assert not is_recalled(repository, capsys, *options)


def test_another_installation_has_other_entries(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mark(repository)
    monkeypatch.setattr(stores, "compiler", lambda: "another")
    assert not is_recalled(repository, capsys)


def test_an_entry_of_another_repository_does_not_fit(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path_factory.mktemp("other")
    assert invoke(["init", "--ci", "none", str(other)]) == 0
    run("compile", other, "--no-cache")
    mark(repository)
    shutil.copytree(repository / ".cache", other / ".cache")
    assert not is_recalled(other, capsys)


def test_a_tree_with_retired_templates_is_worked_out_again(tmp_path: Path) -> None:
    """What retires depends on the tree before: the next run may see it otherwise."""
    assert invoke(["init", "--ci", "none", str(tmp_path)]) == 0
    run("compile", tmp_path)
    shutil.rmtree(tmp_path / ".cache")
    edit("tenants/research.yaml", "- name: train-x1", "- name: train-one")(tmp_path)
    run("compile", tmp_path)
    assert list((tmp_path / "out").rglob("retired/*"))
    assert not list((tmp_path / ".cache").rglob("compile-*"))


def test_errors_are_not_kept(tmp_path: Path) -> None:
    assert invoke(["init", "--ci", "none", str(tmp_path)]) == 0
    (tmp_path / "tenants" / "wrong.yaml").write_text("apiVersion: v1\nkind: Pod\n")
    assert run("compile", tmp_path) == 1
    assert not (tmp_path / ".cache").exists()


def test_a_folder_that_cannot_be_made_is_no_fault(tmp_path: Path) -> None:
    assert invoke(["init", "--ci", "none", str(tmp_path)]) == 0
    (tmp_path / ".cache").write_text("in the way\n")
    assert run("compile", tmp_path) == 0
    assert (tmp_path / ".cache").read_text() == "in the way\n"
