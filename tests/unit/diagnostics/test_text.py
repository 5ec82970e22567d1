"""Findings as a terminal shows them."""

import re

import pytest

from dracfg.diagnostics import Related, Span, diagnose
from dracfg.diagnostics.render.concise import render_concise
from dracfg.diagnostics.render.links import Links, linked
from dracfg.diagnostics.render.text import render

LINES = {"a.yaml": ["first: line", "size: 10Gi  # ten", "wide: 日本 x"], "b.yaml": ["step: 8Gi"]}


def lines(path: str) -> list[str]:
    return LINES.get(path, [])


def test_the_whole_form() -> None:
    finding = diagnose(
        "SHR004",
        Span("a.yaml", 2, 7, 2, 11),
        "size 10Gi consumes 16Gi",
        label="not a multiple of the step",
        related=[Related(Span("b.yaml", 1, 7, 1, 10), "published")],
        found="10Gi",
        expected="8Gi or 16Gi",
        help="use 8Gi",
    )
    assert render([finding], lines, colour=False) == (
        "error[SHR004]: size 10Gi consumes 16Gi\n"
        " --> a.yaml:2:7\n"
        "  |\n"
        "2 | size: 10Gi  # ten\n"
        "  |       ^^^^ not a multiple of the step\n"
        " ::: b.yaml:1:7\n"
        "  |\n"
        "1 | step: 8Gi\n"
        "  |       --- published\n"
        "  = found: 10Gi, expected: 8Gi or 16Gi\n"
        "  = help: use 8Gi\n"
    )
    assert render_concise([finding]) == "a.yaml:2:7: SHR004 error: size 10Gi consumes 16Gi\n"


SAFE, UNSAFE = "(safe: made by dracfg check --fix)", "(unsafe: may change what is meant)"
SIZE = Span("a.yaml", 2, 7, 2, 11)


@pytest.mark.parametrize(
    ("code", "span", "fix", "row"),
    [
        ("SHR004", SIZE, "8Gi", f"10Gi -> 8Gi   {UNSAFE}"),
        ("SEL003", SIZE, "8Gi", f"10Gi -> 8Gi   {SAFE}"),
        ("SHR004", SIZE, '"10Gi"', f'10Gi -> "10Gi"   {SAFE}'),
        ("SHR004", Span("a.yaml", 2, 1, 3, 2), "x\ny", f"size: 10Gi  # ten … -> x\\ny   {UNSAFE}"),
        ("SHR004", Span("c.yaml", 2, 7, 2, 11), "8Gi", f"-> 8Gi   {UNSAFE}"),
    ],
)
def test_a_fix_is_shown(code: str, span: Span, fix: str, row: str) -> None:
    finding = diagnose(code, span, "x", found="10Gi", help="use 8Gi", fix=fix)
    shown = render([finding], lines, colour=False).splitlines()
    assert shown[-2:] == ["  = help: use 8Gi", f"  = fix:  {span.path}:2  {row}"]


def test_wide_characters_are_measured() -> None:
    shown = render([diagnose("SHR004", Span("a.yaml", 3, 10, 3, 11), "x")], lines, colour=False)
    assert shown.splitlines()[-1] == "  | " + " " * 11 + "^"


def test_a_long_line_is_shown_around_the_caret() -> None:
    text = "a" * 200 + "HERE" + "b" * 200
    span = Span("c.yaml", 1, 201, 1, 205)
    rows = render(
        [diagnose("SHR004", span, "x")], lambda _: [text], colour=False, width=80
    ).splitlines()
    assert all(len(row) <= 80 for row in rows)
    start = rows[-1].index("^")
    assert rows[-2][start : start + 4] == "HERE"


def test_control_characters_do_not_reach_the_terminal() -> None:
    finding = diagnose("SHR004", Span("a.yaml", 1, 1, 1, 2), "bad \x1b[31m name", found="\x07")
    shown = render([finding], lines, colour=False)
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert r"\x1b[31m" in shown


def test_the_same_finding_in_many_places_folds() -> None:
    findings = [diagnose("SHR004", Span("a.yaml", 1, 1, 1, 2), "same") for _ in range(8)]
    assert "and 7 more of the same" in render(findings, lines, colour=False)


def test_places_and_codes_lead_somewhere() -> None:
    span, other = Span("a.yaml", 1, 4, 1, 5), Span("\x1bb.yaml", 2, 1, 2, 2)
    finding = diagnose("SRC006", span, "no", related=[Related(other, "see")])
    links = Links(lambda span: f"file:///{span.line}", lambda code: f"file:///{code}.md")
    plain = render([finding], lambda _path: [], colour=False)
    shown = render([finding], lambda _path: [], colour=False, links=links)
    assert "error[\x1b]8;;file:///SRC006.md\x1b\\SRC006\x1b]8;;\x1b\\]: no\n" in shown
    assert "--> \x1b]8;;file:///1\x1b\\a.yaml:1:4\x1b]8;;\x1b\\\n" in shown
    assert "::: \x1b]8;;file:///2\x1b\\\\x1bb.yaml:2:1\x1b]8;;\x1b\\" in shown
    assert re.sub("\x1b]8;;.*?\x1b\\\\", "", shown) == plain
    assert "\x1b" not in plain


def test_an_address_may_not_end_itself() -> None:
    with pytest.raises(ValueError, match="end it"):
        linked("a", "file:///a\x1b\\b")
