"""Units → the files of their folders. Rendering a unit is a pure function, so units render anywhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection

from dracfg.emit.ownership import HEADER, HEADER_TEXT, MARKDOWN_HEADER
from dracfg.emit.tree import UnitFiles
from dracfg.emit.yaml import dump, dump_all
from dracfg.lower.artifact import Unit
from dracfg.lower.sync import kustomization

KUSTOMIZATION = "kustomization.yaml"
_FORKS = sys.platform.startswith("linux")
"""Elsewhere a process would get its units as bytes, which takes as long as to render them."""


def render_units(units: Iterable[Unit], jobs: int) -> tuple[UnitFiles, ...]:
    """All units as files, in their order, by at most `jobs` processes."""
    listed = tuple(units)
    parts = [listed[first::jobs] for first in range(jobs) if listed[first::jobs]]
    if len(parts) < 2 or not _FORKS:
        return tuple(map(render_unit, listed))
    rendered: list[UnitFiles | None] = [None] * len(listed)
    for first, files in enumerate(_apart(parts)):
        rendered[first::jobs] = files
    return tuple(files for files in rendered if files is not None)


def _apart(parts: Sequence[Sequence[Unit]]) -> list[tuple[UnitFiles, ...]]:
    """Each part by a process of its own, which has the units as they are and sends back bytes alone."""
    context = get_context("fork")
    workers = []
    for part in parts:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(part, sender), daemon=True)
        process.start()
        sender.close()
        workers.append((part, receiver, process))
    found = []
    for part, receiver, process in workers:
        try:
            found.append(receiver.recv())
        except EOFError:
            # The process ended early; where that is the unit's fault, it shows here.
            found.append(tuple(map(render_unit, part)))
        process.join()
    return found


def _send(part: Sequence[Unit], sender: Connection) -> None:
    sender.send(tuple(map(render_unit, part)))
    sender.close()


def render_unit(unit: Unit) -> UnitFiles:
    """The files of one unit: manifests by file, texts as they are, a kustomization where synced."""
    by_file: dict[str, list[object]] = {}
    for artifact in unit.artifacts:
        by_file.setdefault(artifact.file, []).append(artifact.object)
    files = {name: _manifest(objects) for name, objects in by_file.items()}
    files |= {name: _text(name, text) for name, text in unit.texts.items()}
    if unit.synced:
        files[KUSTOMIZATION] = f"{HEADER}{dump(kustomization(unit))}".encode()
    return UnitFiles(unit.path, files)


def _manifest(objects: list[object]) -> bytes:
    return f"{HEADER}{dump_all(objects)}".encode()


def _text(name: str, text: str) -> bytes:
    if name.endswith(".json"):
        marked = {"$comment": HEADER_TEXT, **json.loads(text)}
        return f"{json.dumps(marked, indent=2, ensure_ascii=False)}\n".encode()
    header = MARKDOWN_HEADER if name.endswith(".md") else HEADER
    return f"{header}{text}".encode()
