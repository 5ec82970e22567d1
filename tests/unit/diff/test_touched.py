"""Tenants that can't differ are lowered on neither side, and the plan is the same as if they were."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from dracfg import checking
from dracfg.check.catalog import check_catalog, check_tenants
from dracfg.checking import Checked
from dracfg.diagnostics import Diagnostic, diagnose
from dracfg.diff import states
from dracfg.diff.document import diff_document
from dracfg.diff.pair import Pair
from dracfg.diff.plan import compare
from dracfg.diff.states import choose_states, folder_state, judge_states
from dracfg.diff.told import Told
from dracfg.diff.touched import touched_tenants
from dracfg.link import linker
from dracfg.link.catalog import Catalog
from dracfg.link.index import Index
from dracfg.link.linker import Linked
from dracfg.model.kept import parse_files
from dracfg.pipeline import compile_repository, judge
from dracfg.source import Sources, read_repository
from dracfg.source.git import ObjectReader
from dracfg.source.seen import Seen
from dracfg.source.tree import DiskTree
from tests.unit.diff.history import PLATFORM, TEAMS, History, begin

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

APART = """apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: apart}
spec:
  namespaces: [{name: apart, clusters: [west]}]
  entitlements: [{name: whole, tier: l40s, guaranteed: 0, limit: 2}]
  profiles: [{name: one, requests: [{name: gpu, entitlement: whole}]}]
"""


@pytest.fixture
def history(tmp_path: Path) -> History:
    """The tenants of the golden tree, each in its own file, one more with room for it, compiled."""
    history = begin(tmp_path / "repo")
    first, _, second = history.read(TEAMS).partition("---\n")
    history.remove(TEAMS)
    history.edit(PLATFORM, ("nodes: 2", "nodes: 4"))
    for name, text in (("notebooks", first), ("search", second), ("apart", APART)):
        history.write(f"tenants/{name}.yaml", text)
    compile_repository(history.root)
    history.commit()
    return history


def limit(history: History) -> None:
    history.edit("tenants/apart.yaml", ("limit: 2", "limit: 3"))


def profile(history: History) -> None:
    history.edit("tenants/apart.yaml", ("name: one", "name: other"))


def frozen(history: History) -> None:
    history.edit("tenants/search.yaml", ("spec:\n", "spec:\n  state: frozen\n"))


def lent(history: History) -> None:
    history.edit("tenants/search.yaml", ("size: 5Gi, count: 2}]", "size: 5Gi, count: 1}]"))


def offered(history: History) -> None:
    history.edit("tenants/notebooks.yaml", ("size: 5Gi, count: 2, to", "size: 5Gi, count: 3, to"))


def given_up(history: History) -> None:
    history.edit("tenants/notebooks.yaml", ("spec:\n", "spec:\n  state: removed\n"))


def moved(history: History) -> None:
    (history.root / "tenants/apart.yaml").rename(history.root / "tenants/aside.yaml")


def gone(history: History) -> None:
    history.remove("tenants/apart.yaml")


def new(history: History) -> None:
    history.write("tenants/new.yaml", APART.replace("apart", "new"))


def broken(history: History) -> None:
    history.edit("tenants/apart.yaml", ("tier: l40s", "tier: l40"))


def unread(history: History) -> None:
    history.edit("tenants/apart.yaml", ("limit: 2", "limits: 2"))


def shared(history: History) -> None:
    history.edit("tenants/apart.yaml", ("spec:\n", "spec:\n  ownClaims: true\n"))


def platform(history: History) -> None:
    history.edit(PLATFORM, ("nodes: 4", "nodes: 5"))


def nothing(_history: History) -> None:
    """The work tree as it was committed."""


def edited_tree(history: History) -> None:
    history.remove("out/west/tenants/apart")


TOUCHED: dict[Callable[[History], None], set[str] | None] = {
    limit: {"apart"},
    profile: {"apart"},
    frozen: {"search", "notebooks"},
    lent: {"search", "notebooks"},
    offered: {"search", "notebooks"},
    given_up: {"search", "notebooks"},
    moved: {"apart"},
    gone: {"apart"},
    new: {"new"},
    broken: {"apart"},
    unread: {"apart"},
    shared: {"apart"},
    platform: None,
    nothing: set(),
    edited_tree: set(),
}


@pytest.mark.parametrize("change", TOUCHED)
def test_who_is_touched(change: Callable[[History], None], history: History) -> None:
    seen = Seen()
    base = read_repository(history.root, seen)
    change(history)
    assert touched(base, read_repository(history.root, seen)) == TOUCHED[change]


def touched(base: Sources, head: Sources) -> frozenset[str] | None:
    seen = Seen()
    documents = [
        one for side in (base, head) for one in parse_files(side.files.values(), seen).documents
    ]
    return touched_tenants(base, head, documents)


def test_who_borrows_is_touched_though_the_lender_names_nobody(history: History) -> None:
    text = history.read("tenants/notebooks.yaml").partition("  offers:")[0]
    history.write("tenants/notebooks.yaml", text)
    seen = Seen()
    base = read_repository(history.root, seen)
    history.write("tenants/notebooks.yaml", f"{text}# and more\n")
    assert touched(base, read_repository(history.root, seen)) == frozenset({"notebooks", "search"})


@pytest.mark.parametrize("change", TOUCHED)
def test_the_plan_is_that_of_everything(
    change: Callable[[History], None], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(history)
    part = planned(history)
    monkeypatch.setattr(states, "touched_tenants", lambda *_: None)
    assert planned(history) == part


@pytest.mark.parametrize("change", TOUCHED)
@pytest.mark.parametrize("of_folders", [False, True])
def test_the_plan_is_that_of_states_linked_apart(
    change: Callable[[History], None],
    of_folders: bool,
    history: History,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Whatever is taken over from the base as it was linked."""
    shutil.copytree(history.root, tmp_path / "before", ignore=shutil.ignore_patterns(".git"))
    change(history)
    before, after = folder_state(tmp_path / "before"), folder_state(history.root)
    linked = linker.link

    def found() -> dict[str, Any]:
        if not of_folders:
            return planned(history)
        return diff_document(compare(judge_states(before, after)), full=True)

    def alone(named: Index, poisoned: frozenset[tuple[str, str]], **_since: Catalog) -> Linked:
        return linked(named, poisoned)

    together = found()
    monkeypatch.setattr(states, "link", alone)
    assert found() == together


