"""`dracfg diff`: what a change means, for whom, and whether it may follow on what stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import click

from dracfg.cli import exits, options
from dracfg.cli.diffforms import FORMS, Look, form_text
from dracfg.cli.diffsides import Server, Wanted, diff_against, diff_live, diff_states
from dracfg.cli.output import OutputFile, exit_code, text_width, wants_colour, write_output
from dracfg.cli.progress import progress
from dracfg.diff.change import Impact
from dracfg.diff.document import diff_document
from dracfg.diff.plan import DiffPlan
from dracfg.passes import keeping_all
from dracfg.pipeline import InventoryFile, Timings, timings_table

_IMPACTS = tuple(impact.word for impact in Impact)
_SEVERITIES = ("error", "warning", "unknown")


@click.command(name="diff")
@click.argument("base", required=False)
@click.argument("head", required=False)
@click.option(
    "--against", type=click.Path(path_type=Path, exists=True), envvar="DRACFG_AGAINST",
    metavar="PATH",
    help="Compare with another folder, an out/ tree, or recorded objects.",
)  # fmt: skip
@click.option(
    "--live", is_flag=True, envvar="DRACFG_LIVE",
    help="Compare out/ with what is on the API server.",
)  # fmt: skip
@options.kubeconfig(required=False)
@options.context
@options.request_timeout
@options.root
@options.clusters
@options.tenants
@options.inventories
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="text", show_default=True,
    envvar="DRACFG_FORMAT", help="How the plan is written.",
)  # fmt: skip
@options.outputs(FORMS)
@click.option(
    "--detailed-exitcode", is_flag=True, envvar="DRACFG_DETAILED_EXITCODE",
    help="Exit 2 where there are changes and nothing fails.",
)  # fmt: skip
@click.option(
    "--max-bytes", type=click.IntRange(min=1000), envvar="DRACFG_MAX_BYTES", metavar="N",
    help="The most bytes of text; what is left out is counted.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice((*_SEVERITIES, *_IMPACTS)), default="error",
    show_default=True, envvar="DRACFG_FAIL_ON",
    help="The least severity of a new finding, or impact of a change, that makes the exit code 1.",
)  # fmt: skip
@click.option(
    "--full", is_flag=True, envvar="DRACFG_FULL",
    help="Also show each emitted object that differs, with its fields.",
)  # fmt: skip
@click.option(
    "--dialect", type=click.Choice(["github", "plain"]), default="github", show_default=True,
    envvar="DRACFG_DIALECT", help="Which Markdown a comment is written in.",
)  # fmt: skip
@click.option(
    "--marker", default="default", show_default=True, envvar="DRACFG_MARKER",
    help="The name in the first line of a comment, by which a bot finds it again.",
)  # fmt: skip
@click.option(
    "--files-url", metavar="URL", envvar="DRACFG_FILES_URL",
    help="What paths of the head are put behind in a comment's links.",
)  # fmt: skip
@click.option(
    "--report-url",
    metavar="URL",
    envvar="DRACFG_REPORT_URL",
    help="Where a comment leads for more.",
)
@options.today
@options.colour
@options.quiet
@options.timings
@keeping_all()
def command(
    base: str | None,
    head: str | None,
    against: Path | None,
    live: bool,
    kubeconfig: Path | None,
    context: str | None,
    request_timeout: float,
    root: Path,
    clusters: tuple[str, ...],
    tenants: tuple[str, ...],
    inventories: tuple[InventoryFile, ...],
    form: str,
    outputs: tuple[OutputFile, ...],
    detailed_exitcode: bool,
    max_bytes: int | None,
    fail_on: str,
    full: bool,
    dialect: str,
    marker: str,
    files_url: str | None,
    report_url: str | None,
    today: date | None,
    colour: str,
    quiet: bool,
    timings: bool,
) -> int:
    """Tell what a change means: who gains, who loses, what restarts, what is illegal.

    BASE and HEAD are revisions or folders; by default the commit where this branch left the main
    branch, and the work tree. Nothing is checked out.

    Example: dracfg diff origin/main --fail-on disruptive -o json=plan.json
    """
    clock = Timings()
    wanted = Wanted(root, clusters, tenants, inventories, today, clock)
    if live and (base is not None or against is not None or kubeconfig is None):
        raise click.UsageError("--live needs a --kubeconfig, and neither BASE nor --against")
    if against is not None and base is not None:
        raise click.UsageError("--against takes the place of BASE and HEAD")
    with progress(clock, quiet=quiet):
        if live and kubeconfig is not None:
            plan = diff_live(wanted, Server(kubeconfig, context, request_timeout))
        elif against is not None:
            plan = diff_against(wanted, against)
        else:
            plan = diff_states(wanted, base, head)
    document = diff_document(plan, full=full)
    filed = Look(False, 80, max_bytes, dialect, marker, files_url, report_url)
    own = replace(filed, colour=wants_colour(colour), width=text_width())
    click.echo(form_text(form, plan, document, own, root), nl=False)
    for output in outputs:
        look = own if output.path is None else filed
        write_output(output, form_text(output.form, plan, document, look, root))
    if timings:
        click.echo(timings_table(clock.seconds), err=True)
    return _exit(plan, fail_on, detailed=detailed_exitcode)


def _exit(plan: DiffPlan, fail_on: str, *, detailed: bool) -> int:
    """1 for what fails, which wins over 2 for changes; what has no impact is no change in meaning."""
    findings = [*plan.forbidden, *plan.base.findings, *plan.head.findings]
    level = fail_on if fail_on in _SEVERITIES else "error"
    if exit_code(findings, level) != exits.DONE:
        return exits.FINDINGS
    if fail_on in _IMPACTS and any(one.impact >= Impact.of(fail_on) for one in plan.changes):
        return exits.FINDINGS
    return exits.CHANGES if detailed and plan.max_impact > Impact.NONE else exits.DONE
