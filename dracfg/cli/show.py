"""`dracfg show`: the linked, defaulted form of anything, and where emitted fields come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dracfg.cli import exits, options
from dracfg.cli.output import OutputFile, counted, show_facts, text_width
from dracfg.cli.progress import progress
from dracfg.cli.repository import repository_errors
from dracfg.passes import Timings

if TYPE_CHECKING:
    from dracfg.pipeline import Judgement

_FORMS = ("text", "json")


def _references(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from dracfg.cli.candidates import fitting, references

    return fitting(references(context), incomplete)


@click.command(name="show")
@click.argument("ref", shell_complete=_references)
@click.argument("aspect", required=False)
@click.option(
    "--why", metavar="POINTER", envvar="DRACFG_SHOW_WHY",
    help="Of an emitted object: the places that this field comes from.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(_FORMS), default="text", show_default=True,
    envvar="DRACFG_SHOW_FORMAT", help="The same facts for people or for programs.",
)  # fmt: skip
@options.outputs(_FORMS, "DRACFG_SHOW_OUTPUT")
@options.root
@options.colour
@options.quiet
def command(
    ref: str,
    aspect: str | None,
    why: str | None,
    form: str,
    outputs: tuple[OutputFile, ...],
    root: Path,
    colour: str,
    quiet: bool,
) -> int:
    """Show REF as dracfg understands it: defaults filled in, references followed.

    REF is cluster/NAME (with the aspect `gates`), tier/NAME, driver/NAME, policy/NAME, pool/NAME,
    tenant/NAME, an emitted object as CLUSTER/KIND/[NAMESPACE/]NAME, or a file below out/ that is
    for installers. A name alone will do where it is unique.

    Example: dracfg show cluster/prod-east gates
    """
    from dracfg.cli.showtext import text_of
    from dracfg.pipeline import judge

    clock = Timings()
    with repository_errors(), progress(clock, quiet=quiet):
        judged = judge(root, clock)
    document = _document(judged, ref, aspect, why)
    show_facts(
        form,
        colour,
        outputs,
        lambda: document,
        lambda has_colour: text_of(document, text_width(), colour=has_colour),
    )
    if judged.has_errors and not quiet:
        click.echo(
            f"{counted(judged.findings)}; what is shown may be incomplete, run dracfg check",
            err=True,
        )
    return exits.DONE


def _document(judged: Judgement, ref: str, aspect: str | None, why: str | None) -> dict[str, Any]:
    from dracfg.show.linked import aspect_document, linked_document
    from dracfg.show.objects import UnknownField, object_document, provenance_document
    from dracfg.show.subjects import AmbiguousSubject, Emitted, FaultySubject, UnknownSubject, find

    try:
        subject = find(judged.catalog, judged.units, ref)
        if isinstance(subject, Emitted):
            if aspect is not None:
                raise click.UsageError(f"an emitted object has no aspect {aspect}")
            if why is not None:
                return provenance_document(judged.catalog, subject, why)
            return object_document(subject)
        if why is not None:
            raise click.UsageError(
                f"--why reads emitted objects, and {subject.ref} is a document of the catalog"
            )
        if aspect is None:
            return linked_document(judged.catalog, judged.units, subject)
        return aspect_document(judged.catalog, judged.units, subject, aspect)
    except (UnknownSubject, FaultySubject, AmbiguousSubject, UnknownField) as wrong:
        raise click.UsageError(str(wrong)) from None
