"""Tenants that can't differ are lowered on neither side, and the plan is the same as if they were."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dracfg.diff import states
from dracfg.diff.document import diff_document
from dracfg.diff.pair import Pair
from dracfg.diff.plan import compare
from dracfg.diff.states import choose_states, judge_states
from dracfg.diff.touched import touched_tenants
from dracfg.pipeline import compile_repository
from dracfg.source import read_repository
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
    assert touched_tenants(base, read_repository(history.root, seen)) == TOUCHED[change]


@pytest.mark.parametrize("change", TOUCHED)
def test_the_plan_is_that_of_everything(
    change: Callable[[History], None], history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(history)
    part = planned(history)
    monkeypatch.setattr(states, "touched_tenants", lambda *_: None)
    assert planned(history) == part


def planned(history: History) -> dict[str, Any]:
    with ObjectReader(history.root) as objects:
        pair = judge_states(*choose_states(history.root, objects, "HEAD"))
        return diff_document(compare(pair), full=True)


def judged(history: History) -> Pair:
    with ObjectReader(history.root) as objects:
        return judge_states(*choose_states(history.root, objects, "HEAD"))


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
    assert (
        touched_tenants(read_repository(DiskTree(history.root)), read_repository(history.root))
        is None
    )
