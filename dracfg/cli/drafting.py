"""`dracfg import cluster`: a draft repository from what a cluster shows of its devices.

The command's name is a keyword of Python, which is why the module has another.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from dracfg.cli import exits, options
from dracfg.diagnostics import Diagnostic
from dracfg.source.records import Record, read_record

_KEPT = {".git"}
"""What may stand in a folder that counts as empty."""


@click.group(name="import")
def command() -> None:
    """Draft a catalog and tenants from what is there.

    Example: dracfg import cluster nodes.yaml pods.yaml --out devices
    """


@command.command(name="cluster")
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
@click.option(
    "--cluster", default="imported", show_default=True, envvar="DRACFG_IMPORT_CLUSTER",
    metavar="NAME", help="The name of the Cluster document.",
)  # fmt: skip
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("draft"),
    show_default=True, envvar="DRACFG_IMPORT_OUT", help="An empty folder for the draft.",
)  # fmt: skip
@options.quiet
def cluster(
    dumps: tuple[Path, ...],
    live: bool,
    kubeconfig: Path | None,
    context: str | None,
    request_timeout: float,
    cluster: str,
    out: Path,
    quiet: bool,
) -> int:
    """Draft a repository: drivers, tiers, pools, sharing, tenants, and what a person must decide.

    A DUMP is what `kubectl get … -o yaml` writes, several kinds in one file or many, or the
    configuration file of a device plugin. Nothing is overwritten, and nothing is sent to a cluster.

    Example: dracfg import cluster nodes.yaml workloads.yaml configmaps.yaml --cluster prod-east
    """
    # Imported here: presets and models are costly, and `--help` does without them.
    from dracfg.draft.draft import draft_of
    from dracfg.draft.recording import read_recording
    from dracfg.draft.repository import repository_files

    if live and dumps:
        raise click.UsageError("--live reads from the server; leave the dumps out")
    if not live and not dumps:
        raise click.UsageError("name at least one DUMP, or --live with a --kubeconfig")
    if live and kubeconfig is None:
        raise click.UsageError("--live needs a --kubeconfig")
    _refuse_what_is_there(out)
    version: str | None = None
    if live and kubeconfig is not None:
        records, version = _served(kubeconfig, context, request_timeout, cluster)
        faults: list[Diagnostic] = []
    else:
        records, faults = _recorded(dumps)
    recording, wrong = read_recording(records, faults)
    for fault in wrong:
        click.echo(f"{fault.span}: {fault.message}", err=True)
    draft = draft_of(recording, cluster, version)
    files = repository_files(draft, recording)
    _write(out, files)
    for verdict in draft.verdicts:
        where = f" on {verdict.tier}" if verdict.tier else ""
        click.echo(f"{verdict.word}  {verdict.resource}{where}")
    if not quiet:
        root = shlex.quote(str(out))
        click.echo(
            f"wrote {len(files)} files to {out}; read {out / 'DECISIONS.md'}, then: dracfg check -C {root}",
            err=True,
        )
    return exits.DONE


def _recorded(dumps: Sequence[Path]) -> tuple[list[Record], list[Diagnostic]]:
    records, faults = [], list[Diagnostic]()
    for path in dumps:
        record, found = read_record(Path(), path.as_posix())
        if found and not record.text:
            raise click.ClickException(f"{path}: {found[0].message}")
        records.append(record)
        faults += found
    return records, faults


def _served(
    kubeconfig: Path, context: str | None, timeout: float, cluster: str
) -> tuple[list[Record], str | None]:
    from dracfg.draft.serving import read_served
    from dracfg.live.connection import Unanswered
    from dracfg.live.kubeconfig import Access, BadKubeconfig, NoClient, connect

    try:
        connection = connect(Access(kubeconfig, context, timeout), cluster)
        served = read_served(connection)
    except (BadKubeconfig, NoClient) as unusable:
        raise click.ClickException(str(unusable)) from None
    except Unanswered as silent:
        raise click.ClickException(f"{connection.address}: {silent.detail}") from None
    for clause in served.unread:
        click.echo(f"not read: {clause}", err=True)
    return [served.record], served.version


def _refuse_what_is_there(out: Path) -> None:
    try:
        found = sorted(entry.name for entry in out.iterdir() if entry.name not in _KEPT)
    except FileNotFoundError:
        return
    except OSError as fault:
        raise click.ClickException(f"{out} can't be used: {fault.strerror}") from None
    if found:
        raise click.ClickException(
            f"nothing was written; {out} is not empty: {', '.join(found[:5])}"
        )


def _write(out: Path, files: Mapping[str, str]) -> None:
    try:
        for name, text in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as fault:
        raise click.ClickException(
            f"{fault.filename or out} can't be written: {fault.strerror}"
        ) from None
