"""The page loads nothing, lets nothing in that is not its own, and holds everything that it promises."""

import base64
import hashlib
import html
import json
import re
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dracfg.pipeline import judge
from dracfg.report.document import Report
from dracfg.report.gathering import gather, report_of
from dracfg.report.page import page
from dracfg.report.pagetables import embedded
from dracfg.report.pictures import MOST_TENANTS, Pictures, draw
from tests.bench.fleet import fleet
from tests.unit.report.repositories import ROLLOUT, crowded, edited, example, example_report

HOSTILE = "</script></style><img src=x onerror=alert(1)>\"'&\u2028{{ 7 * 7 }}"
LOADS = re.compile(
    r"src=|<link|<iframe|<object|@import|url\([\"']?(?!#)|fetch\(|XMLHttpRequest", re.I
)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of those that hold no markup."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self._inside: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag if tag in self.raw else None

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.raw[self._inside].append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def example_page() -> str:
    return page(example_report(), draw(example(), example_report()))


def rollout_page() -> str:
    facts = gather(judge(ROLLOUT), {})
    report = report_of(facts)
    return page(report, draw(facts, report))


def crowded_page() -> str:
    report = report_of(crowded())
    return page(report, draw(crowded(), report))


PAGES = pytest.mark.parametrize(
    "make", [example_page, crowded_page, rollout_page], ids=["example", "crowded", "rollout"]
)


@PAGES
def test_nothing_is_loaded(make: Any) -> None:
    text = make()
    found = Elements(text)
    markup = re.sub(r"<code>.*?</code>", "", text, flags=re.S)
    assert not LOADS.search(markup)
    assert not any(name.startswith("on") for _, attrs in found.found for name in attrs)
    assert not any("style" in attrs for _, attrs in found.found)
    links = [attrs.get("href") or "" for attrs in found.of("a")]
    assert links and all(link.startswith("#") for link in links)


@PAGES
def test_links_lead_somewhere_and_ids_are_unique(make: Any) -> None:
    found = Elements(make())
    ids = [attrs["id"] for _, attrs in found.found if "id" in attrs]
    assert len(set(ids)) == len(ids)
    named = {(attrs.get("href") or "#")[1:] for attrs in found.of("a")}
    for key in ("aria-labelledby", "for"):
        named |= {one for _, attrs in found.found for one in (attrs.get(key) or "").split()}
    assert named - {""} <= set(ids)


@PAGES
def test_only_its_own_style_and_script_may_run(make: Any) -> None:
    found = Elements(make())
    (policy,) = (
        attrs["content"] or ""
        for attrs in found.of("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    scripts = [attrs for attrs in found.of("script") if attrs.get("type") != "application/json"]
    assert len(scripts) == len(found.of("style")) == 1
    for name, text in (("script", found.raw["script"][-1]), ("style", "".join(found.raw["style"]))):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{name}-src"] == f"'sha256-{digest}'"


def test_every_section_and_tenant_is_there() -> None:
    text = example_page()
    for section in ("capacity", "devices", "tenants", "proofs", "offers", "versions", "findings"):
        assert f'<section id="{section}"' in text
    assert '<section id="rollouts"' in rollout_page()
    for tenant in example_report().tenants:
        assert tenant.name in text


def test_every_picture_has_its_facts_in_a_table() -> None:
    report = example_report()
    pictures = draw(example(), report)
    text = example_page()
    assert len(pictures.waterfalls) == len(report.capacity)
    assert len(pictures.heatmaps) == len(report.ledger)
    assert pictures.matrix is not None
    for svg in (*pictures.waterfalls.values(), *pictures.evidence.values(), pictures.matrix):
        assert svg in text
    for one in report.capacity:
        assert html.escape(one.key) in text
    assert text.count("<summary>as a table</summary>") == len(pictures.evidence)


def test_the_first_rows_stand_there_without_the_script() -> None:
    body = re.sub(r"<script.*?</script>", "", example_page(), flags=re.S)
    assert all(f'<th scope="row">{tenant.name}</th>' in body for tenant in example_report().tenants)


def test_the_data_are_all_rows() -> None:
    found = Elements(example_page())
    data = [json.loads(text) for text in found.raw["script"][:-1]]
    assert [one["noun"] for one in data] == ["device", "tenant", "proof", "offer"]
    proofs = data[2]
    report = example_report()
    assert len(proofs["rows"]) == len(report.proofs) + len(report.joint_proofs)
    assert all(len(row) == len(proofs["kinds"]) for row in proofs["rows"])


def test_refuted_proofs_stand_at_the_top() -> None:
    text = crowded_page()
    assert text.index('<ul class="against">') < text.index('<nav class="sections"')
    assert "whole l4 come to 23 devices" in text


def test_the_same_report_gives_the_same_bytes() -> None:
    assert example_page() == example_page()


def test_embedded_data_can_not_end_their_element() -> None:
    text = str(embedded({HOSTILE: [HOSTILE]}))
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {HOSTILE: [HOSTILE]}


KEPT = ("verdict", "severity", "state", "form", "question", "place", "holds", "handling")
"""Fields that hold words of dracfg's own."""
AMOUNTS = ("promised", "promiseable")


def poisoned(value: Any, name: str = "") -> Any:
    """The value with hostile text wherever the repository has its own."""
    if is_dataclass(value) and not isinstance(value, type):
        changed = {one.name: poisoned(getattr(value, one.name), one.name) for one in fields(value)}
        return replace(value, **changed)
    if isinstance(value, tuple):
        return tuple(poisoned(one, name) for one in value)
    if isinstance(value, dict):
        return {poisoned(key): poisoned(one) for key, one in value.items()}
    return value + HOSTILE if isinstance(value, str) and name not in (*KEPT, *AMOUNTS) else value


@pytest.mark.parametrize("facts", [example, crowded], ids=["example", "crowded"])
def test_nothing_of_the_repository_is_markup(facts: Any) -> None:
    report: Report = poisoned(report_of(facts()))
    text = page(report, Pictures())
    found = Elements(text)
    assert not found.of("img")
    assert not any(name.startswith("on") for _, attrs in found.found for name in attrs)
    assert "49" not in text.partition(html.escape(HOSTILE[:8]))[2][:80]
    assert len(found.of("script")) == text.count("<script")
    assert html.escape("<img src=x") in text


def test_hostile_documents_are_shown_as_text(tmp_path: Path) -> None:
    folder = edited(
        tmp_path,
        "catalog/clusters.yaml",
        "description: Everything that answers users.",
        f"description: {json.dumps(HOSTILE)}",
    )
    edited(folder, "tenants/serving.yaml", "kind: Tenant", f"kind: Tenant # {HOSTILE[:40]}\nx: 1")
    judged = judge(folder)
    assert judged.has_errors
    facts = gather(judged, {})
    report = report_of(facts)
    text = page(report, draw(facts, report))
    assert not Elements(text).of("img")
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_a_thousand_tenants_stay_small(tmp_path: Path) -> None:
    fleet(1000, 2).write(tmp_path)
    facts = gather(judge(tmp_path), {})
    report = report_of(facts)
    assert len(report.tenants) == 1000 > MOST_TENANTS
    pictures = draw(facts, report)
    assert pictures.matrix is None
    text = page(report, pictures)
    assert len(text.encode()) < 700_000
    for tenant in report.tenants:
        assert tenant.name in text
    body = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert body.count("<tr") < 300
