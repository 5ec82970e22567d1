"""A compile of one shard, which leaves a part, and the merge of all parts into the tree.

A shard leaves `out/` alone, so that every shard, and the merge, starts from the same standing tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

from dracfg.building import Building, ClusterBuild, Form, built_by
from dracfg.cache.compiler import release
from dracfg.cache.parts import Parts
from dracfg.cache.questions import AskedTree
from dracfg.checking import Checked
from dracfg.dataclass import dataclass
from dracfg.emit.errors import reason_of
from dracfg.executors.executor import Executor
from dracfg.judging import Judgement, judge
from dracfg.link.catalog import Catalog
from dracfg.passes import Timings
from dracfg.pipeline import Compiled, compile_repository
from dracfg.shards.collecting import builds_of, collect, require_same
from dracfg.shards.errors import PartError
from dracfg.shards.part import Inputs, inputs_of, part_of, to_json
from dracfg.shards.shard import Shard
from dracfg.source.standing import Standing
from dracfg.source.tree import DiskTree
from dracfg.terms import TO_FILES


@dataclass(frozen=True, slots=True)
class CompiledShard:
    """What became of a shard: its clusters, and its part below the root; None where errors kept it."""

    judgement: Judgement
    clusters: tuple[str, ...]
    part: Path | None

    @property
    def objects(self) -> int:
        return sum(self.judgement.rendered.sizes.values())


def compile_shard(
    root: Path,
    shard: Shard,
    executor: Executor,
    *,
    timings: Timings | None = None,
    today: date | None = None,
) -> CompiledShard:
    """Builds the clusters of a shard and leaves them as its part, or with an error none.

    Raises what `judge` raises, and PartError where the part can't be written.
    """
    parts, tree = Parts(root), AskedTree(DiskTree(root))
    day = today or tree.tree.day()
    build = built_by(executor, shard.own)
    inputs: Inputs = ()
    builds: Sequence[ClusterBuild] = ()

    def builder(catalog: Catalog, standing: Standing, form: Form) -> Building:
        nonlocal inputs
        inputs = inputs_of(tree)
        building = build(catalog, standing, form)

        def results() -> Sequence[ClusterBuild]:
            nonlocal builds
            builds = building.results()
            return builds

        return replace(building, results=results)

    with _told(parts.path(shard.name)):
        parts.drop(shard.name)
    means = replace(TO_FILES, jobs=executor.beside, builder=builder)
    judgement = judge(tree, timings, today=day, by=means)
    kept = None
    if not judgement.has_errors:
        part = part_of(shard, day, inputs, judgement.checked, builds)
        body = to_json(part, release())
        with _told(parts.path(shard.name)):
            kept = parts.keep(shard.name, body)
    return CompiledShard(judgement, tuple(one.cluster for one in builds), kept)


def merge_shards(
    root: Path,
    *,
    check: bool = False,
    jobs: int = 1,
    timings: Timings | None = None,
    today: date | None = None,
) -> Compiled:
    """Compiles the repository from the parts that lie in it: the tree and findings of a whole compile.

    Raises what `compile_repository` raises, and PartError where the parts are not all there, or not
    of what is here.
    """
    parts, tree = collect(root, release()), AskedTree(DiskTree(root))
    day = today or tree.tree.day()

    def builder(catalog: Catalog, _standing: Standing, _form: Form) -> Building:
        require_same(parts, day, inputs_of(tree))
        return Building(lambda: builds_of(parts, tuple(catalog.clusters)))

    def rules(*_catalog: object) -> Checked:
        return parts[0].checked

    means = replace(TO_FILES, jobs=jobs, builder=builder, rules=rules)
    return compile_repository(tree, check=check, timings=timings, today=day, by=means)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turns the operating system's refusal into a PartError."""
    try:
        yield
    except OSError as fault:
        raise PartError(f"{path} can't be written: {reason_of(fault)}") from fault
