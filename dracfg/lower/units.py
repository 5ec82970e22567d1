"""The linked catalog → every unit of `out/`. Pure: the same catalog and standing tree, the same units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from dracfg.dataclass import dataclass
from dracfg.kube.features import feature_matrix
from dracfg.link.catalog import Catalog, Cluster
from dracfg.link.classes import ClassPlan, device_classes
from dracfg.lower.access import (
    applier_role,
    cluster_role_bindings,
    cluster_roles,
    role_bindings,
)
from dracfg.lower.admission import admission
from dracfg.lower.artifact import Artifact, K8sObject, Unit, origin_of
from dracfg.lower.audit import audit_policy
from dracfg.lower.classes import FILE as CLASSES_FILE
from dracfg.lower.classes import device_class_artifacts
from dracfg.lower.controlplane import control_plane
from dracfg.lower.division import divided
from dracfg.lower.gates import GatePlan, cluster_gates
from dracfg.lower.gitops import ByHand, engine_units, shared_units
from dracfg.lower.kueue import (
    cluster_queues,
    counted_classes,
    kueue_artifacts,
    kueue_configuration,
    local_queues,
)
from dracfg.lower.metadata import metadata_units
from dracfg.lower.monitoring import monitoring_objects, monitoring_units
from dracfg.lower.namespaces import external_namespaces, namespace_artifacts, own_namespace
from dracfg.lower.nodes import node_pool
from dracfg.lower.offers import offer_artifacts
from dracfg.lower.policyversions import FILE as VERSIONS_FILE
from dracfg.lower.policyversions import RETIRED_FILE as RETIRED_VERSIONS_FILE
from dracfg.lower.policyversions import policy_version_artifacts
from dracfg.lower.priorities import priority_artifacts, priority_quotas
from dracfg.lower.quarantine import device_taint_rules
from dracfg.lower.quotas import cluster_keys, quota_artifacts
from dracfg.lower.retirement import retire
from dracfg.lower.rights import claims_by_namespace
from dracfg.lower.sync import with_engine
from dracfg.lower.templates import (
    CLAIMS_FILE,
    TEMPLATES_FILE,
    claim_artifacts,
    template_artifacts,
)
from dracfg.lower.tenancy import Tenancy
from dracfg.lower.thirdparty import third_party_roles
from dracfg.lower.tierplaces import place_objects
from dracfg.lower.webhooks import webhooks
from dracfg.source.standing import Standing

RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class ClusterUnits:
    """What one cluster comes to: its units, with those that its engine reads, and its gates.

    `by_hand` is what goes to people in the snippets of all clusters.
    """

    units: tuple[Unit, ...]
    plan: GatePlan
    by_hand: ByHand


def lower(catalog: Catalog, standing: Standing) -> tuple[Unit, ...]:
    """All units, sorted by path."""
    made = {
        name: lower_cluster(catalog, cluster, standing)
        for name, cluster in catalog.clusters.items()
    }
    shared = shared_units(catalog, {name: one.by_hand for name, one in made.items()})
    units = (*(unit for one in made.values() for unit in one.units), *shared)
    return tuple(sorted(units, key=lambda unit: unit.path))


def lower_cluster(catalog: Catalog, cluster: Cluster, standing: Standing) -> ClusterUnits:
    """The units of one cluster, which depend on no other."""
    classes = device_classes(catalog, cluster)
    tenancies = [Tenancy(catalog, cluster, tenant) for tenant in catalog.tenants_on(cluster.name)]
    is_queued = cluster.document.spec.addons.kueue is not None
    counted = counted_classes(catalog, cluster, classes) if is_queued else ()
    tenant_units = [
        unit for tenancy in tenancies for unit in _tenant_units(tenancy, counted, standing)
    ]
    claims = claims_by_namespace(_objects(tenant_units, cluster))
    synced = [
        *_guard_units(catalog, cluster, tenancies, classes, claims, standing),
        *_platform_units(catalog, cluster, classes, counted, tenant_units, standing),
        *tenant_units,
    ]
    objects = tuple(_objects(synced, cluster))
    plan = cluster_gates(cluster, objects)
    units = [
        *synced,
        *_control_plane_units(cluster, plan),
        *(node_pool(catalog, cluster, pool, plan) for pool in cluster.pools),
        *metadata_units(cluster, tenancies, standing),
        *monitoring_units(catalog, cluster, tenancies),
    ]
    by_hand = ByHand(
        applier_role(cluster, objects),
        external_namespaces(tenancies, claims),
        third_party_roles(cluster),
        kueue_configuration(cluster, counted),
    )
    return ClusterUnits((*units, *engine_units(catalog, cluster, units, standing)), plan, by_hand)


def _control_plane_units(cluster: Cluster, plan: GatePlan) -> list[Unit]:
    """What the people of the control plane set: gates and the audit policy."""
    audit = audit_policy(cluster)
    control = control_plane(cluster, plan)
    if control is not None:
        return [replace(control, artifacts=(*control.artifacts, *audit))]
    return [Unit(f"{cluster.name}/control-plane", audit, synced=False)] if audit else []


def gate_plan(cluster: Cluster, units: Iterable[Unit]) -> GatePlan:
    """The gates that the cluster's objects need."""
    return cluster_gates(cluster, _objects(units, cluster))


