"""The bytes of a file on disk, whatever its length was said to be."""

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
