"""`dracfg audit`: invariants on real allocations, from recorded dumps or from a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dracfg.audit import AuditReport, audit
from dracfg.audit.finding import Handling
from dracfg.audit.report import audit_document
from dracfg.cli import options
from dracfg.cli.audittext import (
    causes_text,
    headline,
    ledger_text,
    offers_text,
    trials_text,
)
from dracfg.cli.output import FORMS, OutputFile, counted, exit_code, show_findings
from dracfg.cli.repository import hint, repository_errors
from dracfg.diagnostics.selection import Selection
from dracfg.source.records import Record, read_record
from dracfg.source.times import parse_time

if TYPE_CHECKING:
    from dracfg.diagnostics import Diagnostic
    from dracfg.link.catalog import Cluster
    from dracfg.live.snapshot import Snapshot
    from dracfg.pipeline import Judgement


def _moment(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> datetime | None:
    moment = parse_time(value)
    if value is not None and moment is None:
        raise click.BadParameter(f"{value} is no time; write it as 2026-11-29T22:00:00Z")
    return moment


@click.command(name="audit")
@click.argument(
    "dumps", nargs=-1, metavar="[DUMP...]",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)  # fmt: skip
@click.option(
    "--live", is_flag=True, envvar="DRACFG_LIVE",
    help="Read everything from the API server in place of dumps.",
)  # fmt: skip
@options.kubeconfig(required=False)
@options.context
@options.request_timeout
@options.prometheus("With --live, the server to ask what device exporters count")
@click.option(
    "--cluster", envvar="DRACFG_AUDIT_CLUSTER", metavar="NAME",
    help="The Cluster that was recorded; where there is but one, it is taken.",
)  # fmt: skip
@click.option(
    "--at", callback=_moment, envvar="DRACFG_AUDIT_AT", metavar="TIME",
    help="The moment to judge at; else the server's now, or the newest that the dumps tell of.",
)  # fmt: skip
@click.option(
    "--all-devices", is_flag=True, envvar="DRACFG_AUDIT_ALL_DEVICES",
    help="List idle devices in the ledger as well.",
)  # fmt: skip
@options.root
@options.form
@options.outputs(FORMS)
@options.select
@options.ignore
@options.colour
@options.fail_on
@options.quiet
def command(
    dumps: tuple[Path, ...],
    live: bool,
    kubeconfig: Path | None,
    context: str | None,
    request_timeout: float,
    prometheus: tuple[str, ...],
    cluster: str | None,
    at: datetime | None,
    all_devices: bool,
    root: Path,
    form: str,
    outputs: tuple[OutputFile, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    colour: str,
    fail_on: str,
    quiet: bool,
) -> int:
    """Hold recorded claims, slices, nodes, pods and events against each other and the catalog.

    A DUMP is what `kubectl get … -o yaml` writes: lists or many documents, in one file or several; or an
    answer of Prometheus with the series of device exporters, which stands beside --live as well.
    Without a catalog the rules run that need none. Nothing is ever released.

    Example: dracfg audit claims.yaml slices.yaml pods.yaml nodes.yaml --cluster prod-east
    """
    records = read_dumps(dumps)
    if live and not all(record.is_measured for record in records):
        raise click.UsageError(
            "--live reads from the server; leave the dumps out, all but answers of Prometheus"
        )
    if not live and not dumps:
        raise click.UsageError("name at least one DUMP, or --live with a --kubeconfig")
    if live and kubeconfig is None:
        raise click.UsageError("--live needs a --kubeconfig")
    judged = _judged(root, cluster)
    where = _recorded_cluster(judged, cluster) if judged is not None else None
    catalog = judged.catalog if judged is not None else None
    if live and kubeconfig is not None:
        if where is None:
            raise click.UsageError("--live needs a repository that describes the cluster")
        snapshot = _snapshot(where, kubeconfig, context, request_timeout)
        answered, unanswered = _exporters(judged, where, prometheus, request_timeout)
        records = [snapshot.record, *answered, *records]
        done = audit(
            catalog, where, records,
            at=at or snapshot.at, kinds=snapshot.kinds, unread=[*snapshot.findings, *unanswered],
        )  # fmt: skip
    else:
        done = audit(catalog, where, records, at=at)
    done = selected(done, Selection(select, ignore))
    lines = lines_of(records, judged)
    show_audit(done, lines, form, colour, all_devices=all_devices, outputs=outputs)
    if not quiet:
        click.echo(f"{counted(done.diagnostics)}{_turns(done)}", err=True)
    return exit_code(done.diagnostics, fail_on)


def show_audit(
    done: AuditReport,
    lines: Callable[[str], Sequence[str]],
    form: str,
    colour: str,
    *,
    all_devices: bool = False,
    outputs: Iterable[OutputFile] = (),
) -> None:
    """Writes a report to stdout: verdict first, then findings, who waits, and the ledger.

    `outputs` get the findings alone, or the whole document where they are JSON.
    """
    if form == "text":
        click.echo(headline(done))
        click.echo()
    show_findings(
        done.diagnostics, form, colour, lines, lambda: audit_document(done), outputs=outputs
    )
    if form == "text":
        ledger = ledger_text(done.ledger, all_devices=all_devices)
        parts = [causes_text(done), trials_text(done), offers_text(done), ledger]
        shown = "\n".join(part for part in parts if part)
        click.echo(("\n" if done.findings else "") + shown, nl=False)


def selected(done: AuditReport, selection: Selection) -> AuditReport:
    """The report with the findings of some codes alone; its verdict is then about those."""
    shown = tuple(f for f in done.findings if selection.holds(f.diagnostic.code))
    return replace(done, findings=shown)


def lines_of(records: Sequence[Record], judged: Judgement | None) -> Callable[[str], Sequence[str]]:
    """The lines of a record, or of a file of the repository, for excerpts."""
    texts = {record.path: record.text for record in records}

    @cache
    def lines(path: str) -> Sequence[str]:
        if path not in texts and judged is not None:
            return judged.lines(path)
        return texts.get(path, "").split("\n")

    return lines


def _turns(done: AuditReport) -> str:
    words: Mapping[Handling, str] = {
        "needsPerson": "need a person",
        "notRetryable": "need a change in git",
        "retryable": "pass by themselves",
    }
    counts = [(done.handled(key), text) for key, text in words.items()]
    said = ", ".join(f"{number} {text}" for number, text in counts if number)
    return f": {said}" if said else ""


def _snapshot(cluster: Cluster, kubeconfig: Path, context: str | None, timeout: float) -> Snapshot:
    from dracfg.live.kubeconfig import Access, BadKubeconfig, NoClient, connect
    from dracfg.live.snapshot import take_snapshot

    try:
        connection = connect(Access(kubeconfig, context, timeout), cluster.name)
    except (BadKubeconfig, NoClient) as unusable:
        raise click.ClickException(str(unusable)) from None
    return take_snapshot(connection, cluster)


def _exporters(
    judged: Judgement | None, cluster: Cluster, named: Sequence[str], timeout: float
) -> tuple[list[Record], list[Diagnostic]]:
    if judged is None or not named:
        return [], []
    from dracfg.cli.exporters import ask_exporters

    return ask_exporters(cluster.name, named, timeout, judged.catalog.clusters)


def read_dumps(dumps: Sequence[Path]) -> list[Record]:
    """The records in files; one of which nothing can be read is wrong use."""
    records = []
    for path in dumps:
        record, faults = read_record(Path(), path.as_posix())
        if faults and not record.objects:
            raise click.ClickException(f"{path}: {faults[0].message}")
        for fault in faults:
            click.echo(f"{fault.span}: {fault.message}", err=True)
        records.append(record)
    return records


def _judged(root: Path, name: str | None) -> Judgement | None:
    """The repository; None where there is none, and no cluster of it is asked for."""
    if not (root / "catalog").is_dir() and name is None:
        return None
    from dracfg.pipeline import judge

    with repository_errors():
        judged = judge(root)
    if judged.has_errors:
        click.echo(f"{counted(judged.findings)} in the catalog; run dracfg check", err=True)
    return judged


def _recorded_cluster(judged: Judgement, name: str | None) -> Cluster:
    """The Cluster that was recorded, by its name, or as the only one."""
    clusters = judged.catalog.clusters
    if name is None and len(clusters) == 1:
        return next(iter(clusters.values()))
    if name is None:
        raise click.UsageError(f"say which was recorded: --cluster {' | '.join(clusters)}")
    if name not in clusters:
        raise click.UsageError(f"there is no Cluster {name}{hint(name, tuple(clusters))}")
    return clusters[name]
