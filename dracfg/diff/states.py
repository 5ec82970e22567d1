"""Which two states are compared, and how both are judged alike.

A state is a revision, a folder, or the work tree. Revisions are read through git's objects; nothing
is checked out. Knows how states are named; nothing of what is compared in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path

from dracfg.aside import processors
from dracfg.checking import check_all
from dracfg.dataclass import dataclass
from dracfg.diff.pair import Pair, Side
from dracfg.diff.told import Told
from dracfg.diff.touched import of_others, tells_all, touched_tenants
from dracfg.link.linker import link
from dracfg.model.kept import parse_files
from dracfg.model.kinds import AnyDocument
from dracfg.passes import Timings
from dracfg.pipeline import InventoryFile, Judgement, judge
from dracfg.reading import read
from dracfg.scope import blocked_units
from dracfg.source import ROOTS, Sources
from dracfg.source.git import (
    GitFault,
    ObjectReader,
    has_work_tree,
    is_shallow,
    main_branch,
    merge_base,
    resolve_commit,
)
from dracfg.source.revisiontree import revision_tree
from dracfg.source.seen import Seen
from dracfg.source.tree import DiskTree, Tree
from dracfg.terms import Extent, Means

WORK_TREE = "work tree"
_HISTORY = (
    "this clone is shallow and lacks the commit where they part; `git fetch --unshallow` brings it "
    "(in a pipeline: fetch-depth: 0, or GIT_DEPTH: 0)"
)


@dataclass(frozen=True, slots=True)
class State:
    """What is read, what it is called, and the commit where it is one."""

    name: str
    tree: Tree
    commit: str | None = None


class NoState(Exception):
    """What was asked for can't be compared, in words for a person."""


def choose_states(
    root: Path, objects: ObjectReader, base: str | None = None, head: str | None = None
) -> tuple[State, State]:
    """The states that are meant by up to two names.

    A name is a revision, or else a folder that holds a repository. Without a head it is the work
    tree at `root`; without a base it is the commit where the head left the main branch, and so it
    is with one: what others did since then is no part of the change. Where two revisions lie on one
    line and the way leads back, the base is taken as it is. Raises NoState and GitFault.
    """
    if base is not None and head is None and _is_repository(Path(base), root, base):
        return _folder(Path(base)), _work_tree(root)
    if base is not None and head is not None and _is_repository(Path(base), root, base):
        return _folder(Path(base)), folder_state(Path(head))
    if head is None and not has_work_tree(root):
        resolve_commit(root, "HEAD")
        raise NoState("this repository is bare and has no work tree; name both revisions")
    commit = resolve_commit(root, "HEAD" if head is None else head)
    later = _work_tree(root) if head is None else _revision(root, head, commit, objects)
    if base is None:
        return _left(root, commit, objects), later
    return _parted(root, base, commit, objects, named=head is not None), later