def extended_resources(cluster: Cluster, classes: Iterable[ClassPlan]) -> bool:
    """Whether DRAExtendedResource is on: by default, by the document, or because a class needs it."""
    gate = feature_matrix().gate("DRAExtendedResource")
    default = bool(gate is not None and gate.at(cluster.minor).default)
    said = cluster.document.spec.feature_gates.get("DRAExtendedResource", default)
    return said or any(plan.extended_name is not None for plan in classes)


def _guard_units(
    catalog: Catalog,
    cluster: Cluster,
    tenancies: Sequence[Tenancy],
    classes: Sequence[ClassPlan],
    claims: Mapping[str, tuple[str, ...]],
    standing: Standing,
) -> tuple[Unit, ...]:
    fixed = [
        own_namespace(cluster),
        *admission(catalog, cluster, classes),
        *webhooks(catalog, cluster),
    ]
    keys = cluster_keys(cluster, classes, extended=extended_resources(cluster, classes))
    groups = {
        tenancy.tenant.name: [
            *namespace_artifacts(tenancy, claims),
            *quota_artifacts(tenancy, keys, claims),
            *priority_quotas(cluster, tenancy.tenant),
        ]
        for tenancy in tenancies
    }
    return divided(f"{cluster.name}/guard", fixed, groups, standing)


def _platform_units(
    catalog: Catalog,
    cluster: Cluster,
    classes: Sequence[ClassPlan],
    counted: Sequence[ClassPlan],
    tenant_units: Iterable[Unit],
    standing: Standing,
) -> tuple[Unit, ...]:
    path = f"{cluster.name}/platform"
    versions = (
        *standing.objects(path, VERSIONS_FILE),
        *standing.objects(path, RETIRED_VERSIONS_FILE),
    )
    artifacts = [
        *cluster_roles(catalog, cluster),
        *priority_artifacts(cluster),
        *kueue_artifacts(catalog, cluster, counted),
        *offer_artifacts(catalog, cluster),
        *policy_version_artifacts(cluster, versions),
        *device_taint_rules(cluster),
        *device_class_artifacts(classes, cluster),
        *_retired_classes(cluster, classes, tenant_units, standing),
        *monitoring_objects(catalog, cluster),
    ]
    of_tenants = {
        tenant.name: (
            *cluster_role_bindings(cluster, tenant),
            *cluster_queues(cluster, tenant, counted),
        )
        for tenant in catalog.tenants_on(cluster.name)
    }
    return divided(path, artifacts, of_tenants, standing)


