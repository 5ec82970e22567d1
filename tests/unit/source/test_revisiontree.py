"""A revision is read as the folder would be that it was checked out into."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dracfg.source import read_repository
from dracfg.source import reader as reader_module
from dracfg.source.git import GitFault, ObjectReader
from dracfg.source.records import read_record
from dracfg.source.revisiontree import RevisionTree, Submodule, revision_tree
from dracfg.source.shared import shared_files
from dracfg.source.standing import read_standing
from dracfg.source.tree import DiskTree, TooLarge, Tree
from tests.unit.diff.history import git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

TEXT = "apiVersion: dracfg.dev/v1alpha1\nkind: Cluster\n"
FILES: dict[str, bytes] = {
    "catalog/a.yaml": TEXT.encode(),
    "catalog/deep/er/b.yml": TEXT.encode(),
    "catalog/no.txt": b"text",
    "catalog/.hidden.yaml": TEXT.encode(),
    "catalog/inventory/east.yaml": b"kind: List\nitems: [{kind: Node}]\n",
    "catalog/latin.yaml": "# \u00e4\n".encode("latin-1"),
    "catalog/utf16.yaml": TEXT.encode("utf-16"),
    "catalog/mark.yaml": b"\xef\xbb\xbf" + TEXT.encode(),
    "catalog/crlf.yaml": TEXT.replace("\n", "\r\n").encode(),
    "catalog/void.yaml": b"",
    "catalog/broken.yaml": b"a: [\n",
    "catalog/large.yaml": b"# " + b"x" * 200 + b"\n",
    "catalog/with space.yaml": TEXT.encode(),
    "catalog/\u00fcml\u00e4ut.yaml": TEXT.encode(),
    "shared/c.yaml": TEXT.encode(),
    "out/east/guard/namespaces.yaml": b"kind: Namespace\napiVersion: v1\nmetadata: {name: a}\n",
    "out/east/tenants/a/claims.yaml": b"<<<<<<< HEAD\n",
    "out/east/tenants/a/retired/claims.yaml": b"- a\n",
    "out/east/other.yaml": b"a: 1\n",
}
LINKS = {
    "catalog/to-file.yaml": "a.yaml",
    "catalog/to-shared.yaml": "../shared/c.yaml",
    "catalog/to-link.yaml": "to-file.yaml",
    "catalog/through.yaml": "deep/../deep/er/b.yml",
    "catalog/to-folder": "deep",
    "catalog/to-folder.yaml": "deep",
    "catalog/out.yaml": "../../beside.yaml",
    "catalog/nowhere.yaml": "missing.yaml",
    "catalog/under-file.yaml": "a.yaml/b",
    "catalog/circle.yaml": "circle.yaml",
    "catalog/text": "no.txt",
    "tenants": "shared",
    "recorded": "catalog/inventory",
    "out/east/platform/device-classes.yaml": "../other.yaml",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    for path, data in FILES.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    for path, target in LINKS.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).symlink_to(target)
    (tmp_path / "beside.yaml").write_text(TEXT)
    git(place, "init", "-q")
    git(place, "config", "core.autocrlf", "false")
    git(place, "add", "-A", "-f")
    git(place, "commit", "-q", "-m", "x", day="2026-03-04")
    return place


@pytest.fixture(params=["checked out", "not checked out"])
def revision(root: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[RevisionTree]:
    place = root
    if request.param == "not checked out":
        place = tmp_path / "clone"
        git(tmp_path, "clone", "-q", "--no-checkout", str(root), str(place))
    with ObjectReader(place) as objects:
        yield revision_tree(place, "HEAD", objects)


def test_documents_and_faults_are_those_of_the_folder(
    root: Path, revision: RevisionTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_module, "MAX_BYTES", 150)
    disk, kept = read_repository(root), read_repository(revision)
    assert kept.files == disk.files
    assert kept.faults == disk.faults
    assert {"catalog/through.yaml", "catalog/to-shared.yaml"} <= set(kept.files)
    assert len(kept.faults) == 13


def test_states_and_records_are_those_of_the_folder(root: Path, revision: RevisionTree) -> None:
    (standing, faults), (expected, wrong) = (
        read_standing(revision, "out"),
        read_standing(root / "out"),
    )
    assert standing == expected
    assert faults == wrong
    assert standing.faults() == expected.faults()
    assert [path for path, things in standing.files.items() if things] == [
        "east/guard/namespaces.yaml"
    ]
    assert len((*faults, *standing.faults())) == 2
    for path in ("catalog/inventory/east.yaml", "recorded/east.yaml", "catalog/a.yaml", "nothing"):
        (record, faults), (expected_record, wrong) = (
            read_record(revision, path),
            read_record(root, path),
        )
        assert [one.data for one in record.objects] == [one.data for one in expected_record.objects]
        assert faults == wrong


READS: dict[str, Callable[[Tree, str], Any]] = {
    "entries": lambda tree, path: tree.entries(path),
    "target": lambda tree, path: tree.target(path),
    "is_file": lambda tree, path: tree.is_file(path),
    "read": lambda tree, path: tree.read(path, 100),
    "matching": lambda tree, path: sorted(
        tree.matching(path, ("*/*.y*ml", "*.yaml", "*/*/*.yaml"))
    ),
}
BEYOND = "catalog/out.yaml"
PATHS = (
    *FILES,
    *sorted(LINKS.keys() - {BEYOND}),
    "catalog",
    "catalog/deep",
    "out",
    "nothing",
    "catalog/a.yaml/b",
    "tenants/c.yaml",
)


@pytest.mark.parametrize("path", PATHS)
def test_every_way_of_reading_agrees(path: str, root: Path, revision: RevisionTree) -> None:
    for name, read in READS.items():
        assert outcome(read, revision, path) == outcome(read, DiskTree(root), path), name


@pytest.mark.parametrize("path", PATHS)
def test_a_file_is_told_by_its_bytes(path: str, revision: RevisionTree) -> None:
    try:
        data = revision.read(path, 1000)
    except OSError:
        assert not revision.has(path, b"")
    else:
        assert revision.has(path, data)
        assert not revision.has(path, data + b" ")


def test_files_that_two_trees_share(root: Path, tmp_path: Path, revision: RevisionTree) -> None:
    place, edited, piped = tmp_path / "other", "catalog/deep/er/b.yml", "catalog/broken.yaml"
    shutil.copytree(root, place, symlinks=True)
    (place / edited).write_text("kind: Pool\n")
    (place / piped).unlink()
    os.mkfifo(place / piped)
    alike = {path for path in FILES if path not in (edited, piped)}
    for one, other in (
        (revision, DiskTree(place)),
        (DiskTree(place), revision),
        (DiskTree(root), DiskTree(place)),
    ):
        shared = dict(shared_files(one, other, [*FILES, "catalog", "nothing", BEYOND]))
        assert shared.keys() - {BEYOND} == alike
        assert all(shared[path] == FILES[path] for path in alike)
    assert dict(shared_files(revision, revision, FILES)) == FILES


def test_what_lies_beyond_the_root_is_not_in_the_revision(revision: RevisionTree) -> None:
    assert revision.target(BEYOND) == "outside"
    with pytest.raises(OSError, match="leads out"):
        revision.read(BEYOND, 100)


def outcome(read: Callable[[Tree, str], Any], tree: Tree, path: str) -> Any:
    try:
        return read(tree, path)
    except TooLarge as file:
        return file.size
    except OSError as fault:
        return fault.errno


def test_the_day_is_that_of_the_commit(revision: RevisionTree) -> None:
    assert revision.day() == date(2026, 3, 4)


def test_nothing_that_git_leaves_out_of_archives_is_left_out(root: Path) -> None:
    (root / ".gitattributes").write_text("catalog/a.yaml export-ignore\n*.yaml ident\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "y")
    with ObjectReader(root) as objects:
        assert revision_tree(root, "HEAD", objects).read("catalog/a.yaml", 100) == TEXT.encode()


def test_submodules_are_refused_where_they_would_be_read(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "x")
    head = git(other, "rev-parse", "HEAD")
    for path in ("vendor", "catalog/vendor"):
        git(root, "update-index", "--add", "--cacheinfo", f"160000,{head},{path}")
        git(root, "commit", "-q", "-m", path)
    with ObjectReader(root) as objects:
        read_repository(revision_tree(root, "HEAD~1", objects))
        with pytest.raises(Submodule, match="catalog/vendor is a submodule"):
            read_repository(revision_tree(root, "HEAD", objects))


def test_an_object_that_the_clone_lacks_is_named(revision: RevisionTree) -> None:
    name = revision.blobs["catalog/a.yaml"].name
    (revision.root / ".git" / "objects" / name[:2] / name[2:]).unlink()
    (revision.root / "catalog" / "a.yaml").unlink(missing_ok=True)
    with pytest.raises(GitFault, match=f"lacks object {name}"):
        revision.read("catalog/a.yaml", 100)
    assert revision.read("catalog/no.txt", 100) == b"text"


def test_one_process_reads_everything(revision: RevisionTree) -> None:
    shutil.rmtree(revision.root / "catalog", ignore_errors=True)
    for path in FILES:
        revision.read(path, 1000)
    assert revision.objects._process is not None
    first = revision.objects._process.pid
    revision.read("catalog/a.yaml", 1000)
    assert revision.objects._process.pid == first
    revision.objects.close()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_git_is_not_asked_for_what_stands_in_the_work_tree(form: str, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", f"--object-format={form}")
    git(tmp_path, "config", "core.autocrlf", "false")
    for name, data in (("a", b"same"), ("b", b""), ("c", b"\0\r\n")):
        (tmp_path / name).write_bytes(data)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "x")
    with ObjectReader(tmp_path) as objects:
        tree = revision_tree(tmp_path, "HEAD", objects)
        assert [tree.read(name, 10) for name in "abc"] == [b"same", b"", b"\0\r\n"]
        assert objects._process is None
        with pytest.raises(TooLarge):
            tree.read("a", 3)


def _is_other(path: Path) -> None:
    path.write_bytes(b"sane")


def _is_longer(path: Path) -> None:
    path.write_bytes(b"same and more")


def _is_gone(path: Path) -> None:
    path.unlink()


def _is_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _is_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _leads_nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    "change", [_is_other, _is_longer, _is_gone, _is_a_folder, _is_a_pipe, _leads_nowhere]
)
def test_what_is_not_the_same_in_the_work_tree_is_read_from_git(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_bytes(b"same")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "x")
    change(tmp_path / "a")
    with ObjectReader(tmp_path) as objects:
        assert revision_tree(tmp_path, "HEAD", objects).read("a", 4) == b"same"
