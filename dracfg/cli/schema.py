"""`dracfg schema`: the input language, and what is written for machines, as JSON Schema draft-07."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dracfg.cli import exits
from dracfg.diagnostics import did_you_mean
from dracfg.model.jsonschema import ANY, schema_text, schemas

_WRITTEN = ("diffplan", "report")
"""Documents that commands write, each beside the language."""


@click.command(name="schema")
@click.argument("kind", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="DRACFG_SCHEMA_OUT",
    help="Write one file a kind into this folder.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file of --out is stale.")
def command(kind: str | None, out: Path | None, check: bool) -> int:
    """Print the schema of a kind (or of any document), or write them all.

    DiffPlan and Report are what `dracfg diff` and `dracfg report` write with `--format json`; they
    stand beside the language.

    Example: dracfg schema --out schemas
    """
    found = schemas()
    if kind is not None and kind.lower() in _WRITTEN:
        found = {kind.lower(): _written(kind.lower())}
    if out is None:
        if check:
            raise click.UsageError("--check needs --out")
        name = (kind or ANY).lower()
        if name not in found:
            near = did_you_mean(name, found)
            hint = f"; did you mean {near}?" if near else f"; known: {', '.join(found)}"
            raise click.UsageError(f"there is no kind {kind}{hint}")
        click.echo(schema_text(found[name]), nl=False)
        return exits.DONE
    chosen = {name: text for name, text in found.items() if kind is None or name == kind.lower()}
    stale = [
        name for name, schema in chosen.items() if not _is_written(out, name, schema_text(schema))
    ]
    if check:
        for name in stale:
            click.echo(f"stale: {out / name}.json", err=True)
        return exits.FINDINGS if stale else exits.DONE
    out.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (out / f"{name}.json").write_text(schema_text(chosen[name]), encoding="utf-8")
    click.echo(f"wrote {len(stale)} of {len(chosen)} schemas to {out}", err=True)
    return exits.DONE


def _written(name: str) -> dict[str, Any]:
    # Imported here: they know all that can be written, and the language's schemas need none of it.
    if name == "report":
        from dracfg.report.schema import report_schema

        return report_schema()
    from dracfg.diff.document import diff_schema

    return diff_schema()


def _is_written(out: Path, name: str, text: str) -> bool:
    file = out / f"{name}.json"
    return file.is_file() and file.read_text(encoding="utf-8") == text