def judge_states(
    base: State,
    head: State,
    inventories: Sequence[InventoryFile] = (),
    *,
    timings: Timings | None = None,
    today: date | None = None,
    seen: Seen | None = None,
    told: Told | None = None,
    whole: bool = False,
) -> Pair:
    """Both states, judged; files that are the same in both, or were `seen` before, are read once.

    The base may be empty: then everything is new. What stands under `out/` in the base stands for
    the head too, so that nothing is hidden by taking it away. `today` is the head's day; the base
    has its own. What a run `told` is not asked again where one of the states is its own. As a `whole`
    they are judged where a part is known not to tell all.
    """
    clock, known = timings or Timings(), seen or Seen()
    sources = clock.measure(
        "read",
        lambda: (
            read(base.tree, known, processors()),
            read(head.tree, known, processors()),
        ),
    )

    def parsed(one: Sources) -> tuple[AnyDocument, ...]:
        return parse_files(one.files.values(), known).documents

    base_run, head_run = (told if told is not None and told.is_of(one) else None for one in sources)

    def judged(only: frozenset[str] | None) -> Pair:
        # What is left of a few tenants is less work than to hand it over.
        jobs = processors() if only is None else 1
        others = None
        if only is not None and base_run is None and head_run is not None:
            others = head_run.of_others(documents[1], only)
        extent = None if only is None else Extent(only, others)
        before = judge(
            base.tree, clock, inventories,
            seen=known, may_be_empty=True, sources=sources[0], extent=extent,
            by=Means(jobs=jobs, rules=check_all if base_run is None else base_run.rules),
        )  # fmt: skip
        if extent is not None and extent.others is None:
            extent = replace(extent, others=of_others(before, extent.only))
        after = judge(
            head.tree, clock, inventories,
            today=today, since=before.standing, seen=known, sources=sources[1], extent=extent,
            by=Means(
                jobs=jobs,
                rules=check_all if head_run is None else head_run.rules,
                linker=partial(link, since=before.catalog),
            ),
        )  # fmt: skip
        return pair_of(base, before, head, after)

    documents = clock.measure("parse", lambda: [*map(parsed, sources)])
    only = None if whole else touched_tenants(*sources, chain.from_iterable(documents))
    if only is not None:
        pair = judged(only)
        if tells_all(pair, only):
            return pair
    return judged(None)


def pair_of(base: State, before: Judgement, head: State, after: Judgement) -> Pair:
    """Two states with their judgements."""
    first, second = _blocked(before), _blocked(after)
    return Pair(
        Side(base.name, before, base.commit, base.tree),
        Side(head.name, after, head.commit, head.tree),
        lambda path: first(path) or second(path),
    )


def _blocked(judged: Judgement) -> Callable[[str], bool]:
    return blocked_units(
        judged.catalog,
        judged.documents,
        judged.findings,
        judged.poisoned,
        judged.sources,
    )


def folder_state(folder: Path) -> State:
    """A folder that holds a repository. Raises NoState."""
    if not holds_repository(folder):
        raise NoState(f"{folder} holds neither catalog/ nor tenants/")
    return _folder(folder)


def holds_repository(folder: Path) -> bool:
    """Whether a folder has what dracfg compiles."""
    return any((folder / name).is_dir() for name in ROOTS)


def _is_repository(folder: Path, root: Path, name: str) -> bool:
    """Whether a name means a folder: revisions come first, `./` makes a folder plain."""
    if not name or not holds_repository(folder):
        return False
    if name.startswith((".", "/")):
        return True
    try:
        resolve_commit(root, name)
    except GitFault:
        return True
    return False


def _folder(folder: Path) -> State:
    return State(folder.as_posix(), DiskTree(folder))


def _work_tree(root: Path) -> State:
    return State(WORK_TREE, DiskTree(root))


def _left(root: Path, commit: str, objects: ObjectReader) -> State:
    """Where the line of `commit` left the main branch."""
    main = main_branch(root)
    if main is None:
        raise NoState("no branch is called main or master here; say what to compare with: BASE")
    found = merge_base(root, main, commit)
    if found is None:
        why = _HISTORY if is_shallow(root) else "they have no commit in common"
        raise NoState(f"{main} and HEAD can't be compared: {why}")
    return _revision(root, f"merge base with {main}", found, objects)


def _parted(root: Path, base: str, commit: str, objects: ObjectReader, *, named: bool) -> State:
    """The base that was named, or the commit where the two parted."""
    start = resolve_commit(root, base)
    found = merge_base(root, start, commit)
    if found is None and is_shallow(root) and start != commit:
        raise NoState(f"{base} and HEAD can't be compared: {_HISTORY}")
    if found in (None, start) or (named and found == commit):
        return _revision(root, base, start, objects)
    assert found is not None
    return _revision(root, f"merge base with {base}", found, objects)


def _revision(root: Path, name: str, commit: str, objects: ObjectReader) -> State:
    return State(name, revision_tree(root, commit, objects), commit)