def _retired_classes(
    cluster: Cluster,
    classes: Iterable[ClassPlan],
    tenant_units: Iterable[Unit],
    standing: Standing,
) -> list[Artifact]:
    """Classes that only retired templates name; without them those could not be used any more."""
    path = f"{cluster.name}/platform"
    known = {
        thing["metadata"]["name"]: thing
        for file in (CLASSES_FILE, f"{RETIRED}/{CLASSES_FILE}")
        for thing in standing.objects(path, file)
    }
    gone = {name: known[name] for name in known.keys() - {plan.name for plan in classes}}
    if not gone:
        return []
    named = {
        name
        for unit in tenant_units
        for artifact in unit.artifacts
        if artifact.file.startswith(f"{RETIRED}/")
        for name in class_names(artifact.object)
    }
    missing = sorted(named & gone.keys())
    origin = origin_of(cluster.document)
    return [
        Artifact(with_engine(cluster, gone[name]), f"{RETIRED}/{CLASSES_FILE}", origin)
        for name in missing
    ]


def class_names(thing: K8sObject) -> Iterator[str]:
    """Every class that a claim or a template names."""
    spec = thing.get("spec", {})
    devices = spec.get("spec", spec).get("devices", {})
    for request in devices.get("requests", ()):
        asks = (request["exactly"],) if "exactly" in request else request.get("firstAvailable", ())
        for ask in asks:
            yield ask["deviceClassName"]


def _tenant_units(
    tenancy: Tenancy, counted: Sequence[ClassPlan], standing: Standing
) -> tuple[Unit, ...]:
    cluster, tenant = tenancy.cluster, tenancy.tenant
    path = f"{cluster.name}/tenants/{tenant.name}"
    retain = cluster.document.spec.gitops.retain_templates
    templates = () if tenancy.is_removed else template_artifacts(tenancy)
    claims = () if tenancy.is_removed else claim_artifacts(tenancy)
    access = (*role_bindings(cluster, tenant), *local_queues(cluster, tenant, counted))
    places = place_objects(tenancy)
    made = divided(path, (), _by_namespace(access, templates, claims, places), standing)
    recognize(made, standing)
    old = [
        Artifact(
            with_engine(cluster, kept.object, retained=kept.retained),
            f"{RETIRED}/{file}",
            tenancy.origin,
        )
        for file, wanted in ((TEMPLATES_FILE, templates), (CLAIMS_FILE, claims))
        for kept in retire(
            standing.objects(path, file),
            standing.objects(path, f"{RETIRED}/{file}"),
            wanted,
            retain,
        )
    ]
    if not old:
        return made
    return divided(path, (), _by_namespace(access, templates, claims, old, places), standing)


def recognize(units: Iterable[Unit], standing: Standing) -> None:
    """Tells what stands what is made now, so that as little as can be of it is read."""
    if standing.recognizes:
        for unit in units:
            for file, artifacts in unit.by_file().items():
                standing.recognize(f"{unit.path}/{file}", artifacts)


def _by_namespace(*artifacts: Iterable[Artifact]) -> dict[str, list[Artifact]]:
    """Artifacts of one tenant by their namespaces, in the order in which these are met."""
    found: dict[str, list[Artifact]] = {}
    for artifact in chain.from_iterable(artifacts):
        namespace = artifact.object["metadata"].get("namespace", "")
        found.setdefault(namespace, []).append(artifact)
    return found


def _objects(units: Iterable[Unit], cluster: Cluster) -> Iterator[K8sObject]:
    for unit in units:
        if unit.synced and unit.path.startswith(f"{cluster.name}/"):
            for artifact in unit.artifacts:
                yield artifact.object


def gate_plans(catalog: Catalog, units: Iterable[Unit]) -> dict[str, GatePlan]:
    """The gates that each cluster's objects need, by the cluster's name."""
    listed = tuple(units)
    return {name: gate_plan(cluster, listed) for name, cluster in catalog.clusters.items()}
