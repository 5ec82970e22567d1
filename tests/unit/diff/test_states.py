"""Which states are meant, and what stands in the way of reading them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dracfg.diff.states import NoState, State, choose_states, judge_states
from dracfg.source.git import GitFault, ObjectReader
from tests.unit.diff.history import PLATFORM, TEAMS, History, begin, git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def history(tmp_path: Path) -> History:
    return begin(tmp_path / "repo")


@pytest.fixture
def parted(history: History) -> History:
    """A branch `own` with one commit, and a main that went on without it."""
    history.branch("own")
    history.write("own.txt", "1")
    history.commit()
    git(history.root, "checkout", "-q", "main")
    history.write("other.txt", "1")
    history.commit()
    return history


def chosen(root: Path, *names: str) -> tuple[State, State]:
    with ObjectReader(root) as objects:
        return choose_states(root, objects, *names)


def ids(history: History, *revisions: str) -> list[str]:
    return [git(history.root, "rev-parse", revision) for revision in revisions]


def test_by_default_it_is_the_merge_base_and_the_work_tree(parted: History) -> None:
    git(parted.root, "checkout", "-q", "own")
    base, head = chosen(parted.root)
    assert (base.name, base.commit) == ("merge base with main", *ids(parted, "main~1"))
    assert (head.name, head.commit) == ("work tree", None)


@pytest.mark.parametrize(
    ("names", "base", "head"),
    [
        (("main", "own"), "main~1", "own"),
        (("main~1", "own"), "main~1", "own"),
        (("main", "main~1"), "main", "main~1"),
        (("own", "own"), "own", "own"),
    ],
)
def test_what_others_did_since_is_left_out_and_the_way_back_is_not(
    names: tuple[str, ...], base: str, head: str, parted: History
) -> None:
    found = [state.commit for state in chosen(parted.root, *names)]
    assert found == ids(parted, base, head)


def test_the_main_branch_is_that_of_the_remote_first(parted: History, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(parted.root), str(clone))
    git(clone, "checkout", "-q", "-b", "topic", "origin/own")
    git(clone, "branch", "-q", "-D", "main")
    assert chosen(clone)[0].name == "merge base with origin/main"


def test_without_a_main_branch_it_has_to_be_said(history: History) -> None:
    git(history.root, "branch", "-q", "-m", "trunk")
    with pytest.raises(NoState, match="BASE"):
        chosen(history.root)
    assert chosen(history.root, "trunk")[0].name == "trunk"


def test_folders(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    shutil.copytree(history.root, other)
    base, head = chosen(history.root, str(other))
    assert (base.name, base.commit, head.name) == (str(other), None, "work tree")
    base, head = chosen(history.root, str(other), str(history.root))
    assert [state.tree.root for state in (base, head)] == [other, history.root]
    with pytest.raises(NoState, match="neither catalog/ nor tenants/"):
        chosen(history.root, str(other), str(tmp_path))
    monkeypatch.chdir(tmp_path)
    git(history.root, "branch", "other")
    assert chosen(history.root, "other")[0].commit == ids(history, "other")[0]
    assert chosen(history.root, "./other")[0].commit is None


def test_a_folder_of_the_repository_is_read_by_itself(tmp_path: Path) -> None:
    deep = begin(tmp_path / "mono", "platform/devices")
    deep.edit(TEAMS, ("share: 3", "share: 2"))
    with ObjectReader(deep.root) as objects:
        pair = judge_states(*choose_states(deep.root, objects, "HEAD"))
    assert set(pair.base.judgement.sources.files) == {PLATFORM, TEAMS}
    assert "share: 3" in pair.base.judgement.sources.files[TEAMS].text


def test_a_folder_that_was_not_there_yet_is_empty(tmp_path: Path) -> None:
    deep = begin(tmp_path / "mono", "platform")
    deep.write("more/catalog/a.yaml", deep.read(PLATFORM))
    with ObjectReader(deep.root / "more") as objects:
        pair = judge_states(*choose_states(deep.root / "more", objects, "HEAD"))
    assert pair.base.judgement.documents == ()
    assert pair.head.judgement.documents != ()


def test_a_bare_repository_has_revisions_only(parted: History, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(parted.root), str(bare))
    with pytest.raises(NoState, match="bare"):
        chosen(bare)
    with ObjectReader(bare) as objects:
        pair = judge_states(*choose_states(bare, objects, "main", "own"))
    assert pair.head.judgement.documents == pair.base.judgement.documents != ()


def test_a_work_tree_of_its_own_is_as_good(parted: History, tmp_path: Path) -> None:
    git(parted.root, "worktree", "add", "-q", str(tmp_path / "side"), "own")
    base, head = chosen(tmp_path / "side")
    assert base.commit == ids(parted, "main~1")[0]
    assert head.tree.root == tmp_path / "side"


def test_a_shallow_clone_is_told_what_to_fetch(parted: History, tmp_path: Path) -> None:
    clone = tmp_path / "shallow"
    url = parted.root.as_uri()
    git(tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", "-b", "own", url, str(clone))
    for names in ((), ("origin/main",)):
        with pytest.raises(NoState, match=r"git fetch --unshallow"):
            chosen(clone, *names)
    with pytest.raises(GitFault, match=r"this clone is shallow; `git fetch origin HEAD~1`"):
        chosen(clone, "HEAD~1")
    assert chosen(clone, "HEAD")[0].commit == ids(parted, "own")[0]


def test_no_history_in_common(history: History) -> None:
    git(history.root, "checkout", "-q", "--orphan", "apart")
    history.commit(day="2026-12-01")
    with pytest.raises(NoState, match="no commit in common"):
        chosen(history.root)
    assert chosen(history.root, "main")[0].commit == ids(history, "main")[0]


@pytest.mark.parametrize("name", ["nowhere", "--all", "", "HEAD:catalog"])
def test_a_revision_that_is_not_there(name: str, history: History) -> None:
    with pytest.raises(GitFault, match="there is no revision"):
        chosen(history.root, name)


def test_no_repository_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitFault, match="not a git repository"):
        chosen(tmp_path)


def test_no_git(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(history.root))
    with pytest.raises(GitFault, match="git is not installed"):
        chosen(history.root, "HEAD")


def test_a_hook_of_another_folder_leads_nowhere_else(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_WORK_TREE", "/")
    (history.root / "deep").mkdir()
    assert chosen(history.root / "catalog", "HEAD")[0].commit == ids(history, "HEAD")[0]
