"""How results reach people: findings on stdout, talk on stderr, and the exit code they lead to."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from dracfg.cli import exits
from dracfg.diagnostics import Diagnostic
from dracfg.diagnostics.render.text import render, render_concise

_FAILING = {
    "error": {"error"},
    "unknown": {"error", "unknown"},
    "warning": {"error", "unknown", "warning"},
}


def wants_colour(choice: str) -> bool:
    """Whether stdout gets colour."""
    if choice != "auto":
        return choice == "always"
    return "NO_COLOR" not in os.environ and sys.stdout.isatty()


def text_width() -> int:
    """Columns of text: those of the terminal, 100 at most, 80 where there is none."""
    return min(100, shutil.get_terminal_size((80, 24)).columns)


def show_findings(
    findings: Sequence[Diagnostic],
    form: str,
    colour: str,
    lines: Callable[[str], Sequence[str]],
    document: Callable[[], dict[str, Any]],
) -> None:
    """Writes the findings, or the whole document where JSON is wanted."""
    if form == "json":
        click.echo(json.dumps(document(), indent=2, ensure_ascii=False))
    elif form == "concise":
        click.echo(render_concise(findings), nl=False)
    else:
        text = render(findings, lines, colour=wants_colour(colour), width=text_width())
        click.echo(text, nl=False)


def exit_code(findings: Iterable[Diagnostic], fail_on: str) -> int:
    """1 where a finding is at or above the level, else 0."""
    failing = _FAILING[fail_on]
    return exits.FINDINGS if any(f.severity in failing for f in findings) else exits.DONE


def counted(findings: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`, or `no findings`."""
    counts = Counter(finding.severity for finding in findings)
    named = [
        plural(counts[severity], severity)
        for severity in ("error", "unknown", "warning", "note")
        if counts[severity]
    ]
    return ", ".join(named) or "no findings"


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`, `1,204 objects`; what is unknown has no plural."""
    ending = "" if number == 1 or noun == "unknown" else "s"
    return f"{number:,} {noun}{ending}"
