"""Whatever ends a line, all count the same lines."""

from pathlib import Path

import pytest

from dracfg.source import read_file
from dracfg.source.lineends import line_starts, with_line_feeds
from dracfg.source.records import read_record

ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc\n\rd", ["a", "b", "c", "", "d"]),
        ("\r\r\n", ["", "", ""]),
    ],
)
def test_lines(text: str, lines: list[str]) -> None:
    assert with_line_feeds(text).split("\n") == lines
    assert len(line_starts(text)) == len(lines)
    assert all(text.startswith(line, at) for line, at in zip(lines, line_starts(text), strict=True))


@pytest.mark.parametrize("end", ENDS)
def test_a_document_and_its_lines(tmp_path: Path, end: str) -> None:
    (tmp_path / "a.yaml").write_bytes(f"a: 1{end}b: 2{end}c: [{end}".encode())
    file, faults = read_file(tmp_path, "a.yaml")
    assert file is not None
    assert file.text.split("\n") == ["a: 1", "b: 2", "c: [", ""]
    assert [one.code for one in faults] == ["SRC014"] * (end != "\n") + ["SRC005"]
    assert all(one.span is not None and one.span.line <= 4 for one in faults)


@pytest.mark.parametrize("end", ENDS)
def test_a_record_and_its_lines(tmp_path: Path, end: str) -> None:
    (tmp_path / "a.yaml").write_bytes(f"kind: A{end}metadata:{end}  name: b{end}".encode())
    record, faults = read_record(tmp_path, "a.yaml")
    (found,) = record.objects
    span = found.span("metadata", "name")
    assert (faults, span.line) == ((), 3)
    assert record.text.split("\n")[span.line - 1] == "  name: b"


@pytest.mark.parametrize("end", ENDS)
def test_bytes_that_are_no_text(tmp_path: Path, end: str) -> None:
    (tmp_path / "a.yaml").write_bytes(f"a: 1{end}b: ".encode() + b"\xff")
    file, (fault,) = read_file(tmp_path, "a.yaml")
    assert file is None
    assert fault.span is not None
    assert (fault.span.line, fault.span.column) == (2, 4)
