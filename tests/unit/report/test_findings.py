"""Excerpts show the line, mark what is meant, and cut what is too long."""

import pytest

from dracfg.diagnostics import Related, Span, diagnose
from dracfg.report.findings import finding

LINES = ["kind: Tenant", "metadata: {name: vision}", "", "spec: {}"]
LONG = [f"{'a' * 300}HERE{'b' * 300}"]


def shown(span: Span, lines: list[str], *related: Related) -> list[tuple[int, str, str | None]]:
    """(number, text, what is marked) of the main place."""
    found = finding(diagnose("REF001", span, "m", label="l", related=related), lambda _path: lines)
    return [
        (
            line.number,
            line.text,
            None
            if line.start is None or line.end is None
            else line.text[line.start - 1 : line.end - 1],
        )
        for line in found.places[0].lines
    ]


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Span("f", 1, 7, 1, 13), [(1, LINES[0], "Tenant"), (2, LINES[1], None)]),
        (
            Span("f", 2, 18, 2, 24),
            [(1, LINES[0], None), (2, LINES[1], "vision")],
        ),
        (Span("f", 4, 1, 4, 5), [(3, "", None), (4, LINES[3], "spec")]),
        (Span("f", 1, 7, 4, 2), [(1, LINES[0], "Tenant"), (2, LINES[1], None)]),
        (Span("f", 9, 1, 9, 2), []),
    ],
    ids=["first", "middle", "last", "over lines", "beyond the end"],
)
def test_lines_around_a_place(span: Span, expected: list[tuple[int, str, str | None]]) -> None:
    assert shown(span, LINES) == expected


def test_a_long_line_is_cut_to_what_is_marked() -> None:
    ((number, text, marked),) = shown(Span("f", 1, 301, 1, 305), LONG)
    assert (number, marked) == (1, "HERE")
    assert text.startswith("…") and text.endswith("…")
    assert len(text) <= 163


def test_a_mark_longer_than_the_line_is_cut_with_it() -> None:
    ((_, text, marked),) = shown(Span("f", 1, 1, 1, 605), LONG)
    assert marked == text.removesuffix("…")


def test_other_places_stand_behind_with_their_own_line() -> None:
    found = finding(
        diagnose("REF001", Span("f", 1, 1, 1, 5), "m", related=[Related(Span("f", 4, 1), "here")]),
        lambda _path: LINES,
    )
    assert [place.label for place in found.places] == ["", "here"]
    assert [line.number for line in found.places[1].lines] == [4]


def test_a_finding_without_a_place_has_none() -> None:
    assert finding(diagnose("REF001", None, "m"), lambda _path: []).places == ()
