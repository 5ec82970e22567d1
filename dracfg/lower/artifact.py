"""What lowering produces: objects with their origin, gathered into units.

Knows nothing of files on disk or of YAML text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.model.kinds import AnyDocument

K8sObject = dict[str, Any]
"""A Kubernetes object as the API server would return it, keys in API order."""

MANAGED_BY = "app.kubernetes.io/managed-by"
PART_OF = "app.kubernetes.io/part-of"
ORIGIN = "dracfg.dev/origin"
_OWN = {MANAGED_BY: "dracfg", PART_OF: "dracfg"}


@dataclass(frozen=True, slots=True)
class Origin:
    """The document and the place in it that an object comes from."""

    path: str
    kind: str
    name: str
    pointer: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return "/".join((f"{self.path}#{self.kind}", self.name, *map(str, self.pointer)))

    def at(self, *steps: str | int) -> Origin:
        return Origin(self.path, self.kind, self.name, (*self.pointer, *steps))


def origin_of(document: AnyDocument, *steps: str | int) -> Origin:
    """The origin of what a part of a document is lowered to."""
    return Origin(document.source_path, document.kind, document.name, steps)


@dataclass(frozen=True, slots=True)
class Artifact:
    """One object, the file of its unit that it stands in, and where it comes from.

    `via` lists every other place that its content depends on. `retained` says whether engines
    keep the object when it leaves git; None leaves that to its kind.
    """

    object: K8sObject
    file: str
    origin: Origin
    via: tuple[Origin, ...] = ()
    retained: bool | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """What is written and synced as a whole: one folder below `out/`.

    `texts` are files beside the manifests, by their name in the folder. A unit that is not
    `synced` is for people and installers and never applied by the engine.
    """

    path: str
    artifacts: tuple[Artifact, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    synced: bool = True


def make(
    api_version: str,
    kind: str,
    name: str,
    origin: Origin,
    body: Mapping[str, Any],
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> K8sObject:
    """An object with dracfg's labels and its origin; `body` is what follows metadata."""
    metadata: dict[str, Any] = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    metadata["labels"] = dict(sorted({**_OWN, **labels}.items())) if labels else {**_OWN}
    noted = {ORIGIN: str(origin)}
    metadata["annotations"] = (
        dict(sorted({**annotations, **noted}.items())) if annotations else noted
    )
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def in_namespace(thing: K8sObject, namespace: str) -> K8sObject:
    """The object in a namespace; what is below metadata's own keys is shared with it."""
    metadata = thing["metadata"]
    placed = {"name": metadata["name"], "namespace": namespace, **metadata}
    return {**thing, "metadata": placed}


def annotate(thing: K8sObject, annotations: Mapping[str, str]) -> K8sObject:
    """The object with further annotations."""
    metadata = thing["metadata"]
    merged = dict(sorted({**metadata.get("annotations", {}), **annotations}.items()))
    return {**thing, "metadata": {**metadata, "annotations": merged}}
