"""Forty changes that reviewers meet, each with the whole comment that they get to read.

A case is a folder `diff/<nn-name>/` with `case.yaml`:

about     one line: what somebody did
before    {patch, files, removed} that both sides have beside `diff/_base`
patch     path -> list of {replace, with}; each text must stand there exactly once
files     path -> text
removed   paths that are taken out

Its `comment.md` is the comment; where there is a `terminal.txt`, the text is held too, and the page with
its pictures where there is a `page.html`.
`--update-golden` writes them anew; they are reviewed for brevity.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.diff.document import diff_document
from dracfg.diff.pair import Pair, Side
from dracfg.diff.plan import DiffPlan, compare
from dracfg.diff.render.html import render_html
from dracfg.diff.render.markdown import render_markdown
from dracfg.diff.render.pictures import draw_changes
from dracfg.diff.render.text import render_text
from dracfg.pipeline import compile_repository, judge
from dracfg.scope import blocked_units
from dracfg.source.tree import DiskTree

GALLERY = Path(__file__).parent / "diff"
CASES = sorted(path.parent for path in GALLERY.glob("*/case.yaml"))
FIRST_SCREEN = 30
"""Lines of a comment before what is folded away."""

ONE_WAY = frozenset({"proof-missing", "attribute-dropped", "driver-publishes"})
"""A guarantee that is new has no proof to lose; an attribute that is dropped is one thing for each, and
one that comes is told with all that a release publishes."""


@dataclass(frozen=True)
class Case:
    """Both states of a case; `base` is judged once for all cases that have nothing before."""

    name: str
    base: Side
    head: Side

    @cached_property
    def plan(self) -> DiffPlan:
        return compare(_pair(self.base, self.head))

    @cached_property
    def document(self) -> dict[str, Any]:
        return diff_document(self.plan)


class Gallery:
    """The cases, each built when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bases: dict[str, tuple[Path, Side]] = {}
        self.cases: dict[str, Case] = {}

    def case(self, folder: Path) -> Case:
        if folder.name not in self.cases:
            told = yaml.safe_load((folder / "case.yaml").read_text(encoding="utf-8"))
            place, base = self._base(folder.name, told.get("before"))
            root = self.root / folder.name
            shutil.copytree(place, root)
            _change(root, told)
            judged = judge(root, since=base.judgement.standing)
            head = Side("work tree", judged, tree=DiskTree(root))
            self.cases[folder.name] = Case(folder.name, base, head)
        return self.cases[folder.name]

    def _base(self, name: str, before: Mapping[str, Any] | None) -> tuple[Path, Side]:
        key = name if before else ""
        if key not in self.bases:
            place = self.root / f"base-{key}"
            shutil.copytree(GALLERY / "_base", place)
            _change(place, before or {})
            assert not [f for f in compile_repository(place).findings if f.is_error]
            self.bases[key] = place, Side("main", judge(place), tree=DiskTree(place))
        return self.bases[key]


def _change(root: Path, told: Mapping[str, Any]) -> None:
    for path, edits in told.get("patch", {}).items():
        text = (root / path).read_text(encoding="utf-8")
        for edit in edits:
            assert text.count(edit["replace"]) == 1, f"{edit['replace']!r} in {path}"
            text = text.replace(edit["replace"], edit["with"])
        (root / path).write_text(text, encoding="utf-8")
    for path, text in told.get("files", {}).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for path in told.get("removed", ()):
        (root / path).unlink()


def _pair(base: Side, head: Side) -> Pair:
    tests = [
        blocked_units(
            one.judgement.catalog,
            one.judgement.documents,
            one.judgement.findings,
            one.judgement.poisoned,
            one.judgement.sources,
        )
        for one in (base, head)
    ]
    return Pair(base, head, lambda path: any(test(path) for test in tests))


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    return Gallery(tmp_path_factory.mktemp("gallery"))


every_case = pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)


@every_case
def test_comment(folder: Path, gallery: Gallery, request: pytest.FixtureRequest) -> None:
    case = gallery.case(folder)
    forms = {"comment.md": render_markdown(case.document)}
    if (folder / "terminal.txt").exists():
        forms["terminal.txt"] = render_text(case.document, width=100)
    if (folder / "page.html").exists():
        forms["page.html"] = render_html(case.document, draw_changes(case.plan))
    for name, text in forms.items():
        file = folder / name
        if request.config.getoption("--update-golden"):
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")


@every_case
def test_the_answer_stands_on_the_first_screen(folder: Path, gallery: Gallery) -> None:
    comment = render_markdown(gallery.case(folder).document)
    first = comment.partition("<details>")[0]
    assert first.count("\n") <= FIRST_SCREEN


@every_case
def test_a_state_does_not_differ_from_itself(folder: Path, gallery: Gallery) -> None:
    case = gallery.case(folder)
    for side in (case.base, case.head):
        same = compare(_pair(side, side))
        assert (same.changes, same.forbidden, same.capacity, same.objects) == ((), (), (), ())


@every_case
def test_the_way_back_is_about_the_same_objects(folder: Path, gallery: Gallery) -> None:
    case = gallery.case(folder)
    back = compare(_pair(case.head, case.base))
    assert concerned(case.plan) == concerned(back)


def concerned(plan: DiffPlan) -> set[tuple[str | None, str | None, str]]:
    """What the changes are about, without what only one direction can tell."""
    told = (one for one in plan.changes if one.kind.name not in ONE_WAY)
    return {(one.cluster, one.tenant, one.object) for one in told}


def test_there_are_thirty() -> None:
    assert len(CASES) >= 30
