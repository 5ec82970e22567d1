"""What a run asked of a tree: each question once, and no answer for certain where there were two."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

import pytest

from dracfg.cache.questions import AskedTree, ask, stand
from dracfg.dataclass import dataclass
from dracfg.source.tree import DiskTree


@dataclass(frozen=True, slots=True)
class Counting(DiskTree):
    """A folder that knows how often its files were read."""

    read_files: list[str] = field(default_factory=list)

    def read(self, path: str, most: int) -> bytes:
        self.read_files.append(path)
        return DiskTree.read(self, path, most)


@pytest.fixture
def disk(tmp_path: Path) -> Counting:
    for name in "abc":
        (tmp_path / name).write_text(name)
    return Counting(tmp_path)


def asked(disk: Counting) -> AskedTree:
    tree = AskedTree(disk)
    tree.entries("")
    for name in "abc":
        tree.read(name, 9)
    return tree


def test_the_same_answers_stand(disk: Counting) -> None:
    notes = asked(disk).notes
    assert [question[0] for question in notes] == ["entries", "read", "read", "read"]
    assert stand(AskedTree(disk), notes.items())


def test_who_asks_up_to_a_difference_is_not_asked_again(disk: Counting) -> None:
    notes = asked(disk).notes
    (disk.root / "b").write_text("other")
    disk.read_files.clear()
    tree = AskedTree(disk)
    assert not stand(tree, notes.items())
    assert disk.read_files == ["a", "b"]
    assert [question for question in notes if ask(tree, question) != notes[question]] == [
        ("read", "b", "9")
    ]
    assert disk.read_files == ["a", "b", "c"]
    assert tree.notes == asked(disk).notes


def test_what_changes_while_it_is_asked_stands_for_no_answer(disk: Counting) -> None:
    tree = asked(disk)
    (disk.root / "b").write_text("other")
    tree.read("b", 9)
    for text in ("b", "other"):
        (disk.root / "b").write_text(text)
        assert not stand(AskedTree(disk), tree.notes.items())


def test_a_name_more_or_another_kind_is_another_answer(disk: Counting) -> None:
    notes = asked(disk).notes
    (disk.root / "c").unlink()
    entries = [*notes.items()][:1]
    (disk.root / "c").mkdir()
    assert not stand(AskedTree(disk), entries)
    (disk.root / "c").rmdir()
    (disk.root / "c").touch()
    assert stand(AskedTree(disk), entries)
    (disk.root / "d").touch()
    assert not stand(AskedTree(disk), entries)
