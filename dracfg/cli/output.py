"""How results reach people: findings on stdout, talk on stderr, and the exit code they lead to."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dracfg.cli import exits
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic
from dracfg.diagnostics.render.concise import render_concise
from dracfg.diagnostics.render.plain import plain
from dracfg.diagnostics.render.text import render

STDOUT = "-"
HOST_FORMS = ("sarif", "github", "gitlab", "junit")
"""Forms that are read against the folder a pipeline works in, not against `--root`."""
FORMS = ("text", "concise", "json", *HOST_FORMS)
"""The forms that findings may have."""
_FAILING = {
    "error": {"error"},
    "unknown": {"error", "unknown"},
    "warning": {"error", "unknown", "warning"},
}


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A form that results are written in, and the file; None is stdout."""

    form: str
    path: Path | None


@dataclass(frozen=True, slots=True)
class Findings:
    """What a command found: `lines` for excerpts, `document` for JSON, paths relative to `root`."""

    listed: Sequence[Diagnostic]
    lines: Callable[[str], Sequence[str]]
    document: Callable[[], dict[str, Any]]
    root: Path = Path()


def wants_colour(choice: str) -> bool:
    """Whether stdout gets colour: as chosen, else as the environment says, else on a terminal.

    Sources: https://no-color.org, https://bixense.com/clicolors; empty variables count as absent.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if value := os.environ.get(name):
            return value != "0"
    if os.environ.get("CLICOLOR") == "0" or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def text_width() -> int:
    """Columns of text: those of the terminal, 100 at most, 80 where there is none."""
    from shutil import get_terminal_size  # it knows archives of all kinds as well

    return min(100, get_terminal_size((80, 24)).columns)


def show_findings(
    findings: Sequence[Diagnostic],
    form: str,
    colour: str,
    lines: Callable[[str], Sequence[str]],
    document: Callable[[], dict[str, Any]],
    *,
    root: Path = Path(),
    outputs: Iterable[OutputFile] = (),
) -> None:
    """Writes the findings in one form to stdout, and in others where `outputs` says.

    `document` is the whole report, for JSON.
    """
    found = Findings(findings, lines, document, root)
    click.echo(_text(found, form, colour), nl=False)
    write_findings(found, colour, outputs)


def write_findings(found: Findings, colour: str, outputs: Iterable[OutputFile]) -> None:
    """Writes what was found in the forms, and to the places, that `outputs` say."""
    for output in outputs:
        shown = _text(found, output.form, colour if output.path is None else "never")
        write_output(output, shown)


def host_text(found: Findings, form: str) -> str:
    """The findings in a form of a code host, with paths from where the pipeline works."""
    return _for_hosts(_from_here(found), form)


def show_facts(
    form: str,
    colour: str,
    outputs: Iterable[OutputFile],
    document: Callable[[], dict[str, Any]],
    text: Callable[[bool], str],
) -> None:
    """Writes the same facts for people or for programs, to stdout and where `outputs` says.

    `text` is asked for with or without colour; it ends in a line feed.
    """

    def shown(wanted: str, *, has_colour: bool) -> str:
        if wanted == "json":
            return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"
        return text(has_colour)

    has_colour = wants_colour(colour)
    click.echo(shown(form, has_colour=has_colour), nl=False)
    for output in outputs:
        coloured = has_colour and output.path is None
        write_output(output, shown(output.form, has_colour=coloured))


def write_output(output: OutputFile, text: str) -> None:
    """Writes a rendering where it belongs; a file that can't be written is wrong use."""
    if output.path is None:
        click.echo(text, nl=False)
        return
    try:
        output.path.parent.mkdir(parents=True, exist_ok=True)
        output.path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise click.ClickException(f"{output.path} can't be written: {fault.strerror}") from None


def annotates() -> bool:
    """Whether this is a step of GitHub Actions whose format nobody chose: it gets annotations too."""
    source = click.get_current_context().get_parameter_source("form")
    chosen = source is not click.core.ParameterSource.DEFAULT
    return os.environ.get("GITHUB_ACTIONS") == "true" and not chosen


def findings_text(
    listed: Iterable[Diagnostic],
    lines: Callable[[str], Sequence[str]],
    colour: str,
    root: Path = Path(),
) -> str:
    """Findings as people read them on stdout: in colour and with links where it shows them."""
    from dracfg.cli.hyperlinks import terminal_links

    links = terminal_links(colour, root)
    return render(listed, lines, colour=wants_colour(colour), width=text_width(), links=links)


def _text(found: Findings, form: str, colour: str) -> str:
    listed = found.listed
    match form:
        case "json":
            return json.dumps(found.document(), indent=2, ensure_ascii=False) + "\n"
        case "concise":
            return render_concise(listed)
        case "text":
            return findings_text(listed, found.lines, colour, found.root)
        case _:
            return host_text(found, form)


def _for_hosts(listed: Sequence[Diagnostic], form: str) -> str:
    # Imported here: most runs need none of these.
    from dracfg import __version__
    from dracfg.diagnostics.render.github import render_github
    from dracfg.diagnostics.render.gitlab import render_gitlab
    from dracfg.diagnostics.render.junit import render_junit
    from dracfg.diagnostics.render.sarif import render_sarif

    match form:
        case "sarif":
            return render_sarif(listed, __version__)
        case "github":
            return render_github(listed)
        case "gitlab":
            return render_gitlab(listed)
        case _:
            return render_junit(listed)


def _from_here(found: Findings) -> Sequence[Diagnostic]:
    """The findings with paths as they are from the folder that the process works in."""
    prefix = Path(os.path.relpath(found.root))
    if prefix == Path():
        return found.listed
    return [_moved(finding, prefix) for finding in found.listed]


def _moved(finding: Diagnostic, prefix: Path) -> Diagnostic:
    def path(old: str) -> str:
        return (prefix / old).as_posix()

    span = finding.span and replace(finding.span, path=path(finding.span.path))
    related = tuple(
        replace(one, span=replace(one.span, path=path(one.span.path))) for one in finding.related
    )
    return replace(finding, span=span, related=related)


def exit_code(findings: Iterable[Diagnostic], fail_on: str) -> int:
    """1 where a finding that is not waived is at or above the level, else 0."""
    failing = _FAILING[fail_on]
    failed = any(f.severity in failing for f in findings if f.waived is None)
    return exits.FINDINGS if failed else exits.DONE


def counted(findings: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`, or `no findings`; those that are waived are counted apart."""
    listed = tuple(findings)
    counts = Counter(finding.severity for finding in listed if finding.waived is None)
    named = [
        plural(counts[severity], severity)
        for severity in ("error", "unknown", "warning", "note")
        if counts[severity]
    ] or ["no findings"]
    if waived := sum(finding.waived is not None for finding in listed):
        named.append(f"{waived:,} waived")
    return ", ".join(named)


def waived_lines(findings: Iterable[Diagnostic]) -> Iterator[str]:
    """One line a finding that is waived: what, where, until when, and why."""
    for finding in findings:
        if (waived := finding.waived) is not None:
            place = plain(str(finding.span or "-"))
            yield f"waived {finding.code} at {place} until {waived.until}: {plain(waived.reason)}"


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`, `1,204 objects`; what is unknown has no plural."""
    ending = "" if number == 1 or noun == "unknown" else "s"
    return f"{number:,} {noun}{ending}"
