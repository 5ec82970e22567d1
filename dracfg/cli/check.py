"""`dracfg check`: judge catalog and tenants, write nothing."""

from __future__ import annotations

from pathlib import Path

import click

from dracfg.cli import options
from dracfg.cli.output import counted, exit_code, plural, show_findings
from dracfg.cli.repository import repository_errors, require_clusters
from dracfg.diagnostics.render.document import report
from dracfg.pipeline import InventoryFile, Timings, judge, timings_table


@click.command(name="check")
@options.shared
@options.inventories
def command(
    root: Path,
    form: str,
    colour: str,
    fail_on: str,
    quiet: bool,
    timings: bool,
    no_cache: bool,  # noqa: ARG001  everything is read anew in any case
    inventories: tuple[InventoryFile, ...],
) -> int:
    """Judge catalog/ and tenants/ by every rule that they give data for.

    Example: dracfg check --format concise
    """
    clock = Timings()
    with repository_errors():
        judged = judge(root, clock, inventories)
    require_clusters(judged, inventories)
    show_findings(
        judged.findings,
        form,
        colour,
        judged.lines,
        lambda: report("CheckReport", judged.verdict, judged.findings, unproven=judged.unproven),
    )
    if not quiet:
        extent = (
            f"{plural(len(judged.catalog.clusters), 'cluster')}, "
            f"{plural(len(judged.catalog.tenants), 'tenant')}"
        )
        levels = "levels intent, inventory" if judged.inventories else "level intent"
        click.echo(f"{counted(judged.findings)} in {extent} ({levels})", err=True)
        if judged.unproven:
            promised = plural(judged.unproven, "guarantee")
            click.echo(f"not proven: {promised}; capacity is not judged yet", err=True)
    if timings:
        click.echo(timings_table(clock.seconds), err=True)
    return exit_code(judged.findings, fail_on)
