"""Units → the files of their folders. Rendering a unit is a pure function, so units render anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache

from dracfg.emit.ownership import HEADER, HEADER_TEXT, MARKDOWN_HEADER
from dracfg.emit.tree import UnitFiles
from dracfg.emit.yaml import Writer
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
    return _manifest(Writer(), [kustomization(files)])


def manifest(writer: Writer, artifacts: Iterable[Artifact]) -> bytes:
    """The file of some artifacts."""
    return _manifest(writer, [artifact.object for artifact in artifacts])


def _manifest(writer: Writer, objects: Iterable[object]) -> bytes:
    return f"{HEADER}{writer.dump_all(objects)}".encode()


def _text(name: str, text: str) -> bytes:
    if name.endswith(".json"):
        marked = {"$comment": HEADER_TEXT, **json.loads(text)}
        return f"{json.dumps(marked, indent=2, ensure_ascii=False)}\n".encode()
    header = MARKDOWN_HEADER if name.endswith(".md") else HEADER
    return f"{header}{text}".encode()
