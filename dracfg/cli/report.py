"""`dracfg report`: one page of what exists, who was promised what, what is proven, moving and wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dracfg.cli import options
from dracfg.cli.output import (
    OutputFile,
    counted,
    exit_code,
    waived_lines,
    wants_colour,
    write_output,
)
from dracfg.cli.progress import progress
from dracfg.cli.repository import chosen_clusters, repository_errors, require_clusters

if TYPE_CHECKING:
    from dracfg.link.catalog import Cluster
    from dracfg.pipeline import InventoryFile, Judgement
    from dracfg.report.document import Report
    from dracfg.report.gathering import Audited, Facts
    from dracfg.source.records import Record

FORMS = ("text", "json", "csv")
PAGE = "html"
_CLAIMS, _SLICES = "ResourceClaim", "ResourceSlice"


@click.command(name="report")
@options.dumps
@click.option(
    "--html", "pages", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    envvar="DRACFG_REPORT_HTML", help="Write the page into this file as well.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="text", show_default=True,
    envvar="DRACFG_REPORT_FORMAT", help="What stdout gets: a summary, everything, or a table.",
)  # fmt: skip
@click.option(
    "--table", default="capacity", show_default=True, metavar="NAME",
    envvar="DRACFG_REPORT_TABLE", help="The table that csv writes.",
)  # fmt: skip
@options.outputs((*FORMS, PAGE))
@options.root
@options.clusters
@options.inventories
@options.today
@options.colour
@options.fail_on
@options.quiet
@options.verbose
def command(
    dumps: tuple[InventoryFile, ...],
    pages: Path | None,
    form: str,
    table: str,
    outputs: tuple[OutputFile, ...],
    root: Path,
    clusters: tuple[str, ...],
    inventories: tuple[InventoryFile, ...],
    today: date | None,
    colour: str,
    fail_on: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Report what exists, who was promised what, what is proven, what is moving and what is wrong.

    A DUMP is what `kubectl get … -o yaml` writes of a cluster: claims, nodes, pods, slices. From them
    comes the ledger of devices; slices that no dump has are those of the Cluster's inventory. The
    page of --html loads nothing and needs no server.

    Example: dracfg report --html report.html prod-east=claims.yaml
    """
    from dracfg.pipeline import Timings, judge
    from dracfg.report.gathering import gather, report_of
    from dracfg.report.tables import TABLES

    if table not in TABLES:
        raise click.UsageError(f"there is no table {table}; there are {', '.join(TABLES)}")
    clock = Timings()
    with repository_errors(), progress(clock, quiet=quiet):
        judged = judge(root, clock, inventories, today=today)
    require_clusters(judged, (*inventories, *dumps))
    audits = dict(_audits(judged, dumps))
    facts = gather(judged, audits, chosen_clusters(judged, clusters))
    report = report_of(facts)
    has_colour = wants_colour(colour)
    click.echo(_text(form, facts, report, table, has_colour), nl=False)
    files = [*outputs, *([OutputFile(PAGE, pages)] if pages is not None else [])]
    for output in files:
        coloured = has_colour and output.path is None
        write_output(output, _text(output.form, facts, report, table, coloured))
        if output.path is not None and not quiet:
            click.echo(f"wrote {output.path}", err=True)
    found = [*judged.findings, *(f for one in audits.values() for f in one.done.diagnostics)]
    if verbose:
        for line in waived_lines(found):
            click.echo(line, err=True)
    if judged.has_errors:
        click.echo(
            f"{counted(judged.findings)}; what is shown may be incomplete, run dracfg check",
            err=True,
        )
    return exit_code(found, fail_on)


def _text(form: str, facts: Facts, report: Report, table: str, has_colour: bool) -> str:
    """The report in one of its forms."""
    # Imported here: each form has means of its own.
    match form:
        case "json":
            from dracfg.report.document import report_document

            return json.dumps(report_document(report), indent=2, ensure_ascii=False) + "\n"
        case "csv":
            from dracfg.report.tables import csv_text

            return csv_text(report, table)
        case "html":
            from dracfg.report.page import page
            from dracfg.report.pictures import draw

            return page(report, draw(facts, report))
        case _:
            from dracfg.report.text import report_text

            return report_text(report, colour=has_colour)


def _audits(judged: Judgement, dumps: Sequence[InventoryFile]) -> Iterator[tuple[str, Audited]]:
    """An audit of each cluster whose claims are recorded, by a dump or by what the Cluster names."""
    from dracfg.audit import audit
    from dracfg.cli.audit import lines_of
    from dracfg.report.gathering import Audited

    given: dict[str, list[Path]] = {}
    for dump in dumps:
        given.setdefault(_cluster_of(judged, dump), []).append(dump.path)
    for name, cluster in judged.catalog.clusters.items():
        records = _records(judged.records.get(name, ()), given.get(name, ()))
        if name in given or _CLAIMS in _kinds(records):
            done = audit(judged.catalog, cluster, records)
            yield name, Audited(done, records, lines_of(records, judged))


def _records(recorded: Sequence[Record], dumps: Sequence[Path]) -> list[Record]:
    """The dumps; without slices among them, those of the inventory are looked at as well."""
    from dracfg.cli.audit import read_dumps

    read = read_dumps(dumps)
    return read if _SLICES in _kinds(read) else [*recorded, *read]


def _kinds(records: Sequence[Record]) -> set[str]:
    return {one.data["kind"] for record in records for one in record.objects}


def _cluster_of(judged: Judgement, dump: InventoryFile) -> str:
    """The cluster of a dump: the one it is given for, or the only one."""
    clusters: Mapping[str, Cluster] = judged.catalog.clusters
    if dump.cluster is not None:
        return dump.cluster
    if len(clusters) == 1:
        return next(iter(clusters))
    raise click.UsageError(
        f"say which cluster {dump.path} is of: {' | '.join(clusters)}, as CLUSTER={dump.path}"
    )
