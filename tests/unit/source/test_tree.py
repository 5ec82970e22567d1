"""Files on disk: their bytes, whatever their length was said to be, and which fit patterns."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from dracfg.source.tree import DiskTree, TooLarge


@pytest.mark.parametrize("said", [0, 1, 9, 10, 11, 50])
@pytest.mark.parametrize("most", [10, 11, 100])
def test_a_file_is_read_whole(
    said: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    monkeypatch.setattr(os, "fstat", lambda _file: SimpleNamespace(st_size=said, st_mode=0o100644))
    assert DiskTree(tmp_path).read("a", most) == b"0123456789"


@pytest.mark.parametrize(("most", "size"), [(9, 10), (0, 10), (3, 10)])
def test_a_file_is_too_large(most: int, size: int, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    with pytest.raises(TooLarge) as refusal:
        DiskTree(tmp_path).read("a", most)
    assert refusal.value.size == size


def test_an_empty_file_has_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    assert DiskTree(tmp_path).read("a", 10) == b""
    assert DiskTree(tmp_path).read("a", 0) == b""


MATCHES = {
    ("a.yaml",): ["a.yaml"],
    ("*.yaml",): ["a.yaml", ".b.yaml"],
    ("*.yaml", "a*", "a.yaml"): ["a.yaml", ".b.yaml"],
    ("*/c.yaml",): ["one/c.yaml", "two/c.yaml", "to-one/c.yaml"],
    ("one/c.yaml", "*wo/c*"): ["one/c.yaml", "two/c.yaml"],
    ("*/deep/*.json", "*"): ["two/deep/d.json", "a.yaml", ".b.yaml", "x+y"],
    ("x+y", "xxy", "a?yaml", "[a].yaml"): ["x+y"],
    ("one", "two/deep", "*/*/*/*", "a.yaml/*"): [],
}


@pytest.mark.parametrize("patterns", MATCHES)
def test_files_that_fit_any_pattern(patterns: tuple[str, ...], tmp_path: Path) -> None:
    place = tmp_path / "out"
    for path in ("a.yaml", ".b.yaml", "x+y", "one/c.yaml", "two/c.yaml", "two/deep/d.json"):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).touch()
    (place / "to-one").symlink_to("one")
    (place / "to-a.yaml").symlink_to("a.yaml")
    (place / "round").symlink_to("round")
    os.mkfifo(place / "pipe.yaml")
    (place / "folder.yaml").mkdir()
    found = list(DiskTree(tmp_path).matching("out", patterns))
    assert sorted(found) == sorted(MATCHES[patterns])


@pytest.mark.parametrize("folder", ["nothing", "file", "file/below"])
def test_nothing_fits_where_no_folder_is(folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not list(DiskTree(tmp_path).matching(folder, ("*", "*/*")))


def test_a_part_may_be_any_of_some_names(tmp_path: Path) -> None:
    for path in ("a/x", "a.2/x", "a.2.3/x", "b/x", "b.10/x", "ab/x", "c/x"):
        (tmp_path / "out" / path).parent.mkdir(parents=True)
        (tmp_path / "out" / path).touch()
    tree = DiskTree(tmp_path)
    assert sorted(tree.matching("out", ("{a,b}/x",))) == ["a/x", "b/x"]
    assert sorted(tree.matching("out", ("{a,b}.*/x",))) == ["a.2/x", "b.10/x"]
    assert not list(tree.matching("out", ("{}/x",)))
