"""Rules on emitted objects: what Kubernetes would refuse, what stands twice, what can't be edited.

Pure: reads the catalog, the units and the standing tree, and knows nothing of files. The same
fault in many namespaces is one finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, lru_cache
from typing import Any

from dracfg.check.objectlimits import annotation_findings, annotations_fit, limit_findings
from dracfg.check.objectnames import (
    SPEC_KINDS,
    claim_spec_of,
    has_namesakes,
    keys_fit,
    name_findings,
    name_fits,
    spec_name_findings,
    values_fit,
)
from dracfg.check.places import span_of
from dracfg.check.reserved import (
    engines_keys,
    reserved_claim_keys,
    reserved_namespace_labels,
    reserved_object_keys,
    tracking_keys,
)
from dracfg.check.tenancy import contested_namespaces
from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Related, diagnose
from dracfg.kube.objects import SchemaFault, UnknownKind, schema_faults
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Artifact, K8sObject, Origin, Unit

MAX_SYNCED = 1000
"""Objects of one synced unit. `kubectl kustomize` needs a second for so many, then far more."""

_REPORT = "this is a fault of dracfg; please report it with this document"


@dataclass(frozen=True, slots=True)
class _Sound:
    """What nothing is wrong with, of which objects share most: specs and what claims ask for, by
    minor and id, and values of labels."""

    specs: dict[tuple[str | None, int], object] = field(default_factory=dict)
    values: set[str] = field(default_factory=set)


def check_units(catalog: Catalog, units: Sequence[Unit]) -> tuple[Diagnostic, ...]:
    """Findings on the objects of all synced units, each once: OBJ001-003, 009-012, 015 and 016."""
    found: dict[Diagnostic, None] = {}
    for tenant in catalog.tenants.values():
        found.update(dict.fromkeys(reserved_namespace_labels(tenant)))
    sound = _Sound()
    for unit in units:
        if unit.synced:
            found.update(dict.fromkeys(_unit(catalog, unit, sound)))
    found.update(dict.fromkeys(_twice(catalog, units)))
    return tuple(found)


def _unit(catalog: Catalog, unit: Unit, sound: _Sound) -> Iterator[Diagnostic]:
    cluster = catalog.clusters.get(unit.path.partition("/")[0])
    if len(unit.artifacts) > MAX_SYNCED:
        yield diagnose(
            "OBJ010",
            span_of(catalog, unit.artifacts[0].origin),
            f"{unit.path} holds {len(unit.artifacts):,} objects that engines apply as one; "
            f"above {MAX_SYNCED:,} that takes minutes",
            found=f"{len(unit.artifacts):,}",
            expected=f"at most {MAX_SYNCED:,}",
            help=_how_to_shrink(unit.path),
        )
    minor = None if cluster is None else cluster.minor
    for artifact in unit.artifacts:
        if artifact.like is not None:
            continue  # no rule here asks for the namespace, so nothing is to be said that wasn't
        thing = artifact.object
        kind, metadata = thing["kind"], thing["metadata"]
        if not _is_retired(artifact):
            # A retired object stands as it was accepted and can't be changed any more.
            if not (
                name_fits(thing["apiVersion"], kind, metadata["name"])
                and _is_plain(metadata, sound)
            ):
                yield from _metadata(catalog, artifact, minor)
            if kind in SPEC_KINDS and not _is_sound(thing, minor, sound):
                yield from _spec(catalog, artifact, minor, sound)
        if minor is not None and (faults := schema_faults(thing, minor)):
            yield from _schema(catalog, unit, artifact, minor, faults)


def _how_to_shrink(path: str) -> str:
    if path.startswith("gitops/flux/"):
        return "who stands in it stays, or Flux might prune it: spread tenants over more clusters"
    if path.startswith("gitops/"):
        return "each cluster is two of them: give some clusters a repository of their own"
    return (
        "objects of one namespace are never torn apart: "
        "spread the tenant's profiles over more namespaces"
    )


def _is_plain(metadata: Mapping[str, Any], sound: _Sound, *, copied: bool = False) -> bool:
    """Whether no rule on labels and annotations has anything to say, as of nearly all objects."""
    labels: Mapping[str, str] = metadata.get("labels") or {}
    annotations: Mapping[str, str] = metadata.get("annotations") or {}
    return (
        _are_plain(tuple(labels), tuple(annotations), copied)
        and _values_fit(labels, sound)
        and annotations_fit(annotations)
    )


def _values_fit(labels: Mapping[str, str], sound: _Sound) -> bool:
    if sound.values.issuperset(labels.values()):
        return True
    found = values_fit(labels)
    if found:
        sound.values.update(labels.values())
    return found


@lru_cache(maxsize=4096)
def _are_plain(labels: tuple[str, ...], annotations: tuple[str, ...], copied: bool) -> bool:
    """The same of their keys; of what is `copied` to claims, engines keep more for themselves."""
    marks = engines_keys if copied else tracking_keys
    return keys_fit(labels, annotations) and not marks((*labels, *annotations))


def _metadata(catalog: Catalog, artifact: Artifact, minor: str | None) -> Iterator[Diagnostic]:
    yield from name_findings(catalog, artifact)
    yield from reserved_object_keys(catalog, artifact)
    if minor is not None:
        yield from annotation_findings(catalog, artifact, minor)


def _is_sound(thing: K8sObject, minor: str | None, sound: _Sound) -> bool:
    """Whether a spec is known, as a whole or as a claim with what is to be copied to it."""
    spec = thing.get("spec") or {}
    if (minor, id(spec)) in sound.specs:
        return True
    known = (minor, id(claim_spec_of(thing))) in sound.specs
    if known and _is_plain(spec.get("metadata") or {}, sound, copied=True):
        sound.specs[minor, id(spec)] = spec
        return True
    return False


def _spec(
    catalog: Catalog, artifact: Artifact, minor: str | None, sound: _Sound
) -> Iterator[Diagnostic]:
    thing = artifact.object
    found = [*spec_name_findings(catalog, artifact), *reserved_claim_keys(catalog, artifact)]
    if minor is not None:
        found += limit_findings(catalog, artifact, minor)
    yield from found
    if not found and not has_namesakes(thing):
        claim = claim_spec_of(thing)
        sound.specs[minor, id(claim)] = claim


def _schema(
    catalog: Catalog,
    unit: Unit,
    artifact: Artifact,
    minor: str,
    faults: tuple[SchemaFault, ...] | UnknownKind,
) -> Iterator[Diagnostic]:
    thing = artifact.object
    name = f"{thing['kind']} {thing['metadata']['name']}"
    if isinstance(faults, UnknownKind):
        if faults.reason == "not-served":
            yield diagnose(
                "OBJ011",
                span_of(catalog, artifact.origin),
                f"{name}: Kubernetes {minor} does not serve {faults.api_version} {faults.kind}",
                found=f"{faults.api_version} {faults.kind}",
                help=_REPORT,
            )
        return
    for fault in faults:
        yield diagnose(
            "OBJ003",
            span_of(catalog, artifact.origin),
            f"{name} is not what Kubernetes {minor} takes: "
            f"{fault.pointer or 'the object'} {fault.message}",
            help=f"it stands in {unit.path}/{artifact.file}; take that file from git"
            if _is_retired(artifact)
            else _REPORT,
        )


def _twice(catalog: Catalog, units: Sequence[Unit]) -> Iterator[Diagnostic]:
    """OBJ002, less what TEN002 says of a namespace that is not the tenant's."""
    by_scope: dict[str, list[Artifact]] = {}
    for unit in units:
        if unit.synced:
            by_scope.setdefault(unit.path.partition("/")[0], []).extend(unit.artifacts)
    for scope, artifacts in by_scope.items():
        # Nearly always kind and names alone tell all of them apart.
        things = [(one.object["kind"], one.object["metadata"]) for one in artifacts]
        seen = {(kind, held.get("namespace"), held["name"]) for kind, held in things}
        if len(seen) < len(artifacts):
            yield from _collisions(catalog, scope, artifacts)


