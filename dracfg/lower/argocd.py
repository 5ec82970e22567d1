"""Clusters with Argo CD → projects and Applications: one parent a cluster, one child a synced unit.

The parents lie in `gitops/argocd/_root`, which is applied once by hand or followed by an
Application of the operators; a parent applies its cluster's projects and children. No Application
has a finalizer: whoever deletes one, or removes a document, must not delete classes, policies and
claims along with it. May not know how the units came about.
Source: argoproj/argo-cd pkg/apis/application/v1alpha1, docs/operator-manual/declarative-setup.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from dracfg.kube.kinds import kind_of
from dracfg.link.catalog import Catalog, Cluster
from dracfg.lower.admission import ADMISSION_API
from dracfg.lower.artifact import Artifact, K8sObject, Shared, SharedList, Unit, make, origin_of
from dracfg.lower.division import MAX_OBJECTS, part_path, shares
from dracfg.lower.layers import CLUSTER, LAYER, SyncUnit, gitops_path, sync_name, sync_units
from dracfg.lower.sync import LayerName, group_of, treatments
from dracfg.lower.webhooks import INJECT_CA
from dracfg.model.cluster import ArgoCD
from dracfg.source.standing import Standing

ROOT = "gitops/argocd/_root"
"""No cluster can be called `_root`, so no cluster's folder can be this one."""

PROJECTS_FILE = "projects.yaml"
APPLICATIONS_FILE = "applications.yaml"

_API = "argoproj.io/v1alpha1"
_WAVE = "argocd.argoproj.io/sync-wave"
_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_IN_CLUSTER = "https://kubernetes.default.svc"
_PROJECT_WAVE = -30
_WAVES: dict[LayerName, int] = {"guard": -20, "platform": -10, "tenant": 0}

_OPTIONS = ("ServerSideApply=true", "PruneLast=true", "ApplyOutOfSyncOnly=true")
_OWN_ALONE = "FailOnSharedResource=true"
_IGNORE = "RespectIgnoreDifferences=true"


def applications(
    catalog: Catalog, cluster: Cluster, units: Iterable[Unit], standing: Standing
) -> tuple[Unit, ...]:
    """The unit `gitops/argocd/<cluster>`, with an Application for each of the cluster's units.

    Where they are too many for one, those of tenants lie in parts of it, and it holds an Application
    for each part. They stay there when they get fewer: the parent takes no Application over.
    """
    gitops = cluster.document.spec.gitops
    if not isinstance(gitops, ArgoCD):
        return ()
    synced = sync_units(cluster, units)
    by_project: dict[str, list[SyncUnit]] = {}
    for one in synced:
        by_project.setdefault(_project_name(one), []).append(one)
    own: list[Artifact] = []
    groups: dict[str, list[Artifact]] = {}
    for name, parts in by_project.items():
        made = (
            _project(catalog, gitops, name, parts, _permitted(_layers(parts), _held(parts))),
            *(_child(catalog, gitops, one) for one in parts),
        )
        tenant = parts[0].tenant
        (own if tenant is None else groups.setdefault(tenant, [])).extend(made)
    path = f"gitops/argocd/{cluster.name}"
    stand = standing.last_part(path) - 1
    if not stand and len(own) + sum(map(len, groups.values())) <= MAX_OBJECTS:
        return (Unit(path, (*own, *chain.from_iterable(groups.values()))),)
    held = [
        Unit(part_path(path, i), share)
        for i, share in enumerate(shares(groups, least=stand), 1)
        if share
    ]
    return (Unit(path, (*own, *(_part(cluster, gitops, unit) for unit in held))), *held)


def parents(catalog: Catalog) -> tuple[Unit, ...]:
    """The unit from which Argo CD finds the Applications of all clusters."""
    found = [
        artifact
        for cluster in catalog.clusters.values()
        if isinstance(gitops := cluster.document.spec.gitops, ArgoCD)
        for artifact in _parent(cluster, gitops)
    ]
    return (Unit(ROOT, tuple(found)),) if found else ()


