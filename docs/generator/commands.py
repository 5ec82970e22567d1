"""Every command with its usage, arguments and options, as click knows them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from docs.generator.markdown import code, fenced, page, table
from dracfg.cli.main import main

PATH = "docs/reference/cli.md"
INTRODUCTION = """\
Results go to stdout, talk to stderr. No command asks back, none looks at a clock, and none uses the
network but where an option names a server. What an option does is done as well by the variable beside
it."""
HEAD = ("option", "value", "default", "variable", "what it does")
EXITS = (
    ("0", "done"),
    ("1", "findings at or above `--fail-on`, a stale tree, a side that does not compile"),
    ("2", "changes exist; only with `--detailed-exitcode`"),
    ("3", "wrong use, or a repository that can't be read"),
    ("4", "a fault of dracfg; the message names a file with the trace"),
    ("130", "interrupted; `out/` is as it was or whole"),
)


def pages() -> dict[str, str]:
    """Path -> text of the page."""
    context = click.Context(main, info_name="dracfg")
    parts = [
        INTRODUCTION,
        table(("exit code", "meaning"), EXITS),
        *_options(main, context),
        *(part for name in main.list_commands(context) for part in _command(name, context, 2)),
    ]
    return {PATH: page("Commands", "the commands in dracfg/cli/", *parts)}


def _command(name: str, parent: click.Context, level: int) -> Iterator[str]:
    group = parent.command
    assert isinstance(group, click.Group)
    command = group.get_command(parent, name)
    assert command is not None, name
    context = click.Context(command, info_name=name, parent=parent)
    yield f"{'#' * level} {context.command_path}"
    yield fenced("text", " ".join([context.command_path, *command.collect_usage_pieces(context)]))
    yield _prose(inspect.cleandoc(command.help or ""))
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from _command(inner, context, level + 1)


def _prose(text: str) -> str:
    """The help with its example as code; `\\b` keeps click from filling and means nothing here."""
    paragraphs = [part for part in text.replace("\b\n", "").split("\n\n") if part.strip()]
    return "\n\n".join(
        f"Example: {code(part.partition(':')[2].strip())}" if part.startswith("Example:") else part
        for part in paragraphs
    )


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    rows = [
        _row(option, context)
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    if rows:
        yield table(HEAD, rows)


def _row(option: click.Option, context: click.Context) -> tuple[str, ...]:
    facts = option.get_help_extra(context)
    names = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else option.make_metavar(context)
    default = "required" if option.required else str(facts.get("default", ""))
    variables = option.envvar or ()
    named = (variables,) if isinstance(variables, str) else tuple(variables)
    repeatable = (
        " Repeatable." if option.multiple and "repeatable" not in (option.help or "") else ""
    )
    return (
        code(names),
        code(value),
        default,
        ", ".join(map(code, named)),
        f"{option.help or ''}{repeatable}",
    )
