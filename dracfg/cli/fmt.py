"""`dracfg fmt`: documents in their canonical form, comments kept."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from dracfg.cli import exits, options
from dracfg.cli.fix import replace_file
from dracfg.cli.output import findings_text, plural
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span
from dracfg.format import Formatted, Unformatted, format_file
from dracfg.model.base import API_VERSION
from dracfg.policytest.load import TESTS
from dracfg.source import ROOTS, Document, Scalar, SourceFile, follow, read_file, read_trees
from dracfg.source.edits import ChangedFile, Edit, edit_file
from dracfg.source.reader import understand
from dracfg.source.tree import from_root

STDIN = Path("-")


@click.command(name="fmt")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, allow_dash=True))
@click.option(
    "--check", is_flag=True, envvar="DRACFG_FMT_CHECK",
    help="Write nothing; exit 1 if a file is not in its canonical form.",
)  # fmt: skip
@click.option(
    "--diff", "as_diff", is_flag=True, envvar="DRACFG_FMT_DIFF",
    help="Write nothing; show the lines that would change, and exit 1 if there are any.",
)  # fmt: skip
@options.root
@options.colour
@options.quiet
def command(
    files: tuple[Path, ...], check: bool, as_diff: bool, root: Path, colour: str, quiet: bool
) -> int:
    """Write documents in their canonical form, and print the names of those that changed.

    Keys stand in the order of their model; indentation, spaces, quotes and empty lines are made
    alike. Comments, lists, and what stands between brackets stay. A file is written only where its
    documents provably say the same as before; one with errors is left as it is. FILES may be
    folders; without any, it is catalog/, tenants/ and tests/policy/. A single - is stdin, of which
    the form goes to stdout, or the text as it is where it is left: for editors.

    Example: dracfg fmt --check
    """
    if files == (STDIN,):
        return _filter(root, colour)
    done = [*_formatted(root, files)]
    if not done:
        raise click.ClickException("no YAML file here; fmt reads catalog/, tenants/, tests/policy/")
    changed = [one for one in done if isinstance(one, Formatted) and one.is_changed]
    left = [one for one in done if not isinstance(one, Formatted)]
    for one in left:
        _tell_left(one, colour, root)
    for formatted in changed:
        if as_diff:
            click.echo("".join(_diff(formatted)), nl=False)
            continue
        if not check:
            _write(root, formatted)
        click.echo(formatted.file.path)
    if not quiet:
        would = "would change" if check or as_diff else "changed"
        stays = len(done) - len(changed) - len(left)
        parts = [f"{plural(len(changed), 'file')} {would}", f"{stays:,} unchanged"]
        parts += [f"{len(left):,} left as they are"] if left else []
        click.echo(", ".join(parts), err=True)
    return exits.FINDINGS if left or (changed and (check or as_diff)) else exits.DONE


def _filter(root: Path, colour: str) -> int:
    """Stdin in its canonical form on stdout; what keeps it from one on stderr."""
    data = sys.stdin.buffer.read()
    file, faults = understand("stdin", data)
    done = _of(file, faults)
    if isinstance(done, Formatted):
        click.echo(done.text, nl=False)
        return exits.DONE
    click.echo(data, nl=False)
    _tell_left(done, colour, root)
    return exits.FINDINGS


@dataclass(frozen=True, slots=True)
class _Unread:
    """A file that can't be understood, and why."""

    file: SourceFile | None
    findings: tuple[Diagnostic, ...]


def _formatted(root: Path, files: Sequence[Path]) -> Iterator[Formatted | Unformatted | _Unread]:
    """What becomes of each file, in the order of their paths within each of `files`.

    One that is named twice, or that a link leads to as well, is taken once.
    """
    seen: set[Path] = set()
    for file, faults in _read(root, files):
        place = None if file is None else (root / file.path).resolve()
        if place in seen:
            continue
        if place is not None:
            seen.add(place)
        yield _of(file, faults)


def _of(file: SourceFile | None, faults: Sequence[Diagnostic]) -> Formatted | Unformatted | _Unread:
    errors = tuple(fault for fault in faults if fault.is_error)
    return _Unread(file, errors) if file is None or errors else format_file(file)


def _read(
    root: Path, files: Sequence[Path]
) -> Iterator[tuple[SourceFile | None, tuple[Diagnostic, ...]]]:
    for path in files:
        if not path.is_dir():
            yield read_file(root, from_root(root, path))
    folders = [from_root(root, path) for path in files if path.is_dir()]
    sources = read_trees(root, folders if files else (*ROOTS, TESTS))
    of_file: dict[str, list[Diagnostic]] = {}
    for fault in sources.faults:
        of_file.setdefault(fault.span.path if fault.span else "", []).append(fault)
    for name, file in sources.files.items():
        faults = tuple(of_file.pop(name, ()))
        if faults or any(map(_is_ours, file.documents)):
            yield file, faults
    for lost in of_file.values():
        yield None, tuple(lost)


def _is_ours(document: Document) -> bool:
    """Whether a document says that it is dracfg's: policy tests have other objects beside them."""
    version, key = follow(document.root, ["apiVersion"])
    group = version.text.partition("/")[0] if isinstance(version, Scalar) else ""
    return key is not None and group == API_VERSION.partition("/")[0]


def _tell_left(one: Unformatted | _Unread, colour: str, root: Path) -> None:
    """What keeps a file from being written, on stderr: stdout has the names of files alone."""
    if isinstance(one, Unformatted) and one.reason:
        place = Span(one.file.path, one.line)
        click.echo(f"left {place.path}:{place.line}: {one.reason}", err=True)
        return
    lines = one.file.text.split("\n") if one.file is not None else []
    click.echo(findings_text(one.findings, lambda _path: lines, colour, root), nl=False, err=True)


def _write(root: Path, formatted: Formatted) -> None:
    file = formatted.file
    rows = file.text.split("\n")
    whole = Span(file.path, 1, 1, len(rows), len(rows[-1]) + 1)
    try:
        edited = edit_file(root, file, [Edit(whole, formatted.text)])
        replace_file(root / file.path, edited.data)
    except ChangedFile as refused:
        raise click.ClickException(str(refused)) from None
    except OSError as fault:
        raise click.ClickException(f"{file.path} can't be written: {fault.strerror}") from None


def _diff(formatted: Formatted) -> Iterator[str]:
    path = formatted.file.path
    before, after = formatted.file.text, formatted.text
    rows = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, path
    )
    return (row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)
