"""Options that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from dracfg.pipeline import InventoryFile

_F = TypeVar("_F", bound=Callable[..., Any])
Decorator = Callable[[_F], _F]


def _inventory(value: str) -> InventoryFile:
    """`FILE` or `CLUSTER=FILE`; a file whose own name has an equals sign is taken as it is."""
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
    help="Only these clusters.",
)  # fmt: skip
tenants = click.option(
    "--tenant", "tenants", multiple=True, envvar="DRACFG_TENANT", metavar="GLOB",
    help="Only these tenants.",
)  # fmt: skip
inventories = click.option(
    "--inventory", "inventories", multiple=True, envvar="DRACFG_INVENTORY",
    metavar="[CLUSTER=]FILE", callback=_inventories,
    help="Recorded ResourceSlices, in place of those that the Cluster names.",
)  # fmt: skip
form = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "concise", "json"]),
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
    help="Colour; NO_COLOR is respected.",
)
fail_on = click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "unknown"]),
    default="error",
    show_default=True,
    envvar="DRACFG_FAIL_ON",
    help="The least severity that makes the exit code 1.",
)
quiet = click.option("-q", "--quiet", is_flag=True, envvar="DRACFG_QUIET", help="No summary.")
timings = click.option(
    "--timings", is_flag=True, envvar="DRACFG_TIMINGS", help="Show the time of each pass."
)
no_cache = click.option(
    "--no-cache", is_flag=True, envvar="DRACFG_NO_CACHE", help="Read and compile everything anew."
)


def shared(command: _F) -> _F:
    """The options of every command that reads a repository."""
    for option in reversed((root, form, colour, fail_on, quiet, timings, no_cache)):
        command = option(command)
    return command
