"""Clusters are built by whoever is free, the largest first, and come back in the catalog's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dracfg import building
from dracfg.building import built_by
from dracfg.check.catalog import RULES, TENANT_RULES
from dracfg.emit.ahead import FilesAhead, staging
from dracfg.executors.executor import Begun, Executor
from dracfg.executors.ordered import Pool
from dracfg.pipeline import judge
from dracfg.terms import Means

ROOT = Path(__file__).parents[2]


class Noting(Executor):
    """Does the work here, and notes what it was given."""

    def __init__(self) -> None:
        super().__init__(1, ExitStack(), beside=1)
        self.given: list[str] = []

    def begin(
        self, work: Callable[[Any], Any], portions: Sequence[Any], weight: int | None = None
    ) -> Begun[Any]:
        assert weight
        self.given += portions
        return Begun(map(work, portions))

    def _pool(self, work: Callable[[Any], Any], portions: Sequence[Any]) -> Pool[Any] | None:
        del work, portions
        return None


def test_the_largest_clusters_are_begun_first() -> None:
    executor = Noting()
    builder = built_by(executor, lambda names: sorted(names)[::-1])
    judged = judge(ROOT, by=Means(form="files", builder=builder))
    sizes = [len(judged.catalog.tenants_on(name)) for name in executor.given]
    assert sizes == sorted(sizes, reverse=True)
    assert len({*sizes}) > 1
    assert {*executor.given} == {*judged.catalog.clusters}


def test_they_come_back_in_order() -> None:
    executor = Noting()
    judged = judge(ROOT, by=Means(form="none"))
    names = sorted(judged.catalog.clusters, key=lambda name: len(judged.catalog.tenants_on(name)))
    building = built_by(executor, lambda _names: names)(judged.catalog, judged.standing, "none")
    assert [one.cluster for one in building.results()] == names != executor.given


class Elsewhere(Noting):
    """Has others do the work, who are told so whenever they are attended."""

    def __init__(self) -> None:
        super().__init__()
        self.attended = 0

    def begin(
        self, work: Callable[[Any], Any], portions: Sequence[Any], weight: int | None = None
    ) -> Begun[Any]:
        assert weight

        def attend() -> None:
            self.attended += 1

        return Begun(map(work, portions), attend)


def test_rules_run_here_while_others_build() -> None:
    executor = Elsewhere()
    alone = judge(ROOT, by=Means(form="none"))
    judged = judge(ROOT, by=Means(form="none", jobs=2, builder=built_by(executor)))
    assert judged.findings == alone.findings
    assert judged.checked.whole == alone.checked.whole
    assert executor.attended >= len(RULES) + len(TENANT_RULES)


def test_those_who_make_units_put_them_into_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "MANY_UNITS", 3)
    plain = judge(ROOT, by=Means(form="files"))
    with staging(tmp_path / "out") as stage:
        judged = judge(ROOT, by=Means(form="files", builder=built_by(Noting(), stage=stage)))
        ahead = [isinstance(unit.files, FilesAhead) for unit in judged.rendered.files]
        assert True in ahead
        assert False in ahead, "what belongs to all clusters is made here"
        assert [(unit.path, dict(unit.files)) for unit in judged.rendered.files] == [
            (unit.path, dict(unit.files)) for unit in plain.rendered.files
        ]


def test_those_on_another_machine_put_nothing_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "MANY_UNITS", 0)
    executor = Noting()
    executor.is_local = False
    with staging(tmp_path / "out") as stage:
        assert stage is not None
        judged = judge(ROOT, by=Means(form="files", builder=built_by(executor, stage=stage)))
        assert not any(isinstance(unit.files, FilesAhead) for unit in judged.rendered.files)
        assert not any(stage.folder.iterdir())
