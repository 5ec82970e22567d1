"""What stands under `out/` for one cluster, as objects in the order in which engines apply them.

Reads the tree as it is on disk, whatever the catalog says by now. Knows the layout of `out/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dracfg.dataclass import dataclass
from dracfg.diagnostics import Diagnostic, Span, diagnose
from dracfg.emit.files import KUSTOMIZATION
from dracfg.emit.layout import LOCK_NAME, is_synced, unit_of
from dracfg.emit.listing import list_folder
from dracfg.kube.objects import ObjectKey, object_key
from dracfg.link.catalog import Cluster
from dracfg.lower.division import is_part
from dracfg.model.cluster import ArgoCD
from dracfg.source.records import RecordedObject, read_record

OUT = "out"

_LAYER = re.compile(r"(guard|platform)(?:\.([0-9]+))?")
_RANKS = {"guard": 0, "platform": 1}
_TENANT_RANK, _GITOPS_RANK = 2, 3
_SAME_CLUSTER = ("https://kubernetes.default.svc", "in-cluster")
"""How Argo CD names the cluster that it runs on itself."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object under `out/`, the unit that holds it, and its place in the file."""

    unit: str
    recorded: RecordedObject

    @property
    def object(self) -> dict[str, Any]:
        return self.recorded.data

    @property
    def key(self) -> ObjectKey:
        return object_key(self.recorded.data)

    @property
    def name(self) -> str:
        """`ResourceQuota dracfg-devices in course-ml`."""
        key = self.key
        return f"{key.kind} {key.name}" + (f" in {key.namespace}" if key.namespace else "")

    def span(self, *steps: str | int) -> Span:
        return self.recorded.span(*steps)


def read_tree(
    root: Path, cluster: Cluster, holds: Callable[[str], bool] = lambda _unit: True
) -> tuple[tuple[Manifest, ...], tuple[Diagnostic, ...]]:
    """The objects of the cluster's synced units that `holds` admits, and what can't be read.

    Guards come before what they guard, tenants last; within a unit the order is that of its
    kustomization. The engine's own objects are among them where it runs on the cluster itself.
    """
    manifests: list[Manifest] = []
    faults: list[Diagnostic] = []
    for unit, files in _units(root / OUT, cluster):
        if not holds(unit):
            continue
        for file in _ordered(root, unit, files):
            record, found = read_record(root, f"{OUT}/{unit}/{file}")
            faults += found
            for one in record.objects:
                if _is_named(one.data):
                    manifests.append(Manifest(unit, one))
                else:
                    faults.append(_nameless(one))
    return tuple(manifests), tuple(faults)


def is_applied(cluster: Cluster, unit: str) -> bool:
    """Whether a unit of `out/` is applied to the cluster itself."""
    folder, _, name = unit.rpartition("/")
    if unit.startswith(f"{cluster.name}/"):
        return True
    gitops = cluster.document.spec.gitops
    if gitops.engine == "flux":
        return folder == "gitops/flux" and is_part(name, cluster.name)
    if isinstance(gitops, ArgoCD) and folder == "gitops/argocd":
        destination = gitops.destination
        here = {destination.server, destination.name} & set(_SAME_CLUSTER)
        return bool(here) and is_part(name, cluster.name)
    return False


def _is_named(data: dict[str, Any]) -> bool:
    metadata = data.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("namespace", ""), str):
        return False
    return all(
        isinstance(part, str) and part for part in (data.get("apiVersion"), metadata.get("name"))
    )


def _nameless(one: RecordedObject) -> Diagnostic:
    return diagnose(
        "LIV018",
        one.span("kind"),
        f"what stands here as {one.data['kind']} has no apiVersion or no name",
        help="run dracfg compile, it writes the file anew",
    )


def _units(out: Path, cluster: Cluster) -> Iterator[tuple[str, list[str]]]:
    """The synced units of a cluster with their files, in the order of applying."""
    units: dict[str, list[str]] = {}
    for folder in (cluster.name, "gitops"):
        for name in list_folder(out / folder).files:
            path = f"{folder}/{name}"
            unit = unit_of(path, ())
            if unit and path != LOCK_NAME and is_synced(path) and is_applied(cluster, unit):
                units.setdefault(unit, []).append(path[len(unit) + 1 :])
    yield from sorted(units.items(), key=lambda entry: _rank(entry[0]))


def _rank(unit: str) -> tuple[int, int, str]:
    parts = unit.split("/")
    layer = _LAYER.fullmatch(parts[1])
    if parts[0] == "gitops":
        return _GITOPS_RANK, 0, unit
    if layer is None:
        return _TENANT_RANK, 0, unit
    return _RANKS[layer[1]], int(layer[2] or 1), unit


def _ordered(root: Path, unit: str, files: list[str]) -> list[str]:
    """The manifests of a unit as its kustomization lists them, what it leaves out not at all."""
    if KUSTOMIZATION not in files:
        return sorted(file for file in files if file.endswith((".yaml", ".yml")))
    record, _ = read_record(root, f"{OUT}/{unit}/{KUSTOMIZATION}")
    listed = [
        resource
        for one in record.objects
        for resource in one.data.get("resources", ())
        if isinstance(resource, str)
    ]
    return [file for file in listed if file in files]
