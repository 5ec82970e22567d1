"""Clusters with Flux → one Kustomization a synced unit, each layer waiting for the one before it.

Flux holds up a whole Kustomization for one object that fails, so tenants have one each. `force` is
never written: Flux takes any 422 for an immutable field and would delete the object.
May not know how the units came about.
Source: fluxcd/kustomize-controller docs/spec/v1/kustomizations.md, internal/controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.artifact import Artifact, Unit, make
from dracfg.lower.layers import LAYERS, SyncUnit, sync_units
from dracfg.lower.sync import group_of, treatments
from dracfg.model.cluster import Flux

FILE = "kustomizations.yaml"

_API = "kustomize.toolkit.fluxcd.io/v1"

_HEALTH: dict[tuple[str, str], dict[str, str]] = {
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): {
        "inProgress": "!has(status.observedGeneration) ||"
        " status.observedGeneration < metadata.generation",
        "failed": "has(status.typeChecking) && has(status.typeChecking.expressionWarnings) &&"
        " size(status.typeChecking.expressionWarnings) > 0",
        "current": "status.observedGeneration == metadata.generation",
    },
    ("kueue.x-k8s.io", "ClusterQueue"): {
        "inProgress": "!has(status.conditions) || !status.conditions.exists(c, c.type == 'Active')",
        "failed": "status.conditions.exists(c, c.type == 'Active' && c.status == 'False')",
        "current": "status.conditions.exists(c, c.type == 'Active' && c.status == 'True')",
    },
}
"""Kinds of which Flux would take any object for ready. The first expression that holds decides."""


def kustomizations(catalog: Catalog, cluster: Cluster, units: Iterable[Unit]) -> tuple[Unit, ...]:
    """The unit `gitops/flux/<cluster>`, with a Kustomization for each of the cluster's units."""
    gitops = cluster.document.spec.gitops
    synced = sync_units(cluster, units) if isinstance(gitops, Flux) else ()
    if not isinstance(gitops, Flux) or not synced:
        return ()
    return (Unit(f"gitops/flux/{cluster.name}", _kustomizations(catalog, gitops, synced)),)


def _kustomizations(
    catalog: Catalog, gitops: Flux, synced: Sequence[SyncUnit]
) -> tuple[Artifact, ...]:
    made = []
    first: dict[str, Any] = {}
    then = {"interval": _go_duration(gitops.interval), "retryInterval": "2m"}
    for layer in LAYERS:
        here = [one for one in synced if one.layer == layer]
        made += [_kustomization(catalog, gitops, one, {**first, **then}) for one in here]
        first = {"dependsOn": [{"name": one.name} for one in here]} if here else first
    return tuple(made)


def _kustomization(
    catalog: Catalog, gitops: Flux, one: SyncUnit, layer: Mapping[str, Any]
) -> Artifact:
    """`layer` is what the specs of its layer begin with."""
    origin = one.origin(catalog)
    spec = {**layer, "path": f"./{one.path}"}
    spec["prune"] = True
    # When the Kustomization of a tenant goes, its access goes with it; claims and templates say
    # `prune: disabled`, which holds then too. That of a guard or of classes must never take them
    # along: it also goes when the engine changes or a numbered part is no longer needed.
    spec["deletionPolicy"] = "MirrorPrune" if one.layer == "tenant" else "Orphan"
    applier = gitops.applier.service_account
    if applier.namespace == gitops.namespace:
        spec["serviceAccountName"] = applier.name
    spec["sourceRef"] = _source(gitops)
    spec["timeout"] = "3m"
    spec["wait"] = True
    if checks := _health_checks(one):
        spec["healthCheckExprs"] = checks
    made = make(
        _API,
        "Kustomization",
        one.name,
        origin,
        {"spec": spec},
        namespace=gitops.namespace,
        labels=one.labels,
    )
    return Artifact(made, FILE, origin)


def _source(gitops: Flux) -> dict[str, str]:
    source = {"kind": gitops.source.kind, "name": gitops.source.name}
    if gitops.source.namespace is not None:
        source["namespace"] = gitops.source.namespace
    return source


def _health_checks(one: SyncUnit) -> list[dict[str, str]]:
    """How to tell whether the unit's objects work, for kinds that it holds."""
    if not any(one.layer in treatments()[key].layers for key in _HEALTH):
        return []
    kinds = sorted(one.held.kinds)
    versions = {(group_of(version), kind): version for version, kind, _ in kinds}
    return [
        {"apiVersion": versions[key], "kind": key[1], **expressions}
        for key, expressions in _HEALTH.items()
        if key in versions
    ]


def _go_duration(text: str) -> str:
    """A length of time as Go reads it, which has no days."""
    return re.sub(r"([0-9]+)d", lambda days: f"{24 * int(days[1])}h", text)
