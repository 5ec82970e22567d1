"""Edits change what they cover and nothing else."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dracfg.diagnostics import Span
from dracfg.source import read_file
from dracfg.source.edits import ChangedFile, Edit, edit_file


def span(line: int, column: int, length: int) -> Span:
    return Span("a.yaml", line, column, line, column + length)


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        ("a: 0777 # why\n", [Edit(span(1, 4, 4), '"0777"')], 'a: "0777" # why\n'),
        ("\ufeffa: 1\r\nb: 2\r\n", [Edit(span(1, 4, 1), "10")], "\ufeffa: 10\r\nb: 2\r\n"),
        ("\ufeffa: 1\r\nb: 2\r\n", [Edit(span(2, 4, 1), "20")], "\ufeffa: 1\r\nb: 20\r\n"),
        ("a: 1\rb: 2\r\nc: 3\n", [Edit(span(3, 4, 1), "30")], "a: 1\rb: 2\r\nc: 30\n"),
        ("ü: 日本 # x\n", [Edit(span(1, 4, 2), "b")], "ü: b # x\n"),
        ("a: 1\nb: 2", [Edit(span(2, 4, 1), "3"), Edit(span(1, 4, 1), "")], "a: \nb: 3"),
        ("a: [1,\n 2]\n", [Edit(Span("a.yaml", 1, 4, 2, 4), "3")], "a: 3\n"),
    ],
)
def test_edits(tmp_path: Path, before: str, edits: list[Edit], after: str) -> None:
    (tmp_path / "a.yaml").write_bytes(before.encode())
    file, _ = read_file(tmp_path, "a.yaml")
    assert file is not None
    edited = edit_file(tmp_path, file, edits)
    assert edited.data == after.encode()
    assert edited.made
    assert not (edited.overlapping or edited.unsound)
    assert (tmp_path / "a.yaml").read_bytes() == before.encode()


def test_of_two_that_overlap_the_first_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [1, 2]\n")
    file, _ = read_file(tmp_path, "a.yaml")
    assert file is not None
    whole, inner = Edit(span(1, 4, 6), "3"), Edit(span(1, 5, 1), "9")
    edited = edit_file(tmp_path, file, [inner, whole, whole])
    assert (edited.made, edited.overlapping) == ((whole,), (inner,))
    assert edited.data == b"a: 3\n"


def test_two_answers_for_one_place(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    file, _ = read_file(tmp_path, "a.yaml")
    assert file is not None
    edited = edit_file(tmp_path, file, [Edit(span(1, 4, 1), "3"), Edit(span(1, 4, 1), "2")])
    assert edited.data == b"a: 2\n"
    assert len(edited.overlapping) == 1


def test_a_file_that_changed_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    file, _ = read_file(tmp_path, "a.yaml")
    assert file is not None
    (tmp_path / "a.yaml").write_text("a: 2\n")
    with pytest.raises(ChangedFile, match="changed since"):
        edit_file(tmp_path, file, [Edit(span(1, 4, 1), "3")])
    (tmp_path / "a.yaml").unlink()
    with pytest.raises(ChangedFile, match="changed since"):
        edit_file(tmp_path, file, [Edit(span(1, 4, 1), "3")])


@pytest.mark.parametrize("text", ["[", "x: y: z", "1\nb: 3", "0x1"])
def test_no_file_is_made_unsound(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\nb: 2\n")
    file, _ = read_file(tmp_path, "a.yaml")
    assert file is not None
    bad, good = Edit(span(1, 4, 1), text), Edit(span(2, 4, 1), "3")
    edited = edit_file(tmp_path, file, [bad, good])
    assert (edited.made, edited.unsound) == ((good,), (bad,))
    assert edited.data == b"a: 1\nb: 3\n"


@settings(deadline=None)
@given(
    words=st.lists(st.sampled_from(["x", "é", "日", "# c", " "]), max_size=6), crlf=st.booleans()
)
def test_what_is_not_covered_stays(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], crlf: bool
) -> None:
    tmp_path = tmp_path_factory.mktemp("edits")
    end = "\r\n" if crlf else "\n"
    before = f"# {''.join(words)}{end}a: 1 # {''.join(words)}{end}"
    (tmp_path / "a.yaml").write_bytes(before.encode())
    file, _ = read_file(tmp_path, "a.yaml")
    assert file is not None
    edited = edit_file(tmp_path, file, [Edit(span(2, 4, 1), "2")])
    assert edited.data == before.replace("a: 1 ", "a: 2 ").encode()