def planned(history: History, today: date | None = None) -> dict[str, Any]:
    with ObjectReader(history.root) as objects:
        pair = judge_states(*choose_states(history.root, objects, "HEAD"), today=today)
        return diff_document(compare(pair), full=True)


def judged(history: History, run: Told | None = None) -> Pair:
    with ObjectReader(history.root) as objects:
        return judge_states(*choose_states(history.root, objects, "HEAD"), told=run)


@pytest.mark.parametrize(
    ("change", "lowered"),
    [
        (limit, {"apart"}),
        (frozen, {"notebooks", "search"}),
        (nothing, set()),
        (platform, {"apart", "notebooks", "search"}),
    ],
)
def test_only_those_are_lowered(
    change: Callable[[History], None], lowered: set[str], history: History
) -> None:
    change(history)
    pair = judged(history)
    for side in (pair.base, pair.head):
        paths = [unit.path.split("/") for unit in side.judgement.units]
        assert {path[2] for path in paths if path[1] == "tenants"} == lowered


def test_with_an_error_everything_is_judged(history: History) -> None:
    broken(history)
    units = judged(history).base.judgement.units
    assert {"west/tenants/notebooks", "west/tenants/search"} <= {unit.path for unit in units}


def test_documents_are_made_once(history: History) -> None:
    limit(history)
    pair = judged(history)
    base, head = (
        {one.name: one for one in side.judgement.documents} for side in (pair.base, pair.head)
    )
    assert {name for name in base if base[name] is not head[name]} == {"apart"}


def test_a_folder_is_read_as_it_is(history: History) -> None:
    assert touched(read_repository(DiskTree(history.root)), read_repository(history.root)) is None


