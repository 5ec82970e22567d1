"""`dracfg init`: a working repository to start from.

What is written lies in `initial/` beside this module, listed in `initial/files.yaml`; the schemas
come from the models. Knows nothing of what the files say.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

import click

from dracfg.cli import exits
from dracfg.dataclass import dataclass

LISTING = "files.yaml"
SCHEMAS = "schemas"
NEXT = ("check", "compile")


@dataclass(frozen=True, slots=True)
class InitialFile:
    """A file of a new repository: its path there, its path below `initial/`, the code host it is for."""

    target: str
    source: str
    ci: str | None = None


@click.command(name="init")
@click.argument(
    "directory", metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False), default=Path()
)
@click.option(
    "--ci",
    type=click.Choice(["github", "gitlab", "none"]),
    default="github",
    show_default=True,
    envvar="DRACFG_CI",
    help="The code host to write a pipeline for.",
)
def command(directory: Path, ci: str) -> int:
    """Write a small working repository: catalog, tenants, schemas, pipeline, editor settings.

    Files that exist are never overwritten; where one stands in the way, nothing is written.

    Example: dracfg init devices --ci gitlab
    """
    contents = initial_contents(ci)
    blocked = tuple(in_the_way(directory, contents))
    if blocked:
        listed = "".join(f"\n  {path}" for path in blocked)
        raise click.ClickException(f"nothing was written; these stand in the way:{listed}")
    try:
        _write(directory, contents)
    except OSError as fault:
        where = fault.filename or directory
        raise click.ClickException(f"{where} can't be written: {fault.strerror}") from None
    click.echo(f"wrote {len(contents)} files to {directory}; next:", err=True)
    root = "" if directory == Path() else f" -C {shlex.quote(str(directory))}"
    for name in NEXT:
        click.echo(f"dracfg {name}{root}")
    return exits.DONE


def initial_contents(ci: str) -> dict[str, bytes]:
    """Path in the new repository -> bytes, in the order of the paths. `ci`: github, gitlab or none."""
    # Imported here: the models are costly, and `--help` does without them.
    from dracfg.model.jsonschema import schema_text, schemas

    found = {
        file.target: _folder().joinpath(file.source).read_bytes()
        for file in initial_files()
        if file.ci in (None, ci)
    }
    for name, schema in schemas().items():
        found[f"{SCHEMAS}/{name}.json"] = schema_text(schema).encode()
    return dict(sorted(found.items()))


def initial_files() -> tuple[InitialFile, ...]:
    """The listing of `initial/`, as it stands there."""
    import yaml

    listing = yaml.safe_load(_folder().joinpath(LISTING).read_text(encoding="utf-8"))
    return tuple(InitialFile(**entry) for entry in listing)


def in_the_way(directory: Path, targets: Mapping[str, bytes]) -> Iterator[Path]:
    """What exists where a file is to be written, and what is no folder where one is needed."""
    seen: set[Path] = set()
    for target in targets:
        path = directory / target
        folders = [directory / parent for parent in PurePosixPath(target).parents]
        blocking = [folder for folder in folders if os.path.lexists(folder) and not folder.is_dir()]
        for found in blocking or ([path] if os.path.lexists(path) else []):
            if found not in seen:
                seen.add(found)
                yield found


def _write(directory: Path, contents: Mapping[str, bytes]) -> None:
    for target, data in contents.items():
        path = directory / target
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)


def _folder() -> Traversable:
    return resources.files("dracfg.cli") / "initial"
