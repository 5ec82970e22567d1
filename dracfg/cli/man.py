"""`dracfg man`: the manual page, made from the commands themselves."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator

import click

from dracfg import __version__
from dracfg.cli import exits

_ENVIRONMENT = {
    "DRACFG_…": "Every option that has a variable names it above.",
    "NO_COLOR": "No colour.",
    "FORCE_COLOR, CLICOLOR_FORCE": "Colour also where stdout is no terminal.",
    "FORCE_HYPERLINK": "Links also where the terminal is not known to follow them; 0: none.",
    "DRACFG_HYPERLINK_FORMAT": "Where places in files lead: {host}, {path}, {line}, {column}.",
}
_FILES = {
    "catalog/": "What the platform owns: clusters, drivers, tiers, pools, policies, rollouts.",
    "tenants/": "Who may use it.",
    "tests/policy/": "What the policies must allow and deny.",
    "out/": "What is emitted, for Argo CD or Flux.",
}
_WIDTH = 72


@click.command(name="man")
@click.pass_context
def command(context: click.Context) -> int:
    """Print the manual page.

    Example: dracfg man > ~/.local/share/man/man1/dracfg.1
    """
    root = context.find_root()
    click.echo("\n".join(page(root.command, root)))
    return exits.DONE


def page(group: click.Command, context: click.Context) -> Iterator[str]:
    """The whole page in the macros of man(7), line by line."""
    yield f'.TH DRACFG 1 "" "dracfg {__version__}" "dracfg"'
    yield from (".SH NAME", f"dracfg \\- {_escaped(_first_line(group))}")
    yield from (".SH SYNOPSIS", ".B dracfg", _escaped("[OPTIONS] COMMAND [ARGS]..."))
    yield ".SH DESCRIPTION"
    yield from _paragraphs(group)
    yield from _options(group, context)
    yield ".SH COMMANDS"
    yield from _commands(group, context)
    yield ".SH EXIT STATUS"
    yield from _table({str(code): meaning for code, meaning in exits.MEANINGS.items()})
    yield ".SH ENVIRONMENT"
    yield from _table(_ENVIRONMENT)
    yield ".SH FILES"
    yield from _table(_FILES)


def _commands(group: click.Command, context: click.Context) -> Iterator[str]:
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _commands(command, inner)
            continue
        words = " ".join(command.collect_usage_pieces(inner))
        yield f'.SS "{_escaped(inner.command_path)} {_escaped(words)}"'
        yield from _paragraphs(command)
        yield from _options(command, inner)


def _paragraphs(command: click.Command) -> Iterator[str]:
    """The help of a command; a paragraph that keeps its lines starts with a backspace, as for click."""
    text = inspect.cleandoc(command.help or "")
    for number, paragraph in enumerate(re.split(r"\n{2,}", text)):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):
            yield from (".nf", *map(_escaped, paragraph.split("\n")[1:]), ".fi")
        else:
            yield from _filled(paragraph)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    rows = {}
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if isinstance(option, click.Option) and record is not None:
            variable = f" [{option.envvar}]" if isinstance(option.envvar, str) else ""
            rows[record[0]] = record[1] + variable
    yield from _table(rows)


def _table(rows: dict[str, str]) -> Iterator[str]:
    for name, meaning in rows.items():
        yield from (".TP", f".B {_escaped(name)}", *_filled(meaning))


def _filled(text: str) -> Iterator[str]:
    """Text in lines that roff's own tools find short enough."""
    return map(_escaped, textwrap.wrap(" ".join(text.split()), _WIDTH, break_on_hyphens=False))


def _first_line(command: click.Command) -> str:
    line = inspect.cleandoc(command.help or "").split("\n", 1)[0].rstrip(".")
    return line[0].lower() + line[1:]


def _escaped(text: str) -> str:
    """Text that is no request of roff's; dashes are those that people type."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("…", "...")
    return f"\\&{text}" if text.startswith((".", "'")) else text
