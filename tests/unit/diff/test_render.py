"""Renderings of a diff's document: brevity, cutting, and text of a repository that stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from dracfg.diff.change import Impact
from dracfg.diff.render.folding import rows
from dracfg.diff.render.html import render_html
from dracfg.diff.render.markdown import Link, code, render_markdown
from dracfg.diff.render.text import render_text

Document = dict[str, Any]


def change(**over: Any) -> Document:
    return {
        "kind": "limit-lowered",
        "impact": "restrictive",
        "flags": ["quota"],
        "cluster": "prod-east",
        "tenant": "search",
        "object": "entitlement gpu",
        "before": "24 devices",
        "after": "16 devices",
        "effect": "sync",
        "wayBack": "raise the limit again",
        "title": "a lower limit",
        "means": "Fewer devices can be claimed; nothing is evicted.",
        "namespaces": ["search-prod"],
        "workloads": [],
        "details": [],
        "file": "tenants/search.yaml",
        "line": 12,
        "column": 5,
        "gone": False,
    } | over


def finding(**over: Any) -> Document:
    return {
        "code": "DIF001",
        "severity": "error",
        "message": "tenant search goes from active to removed",
        "file": "tenants/search.yaml",
        "line": 5,
        "column": 3,
        "endLine": 5,
        "endColumn": 9,
        "label": "",
        "related": [],
        "found": "active -> removed",
        "expected": None,
        "help": "set frozen, then draining, then removed",
        "fix": None,
        "waived": None,
    } | over


def document(*changes: Document, **over: Any) -> Document:
    worst = max((Impact.of(c["impact"]) for c in changes), default=Impact.NONE)
    end = {"commit": "0123456789abcdef", "compiles": True}
    return {
        "schemaVersion": 1,
        "kind": "DiffPlan",
        "verdict": "proven",
        "maxImpact": worst.word,
        "base": {"name": "main", **end},
        "head": {"name": "work tree", "commit": None, "compiles": True},
        "changes": list(changes),
        "capacity": [],
        "forbidden": [],
        "findings": [],
    } | over


CAPACITY = {
    "cluster": "prod-east",
    "tier": "a100-40g",
    "classes": ["a100-40g"],
    "key": "devices",
    "before": {
        "usable": "88",
        "promiseable": "88",
        "guaranteed": "72",
        "limit": "116",
        "spare": "16",
        "overcommit": "1.32x",
    },
    "after": {
        "usable": "88",
        "promiseable": "88",
        "guaranteed": "80",
        "limit": "108",
        "spare": "8",
        "overcommit": "1.23x",
    },
}

EVIL = "a`b``c|</details><script>alert(1)</script> @everyone [x](javascript:y) <!-- \x1b[31m \u202e"


def test_the_first_lines_answer_whether_to_merge() -> None:
    calm = document(change(impact="additive", flags=[]))
    assert render_text(calm).splitlines()[0] == "additive, nobody loses anything"
    worse = document(change(), forbidden=[finding()])
    assert render_text(worse).splitlines()[0] == "1 forbidden change, do not merge"
    assert "### dracfg: 1 forbidden change, do not merge" in render_markdown(worse).splitlines()[1]
    broken = document(head={"name": "x", "commit": None, "compiles": False})
    assert "does not compile, do not merge" in render_text(broken)


def test_nothing_is_said_where_nothing_changed() -> None:
    assert render_markdown(document()).count("\n") <= 5
    assert render_text(document()).splitlines()[-1] == "no changes."


def test_the_same_change_of_many_is_one_row() -> None:
    names = [f"team-{i}" for i in range(20)]
    many = document(*(change(tenant=n, cluster=c) for n in names for c in ("east", "west")))
    (row,) = rows(many)
    assert row.count == 40
    assert row.who == "20 tenants: team-0, team-1, team-2 and 17 more"
    assert row.where == "east, west"


def test_few_tenants_keep_their_places() -> None:
    found = rows(document(change(tenant="a", line=1), change(tenant="b", line=2)))
    assert [row.place for row in found] == ["tenants/search.yaml:1", "tenants/search.yaml:2"]


def test_the_worst_stand_first() -> None:
    found = rows(document(change(impact="additive"), change(impact="destructive", object="x")))
    assert [row.impact for row in found] == [Impact.DESTRUCTIVE, Impact.ADDITIVE]


@pytest.mark.parametrize("most", [1_000, 3_000, 20_000])
def test_a_comment_is_cut_cleanly_and_says_what_is_left_out(most: int) -> None:
    big = document(
        *(change(tenant=f"t{i}", object=f"entitlement e{i}", before=str(i)) for i in range(500)),
        capacity=[CAPACITY],
    )
    text = render_markdown(big, most=most)
    assert len(text.encode()) <= most
    assert "left out here" in text
    assert text.count("<details>") == text.count("</details>")
    assert text.rstrip().endswith("500 restrictive")


def test_a_help_is_given_once_and_many_alike_are_counted() -> None:
    many = [finding(message=f"tenant t{i} goes at once") for i in range(9)]
    text = render_markdown(document(forbidden=many))
    assert text.count("frozen, then draining") == 1
    assert text.count("as above") == 2
    assert "and 6 more of **DIF001**" in text


def test_a_row_says_how_much_runs_on_it() -> None:
    few = document(change(workloads=["a/b", "a/c"]))
    assert "a lower limit, reaches 2 workloads" in render_markdown(few)
    many = document(change(workloads=[f"a/p{i}" for i in range(20)]))
    assert "reaches at least 20 workloads" in render_markdown(many)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [("a", "b", "`a` → `b`"), (None, "b", "– → `b`"), ("a", None, "`a` → –"), (None, None, "|  |")],
)
def test_what_is_not_there_is_a_dash(before: str | None, after: str | None, shown: str) -> None:
    text = render_markdown(document(change(before=before, after=after)))
    assert shown in text


def test_a_new_finding_is_told_in_the_headline() -> None:
    told = [finding(severity="warning", side="head")]
    assert "1 new finding" in render_text(document(change(), findings=told)).splitlines()[0]


def test_what_blocks_is_never_the_first_to_go() -> None:
    big = document(
        *(change(object=f"e{i}", before=str(i)) for i in range(500)), forbidden=[finding()]
    )
    text = render_markdown(big, most=1_500)
    assert "DIF001" in text
    assert "frozen, then draining" in text


def test_text_keeps_its_budget() -> None:
    big = document(*(change(object=f"e{i}", before=str(i)) for i in range(200)))
    text = render_text(big, most=4_000)
    assert len(text.encode()) <= 4_000
    assert "not shown" in text
    assert "200 restrictive" in text


def outside_code(markdown: str) -> str:
    """What of a comment is markup: the comment without its code spans."""
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown)


@pytest.mark.parametrize("key", ["object", "tenant", "cluster", "before", "after", "file"])
def test_no_text_of_a_repository_becomes_markup(key: str) -> None:
    text = render_markdown(
        document(change(**{key: EVIL}), change(details=[EVIL], workloads=[EVIL]))
    )
    bare = outside_code(text.replace("<!-- dracfg:diff:default -->", "")).replace("\\|", "")
    assert "<script" not in bare
    assert "@everyone" not in bare
    assert "](javascript" not in bare
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("<details>") == bare.count("</details>")


def test_a_message_can_not_leave_its_code_span() -> None:
    text = render_markdown(document(forbidden=[finding(message=EVIL, help=EVIL)]))
    assert "<script" not in outside_code(text)


@pytest.mark.parametrize("text", ["", "`", "``", "a`b", "```", "|", "a\nb", " "])
def test_code_spans(text: str) -> None:
    span = code(text)
    assert "\n" not in span
    assert not re.search(r"(?<!\\)\|", span)
    if text.strip():
        assert re.fullmatch(r"(`+)(?!`)(.*?)(?<!`)\1", span)


def test_links_lead_to_the_line_at_the_head() -> None:
    link = Link("https://git.example.com/o/r/blob/abc", "https://ci.example.com/1")
    text = render_markdown(document(change(file="tenants/a b.yaml")), link=link)
    assert "(https://git.example.com/o/r/blob/abc/tenants/a%20b.yaml#L12)" in text
    assert "[full report](https://ci.example.com/1)" in text


def test_alerts_are_for_github_alone() -> None:
    bad = document(forbidden=[finding()])
    assert "[!CAUTION]" in render_markdown(bad)
    assert "[!CAUTION]" not in render_markdown(bad, dialect="plain")


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_balanced_and_escaped() -> None:
    page = Page()
    page.feed(
        render_html(
            document(
                change(object=EVIL, details=[EVIL]),
                forbidden=[finding(message=EVIL)],
                capacity=[CAPACITY],
            )
        )
    )
    assert page.open == []
    assert "script" not in page.seen


def test_colour_is_asked_for() -> None:
    assert "\x1b[" not in render_text(document(change()))
    assert "\x1b[" in render_text(document(change()), colour=True)


@pytest.mark.parametrize("width", [40, 80, 100])
def test_lines_fit_the_terminal(width: int) -> None:
    text = render_text(document(change(means="word " * 60), capacity=[CAPACITY]), width=width)
    assert max(map(len, text.splitlines())) <= width


def test_every_form_shows_capacity_that_moved() -> None:
    moved = document(capacity=[CAPACITY])
    for text in (render_text(moved, width=100), render_markdown(moved), render_html(moved)):
        assert "1.32x" in text
        assert "1.23x" in text
