"""The entry point: the group of commands, each imported only when it is called, and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from dracfg.cli import exits

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "init": "a working repository to start from",
    "compile": "write out/ from catalog/ and tenants/",
    "check": "judge catalog and tenants, write nothing",
    "diff": "what a change means: who gains, who loses, what restarts, what is illegal",
    "show": "the linked form of anything, a cluster's gates, where a field comes from",
    "place": "where one claim of a profile would land, node by node",
    "capacity": "what of a file's pods would land, and what is left then",
    "audit": "invariants on real allocations, from recorded claims, slices, nodes and pods",
    "report": "one page of what exists, is promised, proven, moving and wrong",
    "import": "a draft catalog from nodes, workloads and the configuration of device plugins",
    "fmt": "documents in their canonical form, comments kept",
    "migrate": "workloads from extended resources to claims, and back",
    "metadata": "device-metadata files: judge them, show them, print their schemas",
    "test": "policy tests, offline: who may create what, with which message",
    "rollout": "where a move from device plugins to claims stands, and its next step",
    "explain": "the page of a rule, or of a kind or field of the language",
    "verify": "a dry run of out/ on a real API server, and drift from it",
    "schema": "JSON Schemas of the input language",
    "completion": "completion of command lines for bash, zsh and fish",
    "man": "the manual page",
    "version": "the version of dracfg and the Kubernetes minors it knows",
}
_MODULES = {"import": "drafting"}
"""Modules of commands that can't have their name."""
_FIRST = ("init", "check", "compile")
_LITTLE = 50_000
"""New objects that needn't be walked for garbage: what is imported alone makes many times what Python
takes for many, and all of it stays."""


class _Commands(click.Group):
    """Commands by name; a command's module is imported when its turn comes."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"dracfg.cli.{_MODULES.get(cmd_name, cmd_name)}").command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands with what they are for, without importing them, and the group's options."""
        from click.shell_completion import CompletionItem

        fitting = (name for name in COMMANDS if name.startswith(incomplete))
        return [
            *(CompletionItem(name, help=COMMANDS[name]) for name in fitting),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from dracfg import __version__

        click.echo(f"dracfg {__version__}")
        ctx.exit()


@click.command(cls=_Commands, invoke_without_command=True)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version,
    help="Print the version.",
)  # fmt: skip
@click.option(
    "--debug", is_flag=True, envvar="DRACFG_DEBUG", help="Show a trace of dracfg's own faults."
)
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Compile a catalog of devices and its tenants into Kubernetes DRA manifests.

    Example: dracfg compile --check
    """
    ctx.obj = {"debug": debug}
    if ctx.invoked_subcommand is None:
        width = max(map(len, _FIRST))
        click.echo("dracfg compiles catalog/ and tenants/ into out/. Begin with:\n")
        for name in _FIRST:
            click.echo(f"  dracfg {name:<{width}}  {COMMANDS[name]}")
        click.echo("\nAll commands: dracfg --help")


def run(arguments: Sequence[str] | None = None) -> None:
    """Runs dracfg and leaves the process with one of the documented exit codes."""
    counts = sys.implementation.name == "cpython"
    if counts:
        gc.set_threshold(_LITTLE)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else all packages are searched
    code = invoke(arguments)
    if counts:
        gc.freeze()  # the process is at its end: nobody need walk what is left for garbage
    sys.exit(code)


def invoke(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code; never raises, never shows a traceback."""
    listed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        result = main.main(listed, prog_name="dracfg", standalone_mode=False)
    except click.UsageError as wrong:
        wrong.show()
        return exits.USAGE
    except click.ClickException as wrong:
        click.echo(f"error: {wrong.format_message()}", err=True)
        return exits.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; out/ is as it was or whole", err=True)
        return exits.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return exits.DONE
    except Exception as fault:  # the last stop: a fault of ours has an exit code of its own
        if exits.COMPLETION_VARIABLE in os.environ:
            return exits.FAULT
        return _report_fault(fault, show="--debug" in listed)
    return result if isinstance(result, int) else exits.DONE


def _report_fault(fault: Exception, *, show: bool) -> int:
    import tempfile
    import traceback

    if show:
        traceback.print_exception(fault)
        return exits.FAULT
    with tempfile.NamedTemporaryFile(
        "w", prefix="dracfg-", suffix=".trace", delete=False, encoding="utf-8"
    ) as trace:
        traceback.print_exception(fault, file=trace)
    click.echo(
        f"fault: dracfg failed with {type(fault).__name__}: {fault}\n"
        f"  the trace is in {trace.name}; please report it with the input that led here",
        err=True,
    )
    return exits.FAULT
