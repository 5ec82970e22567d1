"""Units → the files of their folders. Rendering a unit is a pure function, so units render anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from dracfg.emit.ownership import HEADER, HEADER_TEXT, MARKDOWN_HEADER
from dracfg.emit.tree import UnitFiles
from dracfg.emit.yaml import OPEN, SEPARATOR, Writer, dump
from dracfg.lower.artifact import Artifact, Unit
from dracfg.lower.sync import kustomization, manifest_files
from dracfg.source.standing import NOTHING, Standing

KUSTOMIZATION = "kustomization.yaml"


def render_unit(unit: Unit, writer: Writer, standing: Standing = NOTHING) -> UnitFiles:
    """The files of one unit: manifests by file, texts as they are, a kustomization where synced.

    What was recognized in what is `standing` is not written again.
    """
    files = {
        name: standing.written(f"{unit.path}/{name}", artifacts) or manifest(writer, artifacts)
        for name, artifacts in unit.by_file().items()
    }
    files |= {name: _text(name, text) for name, text in unit.texts.items()}
    if unit.synced:
        files[KUSTOMIZATION] = _kustomization(manifest_files(unit))
    return UnitFiles(unit.path, files)


@lru_cache(maxsize=256)
def _kustomization(files: tuple[str, ...]) -> bytes:
    """Nearly all units of tenants have the same files."""
    return _manifest([dump(kustomization(files))])


def manifest(writer: Writer, artifacts: Sequence[Artifact]) -> bytes:
    """The file of some artifacts."""
    return _manifest(_documents(writer, artifacts))


def _manifest(documents: Iterable[str]) -> bytes:
    return f"{HEADER}{SEPARATOR.join(documents)}".encode()


def _documents(writer: Writer, artifacts: Sequence[Artifact]) -> Iterator[str]:
    """The objects as text. Of those that are alike it is made once, but for their namespaces."""
    repeated = {id(artifact.like) for artifact in artifacts}
    halves: dict[int, tuple[str, str]] = {}
    for artifact in artifacts:
        thing = artifact.object
        first = id(artifact.like or artifact)
        if first in repeated and (line := writer.line(thing["metadata"]["namespace"])):
            if first not in halves:
                opened = {**thing["metadata"], "namespace": OPEN}
                halves[first] = writer.halves({**thing, "metadata": opened})
            before, behind = halves[first]
            yield f"{before}{line}{behind}"
        else:
            yield writer.dump(thing)


def _text(name: str, text: str) -> bytes:
    if name.endswith(".json"):
        marked = {"$comment": HEADER_TEXT, **json.loads(text)}
        return f"{json.dumps(marked, indent=2, ensure_ascii=False)}\n".encode()
    header = MARKDOWN_HEADER if name.endswith(".md") else HEADER
    return f"{header}{text}".encode()