def _parent(cluster: Cluster, gitops: ArgoCD) -> list[Artifact]:
    """The parent and its project. Nothing in them depends on tenants."""
    origin = origin_of(cluster.document, "spec", "gitops")
    file = f"{cluster.name}.yaml"
    name = sync_name(cluster, "applications")
    destination = {"server": _IN_CLUSTER, "namespace": gitops.namespace}
    path = gitops_path(cluster, f"argocd/{cluster.name}")
    kinds = [{"group": "argoproj.io", "kind": kind} for kind in ("AppProject", "Application")]
    project = make(
        _API,
        "AppProject",
        name,
        origin,
        {
            "spec": {
                "sourceRepos": [gitops.repo_url],
                "destinations": [destination],
                "description": f"Applications and projects of the cluster {cluster.name}",
                "namespaceResourceWhitelist": kinds,
            }
        },
        namespace=gitops.namespace,
        labels={CLUSTER: cluster.name},
        annotations={_WAVE: str(_PROJECT_WAVE)},
    )
    application = _of_applications(cluster, gitops, path, name, (*_OPTIONS, _OWN_ALONE))
    return [Artifact(project, file, origin), Artifact(application, file, origin)]


def _part(cluster: Cluster, gitops: ArgoCD, unit: Unit) -> Artifact:
    """The Application of a part of the cluster's unit.

    It may take Applications over from another part, or from the unit itself: a fleet that grew moved them.
    """
    number = unit.path.rpartition(".")[2]
    path = gitops_path(cluster, unit.path.partition("/")[2])
    name = sync_name(cluster, f"applications.{number}")
    made = _of_applications(cluster, gitops, path, name, _OPTIONS)
    return Artifact(made, APPLICATIONS_FILE, origin_of(cluster.document, "spec", "gitops"))


def _of_applications(
    cluster: Cluster, gitops: ArgoCD, path: str, name: str, options: tuple[str, ...]
) -> K8sObject:
    """An Application of projects and Applications, under the project that the parent is under."""
    return make(
        _API,
        "Application",
        name,
        origin_of(cluster.document, "spec", "gitops"),
        {
            "spec": {
                "source": _source(gitops, path),
                "destination": {"server": _IN_CLUSTER, "namespace": gitops.namespace},
                "project": sync_name(cluster, "applications"),
                "syncPolicy": _sync_policy(options),
            }
        },
        namespace=gitops.namespace,
        labels={CLUSTER: cluster.name},
        annotations={_WAVE: "0", _PATHS: f"/{path}"},
    )


def _project_name(one: SyncUnit) -> str:
    part = "platform" if one.tenant is None else f"tenant-{one.tenant}"
    return sync_name(one.cluster, part)


def _project(
    catalog: Catalog,
    gitops: ArgoCD,
    name: str,
    parts: Sequence[SyncUnit],
    permitted: Mapping[str, Any],
) -> Artifact:
    first = parts[0]
    origin = first.origin(catalog)
    target = _target(first.cluster, gitops)
    if first.tenant is None:
        # It holds cluster-scoped objects and quotas everywhere; a list would bound nothing.
        namespaces = ["*"]
        what = f"what tenants have in common on the cluster {first.cluster.name}"
    else:
        namespaces = sorted(_namespaces(catalog, parts))
        what = f"the tenant {first.tenant} on the cluster {first.cluster.name}"
    made = make(
        _API,
        "AppProject",
        name,
        origin,
        {
            "spec": {
                "sourceRepos": [gitops.repo_url],
                "destinations": [target | {"namespace": namespace} for namespace in namespaces],
                "description": f"Devices: {what}",
                **permitted,
            }
        },
        namespace=gitops.namespace,
        labels={key: value for key, value in first.labels.items() if key != LAYER},
        annotations={_WAVE: str(_PROJECT_WAVE)},
    )
    return Artifact(made, PROJECTS_FILE, origin)


def _layers(parts: Sequence[SyncUnit]) -> frozenset[LayerName]:
    return frozenset(("guard", "platform") if parts[0].tenant is None else ("tenant",))


def _held(parts: Sequence[SyncUnit]) -> frozenset[tuple[str, str, bool]]:
    return frozenset().union(*(part.held.kinds for part in parts))


