"""`dracfg check`: judge catalog and tenants, write nothing but the mends that are asked for."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dracfg.cache.outcome import Outcome
from dracfg.cache.store import Store
from dracfg.cli import options
from dracfg.cli.output import (
    OutputFile,
    annotates,
    counted,
    exit_code,
    plural,
    show_findings,
    waived_lines,
)
from dracfg.cli.progress import progress
from dracfg.cli.repository import (
    Lines,
    lines_below,
    repository_errors,
    require_clusters,
    side_by_side,
)
from dracfg.dataclass import dataclass
from dracfg.diagnostics.registry import Level
from dracfg.diagnostics.render.document import report
from dracfg.diagnostics.selection import Selection
from dracfg.emit.layout import OUT
from dracfg.passes import Timings, timings_table

if TYPE_CHECKING:
    from dracfg.inventories import InventoryFile


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
    no_cache: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    today: date | None,
    outputs: tuple[OutputFile, ...],
    verbose: bool,
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
    plain = level is None and not inventories and not mend
    store = Store(root, OUT, (str(today),)) if plain and not no_cache else None
    known = clock.measure("read", store.recall) if store is not None else None
    if known is not None:
        done, lines = known, lines_below(root)
    else:
        mends = Mends(selection, unsafe=unsafe) if mend else None
        with progress(clock, quiet=quiet):
            done, lines = _judge(root, clock, inventories, level, today, mends, no_cache=no_cache)
    found = selection.of(done.findings)
    hidden = len(done.findings) - len(found)
    show_findings(
        found,
        form,
        colour,
        lines,
        lambda: report(
            "CheckReport", done.verdict, found, unproven=done.unproven, notSelected=hidden
        ),
        root=root,
        outputs=(*outputs, *((OutputFile("github", None),) if annotates() else ())),
    )
    if verbose:
        for line in waived_lines(found):
            click.echo(line, err=True)
    if not quiet:
        extent = f"{plural(done.clusters, 'cluster')}, {plural(done.tenants, 'tenant')}"
        levels = "levels intent, inventory" if done.recorded else "level intent"
        left_out = f"; {hidden:,} not selected" if hidden else ""
        click.echo(f"{counted(found)} in {extent} ({levels}){left_out}", err=True)
        if mendable := sum(finding.has_safe_fix for finding in found if not finding.waived):
            click.echo(f"{mendable:,} of them can be mended by --fix", err=True)
        if done.unproven:
            promised = plural(done.unproven, "guarantee")
            click.echo(f"not proven: {promised}", err=True)
    if timings:
        click.echo(timings_table(clock.seconds), err=True)
    return exit_code(found, fail_on)


@dataclass(frozen=True, slots=True)
class Mends:
    """Which findings are mended; `unsafe` means by every fix that is offered."""

    selection: Selection
    unsafe: bool


def _judge(
    root: Path,
    clock: Timings,
    inventories: tuple[InventoryFile, ...],
    level: Level | None,
    today: date | None,
    mends: Mends | None,
    *,
    no_cache: bool,
) -> tuple[Outcome, Lines]:
    """Works it out, and once more where something was mended."""
    from dracfg.cache.seen import recall
    from dracfg.outcomes import outcome_of_judgement
    from dracfg.pipeline import Judgement, judge
    from dracfg.source.seen import Seen

    def judged_now() -> Judgement:
        with repository_errors(), side_by_side() as means:
            return judge(
                root,
                clock,
                inventories,
                level=level or "inventory",
                today=today,
                seen=Seen() if no_cache else recall(root),
                by=means,
            )

    judged = judged_now()
    require_clusters(judged, inventories)
    if level == "inventory" and not judged.inventories:
        raise click.ClickException(
            "no recorded ResourceSlices: no Cluster names an inventory, and there is no --inventory"
        )
    if mends is not None:
        from dracfg.cli.fix import fix

        fix(
            root,
            judged.sources.files,
            mends.selection.of(judged.findings),
            unsafe=mends.unsafe,
        )
        judged = judged_now()
    return outcome_of_judgement(judged), judged.lines
