"""What lowering produces: objects with their origin, gathered into units.

Knows nothing of files on disk or of YAML text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any, NamedTuple

from dracfg.dataclass import dataclass
from dracfg.model.kinds import AnyDocument

K8sObject = dict[str, Any]
"""A Kubernetes object as the API server would return it, keys in API order."""

MANAGED_BY = "app.kubernetes.io/managed-by"
PART_OF = "app.kubernetes.io/part-of"
ORIGIN = "dracfg.dev/origin"
_OWN = {MANAGED_BY: "dracfg", PART_OF: "dracfg"}
NONE: Mapping[str, str] = {}


class Shared(dict[str, Any]):
    """A map that many objects have. It is the same one in all of them and never changes, so that who
    writes objects need write it once."""

    __slots__ = ()


class SharedList(list[Any]):
    """The same of a list."""

    __slots__ = ()


class Origin(NamedTuple):
    """The document and the place in it that an object comes from.

    Like an artifact a tuple, which is made in half the time of a dataclass, as a fleet has as many
    of both as of objects.
    """

    path: str
    kind: str
    name: str
    pointer: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        path, kind, name, pointer = self
        return "/".join((f"{path}#{kind}/{name}", *map(str, pointer)))

    def at(self, *steps: str | int) -> Origin:
        return Origin(self.path, self.kind, self.name, (*self.pointer, *steps))


def origin_of(document: AnyDocument, *steps: str | int) -> Origin:
    """The origin of what a part of a document is lowered to."""
    return Origin(document.source_path, document.kind, document.name, steps)


class Artifact(NamedTuple):
    """One object, the file of its unit that it stands in, and where it comes from.

    `via` lists every other place that its content depends on. `like` is another artifact of the same file
    and origin, where there is one whose object differs in the name of its namespace and in nothing else.
    """

    object: K8sObject
    file: str
    origin: Origin
    via: tuple[Origin, ...] = ()
    like: Artifact | None = None


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

    def by_file(self) -> dict[str, list[Artifact]]:
        """The artifacts of each file of manifests."""
        found: dict[str, list[Artifact]] = {}
        for artifact in self.artifacts:
            found.setdefault(artifact.file, []).append(artifact)
        return found


def make(
    api_version: str,
    kind: str,
    name: str,
    origin: Origin,
    body: Mapping[str, Any],
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] = NONE,
    annotations: Mapping[str, str] = NONE,
    told: Mapping[str, str] = NONE,
) -> K8sObject:
    """An object with dracfg's labels and its origin; `body` is what follows metadata.

    `told` are further annotations, and win.
    """
    metadata: dict[str, Any] = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    own = _labelled(tuple(labels))
    metadata["labels"] = {**own, **labels} if labels else own
    places = _annotated(tuple(annotations), tuple(told))
    metadata["annotations"] = {**places, **annotations, **told, ORIGIN: str(origin)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


@lru_cache(maxsize=1024)
def _labelled(keys: tuple[str, ...]) -> Shared:
    """dracfg's labels among places for others with these keys."""
    return Shared(in_order({**dict.fromkeys(keys, ""), **_OWN}))


@lru_cache(maxsize=1024)
def _annotated(keys: tuple[str, ...], told: tuple[str, ...]) -> Mapping[str, str]:
    """The places of annotations with these keys, of those that an engine is told, and of the origin."""
    return dict.fromkeys(sorted({*keys, *told, ORIGIN}), "")


def in_namespaces(
    thing: K8sObject, file: str, origin: Origin, places: Sequence[tuple[str, tuple[Origin, ...]]]
) -> list[Artifact]:
    """An object that has no namespace yet, in each of some, with what it depends on there."""
    found: list[Artifact] = []
    first = None
    for namespace, via in places:
        one = Artifact(in_namespace(thing, namespace), file, origin, via, first)
        first = first or one
        found.append(one)
    return found


def in_namespace(thing: K8sObject, namespace: str, **body: Any) -> K8sObject:
    """The object in a namespace, with more of a body; what is below metadata's own keys is shared."""
    metadata = thing["metadata"]
    placed = {"name": metadata["name"], "namespace": namespace, **metadata}
    return {**thing, "metadata": placed, **body}


def annotate(thing: K8sObject, annotations: Mapping[str, str]) -> K8sObject:
    """The object with further annotations."""
    metadata = thing["metadata"]
    merged = in_order({**metadata.get("annotations", {}), **annotations})
    return {**thing, "metadata": {**metadata, "annotations": merged}}


def in_order(entries: Mapping[str, str]) -> dict[str, str]:
    """Labels or annotations by their keys."""
    return {**_places(tuple(entries)), **entries}


@lru_cache(maxsize=1024)
def _places(keys: tuple[str, ...]) -> Mapping[str, str]:
    """The keys in order, each with a text to be replaced. Of thousands of objects few have others."""
    return dict.fromkeys(sorted(keys), "")
