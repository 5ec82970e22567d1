"""Before and after as pictures: only of what moved, on one scale, and only as far as asked for."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dracfg.diff.document import diff_document
from dracfg.diff.narrowing import narrow
from dracfg.diff.plan import DiffPlan, EndState, compare
from dracfg.diff.render import pictures
from dracfg.diff.render.html import render_html
from dracfg.diff.render.pictures import Drawn, draw_changes
from tests.unit.diff.pairs import POOLS, SEARCH, Case, Edit
from tests.unit.diff.test_jointproofs import CASES as JOINT
from tests.unit.picture.drawn import assert_sound, words

TEAMS, ROLLOUT = "tenants/teams.yaml", "catalog/rollout.yaml"
CROWDED: Edit = (SEARCH, "limit: {5Gi: 8}", "limit: {5Gi: 30}")


def plan(root: Path, *edits: Edit, base: str = "proofs") -> DiffPlan:
    return compare(Case("one", edits, base=base).pair(root))


def titles(drawn: Drawn) -> list[str]:
    return [pair.title for pair in drawn.pairs]


def test_nothing_is_drawn_where_nothing_moved(tmp_path: Path) -> None:
    quiet: Edit = (POOLS, "metadata: {name: cards}", "metadata: {name: cards, description: new}")
    found = plan(tmp_path, quiet)
    assert draw_changes(found) == Drawn()
    assert "<style" not in render_html(diff_document(found), draw_changes(found))


def test_a_limit_moves_capacity_a_tenant_and_a_proof(tmp_path: Path) -> None:
    drawn = draw_changes(plan(tmp_path, CROWDED))
    assert titles(drawn) == [
        "Capacity of card-40g on prod-east: memory",
        "Guarantees and limits on prod-east",
        "Proof of card-40g on prod-east: non-blocking, notebooks slice 10Gi",
        "Proof of card-40g on prod-east: non-blocking, notebooks slice 20Gi",
    ]
    capacity, tenants, proof, _ = drawn.pairs
    assert capacity.before.svg is not None
    assert capacity.after.svg is not None
    assert "limit 130Gi" in words(capacity.before.svg)
    assert "limit 240Gi" in words(capacity.after.svg)
    assert tenants.before.svg is not None
    assert "20 / 40Gi" in words(tenants.before.svg)
    assert "1 other" in words(tenants.before.svg), "whoever has not moved is summed up"
    assert proof.before.svg is None
    assert proof.before.words == "proven by numbers alone"
    assert proof.after.words == "refuted"
    assert proof.after.svg is not None
    assert "10Gi asked for" in words(proof.after.svg)


def test_the_way_back_shows_the_same_the_other_way_round(tmp_path: Path) -> None:
    there = Case("one", (CROWDED,), base="proofs").pair(tmp_path)
    back = draw_changes(compare(type(there)(there.head, there.base, there.blocked)))
    forth = draw_changes(compare(there))
    assert titles(back) == titles(forth)
    capacity = forth.pairs[0], back.pairs[0]
    assert (capacity[0].before.svg or "").replace("before", "after") == capacity[1].after.svg


def test_a_rollout_that_goes_on(tmp_path: Path) -> None:
    edit: Edit = (ROLLOUT, "stage: canary", "stage: canary\n  phase: fenced")
    drawn = draw_changes(plan(tmp_path, edit, base="rollout"))
    line = next(pair for pair in drawn.pairs if pair.title == "Rollout sim-to-claims")
    assert line.before.svg is not None
    assert line.after.svg is not None
    assert "fenced until empty" not in words(line.before.svg)
    assert "fenced until empty: two" in words(line.after.svg)


def test_claims_for_several_things(tmp_path: Path) -> None:
    """A card moves to another PCIe root, and only one pair is left."""
    drawn = draw_changes(compare(JOINT[0].pair(tmp_path)))
    (proof,) = [pair for pair in drawn.pairs if pair.title.startswith("Proof of profile")]
    assert proof.title == "Proof of profile pair on east: fits"
    assert (proof.before.words, proof.after.words) == ("proven", "refuted")
    assert proof.before.svg is not None
    assert proof.after.svg is not None
    assert "Each claim: 1 of big and 1 of card." in words(proof.before.svg)
    assert "1 claim more than there is" in words(proof.after.svg)


def test_what_one_side_does_not_have_is_said(tmp_path: Path) -> None:
    pool = (
        "---\napiVersion: dracfg.dev/v1alpha1\nkind: HardwareTier\nmetadata: {name: new}\n"
        "spec: {driver: gpu.example.com, device: {capacity: {memory: 80Gi}}, reclaim: {timeout: 15m}}\n"
        "---\napiVersion: dracfg.dev/v1alpha1\nkind: NodePool\nmetadata: {name: four}\n"
        "spec:\n  cluster: lab\n  nodes: 2\n  nodeSelector: {node.example.com/pool: four}\n"
        "  devices: [{tier: new, perNode: 4}]\n  owner: {gpu.example.com: dra}\n"
        "---\napiVersion: dracfg.dev/v1alpha1\nkind: NodePool\nmetadata: {name: two}"
    )
    text = "---\napiVersion: dracfg.dev/v1alpha1\nkind: NodePool\nmetadata: {name: two}"
    drawn = draw_changes(plan(tmp_path, (POOLS, text, pool), base="rollout"))
    (capacity,) = [pair for pair in drawn.pairs if pair.title == "Capacity of new on lab: devices"]
    assert (capacity.before.svg, capacity.before.words) == (None, "not there")
    assert capacity.after.svg is not None


@pytest.mark.parametrize(
    ("clusters", "tenants", "expected"),
    [
        (("prod-*",), (), 4),
        (("other",), (), 0),
        ((), ("search",), 1),
        ((), ("notebooks",), 2),
        ((), ("nobody",), 0),
    ],
)
def test_pictures_go_by_what_is_asked_for(
    tmp_path: Path, clusters: tuple[str, ...], tenants: tuple[str, ...], expected: int
) -> None:
    narrowed = narrow(plan(tmp_path, CROWDED), clusters, tenants)
    assert len(draw_changes(narrowed).pairs) == expected


def test_what_is_too_much_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST", 1)
    found = plan(tmp_path, CROWDED)
    drawn = draw_changes(found)
    assert (len(drawn.pairs), drawn.left) == (1, 3)
    assert "3 more are not drawn." in render_html(diff_document(found), drawn)


def test_a_side_that_is_not_understood_is_not_drawn(tmp_path: Path) -> None:
    broken: Edit = (SEARCH, "limit: {5Gi: 8}", "limit: {5Gi: eight}")
    assert draw_changes(plan(tmp_path, broken)) == Drawn()


def test_a_plan_of_a_cluster_has_no_pictures() -> None:
    assert draw_changes(DiffPlan(EndState("cluster"), EndState("out/"), ())) == Drawn()


class Page(HTMLParser):
    """Ids, and pictures within their figures."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]


def test_the_page_has_one_style_unique_ids_and_no_script(tmp_path: Path) -> None:
    found = plan(tmp_path, CROWDED)
    text = render_html(diff_document(found), draw_changes(found))
    page = Page()
    page.feed(text)
    assert page.tags.count("style") == 1
    assert page.tags.count("figure") == 4
    assert page.tags.count("svg") == 6
    assert len(page.ids) == len(set(page.ids))
    assert not {"script", "link", "img"} & set(page.tags)
    assert not re.search(r"https?:|url\((?!#dracfg-)", text)
    for number, svg in enumerate(re.findall(r"<svg.*?</svg>", text, re.DOTALL)):
        ident = re.search(r' id="([^"]*)"', svg)
        assert ident, number
        assert_sound(svg, ident[1])
