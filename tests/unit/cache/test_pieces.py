"""Pieces kept by key: few new ones beside the many, none that was edited, none of another dracfg."""

from __future__ import annotations

from pathlib import Path

import pytest

from dracfg.cache.pieces import Pieces

MANY = {f"key-{i}": f"piece {i}".encode() for i in range(64)}
NEW = {"new": b"a new piece"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "pieces"
    Pieces(path).keep(MANY)
    return path


def second(path: Path) -> Path:
    return path.with_name("pieces.more")


def test_what_was_kept_is_there(path: Path) -> None:
    pieces = Pieces(path)
    assert dict(pieces) == MANY
    assert len(pieces) == len(MANY)
    assert pieces
    assert not Pieces(path.with_name("other"))


def test_few_more_leave_the_many_as_they_are(path: Path) -> None:
    before = path.stat()
    Pieces(path).keep(NEW, MANY)
    assert path.stat() == before
    assert dict(Pieces(path)) == MANY | NEW
    Pieces(path).keep({"newer": b""}, [*MANY, *NEW])
    assert path.stat() == before
    assert dict(Pieces(path)) == MANY | NEW | {"newer": b""}


def test_nothing_new_writes_nothing(path: Path) -> None:
    Pieces(path).keep(NEW, MANY)
    before = path.stat(), second(path).stat()
    Pieces(path).keep(NEW, MANY)
    Pieces(path).keep({}, MANY)
    assert (path.stat(), second(path).stat()) == before


def test_many_more_are_written_with_all_that_stay(path: Path) -> None:
    Pieces(path).keep(NEW, MANY)
    more = {f"more-{i}": b"x" for i in range(40)}
    Pieces(path).keep(more, [*list(MANY)[:50], *NEW])
    assert not second(path).exists()
    assert dict(Pieces(path)) == dict(list(MANY.items())[:50]) | NEW | more


def test_what_nobody_wants_any_more_is_forgotten_in_time(path: Path) -> None:
    Pieces(path).keep({}, list(MANY)[:4])
    assert dict(Pieces(path)) == dict(list(MANY.items())[:4])


def test_an_edited_piece_is_not_there_and_is_mended(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"piece 7", b"Piece 7"))
    pieces = Pieces(path)
    assert pieces.get("key-7") is None
    assert "key-7" not in pieces
    assert dict(pieces) == {key: piece for key, piece in MANY.items() if key != "key-7"}
    pieces.keep({"key-7": b"piece 7"}, MANY)
    assert dict(Pieces(path)) == MANY


@pytest.mark.parametrize("spoil", ["cut", "longer", "table", "empty", "gone", "another dracfg"])
def test_a_file_that_is_not_whole_holds_nothing(
    path: Path, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = path.read_bytes()
    match spoil:
        case "cut":
            path.write_bytes(content[:-3])
        case "longer":
            path.write_bytes(content + b"x")
        case "table":
            path.write_bytes(content.replace(b"key-1", b"key_1", 1))
        case "empty":
            path.write_bytes(b"")
        case "gone":
            path.unlink()
        case _:
            monkeypatch.setattr("dracfg.cache.pieces.compiler", lambda: "another")
    assert dict(Pieces(path)) == {}
    Pieces(path).keep(MANY)
    assert dict(Pieces(path)) == MANY


def test_a_folder_that_can_not_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    Pieces(tmp_path / "file" / "pieces").keep(MANY)
    assert not (tmp_path / "file").read_bytes()
