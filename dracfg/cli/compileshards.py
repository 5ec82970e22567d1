"""`dracfg compile --shard I/N` and `--merge`: what they go with, what they do, and what they tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import click

from dracfg.cache.outcome import Outcome
from dracfg.cli.options import Parsed
from dracfg.cli.output import counted, plural
from dracfg.cli.repository import Lines
from dracfg.executors.spec import ExecutorSpec
from dracfg.passes import Timings
from dracfg.shards.shard import Shard, parse_shard

_F = TypeVar("_F", bound=Callable[..., Any])
_MOST_CLUSTERS = 5


def sharding(command: _F) -> _F:
    """The options of a compile in shards."""
    command = click.option(
        "--merge", is_flag=True, envvar="DRACFG_MERGE",
        help="Make out/ of the parts that all shards left, as one whole compile would.",
    )(command)  # fmt: skip
    return click.option(
        "--shard", type=Parsed("shard", Shard, parse_shard), envvar="DRACFG_SHARD", metavar="I/N",
        help="Build only the I-th of N shares of the clusters, and leave it as a part for --merge.",
    )(command)  # fmt: skip


def require_fitting(
    shard: Shard | None,
    merge: bool,
    check: bool,
    clusters: tuple[str, ...],
    tenants: tuple[str, ...],
    keep_going: bool,
) -> None:
    """Refuses what a shard or a merge has no use for, rather than to pass over it."""
    if shard is None and not merge:
        return
    if shard is not None and merge:
        raise click.UsageError("--shard and --merge are two steps: every shard first, then a merge")
    own = "--merge" if merge else "--shard"
    given = {"--cluster": clusters, "--tenant": tenants, "--keep-going": keep_going}
    for option, value in given.items():
        if value:
            raise click.UsageError(f"{own} takes the whole repository; leave out {option}")
    if shard is not None and check:
        raise click.UsageError("a shard leaves out/ alone; --check goes with --merge")


def compile_part(
    root: Path,
    shard: Shard,
    jobs: int,
    spec: ExecutorSpec,
    clock: Timings,
    today: date | None,
) -> tuple[Outcome, Lines, tuple[str, ...]]:
    """What a shard came to, the lines of files, and what is said of it."""
    from dracfg.cache.compiler import release
    from dracfg.executors.executor import open_executor
    from dracfg.outcomes import outcome_of_judgement
    from dracfg.shards.compiling import compile_shard

    with _part_errors(), open_executor(spec, jobs, probe=release) as executor:
        done = compile_shard(root, shard, executor, timings=clock, today=today)
    judged = done.judgement
    if done.part is None:
        said = f"{counted(judged.findings)}; no part was left"
    else:
        said = f"shard {shard}: {_extent(done.clusters, done.objects)}; left {done.part}"
    return outcome_of_judgement(judged), judged.lines, (said,)


def merge_parts(
    root: Path,
    check: bool,
    jobs: int,
    clock: Timings,
    today: date | None,
) -> tuple[Outcome, Lines]:
    """What a merge came to, and the lines of files."""
    from dracfg.outcomes import outcome_of
    from dracfg.shards.compiling import merge_shards

    with _part_errors():
        done = merge_shards(root, check=check, jobs=jobs, timings=clock, today=today)
    return outcome_of(done), done.judgement.lines


@contextmanager
def _part_errors() -> Iterator[None]:
    """Turns what keeps parts from being one tree into a plain message."""
    from dracfg.shards.errors import PartError

    try:
        yield
    except PartError as refused:
        raise click.ClickException(f"{refused}; nothing was written") from None


def _extent(clusters: tuple[str, ...], objects: int) -> str:
    if not clusters:
        return "no cluster is its own"
    named = ", ".join(clusters[:_MOST_CLUSTERS])
    rest = len(clusters) - _MOST_CLUSTERS
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"{plural(len(clusters), 'cluster')} ({named}{more}), {plural(objects, 'object')}"
