"""A cluster's synced units as engines see them: layer by layer, each with a name and a path.

Knows the layout of a cluster's tree and of the repository, no engine's objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from dracfg.dataclass import dataclass
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.parts import digest
from dracfg.lower.artifact import Origin, Unit, origin_of
from dracfg.lower.sync import LayerName

CLUSTER = "dracfg.dev/cluster"
LAYER = "dracfg.dev/layer"
TENANT = "dracfg.dev/tenant"

LAYERS: tuple[LayerName, ...] = ("guard", "platform", "tenant")
"""In the order of applying."""

NAME_LENGTH = 63
"""Flux writes the names of Kustomizations into labels."""

_LAYER = re.compile(r"(guard|platform)(?:\.([0-9]+))?")
_TENANT = re.compile(r"tenants/([a-z0-9-]+)(?:\.([0-9]+))?")


@dataclass(frozen=True, slots=True)
class Held:
    """Of a unit's objects: (apiVersion, kind, whether they have a namespace), and their namespaces."""

    kinds: frozenset[tuple[str, str, bool]]
    namespaces: frozenset[str]


@dataclass(frozen=True, eq=False)
class SyncUnit:
    """One synced unit of a cluster; `number` counts the parts that a layer was split into from 1."""

    cluster: Cluster
    unit: Unit
    layer: LayerName
    tenant: str | None
    number: int

    @property
    def name(self) -> str:
        """The name of the object that makes an engine apply the unit."""
        stem = self.layer if self.tenant is None else f"{self.layer}-{self.tenant}"
        return sync_name(self.cluster, stem if self.number == 1 else f"{stem}.{self.number}")

    @property
    def path(self) -> str:
        """The unit's folder in the repository."""
        return f"{cluster_path(self.cluster)}/{self.unit.path.partition('/')[2]}"

    @property
    def labels(self) -> dict[str, str]:
        labels = {CLUSTER: self.cluster.name, LAYER: self.layer}
        return labels if self.tenant is None else labels | {TENANT: self.tenant}

    @cached_property
    def held(self) -> Held:
        kinds: set[tuple[str, str, bool]] = set()
        namespaces: set[str | None] = set()
        for artifact in self.unit.artifacts:
            thing = artifact.object
            metadata = thing["metadata"]
            kinds.add((thing["apiVersion"], thing["kind"], "namespace" in metadata))
            namespaces.add(metadata.get("namespace"))
        return Held(frozenset(kinds), frozenset(filter(None, namespaces)))

    def origin(self, catalog: Catalog) -> Origin:
        """The document without which the unit would not be there."""
        tenant = catalog.tenants.get(self.tenant) if self.tenant is not None else None
        return origin_of(self.cluster.document if tenant is None else tenant.document)


def sync_units(cluster: Cluster, units: Iterable[Unit]) -> tuple[SyncUnit, ...]:
    """The cluster's units that an engine applies: layers in order, tenants by name."""
    found = []
    for unit in units:
        owner, _, folder = unit.path.partition("/")
        if owner != cluster.name or not unit.synced:
            continue
        if match := _LAYER.fullmatch(folder):
            layer: LayerName = "guard" if match[1] == "guard" else "platform"
            found.append(SyncUnit(cluster, unit, layer, None, int(match[2] or 1)))
        elif match := _TENANT.fullmatch(folder):
            found.append(SyncUnit(cluster, unit, "tenant", match[1], int(match[2] or 1)))
    return tuple(
        sorted(found, key=lambda one: (LAYERS.index(one.layer), one.tenant or "", one.number))
    )


def sync_name(cluster: Cluster, part: str) -> str:
    """`dracfg-<cluster>-<part>`, ended by a digest where that is too long or could be read twice.

    Names of all clusters may meet in one namespace. Two of them could be the same text only where
    the cluster's name holds `-tenant-`: cluster `a` with tenant `b-platform`, cluster `a-tenant-b`.
    """
    name = f"dracfg-{cluster.name}-{part}"
    if len(name) <= NAME_LENGTH and "-tenant-" not in f"{cluster.name}-":
        return name
    end = digest([cluster.name, part])
    return f"{name[: NAME_LENGTH - len(end) - 1].rstrip('-.')}-{end}"


def cluster_path(cluster: Cluster) -> str:
    """Where the cluster's tree lies in the repository."""
    return cluster.document.spec.gitops.path or f"out/{cluster.name}"


def gitops_path(cluster: Cluster, folder: str) -> str:
    """A folder of `gitops/` in the repository; `gitops/` stands beside the cluster's tree."""
    out = cluster_path(cluster).rpartition("/")[0]
    return f"{out}/gitops/{folder}" if out else f"gitops/{folder}"
