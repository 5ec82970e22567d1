"""Turns what keeps a repository from being read or written into a plain message and exit code 3."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from dracfg.pipeline import NoRepository, TreeError


@contextmanager
def repository_errors() -> Iterator[None]:
    try:
        yield
    except NoRepository as missing:
        where = "here" if str(missing.root) == "." else f"in {missing.root}"
        near = f"; found one in {os.path.relpath(missing.near)} (use -C)" if missing.near else ""
        start = "" if missing.near else "; `dracfg init` writes one to start from"
        raise click.ClickException(f"no catalog/ {where}{near}{start}") from None
    except TreeError as refused:
        raise click.ClickException(
            f"{refused.path}: {refused.reason}; the old tree stands"
        ) from None
