"""What GitOps engines are told about single objects: order, retention, no substitution.

An object carries the annotations of its cluster's engine and of no other. Nothing here may make
an engine replace or force an object, or write the marks by which an engine tracks its own: a
claim would be deleted under its pod. How kinds are treated stands in data/sync.yaml.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import NONE, K8sObject, Origin, Unit, annotate, make
from dracfg.packaged import read_data

LayerName = Literal["guard", "platform", "tenant"]

_WAVE = "argocd.argoproj.io/sync-wave"
_OPTIONS = "argocd.argoproj.io/sync-options"
_NOT_PRUNED = "Prune=false"
_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
_SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"
_DISABLED = "disabled"
_ALL = frozenset({_WAVE, _OPTIONS, _PRUNE, _SUBSTITUTE})


@dataclass(frozen=True, slots=True)
class Treatment:
    """How engines treat a kind. `rank` counts from 0 in the order of applying."""

    group: str
    kind: str
    rank: int
    wave: int
    layers: frozenset[LayerName]
    retained: bool
    literal: bool


@cache
def treatments() -> Mapping[tuple[str, str], Treatment]:
    """Every kind that dracfg applies by (group, kind), in the order of applying."""
    return {
        (entry["group"], entry["kind"]): Treatment(
            entry["group"],
            entry["kind"],
            rank,
            entry["wave"],
            frozenset(entry["layers"]),
            entry.get("retained", False),
            entry.get("literal", False),
        )
        for rank, entry in enumerate(read_data("dracfg.lower", "data/sync.yaml")["kinds"])
    }


def treatment_of(thing: K8sObject) -> Treatment | None:
    """How engines treat an object of this kind, or None where dracfg has no word on it."""
    return treatments().get((group_of(thing["apiVersion"]), thing["kind"]))


def group_of(api_version: str) -> str:
    """The API group of a version, "" for the core group."""
    return api_version.rpartition("/")[0]


def make_synced(
    cluster: Cluster,
    api_version: str,
    kind: str,
    name: str,
    origin: Origin,
    body: Mapping[str, Any],
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] = NONE,
    annotations: Mapping[str, str] = NONE,
) -> K8sObject:
    """An object for the cluster's engine to apply: `artifact.make`, with what the engine is told of it."""
    return make(
        api_version,
        kind,
        name,
        origin,
        body,
        namespace=namespace,
        labels=labels,
        annotations=annotations,
        told=_annotations(cluster.document.spec.gitops.engine, api_version, kind, None),
    )


def with_engine(cluster: Cluster, thing: K8sObject, *, retained: bool | None = None) -> K8sObject:
    """The object as the cluster's engine is to see it, without annotations of other engines.

    `retained` says whether it stays on the cluster when it leaves git; None leaves that to its kind.
    """
    engine = cluster.document.spec.gitops.engine
    wanted = _annotations(engine, thing["apiVersion"], thing["kind"], retained)
    bare = without_engine(thing)
    return annotate(bare, wanted) if wanted else bare


@cache
def _annotations(
    engine: str, api_version: str, kind: str, retained: bool | None
) -> Mapping[str, str]:
    """What an engine is told about the objects of a kind."""
    treatment = treatment_of({"apiVersion": api_version, "kind": kind})
    if retained is None:
        retained = treatment is not None and treatment.retained
    wanted: dict[str, str] = {}
    match engine:
        case "argocd":
            if treatment is not None:
                wanted[_WAVE] = str(treatment.wave)
            if retained:
                wanted[_OPTIONS] = _NOT_PRUNED
        case "flux":
            if retained:
                wanted[_PRUNE] = _DISABLED
            if treatment is not None and treatment.literal:
                wanted[_SUBSTITUTE] = _DISABLED
    return wanted


def without_engine(thing: K8sObject) -> K8sObject:
    """The object without the annotations of any engine: what is the same on all clusters."""
    metadata = thing["metadata"]
    annotations = metadata.get("annotations") or {}
    if annotations.keys().isdisjoint(_ALL):
        return thing
    kept = {key: value for key, value in annotations.items() if key not in _ALL}
    bare = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**thing, "metadata": {**bare, "annotations": kept} if kept else bare}


def is_retained(thing: K8sObject) -> bool:
    """Whether the object tells an engine, whichever, to keep it when it leaves git."""
    annotations = thing["metadata"].get("annotations") or {}
    options = str(annotations.get(_OPTIONS, "")).split(",")
    return (
        _NOT_PRUNED in (option.strip() for option in options)
        or annotations.get(_PRUNE) == _DISABLED
    )


def _rank(thing: K8sObject) -> int:
    treatment = treatment_of(thing)
    return len(treatments()) if treatment is None else treatment.rank


def manifest_files(unit: Unit) -> tuple[str, ...]:
    """The unit's manifest files in the order of applying: by what they hold, retired ones last."""
    held = {(one.file, one.object["apiVersion"], one.object["kind"]) for one in unit.artifacts}
    return _in_order(frozenset(held))


@cache
def _in_order(held: frozenset[tuple[str, str, str]]) -> tuple[str, ...]:
    """Files by (file, apiVersion, kind) of what they hold: the same for nearly all units of tenants."""
    first: dict[str, tuple[int, str]] = {}
    for file, api_version, kind in held:
        place = _rank({"apiVersion": api_version, "kind": kind}), kind
        first[file] = min(place, first.get(file, place))
    return tuple(sorted(first, key=lambda file: ("/" in file, first[file], file)))


def kustomization(files: Iterable[str]) -> K8sObject:
    """The kustomization.yaml of a unit that is synced. Without one Flux applies every YAML file it finds.

    Kustomize sorts by a list of its own, in which webhooks come last and policies are not named,
    unless it is told to keep the order of the files.
    Source: kubernetes-sigs/kustomize api/types/kustomization.go (sortOptions, since v5.0).
    """
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "sortOptions": {"order": "fifo"},
        "resources": list(files),
    }
