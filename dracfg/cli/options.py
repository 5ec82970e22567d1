"""Options that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dracfg.cli.output import FORMS, STDOUT, OutputFile, wants_colour
from dracfg.diagnostics.selection import UnknownCode, beginnings

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from dracfg.inventories import InventoryFile

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")
Decorator = Callable[[_F], _F]


class Parsed(click.ParamType[_T]):
    """A value of a kind that `parse` reads; its ValueError is wrong use."""

    def __init__(self, name: str, kind: type[_T], parse: Callable[[str], _T]) -> None:
        self.name = name
        self._kind = kind
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> _T:
        if isinstance(value, self._kind):
            return value
        try:
            return self._parse(value)
        except ValueError as refused:
            self.fail(str(refused), param, ctx)


def _inventory(value: str) -> InventoryFile:
    """`FILE` or `CLUSTER=FILE`; a file whose own name has an equals sign is taken as it is."""
    # Imported here: most runs are given none, and it brings the allocator along.
    from dracfg.inventories import InventoryFile

    cluster, sign, path = value.partition("=")
    if not sign or Path(value).is_file():
        cluster, path = "", value
    if not Path(path).is_file():
        raise click.BadParameter(f"there is no file {path}")
    return InventoryFile(Path(path), cluster or None)


def _inventories(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[InventoryFile, ...]:
    return tuple(map(_inventory, values))


def _codes(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    try:
        return beginnings(values)
    except UnknownCode as unknown:
        near = f"; did you mean {unknown.near}?" if unknown.near else ""
        raise click.BadParameter(f"{unknown}{near}") from None


def _day(_context: click.Context, _parameter: click.Parameter, value: str | None) -> date | None:
    try:
        return None if value is None else date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value} is no day; write YYYY-MM-DD") from None


def _keep_colour(context: click.Context, _parameter: click.Parameter, choice: str) -> str:
    """Colour that was asked for goes out, though click would take it from what is no terminal."""
    context.color = wants_colour(choice)
    return choice


def named(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Offers a shell the names of a kind's documents."""

    def offer(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
        from dracfg.cli import candidates

        return candidates.fitting(candidates.names(context, kind), incomplete)

    return offer


def _files(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Leaves it to the shell, which knows its files."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _code_list(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from dracfg.cli import candidates

    return candidates.listed(candidates.codes, incomplete)


def outputs(forms: Sequence[str], envvar: str = "DRACFG_OUTPUT") -> Callable[[_F], _F]:
    """`-o FORMAT=FILE`, repeatable: one run feeds the terminal and files; `-` is stdout."""

    def read(
        _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
    ) -> tuple[OutputFile, ...]:
        found = []
        for value in values:
            form, sign, path = value.partition("=")
            if not sign or form not in forms or not path:
                raise click.BadParameter(f"{value} is not FORMAT=FILE; formats: {', '.join(forms)}")
            found.append(OutputFile(form, None if path == STDOUT else Path(path)))
        return tuple(found)

    return click.option(
        "-o", "--output", "outputs", multiple=True, metavar="FORMAT=FILE", callback=read,
        envvar=envvar, help="Write the results into a file as well; repeatable.",
    )  # fmt: skip


def kubeconfig(*, required: bool) -> Callable[[_F], _F]:
    """`--kubeconfig`: the one way to a server; none is looked for."""
    return click.option(
        "--kubeconfig", required=required, type=click.Path(path_type=Path),
        envvar="DRACFG_KUBECONFIG",
        help="How to reach the API server; no other way to one is looked for.",
    )  # fmt: skip


def prometheus(what: str) -> Callable[[_F], _F]:
    """`--prometheus`, for what it is asked."""
    return click.option(
        "--prometheus", metavar="[CLUSTER=]URL", multiple=True, envvar="DRACFG_PROMETHEUS",
        help=f"{what}; DRACFG_PROMETHEUS_HEADER holds a header `Name: value`.",
    )  # fmt: skip


root = click.option(
    "-C",
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default="the current folder",
    envvar="DRACFG_ROOT",
    help="The repository.",
)
clusters = click.option(
    "--cluster", "clusters", multiple=True, envvar="DRACFG_CLUSTER", metavar="GLOB",
    shell_complete=named("Cluster"),
    help="Only these clusters.",
)  # fmt: skip
tenants = click.option(
    "--tenant", "tenants", multiple=True, envvar="DRACFG_TENANT", metavar="GLOB",
    shell_complete=named("Tenant"),
    help="Only these tenants.",
)  # fmt: skip
inventories = click.option(
    "--inventory", "inventories", multiple=True, envvar="DRACFG_INVENTORY",
    metavar="[CLUSTER=]FILE", callback=_inventories, shell_complete=_files,
    help="Recorded ResourceSlices, in place of those that the Cluster names.",
)  # fmt: skip
dumps = click.argument(
    "dumps", nargs=-1, metavar="[[CLUSTER=]DUMP...]", callback=_inventories, shell_complete=_files
)
form = click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    default="text",
    show_default=True,
    envvar="DRACFG_FORMAT",
    help="How findings are written.",
)
colour = click.option(
    "--color",
    "colour",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    envvar="DRACFG_COLOR",
    callback=_keep_colour,
    help="Colour, and links in terminals; NO_COLOR and FORCE_COLOR are respected.",
)
fail_on = click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "unknown"]),
    default="error",
    show_default=True,
    envvar="DRACFG_FAIL_ON",
    help="The least severity that makes the exit code 1.",
)
select = click.option(
    "--select", multiple=True, callback=_codes, envvar="DRACFG_SELECT", metavar="CODES",
    shell_complete=_code_list,
    help="Only findings of these codes, or of codes that begin so (CAP, SHR00).",
)  # fmt: skip
ignore = click.option(
    "--ignore", multiple=True, callback=_codes, envvar="DRACFG_IGNORE", metavar="CODES",
    shell_complete=_code_list,
    help="No findings of these codes, or of codes that begin so.",
)  # fmt: skip
today = click.option(
    "--today", callback=_day, envvar="DRACFG_TODAY", metavar="DATE",
    help="The day that waivers are held against, in place of that of the commit.",
)  # fmt: skip
context = click.option(
    "--context", envvar="DRACFG_CONTEXT", help="A context of the kubeconfig, else its current one."
)
request_timeout = click.option(
    "--request-timeout", type=click.FloatRange(min=0.1), default=30.0, show_default=True,
    metavar="SECONDS", envvar="DRACFG_REQUEST_TIMEOUT", help="How long to wait for an answer.",
)  # fmt: skip
quiet = click.option("-q", "--quiet", is_flag=True, envvar="DRACFG_QUIET", help="No summary.")
verbose = click.option(
    "-v", "--verbose", is_flag=True, envvar="DRACFG_VERBOSE",
    help="Also tell what is waived, until when and why.",
)  # fmt: skip
timings = click.option(
    "--timings", is_flag=True, envvar="DRACFG_TIMINGS", help="Show the time of each pass."
)
no_cache = click.option(
    "--no-cache", is_flag=True, envvar="DRACFG_NO_CACHE", help="Read and compile everything anew."
)


def shared(command: _F) -> _F:
    """The options of every command that reads a repository."""
    return _with(command, root, form, colour, fail_on, quiet, timings, no_cache)


def judging(command: _F) -> _F:
    """The options of every command that judges a repository by all its rules."""
    return _with(command, select, ignore, today, outputs(FORMS), verbose)


def _with(command: _F, *added: Decorator[_F]) -> _F:
    for option in reversed(added):
        command = option(command)
    return command
