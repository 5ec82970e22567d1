"""`dracfg compile`: write `out/`, or tell that it is stale.

What works is imported once it is known that something has to be worked out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dracfg.aside import processors
from dracfg.cache.outcome import MovedUnit, Outcome
from dracfg.cache.questions import AskedTree
from dracfg.cache.store import Store
from dracfg.cli import exits, options
from dracfg.cli.compileshards import (
    compile_part,
    merge_parts,
    require_fitting,
    sharding,
)
from dracfg.cli.output import (
    OutputFile,
    counted,
    exit_code,
    plural,
    show_findings,
    waived_lines,
)
from dracfg.cli.progress import progress
from dracfg.cli.repository import Lines, executor_errors, lines_below, repository_errors
from dracfg.diagnostics import Diagnostic
from dracfg.diagnostics.render.document import report
from dracfg.diagnostics.selection import Selection
from dracfg.emit.layout import OUT
from dracfg.executors.spec import ExecutorSpec, parse_executor
from dracfg.passes import Timings, keeping_all, timings_table
from dracfg.shards.shard import Shard
from dracfg.source.seen import Seen
from dracfg.source.tree import DiskTree

if TYPE_CHECKING:
    from dracfg.terms import Reader

_MOST_UNITS = 20


@click.command(name="compile")
@options.shared
@options.judging
@options.clusters
@options.tenants
@click.option(
    "--check", is_flag=True, envvar="DRACFG_CHECK", help="Write nothing; exit 1 if out/ is stale."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=processors, envvar="DRACFG_JOBS",
    help="Processes to work with, as many as there are processors unless said; the bytes are the same.",
)  # fmt: skip
@click.option(
    "--executor", "spec", type=options.Parsed("executor", ExecutorSpec, parse_executor),
    default="process", envvar="DRACFG_EXECUTOR",
    help="Who builds clusters: process, thread or dask://HOST:PORT.  [default: process]",
)  # fmt: skip
@click.option(
    "--keep-going", is_flag=True, envvar="DRACFG_KEEP_GOING",
    help="With errors, still write the units that none of them touches.",
)  # fmt: skip
@sharding
def command(
    root: Path,
    form: str,
    colour: str,
    fail_on: str,
    quiet: bool,
    timings: bool,
    no_cache: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    today: date | None,
    outputs: tuple[OutputFile, ...],
    verbose: bool,
    clusters: tuple[str, ...],
    tenants: tuple[str, ...],
    check: bool,
    jobs: int,
    spec: ExecutorSpec,
    keep_going: bool,
    shard: Shard | None,
    merge: bool,
) -> int:
    """Compile catalog/ and tenants/ into out/.

    Example: dracfg compile --check
    """
    require_fitting(shard, merge, check, clusters, tenants, keep_going)
    clock = Timings()
    said: Sequence[str] | None = None
    whole = not (clusters or tenants or keep_going or shard or merge)
    store = Store(root, OUT, (str(today),)) if whole and not no_cache else None
    tree = AskedTree(DiskTree(root), aside=OUT)
    known = clock.measure("read", lambda: store.recall(tree, jobs)) if store is not None else None
    if known is not None:
        done, lines = replace(known, written=not check), lines_below(root)
    else:
        with repository_errors(), executor_errors(), progress(clock, quiet=quiet):
            if shard is not None:
                done, lines, said = compile_part(root, shard, jobs, spec, clock, today)
            elif merge:
                done, lines = merge_parts(root, check, jobs, clock, today)
            else:
                done, lines = _compile(
                    tree, store, clusters, tenants, check, keep_going, jobs, spec, clock, today
                )
    found = Selection(select, ignore).of(done.findings)
    show_findings(
        found,
        form,
        colour,
        lines,
        lambda: _document(done, found, check),
        root=root,
        outputs=outputs,
    )
    if verbose:
        for line in waived_lines(found):
            click.echo(line, err=True)
    if not quiet:
        for line in _summary(done, check) if said is None else said:
            click.echo(line, err=True)
    if timings:
        click.echo(timings_table(clock.seconds), err=True)
    if check and done.stale:
        return exits.FINDINGS
    if done.has_errors:
        return (
            exits.FINDINGS
        )  # whether or not they are shown, they kept something from being written
    return exit_code(found, fail_on)


@keeping_all()
def _compile(
    tree: AskedTree,
    store: Store | None,
    clusters: tuple[str, ...],
    tenants: tuple[str, ...],
    check: bool,
    keep_going: bool,
    jobs: int,
    spec: ExecutorSpec,
    clock: Timings,
    today: date | None,
) -> tuple[Outcome, Lines]:
    """Works it out; a whole repository on top of what the last run left, where there is a `store`.

    Where nothing was left, other processes read files while this one imports what works.
    """
    from dracfg.cache.compiler import release
    from dracfg.emit.ahead import staging
    from dracfg.executors.executor import open_executor
    from dracfg.reading import begin, read

    surely_written = not (check or keep_going or clusters or tenants)
    with (
        staging(tree.root / OUT) if surely_written else nullcontext() as stage,
        open_executor(spec, jobs, probe=release) as executor,
    ):
        beside = executor.beside
        reader: Reader = read
        if beside > 1 and (store is None or store.is_new):
            begun = clock.measure("read", lambda: begin(tree, Seen(), beside))
            reader = partial(read, begun=begun)

        from dracfg.building import built_by
        from dracfg.outcomes import outcome_of
        from dracfg.pipeline import compile_repository
        from dracfg.scope import Scope
        from dracfg.terms import TO_FILES

        builder = built_by(executor, stage=stage)
        means = replace(TO_FILES, jobs=beside, reader=reader, builder=builder, stage=stage)
        if store is not None:
            from dracfg.amending.remembered import compile_remembered

            return compile_remembered(
                tree, store, check=check, timings=clock, today=today, by=means
            )
        done = compile_repository(
            tree,
            scope=Scope(clusters, tenants),
            check=check,
            keep_going=keep_going,
            timings=clock,
            today=today,
            by=means,
        )
    return outcome_of(done), done.judgement.lines


def _summary(done: Outcome, check: bool) -> Iterator[str]:
    if not done.compared:
        yield f"{counted(done.findings)}; nothing was written"
        return
    if done.lock_fault is not None:
        yield f"{OUT}/dracfg.lock.json was made anew: {done.lock_fault}"
    if check:
        for unit in done.moved[:_MOST_UNITS]:
            yield f"stale: {OUT}/{unit.path} ({_moved(unit)}); run dracfg compile"
        if len(done.moved) > _MOST_UNITS:
            yield f"and {plural(len(done.moved) - _MOST_UNITS, 'unit')} more"
        if not done.stale:
            yield f"{OUT}/ is fresh: {_extent(done)}"
        elif not done.moved:
            yield f"stale: {OUT}/dracfg.lock.json; run dracfg compile"
        return
    if not done.written:
        yield f"{counted(done.findings)}; nothing was written"
        return
    yield (
        f"compiled {_extent(done)}; {plural(len(done.moved), 'unit')} changed, "
        f"{done.units - len(done.moved):,} unchanged"
    )
    for unit in done.moved[:_MOST_UNITS]:
        yield f"  {OUT}/{unit.path}  {_moved(unit)}"
    if len(done.moved) > _MOST_UNITS:
        yield f"  and {plural(len(done.moved) - _MOST_UNITS, 'unit')} more"


def _extent(done: Outcome) -> str:
    return ", ".join(
        (
            plural(done.clusters, "cluster"),
            plural(done.tenants, "tenant"),
            plural(done.objects, "object"),
        )
    )


def _moved(unit: MovedUnit) -> str:
    named = (("+", unit.created), ("~", unit.changed), ("-", unit.removed))
    return "  ".join(f"{sign} {plural(len(files), 'file')}" for sign, files in named if files)


def _document(done: Outcome, found: Sequence[Diagnostic], check: bool) -> dict[str, Any]:
    return report(
        "CompileReport",
        done.verdict,
        found,
        notSelected=len(done.findings) - len(found),
        written=done.written,
        stale=done.stale if done.compared and check else None,
        units=[_unit(unit) for unit in done.moved],
    )


def _unit(unit: MovedUnit) -> dict[str, Any]:
    return {
        "path": f"{OUT}/{unit.path}",
        "status": unit.status,
        "created": list(unit.created),
        "changed": list(unit.changed),
        "removed": list(unit.removed),
    }
