"""Judges repositories for commands; what keeps one from being read is a plain message and exit code 3."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dracfg.diagnostics import did_you_mean
from dracfg.emit.errors import TreeError
from dracfg.executors.errors import ExecutorError
from dracfg.refusals import NoRepository, NothingRead, OutOfScope

if TYPE_CHECKING:
    from dracfg.inventories import InventoryFile
    from dracfg.pipeline import Judgement
    from dracfg.terms import Means


Lines = Callable[[str], Sequence[str]]
"""The lines of a file by its path, for excerpts."""


@contextmanager
def repository_errors() -> Iterator[None]:
    try:
        yield
    except NoRepository as missing:
        where = "here" if str(missing.root) == "." else f"in {missing.root}"
        near = f"; found one in {os.path.relpath(missing.near)} (use -C)" if missing.near else ""
        start = "" if missing.near else "; `dracfg init` writes one to start from"
        raise click.ClickException(f"no catalog/ {where}{near}{start}") from None
    except NothingRead:
        raise click.ClickException(
            "catalog/ and tenants/ hold no document; out/ was left as it is"
        ) from None
    except OutOfScope as missed:
        globs = ", ".join(" ".join(pair) for pair in missed.unmatched)
        raise click.ClickException(f"nothing is named by {globs}; nothing was written") from None
    except TreeError as refused:
        raise click.ClickException(
            f"{refused.path}: {refused.reason}; the old tree stands"
        ) from None


@contextmanager
def executor_errors() -> Iterator[None]:
    """Turns what keeps an executor from working into a plain message."""
    try:
        yield
    except ExecutorError as refused:
        raise click.ClickException(f"{refused}; nothing was written") from None


@contextmanager
def side_by_side() -> Iterator[Means]:
    """The means by which all processors judge a repository; nothing is kept of its units."""
    from dracfg.aside import processors
    from dracfg.building import built_by
    from dracfg.executors.executor import open_executor
    from dracfg.executors.spec import ExecutorSpec
    from dracfg.terms import Means

    jobs = processors()
    with open_executor(ExecutorSpec(), jobs) as executor:
        yield Means(form="none", jobs=jobs, builder=built_by(executor))


def lines_below(root: Path) -> Lines:
    """The lines of files as they stand: a run of which every input stands read the same."""
    from dracfg.source.reader import read_lines

    return lambda path: read_lines(root, path)


def require_clusters(judged: Judgement, inventories: Sequence[InventoryFile]) -> None:
    """Refuses a record for a cluster that the catalog does not have."""
    for given in inventories:
        if given.cluster is not None and given.cluster not in judged.catalog.clusters:
            known = tuple(judged.catalog.clusters)
            raise click.ClickException(
                f"there is no Cluster {given.cluster}{hint(given.cluster, known)}"
            )


def chosen_clusters(judged: Judgement, globs: Sequence[str]) -> tuple[str, ...] | None:
    """The clusters that `--cluster` names, in the catalog's order; None where it is not given."""
    if not globs:
        return None
    known = tuple(judged.catalog.clusters)
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in known):
            raise click.UsageError(f"there is no Cluster {glob}{hint(glob, known)}")
    return tuple(name for name in known if any(fnmatchcase(name, glob) for glob in globs))


def hint(name: str, known: Sequence[str]) -> str:
    """`; did you mean prod-east`, or the known names where none is near."""
    meant = did_you_mean(name, known)
    if meant is not None:
        return f"; did you mean {meant}?"
    return f"; there are {', '.join(known)}" if 0 < len(known) <= 7 else ""