@cache
def _permitted(
    layers: frozenset[LayerName], held: frozenset[tuple[str, str, bool]]
) -> dict[str, Any]:
    """The fields of a project that let it hold all that may ever stand in its layers.

    Not only what is `held` now: Argo CD doesn't see live objects of kinds that a project leaves out.
    A kind that left the project in the commit that removed its last object would never be pruned.
    Source: argoproj/argo-cd controller/state.go (IsLiveResourcePermitted).
    """
    kinds = _treated(layers) | {
        (group_of(version), kind, namespaced) for version, kind, namespaced in held
    }
    permitted: dict[str, Any] = {}
    if clustered := _kind_list(kinds, namespaced=False):
        permitted["clusterResourceWhitelist"] = clustered
    permitted["namespaceResourceWhitelist"] = _kind_list(kinds, namespaced=True)
    return permitted


@cache
def _treated(layers: frozenset[LayerName]) -> frozenset[tuple[str, str, bool]]:
    """(group, kind, whether it is namespaced) of what may ever stand in some layers."""
    return frozenset(
        (one.group, one.kind, kind is None or kind.namespaced)
        for one in treatments().values()
        if one.layers & layers
        for kind in (kind_of(f"{one.group}/v1", one.kind),)
    )


def _kind_list(kinds: Iterable[tuple[str, str, bool]], *, namespaced: bool) -> list[dict[str, str]]:
    return SharedList(
        {"group": group, "kind": kind}
        for group, kind, in_namespaces in sorted(kinds)
        if in_namespaces is namespaced
    )


def _namespaces(catalog: Catalog, parts: Sequence[SyncUnit]) -> set[str]:
    """Namespaces that the tenant has on the cluster, and those that its objects lie in."""
    first = parts[0]
    tenant = catalog.tenants.get(first.tenant or "")
    places = () if tenant is None else tenant.places_on(first.cluster.name)
    return {place.name for place in places}.union(*(part.held.namespaces for part in parts))


def _child(catalog: Catalog, gitops: ArgoCD, one: SyncUnit) -> Artifact:
    origin = one.origin(catalog)
    destination = _target(one.cluster, gitops)
    if one.tenant is not None and (namespaces := _namespaces(catalog, (one,))):
        # A project that names namespaces refuses an Application that names none.
        destination["namespace"] = min(namespaces)
    # Only classes and roles can belong to two trees by mistake. Retained objects of the other
    # layers keep the mark of the Application that they had before a namespace or a part moved.
    options = (*_OPTIONS, _OWN_ALONE) if one.layer == "platform" else _OPTIONS
    ignored = _ignored(one)
    spec: dict[str, Any] = {
        "source": _source(gitops, one.path),
        "destination": destination,
        "project": _project_name(one),
        "syncPolicy": _sync_policy((*options, _IGNORE) if ignored else options),
    }
    if ignored:
        spec["ignoreDifferences"] = ignored
    made = make(
        _API,
        "Application",
        one.name,
        origin,
        {"spec": spec},
        namespace=gitops.namespace,
        labels=one.labels,
        annotations={_WAVE: str(_WAVES[one.layer]), _PATHS: f"/{one.path}"},
    )
    return Artifact(made, APPLICATIONS_FILE, origin)


def _ignored(one: SyncUnit) -> list[dict[str, Any]]:
    """Fields that cert-manager writes into webhook configurations of the unit."""
    if all(version != ADMISSION_API for version, _, _ in one.held.kinds):
        return []
    return [
        {
            "group": group_of(thing["apiVersion"]),
            "kind": thing["kind"],
            "name": thing["metadata"]["name"],
            "jqPathExpressions": [".webhooks[].clientConfig.caBundle"],
        }
        for thing in (artifact.object for artifact in one.unit.artifacts)
        if INJECT_CA in (thing["metadata"].get("annotations") or {})
    ]


def _target(cluster: Cluster, gitops: ArgoCD) -> dict[str, str]:
    """Where the cluster's objects go: by name or by address, Argo CD takes no more than one."""
    said = gitops.destination
    if said.name is None and said.server is not None:
        return {"server": said.server}
    return {"name": said.name or cluster.name}


def _source(gitops: ArgoCD, path: str) -> dict[str, str]:
    return {"repoURL": gitops.repo_url, "path": path, "targetRevision": gitops.revision}


@cache
def _sync_policy(options: tuple[str, ...]) -> dict[str, Any]:
    """The same object in all Applications with the same options."""
    return Shared(
        automated={"prune": True, "selfHeal": True, "allowEmpty": False},
        syncOptions=list(options),
        retry={"limit": 5, "backoff": {"duration": "30s", "factor": 2, "maxDuration": "10m"}},
    )
