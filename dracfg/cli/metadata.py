"""`dracfg metadata`: device-metadata files judged and shown, and the schemas that they follow.

No attribute's value is ever written: excerpts of the files are left out, whatever the form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dracfg.cli import exits, options
from dracfg.cli.metadatatext import files_text
from dracfg.cli.output import (
    FORMS,
    OutputFile,
    counted,
    exit_code,
    plural,
    show_facts,
    show_findings,
)
from dracfg.cli.repository import hint, repository_errors
from dracfg.diagnostics.selection import Selection
from dracfg.metadata.reader import FACTS, VERSIONS, document_schema
from dracfg.metafiles.context import Context, cluster_schemas, recorded_context
from dracfg.metafiles.report import MetadataReport, judge_files, metadata_document
from dracfg.source.records import Record, read_record

if TYPE_CHECKING:
    from dracfg.link.catalog import Catalog, Cluster

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_PATHS = click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path)
)
_SCHEMAS = click.option(
    "--schema", "schema_files", multiple=True, type=_FILE, envvar="DRACFG_METADATA_SCHEMA",
    help="A tier's schema, in place of those of the repository; repeatable.",
)  # fmt: skip
_CLUSTER = click.option(
    "--cluster", envvar="DRACFG_METADATA_CLUSTER", metavar="NAME",
    help="The Cluster whose tiers are meant; all of them unless said.",
)  # fmt: skip


@click.group(name="metadata")
def command() -> None:
    """Judge and show device-metadata files, and print their schemas.

    Example: dracfg metadata validate /var/run/kubernetes.io/dra-device-attributes
    """


@command.command(name="validate")
@_PATHS
@click.option(
    "--claims", multiple=True, type=_FILE, metavar="DUMP", envvar="DRACFG_METADATA_CLAIMS",
    help="All ResourceClaims as recorded; finds leftovers and wrong owners.",
)  # fmt: skip
@click.option(
    "--slices", multiple=True, type=_FILE, metavar="DUMP", envvar="DRACFG_METADATA_SLICES",
    help="Recorded ResourceSlices; tell on which node a device is.",
)  # fmt: skip
@click.option(
    "--node", envvar="DRACFG_METADATA_NODE", metavar="NAME",
    help="The node that the files were found on.",
)  # fmt: skip
@click.option(
    "--cdi", multiple=True, envvar="DRACFG_METADATA_CDI", metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of CDI specs of that node, such as /var/run/cdi.",
)  # fmt: skip
@_SCHEMAS
@_CLUSTER
@options.root
@options.form
@options.outputs(FORMS)
@options.select
@options.ignore
@options.colour
@options.fail_on
@options.quiet
def validate(
    paths: tuple[Path, ...],
    claims: tuple[Path, ...],
    slices: tuple[Path, ...],
    node: str | None,
    cdi: tuple[Path, ...],
    schema_files: tuple[Path, ...],
    cluster: str | None,
    root: Path,
    form: str,
    outputs: tuple[OutputFile, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    colour: str,
    fail_on: str,
    quiet: bool,
) -> int:
    """Judge metadata files: one, a container's folder, or a node's plugin folder.

    Example: dracfg metadata validate /var/lib/kubelet/plugins --claims claims.yaml --node a-1
    """
    context = _context(root, cluster, schema_files, claims, slices, node)
    done = judge_files(paths, context, cdi)
    chosen = Selection(select, ignore)
    shown = tuple(one for one in done.findings if chosen.holds(one.code))
    done = MetadataReport(done.files, shown)
    show_findings(shown, form, colour, _no_lines, lambda: metadata_document(done), outputs=outputs)
    if not quiet:
        click.echo(f"{counted(shown)} in {plural(len(done.files), 'file')}", err=True)
    return exit_code(shown, fail_on)


@command.command(name="show")
@_PATHS
@_SCHEMAS
@_CLUSTER
@options.root
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
    envvar="DRACFG_FORMAT", help="How it is written.",
)  # fmt: skip
@options.colour
def show(
    paths: tuple[Path, ...],
    schema_files: tuple[Path, ...],
    cluster: str | None,
    root: Path,
    form: str,
    colour: str,
) -> int:
    """Show what files hold as a table: keys, types and lengths, no values.

    Example: dracfg metadata show /var/run/kubernetes.io/dra-device-attributes
    """
    done = judge_files(paths, _context(root, cluster, schema_files))
    document = metadata_document(done)
    show_facts(
        form,
        colour,
        (),
        lambda: document,
        lambda has_colour: files_text(document, colour=has_colour),
    )
    return exit_code(done.findings, "error")


@command.command(name="schema")
@click.argument("tier", required=False)
@click.option(
    "--metadata-version", "version", type=click.Choice(VERSIONS),
    envvar="DRACFG_METADATA_VERSION", help="Of the file; else the newest that is written.",
)  # fmt: skip
@_CLUSTER
@options.root
def schema(tier: str | None, version: str | None, cluster: str | None, root: Path) -> int:
    """Print the JSON Schema of a tier's files, or of every file where no TIER is named.

    Example: dracfg metadata schema vnic-25g --cluster prod-east
    """
    if tier is None:
        _print_schema(document_schema(version or VERSIONS[0]))
        return exits.DONE
    known = [
        one
        for chosen in _clusters(_catalog(root), cluster)
        for one in cluster_schemas(chosen)
        if version in (None, one[FACTS]["version"])
    ]
    found = next((one for one in known if one[FACTS]["tier"] == tier), None)
    if found is None:
        names = sorted({str(one[FACTS]["tier"]) for one in known})
        raise click.UsageError(f"no tier {tier} exposes anything there{hint(tier, names)}")
    _print_schema(found)
    return exits.DONE


def _print_schema(made: Any) -> None:
    click.echo(json.dumps(made, indent=2))


def _no_lines(_path: str) -> Sequence[str]:
    """Excerpts of metadata files would show values."""
    return ()


def _context(
    root: Path,
    cluster: str | None,
    schema_files: Sequence[Path],
    claims: Sequence[Path] = (),
    slices: Sequence[Path] = (),
    node: str | None = None,
) -> Context:
    records = _records(claims), _records(slices)
    if schema_files or (cluster is None and not (root / "catalog").is_dir()):
        return recorded_context(*records, [_schema(path) for path in schema_files], node)
    from dracfg.check.metadata import foreign_names

    catalog = _catalog(root)
    schemas = {
        (one[FACTS]["tier"], one[FACTS]["version"]): one
        for chosen in _clusters(catalog, cluster)
        for one in cluster_schemas(chosen)
    }
    return recorded_context(*records, schemas.values(), node, foreign_names(catalog))


def _records(paths: Sequence[Path]) -> list[Record]:
    records = []
    for path in paths:
        record, faults = read_record(Path(), path.as_posix())
        if faults and not record.objects:
            raise click.ClickException(f"{path}: {faults[0].message}")
        records.append(record)
    return records


def _schema(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise click.ClickException(f"{path} is no JSON Schema: {type(fault).__name__}") from None
    if not isinstance(found, dict) or not isinstance(found.get(FACTS), dict):
        raise click.ClickException(f"{path} is no schema of a tier; see out/CLUSTER/metadata")
    return found


def _catalog(root: Path) -> Catalog:
    from dracfg.pipeline import judge

    with repository_errors():
        return judge(root, level="intent").catalog


def _clusters(catalog: Catalog, name: str | None) -> tuple[Cluster, ...]:
    if name is None:
        return tuple(catalog.clusters.values())
    if name not in catalog.clusters:
        raise click.UsageError(f"there is no Cluster {name}{hint(name, tuple(catalog.clusters))}")
    return (catalog.clusters[name],)