def told(history: History, *more: Diagnostic) -> Told:
    """What rules found in a run over the repository as it is, and more of its tenants."""
    files = read_repository(history.root).files.values()
    digests = {file.path: sha256(file.text.encode()).hexdigest() for file in files}
    found = judge(history.root).checked
    return Told(digests, Checked(found.whole, (*found.by_tenant, *more)))


@pytest.mark.parametrize("is_head", [False, True])
@pytest.mark.parametrize("change", [limit, frozen, lent, nothing])
def test_what_a_run_told_of_either_state_is_not_asked_again(
    change: Callable[[History], None],
    is_head: bool,
    history: History,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history.write("tenants/idle.yaml", IDLE)
    history.commit()
    before = told(history)
    change(history)
    expected = judged(history)
    run = told(history) if is_head else before
    looked_at = Counter[str]()

    def spy(part: Catalog, meanwhile: Callable[[], None]) -> tuple[Diagnostic, ...]:
        looked_at.update(part.tenants.keys())
        return check_tenants(part, meanwhile)

    catalogs: list[Catalog] = []

    def noted(catalog: Catalog, meanwhile: Callable[[], None]) -> tuple[Diagnostic, ...]:
        catalogs.append(catalog)
        return check_catalog(catalog, meanwhile)

    monkeypatch.setattr(checking, "check_tenants", spy)
    monkeypatch.setattr(checking, "check_catalog", noted)
    pair = judged(history, run)
    # What a part can't tell is asked of all, of the one state that the run was not over.
    assert looked_at["idle"] == (change is lent)
    assert len(catalogs) == {nothing: 0, lent: 2}.get(change, 1)
    for side, other in ((pair.base, expected.base), (pair.head, expected.head)):
        assert side.judgement.findings == other.judgement.findings
    assert "CAP084" in codes(pair)


def test_what_a_run_over_other_files_told_is_not_taken(history: History) -> None:
    before = told(history, diagnose("CAP084", None, "of another state"))
    assert "CAP084" in codes(judged(history, before))
    other = replace(before, digests={**before.digests, "tenants/more.yaml": "0"})
    assert "CAP084" not in codes(judged(history, other))


def codes(pair: Pair) -> set[str]:
    return {finding.code for finding in pair.head.judgement.findings}


IDLE = """apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: idle}
spec:
  namespaces: [{name: idle, clusters: [west]}]
  entitlements:
  - {name: whole, tier: l40s, guaranteed: 0, limit: 1}
"""
UNTIL = date(2026, 12, 31)
WAIVED = IDLE.replace("\n  - ", f"\n  # dracfg: allow CAP084 until {UNTIL} because it is new\n  - ")


@pytest.mark.parametrize(
    ("text", "today", "told"),
    [
        (IDLE, UNTIL, set()),
        (WAIVED, UNTIL, set()),
        (WAIVED, UNTIL + timedelta(days=1), {"MOD023"}),
        (IDLE.replace("tier: l40s", "tier: l40s, priority: high"), UNTIL, {"TEN056"}),
    ],
)
def test_what_is_found_of_others_is_told_as_if_they_were_judged(
    text: str, today: date, told: set[str], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sides have it, but for a waiver that has ended meanwhile, and errors are told of both."""
    history.write("tenants/idle.yaml", text)
    history.commit()
    limit(history)
    part = planned(history, today)
    assert {finding["code"] for finding in part["findings"]} == told
    monkeypatch.setattr(states, "touched_tenants", lambda *_: None)
    assert planned(history, today) == part


@pytest.mark.parametrize("change", [limit, frozen, lent, gone, new, nothing])
def test_findings_are_those_of_everything(
    change: Callable[[History], None], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules that judge tenants one by one are asked of few, and told of all."""
    history.write("tenants/idle.yaml", IDLE)
    history.commit()
    change(history)
    part = judged(history)
    monkeypatch.setattr(states, "touched_tenants", lambda *_: None)
    whole = judged(history)
    assert part.base.judgement.findings == whole.base.judgement.findings
    assert part.head.judgement.findings == whole.head.judgement.findings
    assert "CAP084" in {finding.code for finding in part.head.judgement.findings}
