"""`dracfg check --fix`: writes what findings would have in place of what stands there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from dracfg.cli.output import plural
from dracfg.diagnostics import Diagnostic
from dracfg.source import SourceFile
from dracfg.source.edits import ChangedFile, Edit, EditedFile, edit_file


def fix(
    root: Path, files: Mapping[str, SourceFile], findings: Iterable[Diagnostic], *, unsafe: bool
) -> None:
    """Mends the files below `root` and tells of each edit on stderr; files that can't be are left.

    Only fixes that keep the meaning of a document are made, all of them where `unsafe` says so.
    """
    offered = [f for f in findings if f.fix is not None and f.waived is None and f.span is not None]
    wanted = [finding for finding in offered if unsafe or finding.has_safe_fix]
    by_file: dict[str, list[Edit]] = {}
    for finding in wanted:
        if finding.span is not None and finding.fix is not None and finding.span.path in files:
            by_file.setdefault(finding.span.path, []).append(Edit(finding.span, finding.fix))
    made = 0
    for path, edits in by_file.items():
        try:
            edited = edit_file(root, files[path], edits)
            if edited.made:
                replace_file(root / path, edited.data)
        except ChangedFile as refused:
            click.echo(str(refused), err=True)
            continue
        except OSError as fault:
            raise click.ClickException(f"{path} can't be written: {fault.strerror}") from None
        made += len(edited.made)
        for line in _shown(edited, files[path]):
            click.echo(line, err=True)
    others = len(offered) - len(wanted)
    rest = f"; {plural(others, 'fix').replace('fixs', 'fixes')} left to you" if others else ""
    click.echo(f"{plural(made, 'edit')} made{rest}", err=True)


def _shown(edited: EditedFile, file: SourceFile) -> Iterator[str]:
    lines = file.text.split("\n")
    for edit in edited.made:
        span = edit.span
        old = lines[span.line - 1][span.column - 1 :]
        if span.end_line == span.line:
            old = old[: span.end_column - span.column]
        yield f"fixed {span}: {old} -> {edit.text}"
    for edit in edited.overlapping:
        yield f"left {edit.span}: it overlaps another edit; run dracfg check --fix again"
    for edit in edited.unsound:
        yield f"left {edit.span}: with {edit.text} the file would not be sound YAML"


def replace_file(path: Path, data: bytes) -> None:
    """Puts a file in the place of another in one step, with the other's mode; links are followed."""
    target = path.resolve()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".dracfg-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