Named = Mapping[tuple[str, str, str, str], Origin]
"""(group, kind, namespace, name) of objects, and what each is made from."""


def named(units: Iterable[Unit]) -> Named:
    """The objects of synced units by what makes them one of their kind; of two, the first."""
    found: dict[tuple[str, str, str, str], Origin] = {}
    for unit in units:
        for artifact in unit.artifacts if unit.synced else ():
            found.setdefault(_identity(artifact), artifact.origin)
    return found


def _identity(artifact: Artifact) -> tuple[str, str, str, str]:
    thing = artifact.object
    metadata = thing["metadata"]
    group = _group(thing["apiVersion"])
    return group, thing["kind"], metadata.get("namespace", ""), metadata["name"]


@cache
def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def meet(catalog: Catalog, engines: Iterable[Named]) -> Iterator[Diagnostic]:
    """OBJ002 between what the engines of several clusters read, which may lie in one namespace."""
    first: dict[tuple[str, str, str, str], Origin] = {}
    for names in engines:
        for key, origin in names.items():
            other = first.setdefault(key, origin)
            if other is not origin:
                yield diagnose(
                    "OBJ002",
                    span_of(catalog, origin),
                    f"{key[1]} {key[3]} of gitops would be written twice",
                    label="the second one",
                    related=[Related(span_of(catalog, other), "the first one")],
                    help="rename one of them, or remove it",
                )


def _collisions(
    catalog: Catalog, scope: str, artifacts: Iterable[Artifact]
) -> Iterator[Diagnostic]:
    contested = contested_namespaces(catalog)
    first: dict[tuple[str, ...], Artifact] = {}
    for artifact in artifacts:
        identity = _identity(artifact)
        kept = first.setdefault(identity, artifact)
        if kept is not artifact:
            _, kind, namespace, name = identity
            lies_in = name if kind == "Namespace" else namespace
            if (scope, lies_in) not in contested:
                yield _collision(catalog, scope, kept, artifact)


def _collision(catalog: Catalog, scope: str, kept: Artifact, other: Artifact) -> Diagnostic:
    thing = other.object
    namespace = thing["metadata"].get("namespace")
    where = f" in namespace {namespace}" if namespace else ""
    return diagnose(
        "OBJ002",
        span_of(catalog, other.origin),
        f"{thing['kind']} {thing['metadata']['name']}{where} of {scope} would be written twice",
        label="the second one",
        related=[
            Related(span_of(catalog, origin), label)
            for origin, label in (
                (kept.origin, "the first one"),
                *((via, "part of the first one") for via in kept.via if via.kind != "Driver"),
                *((via, "part of the second one") for via in other.via if via.kind != "Driver"),
            )
        ],
        help="names are joined with `-`, so that two pairs of names can give one; rename a document"
        if thing["kind"] == "DeviceClass"
        else "rename one of them, or remove it",
    )


def _is_retired(artifact: Artifact) -> bool:
    return artifact.file.startswith("retired/")
