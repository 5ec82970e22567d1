"""`dracfg compile`: write `out/`, or tell that it is stale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click

from dracfg.cli import exits, options
from dracfg.cli.output import OutputFile, counted, exit_code, plural, show_findings
from dracfg.cli.repository import repository_errors
from dracfg.diagnostics import Diagnostic
from dracfg.diagnostics.render.document import report
from dracfg.diagnostics.selection import Selection
from dracfg.emit.tree import TreePlan, UnitPlan
from dracfg.pipeline import OUT, Compiled, Timings, compile_repository, timings_table
from dracfg.scope import Scope, tenant_of

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
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, envvar="DRACFG_JOBS",
    help="Processes to work with; the bytes are the same for any number.",
)  # fmt: skip
@click.option(
    "--keep-going", is_flag=True, envvar="DRACFG_KEEP_GOING",
    help="With errors, still write the units that none of them touches.",
)  # fmt: skip
def command(
    root: Path,
    form: str,
    colour: str,
    fail_on: str,
    quiet: bool,
    timings: bool,
    no_cache: bool,  # noqa: ARG001  everything is read anew in any case
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    today: date | None,
    outputs: tuple[OutputFile, ...],
    clusters: tuple[str, ...],
    tenants: tuple[str, ...],
    check: bool,
    jobs: int,
    keep_going: bool,
) -> int:
    """Compile catalog/ and tenants/ into out/.

    Example: dracfg compile --check
    """
    clock = Timings()
    with repository_errors():
        done = compile_repository(
            root,
            scope=Scope(clusters, tenants),
            check=check,
            keep_going=keep_going,
            jobs=jobs,
            timings=clock,
            today=today,
        )
    found = Selection(select, ignore).of(done.findings)
    show_findings(
        found,
        form,
        colour,
        done.judgement.lines,
        lambda: _document(done, found, check),
        root=root,
        outputs=outputs,
    )
    if not quiet:
        for line in _summary(done, check):
            click.echo(line, err=True)
    if timings:
        click.echo(timings_table(clock.seconds), err=True)
    if check and done.tree is not None and done.tree.stale:
        return exits.FINDINGS
    if done.has_errors:
        return (
            exits.FINDINGS
        )  # whether or not they are shown, they kept something from being written
    return exit_code(found, fail_on)


def _summary(done: Compiled, check: bool) -> Iterator[str]:
    if done.tree is None:
        yield f"{counted(done.findings)}; nothing was written"
        return
    if done.tree.lock_fault is not None:
        yield f"{OUT}/dracfg.lock.json was made anew: {done.tree.lock_fault}"
    moved = [unit for unit in done.tree.units if unit.status != "unchanged"]
    if check:
        for unit in moved[:_MOST_UNITS]:
            yield f"stale: {OUT}/{unit.path} ({_moved(unit)}); run dracfg compile"
        if len(moved) > _MOST_UNITS:
            yield f"and {plural(len(moved) - _MOST_UNITS, 'unit')} more"
        if not done.tree.stale:
            yield f"{OUT}/ is fresh: {_extent(done, done.tree)}"
        elif not moved:
            yield f"stale: {OUT}/dracfg.lock.json; run dracfg compile"
        return
    if done.applied is None:
        yield f"{counted(done.findings)}; nothing was written"
        return
    yield (
        f"compiled {_extent(done, done.tree)}; {plural(len(moved), 'unit')} changed, "
        f"{len(done.tree.units) - len(moved):,} unchanged"
    )
    for unit in moved[:_MOST_UNITS]:
        yield f"  {OUT}/{unit.path}  {_moved(unit)}"
    if len(moved) > _MOST_UNITS:
        yield f"  and {plural(len(moved) - _MOST_UNITS, 'unit')} more"


def _extent(done: Compiled, tree: TreePlan) -> str:
    """What the run looked at: everything, or the units that its scope and errors left."""
    catalog = done.judgement.catalog
    paths = {unit.path for unit in tree.units if unit.status != "removed"}
    made = [unit for unit in done.judgement.units if unit.path in paths]
    clusters, tenants = set(catalog.clusters), set(catalog.tenants)
    if len(made) < len(done.judgement.units):
        places = [path.partition("/") for path in paths if not path.startswith("gitops/")]
        clusters = {cluster for cluster, _, _ in places}
        tenants = {tenant for _, _, rest in places if (tenant := tenant_of(rest))}
    return ", ".join(
        (
            plural(len(clusters), "cluster"),
            plural(len(tenants), "tenant"),
            plural(sum(len(unit.artifacts) for unit in made), "object"),
        )
    )


def _moved(unit: UnitPlan) -> str:
    named = (("+", unit.created), ("~", unit.changed), ("-", unit.removed))
    return "  ".join(f"{sign} {plural(len(files), 'file')}" for sign, files in named if files)


def _document(done: Compiled, found: Sequence[Diagnostic], check: bool) -> dict[str, Any]:
    return report(
        "CompileReport",
        done.judgement.verdict,
        found,
        notSelected=len(done.findings) - len(found),
        written=done.applied is not None,
        stale=done.tree.stale if done.tree is not None and check else None,
        units=[] if done.tree is None else [_unit(unit) for unit in _moved_units(done.tree)],
    )


def _moved_units(tree: TreePlan) -> list[UnitPlan]:
    return [unit for unit in tree.units if unit.status != "unchanged"]


def _unit(unit: UnitPlan) -> dict[str, Any]:
    return {
        "path": f"{OUT}/{unit.path}",
        "status": unit.status,
        "created": list(unit.created),
        "changed": list(unit.changed),
        "removed": list(unit.removed),
    }
