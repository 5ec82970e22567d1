"""Offsets in YAML scalars → places in the file, for each way of writing text."""

from __future__ import annotations

import pytest

from dracfg.check.scalarplaces import part_of, takes
from dracfg.source import Scalar, follow
from dracfg.source.composer import compose


def read(text: str) -> tuple[Scalar, list[str]]:
    documents, faults = compose("a.yaml", text)
    assert not faults
    node, _ = follow(documents[0].root, ("key", 0))
    assert isinstance(node, Scalar)
    return node, text.split("\n")


@pytest.mark.parametrize(
    ("text", "line", "column", "width"),
    [
        ("key:\n  - ab WORD cd\n", 2, 8, 4),
        ("key:\n  - 'ab WORD cd'\n", 2, 9, 4),
        ("key:\n  - 'a''b WORD'\n", 2, 11, 4),
        ('key:\n  - "a\\"b\\u00e9\\n WORD"\n', 2, 19, 4),
        ("key:\n  - |\n    ab\n      WORD cd\n", 4, 7, 4),
        ("key:\n  - |2-\n       ab WORD\n", 3, 11, 4),
        ("key:\n  - |+\n\n    ab\n\n    WORD\n\n", 6, 5, 4),
        ("key:\n  - >-\n    ab\n    WORD cd\n", 2, 5, 2),
        ("key:\n  - ab\n    WORD cd\n", 2, 5, 2),
        ('key:\n  - "ab\n    WORD cd"\n', 2, 5, 3),
    ],
)
def test_places(text: str, line: int, column: int, width: int) -> None:
    scalar, lines = read(text)
    span = part_of(scalar, lines, scalar.text.index("WORD"), len("WORD"))
    assert (span.line, span.column, span.end_line) == (line, column, line)
    assert span.end_column - span.column == width


def test_a_part_over_two_lines_ends_with_the_first() -> None:
    scalar, lines = read("key:\n  - |\n    ab WORD\n    cd\n")
    span = part_of(scalar, lines, scalar.text.index("WORD"), 7)
    assert (span.line, span.column, span.end_line, span.end_column) == (3, 8, 3, 12)


@pytest.mark.parametrize(
    ("text", "fix", "fits"),
    [
        ("key: ['ab']\n", '"x"', True),
        ("key: ['ab']\n", "'x'", False),
        ('key: ["ab"]\n', "'x'", True),
        ('key: ["ab"]\n', '"x"', False),
        ("key:\n- |\n  ab\n", "\"x\" 'y'", True),
        ("key:\n- ab\n", '"x"', True),
        ("key:\n- ab\n", "x #y", False),
        ("key:\n- >\n  ab\n", "x", False),
    ],
)
def test_what_fits_without_escapes(text: str, fix: str, fits: bool) -> None:
    assert takes(*read(text), fix) == fits
