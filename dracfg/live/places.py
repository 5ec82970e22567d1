"""A field of an object under `out/` → the place in the sources that it comes from.

Where the object is as the sources make it, each field has its own origin. Where the tree is older,
the object says itself where it came from, in its annotation `dracfg.dev/origin`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

from dracfg.check.places import document_of, span_of
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Related, Span
from dracfg.kube.objects import ObjectKey, object_key
from dracfg.link.catalog import Catalog, Cluster
from dracfg.live.fieldpaths import Steps
from dracfg.live.tree import OUT, Manifest
from dracfg.lower.artifact import ORIGIN, Artifact, Origin, Unit
from dracfg.show.provenance import origins
from dracfg.show.subjects import Emitted

_ORIGIN = re.compile(r"(?P<path>.+)#(?P<kind>[A-Z][A-Za-z]*)/(?P<name>[^/]+)(?P<steps>(?:/.*)?)")


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Finds places of the objects of one cluster."""

    catalog: Catalog
    _emitted: dict[tuple[str, ObjectKey], Emitted] = field(repr=False)

    @classmethod
    def of(cls, catalog: Catalog, cluster: Cluster, units: Iterable[Unit]) -> Places:
        emitted = {
            (unit.path, object_key(artifact.object)): Emitted("", unit, artifact, cluster)
            for unit in units
            for artifact in unit.artifacts
        }
        return cls(catalog, emitted)

    def place(self, manifest: Manifest, steps: Steps = ()) -> Span:
        """The place in the sources; that under `out/` where the sources no longer have it."""
        origin = annotated_origin(manifest)
        emitted = self._emitted.get((manifest.unit, manifest.key))
        if emitted is not None and _is_as_made(emitted.artifact, manifest, origin):
            return span_of(self.catalog, origins(self.catalog, emitted, steps)[0])
        if origin is None or document_of(self.catalog, origin.kind, origin.name) is None:
            return manifest.span(*steps)
        return span_of(self.catalog, origin)

    def related(self, manifest: Manifest, steps: Steps = ()) -> tuple[Related, ...]:
        """The place under `out/`, beside that in the sources."""
        span = manifest.span(*steps)
        is_twice = self.place(manifest, steps).path.startswith(f"{OUT}/")
        return () if is_twice else (Related(span, "as emitted"),)


def _is_as_made(artifact: Artifact, manifest: Manifest, origin: Origin | None) -> bool:
    """Whether the sources make this very object, and not merely keep what was made before."""
    return artifact.object == manifest.object and (origin is None or origin == artifact.origin)


def annotated_origin(manifest: Manifest) -> Origin | None:
    """The origin that an object names, None where it names none."""
    metadata = manifest.object.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(ORIGIN) if isinstance(annotations, dict) else None
    found = _ORIGIN.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    steps = tuple(
        int(step) if step.isdecimal() else step for step in found["steps"].split("/") if step
    )
    return Origin(found["path"], found["kind"], found["name"], steps)
