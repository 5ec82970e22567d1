"""`dracfg test`: policy tests on what would be emitted, offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dracfg.cli import exits, options
from dracfg.cli.output import (
    OutputFile,
    counted,
    findings_text,
    plural,
    text_width,
    wants_colour,
    write_output,
)
from dracfg.cli.repository import repository_errors
from dracfg.source.tree import from_root

if TYPE_CHECKING:
    from dracfg.pipeline import Judgement
    from dracfg.policytest.load import LoadedTests

_FORMS = ("text", "json", "junit")


@click.command(name="test")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--coverage", is_flag=True, envvar="DRACFG_TEST_COVERAGE",
    help="Name the validations that no test has seen deny, or allow.",
)  # fmt: skip
@click.option(
    "--generated", is_flag=True, envvar="DRACFG_TEST_GENERATED",
    help="Also run a generated denial and allowance of every validation.",
)  # fmt: skip
@click.option(
    "--export-kyverno", "kyverno", type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR", envvar="DRACFG_TEST_EXPORT_KYVERNO",
    help="Write the generated cases for `kyverno test` into DIR, in place of a run.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(_FORMS), default="text", show_default=True,
    envvar="DRACFG_TEST_FORMAT", help="How results are written.",
)  # fmt: skip
@options.outputs(_FORMS, "DRACFG_TEST_OUTPUT")
@options.root
@options.colour
@options.quiet
def command(
    files: tuple[Path, ...],
    coverage: bool,
    generated: bool,
    kyverno: Path | None,
    form: str,
    outputs: tuple[OutputFile, ...],
    root: Path,
    colour: str,
    quiet: bool,
) -> int:
    """Send the requests of tests/policy/ (or FILES) to the policies, roles and quotas of out/.

    Nothing is asked of a cluster. Exit code 0 where every test gets the verdict that it expects.

    Example: dracfg test --coverage
    """
    from dracfg.pipeline import judge
    from dracfg.policytest.load import load_tests

    with repository_errors():
        judged = judge(root)
    if judged.has_errors:
        click.echo(f"{counted(judged.findings)}; run dracfg check first", err=True)
        return exits.FINDINGS
    if kyverno is not None:
        return _export(judged, kyverno)
    loaded = load_tests(root, [from_root(root, path) for path in files], judged.catalog)
    report = _report(judged, loaded, coverage, generated)
    for output in outputs:
        write_output(output, _text(report, output.form, colour=False))
    click.echo(_text(report, form, colour=wants_colour(colour)), nl=False)
    if loaded.findings and form == "text":
        click.echo(findings_text(loaded.findings, loaded.lines, colour, root), nl=False)
    results = report["results"]
    failed = sum(not one["passed"] for one in results)
    if not quiet:
        click.echo(
            f"{plural(len(results), 'test')}, {failed} failed; {counted(loaded.findings)}"
            if loaded.findings
            else f"{plural(len(results), 'test')}, {failed} failed",
            err=True,
        )
    wrong = failed or any(finding.is_error for finding in loaded.findings)
    return exits.FINDINGS if wrong else exits.DONE


def _report(
    judged: Judgement, loaded: LoadedTests, wants_coverage: bool, wants_generated: bool
) -> dict[str, Any]:
    from dracfg.policytest.coverage import coverage, coverage_document
    from dracfg.policytest.generated import run_generated
    from dracfg.policytest.run import report_of, run_tests, worlds_of

    worlds = worlds_of(judged.catalog, judged.units)
    results = run_tests(worlds, loaded.tests)
    document = None
    if wants_coverage:
        every = {name: worlds[name] for name in judged.catalog.clusters}
        document = coverage_document(coverage(every, results))
    if wants_generated:
        made = (run_generated(worlds[name]) for name in judged.catalog.clusters)
        results = (*results, *(one for found in made for one in found))
    return report_of(results, loaded.findings, document)


def _export(judged: Judgement, folder: Path) -> int:
    from dracfg.emit.yaml import dump_all
    from dracfg.policytest.kyverno import kyverno_tests
    from dracfg.policytest.run import worlds_of

    worlds = worlds_of(judged.catalog, judged.units)
    files = kyverno_tests([worlds[name] for name in judged.catalog.clusters])
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else dump_all(content)
        target.write_text(text, encoding="utf-8")
    click.echo(f"wrote {plural(len(files), 'file')} to {folder}", err=True)
    return exits.DONE


def _text(report: dict[str, Any], form: str, *, colour: bool) -> str:
    from dracfg.cli.testtext import report_text
    from dracfg.policytest.junit import junit

    if form == "json":
        return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    if form == "junit":
        return junit(report)
    return report_text(report, text_width(), colour=colour)
