"""`dracfg check`: judge catalog and tenants, write nothing but the mends that are asked for."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from dracfg.cli import options
from dracfg.cli.output import (
    OutputFile,
    annotates,
    counted,
    exit_code,
    plural,
    show_findings,
)
from dracfg.cli.repository import repository_errors, require_clusters
from dracfg.diagnostics.registry import Level
from dracfg.diagnostics.render.document import report
from dracfg.diagnostics.selection import Selection
from dracfg.pipeline import InventoryFile, Judgement, Timings, judge, timings_table


@click.command(name="check")
@options.shared
@options.judging
@options.inventories
@click.option(
    "--level", type=click.Choice(["intent", "inventory"]), envvar="DRACFG_LEVEL",
    help="intent: without recorded devices; inventory: they must be there.  [default: what is there]",
)  # fmt: skip
@click.option(
    "--fix", "mend", is_flag=True, help="Make the fixes that keep the meaning, and judge anew."
)
@click.option(
    "--unsafe-fixes", "unsafe", is_flag=True, help="With --fix: make every fix that is offered."
)
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
    inventories: tuple[InventoryFile, ...],
    level: Level | None,
    mend: bool,
    unsafe: bool,
) -> int:
    """Judge catalog/ and tenants/ by every rule that they give data for.

    Example: dracfg check --format concise
    """
    if unsafe and not mend:
        raise click.UsageError("--unsafe-fixes needs --fix")
    if level == "intent" and inventories:
        raise click.UsageError("--level intent looks at no --inventory")
    clock = Timings()
    selection = Selection(select, ignore)

    def judged_now() -> Judgement:
        with repository_errors():
            return judge(root, clock, inventories, level=level or "inventory", today=today)

    judged = judged_now()
    require_clusters(judged, inventories)
    if level == "inventory" and not judged.inventories:
        raise click.ClickException(
            "no recorded ResourceSlices: no Cluster names an inventory, and there is no --inventory"
        )
    if mend:
        from dracfg.cli.fix import fix

        fix(root, judged.sources.files, selection.of(judged.findings), unsafe=unsafe)
        judged = judged_now()
    found = selection.of(judged.findings)
    hidden = len(judged.findings) - len(found)
    show_findings(
        found,
        form,
        colour,
        judged.lines,
        lambda: report(
            "CheckReport", judged.verdict, found, unproven=judged.unproven, notSelected=hidden
        ),
        root=root,
        outputs=(*outputs, *((OutputFile("github", None),) if annotates() else ())),
    )
    if not quiet:
        extent = (
            f"{plural(len(judged.catalog.clusters), 'cluster')}, "
            f"{plural(len(judged.catalog.tenants), 'tenant')}"
        )
        levels = "levels intent, inventory" if judged.inventories else "level intent"
        left_out = f"; {hidden:,} not selected" if hidden else ""
        click.echo(f"{counted(found)} in {extent} ({levels}){left_out}", err=True)
        if mendable := sum(finding.has_safe_fix for finding in found if not finding.waived):
            click.echo(f"{mendable:,} of them can be mended by --fix", err=True)
        if judged.unproven:
            promised = plural(judged.unproven, "guarantee")
            click.echo(f"not proven: {promised}", err=True)
    if timings:
        click.echo(timings_table(clock.seconds), err=True)
    return exit_code(found, fail_on)
