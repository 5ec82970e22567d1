"""Clusters are built by whoever is free, the largest first, and come back in the catalog's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dracfg.building import built_by
from dracfg.executors.executor import Executor
from dracfg.executors.ordered import Pool
from dracfg.pipeline import judge
from dracfg.terms import Means

ROOT = Path(__file__).parents[2]


class Noting(Executor):
    """Does the work here, and notes what it was given."""

    def __init__(self) -> None:
        super().__init__(1, ExitStack(), beside=1)
        self.given: list[str] = []

    def map(
        self, work: Callable[[Any], Any], portions: Sequence[Any], weight: int | None = None
    ) -> Iterator[Any]:
        assert weight
        self.given += portions
        return map(work, portions)

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
    built = built_by(executor, lambda _names: names)(judged.catalog, judged.standing, "none")
    assert [one.cluster for one in built] == names != executor.given
