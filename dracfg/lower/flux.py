"""Clusters with Flux → one Kustomization a synced unit, each layer waiting for the one before it.

Flux holds up a whole Kustomization for one object that fails, so tenants have one each. `force` is
never written: Flux takes any 422 for an immutable field and would delete the object.
May not know how the units came about.
Source: fluxcd/kustomize-controller docs/spec/v1/kustomizations.md, internal/controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.artifact import Artifact, Unit, make, origin_of
from dracfg.lower.division import MAX_OBJECTS, part_path, settled
from dracfg.lower.layers import (
    CLUSTER,
    LAYERS,
    TENANT,
    SyncUnit,
    gitops_path,
    sync_name,
    sync_units,
)
from dracfg.lower.sync import group_of, treatments
from dracfg.model.cluster import Flux
from dracfg.source.standing import Standing

FILE = "kustomizations.yaml"

_API = "kustomize.toolkit.fluxcd.io/v1"

_OF_TENANTS = MAX_OBJECTS - 150
"""What tenants may take of a cluster's first unit: guards, and parts of its own, still grow beside them."""

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


def kustomizations(
    catalog: Catalog, cluster: Cluster, units: Iterable[Unit], standing: Standing
) -> tuple[Unit, ...]:
    """The unit `gitops/flux/<cluster>`, with a Kustomization for each of the cluster's units.

    Where tenants are too many for one, more of them lie in parts of it, and it holds a Kustomization for
    each part. Whoever stands in one stays there: Flux may prune what went from one to another, and a
    tenant's access with it.
    """
    gitops = cluster.document.spec.gitops
    synced = sync_units(cluster, units) if isinstance(gitops, Flux) else ()
    if not isinstance(gitops, Flux) or not synced:
        return ()
    own: list[Artifact] = []
    groups: dict[str, list[Artifact]] = {}
    first: dict[str, Any] = {}
    then = {"interval": _go_duration(gitops.interval), "retryInterval": "2m"}
    for layer in LAYERS:
        here = [one for one in synced if one.layer == layer]
        for one in here:
            held = own if one.tenant is None else groups.setdefault(one.tenant, [])
            held.append(_kustomization(catalog, gitops, one, {**first, **then}))
        first = {"dependsOn": [{"name": one.name} for one in here]} if here else first
    path = f"gitops/flux/{cluster.name}"
    shares = settled(groups, _places(standing, path), _OF_TENANTS)
    of_tenants = shares.pop(1, ())
    parts = [Unit(part_path(path, number - 1), share) for number, share in shares.items()]
    return (
        Unit(path, (*own, *(_part(cluster, gitops, one) for one in parts), *of_tenants)),
        *parts,
    )


def _places(standing: Standing, path: str) -> Mapping[str, int]:
    """The part in which each tenant stands, counted from 1."""
    return {
        tenant: number
        for number, thing in standing.numbered(path, FILE)
        if (tenant := thing["metadata"].get("labels", {}).get(TENANT)) is not None
    }


def _part(cluster: Cluster, gitops: Flux, unit: Unit) -> Artifact:
    """The Kustomization of a part.

    It names no account, as the one above it need not: who may write Kustomizations may take any account
    of their namespace. When it goes, its last tenants have gone.
    """
    origin = origin_of(cluster.document, "spec", "gitops")
    number = unit.path.rpartition(".")[2]
    spec = {
        "interval": _go_duration(gitops.interval),
        "retryInterval": "2m",
        "path": f"./{gitops_path(cluster, unit.path.partition('/')[2])}",
        "prune": True,
        "deletionPolicy": "MirrorPrune",
        "sourceRef": _source(gitops),
        "timeout": "3m",
        "wait": False,
    }
    made = make(
        _API,
        "Kustomization",
        sync_name(cluster, f"kustomizations.{number}"),
        origin,
        {"spec": spec},
        namespace=gitops.namespace,
        labels={CLUSTER: cluster.name},
    )
    return Artifact(made, FILE, origin)


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
