"""Projects and Applications of clusters with Argo CD."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from dracfg.kube.names import check_dns_subdomain
from dracfg.link.catalog import Catalog
from dracfg.lower.argocd import ROOT, applications, parents
from dracfg.lower.artifact import Artifact, Origin, Unit, make
from dracfg.lower.division import MAX_OBJECTS
from dracfg.lower.sync import manifest_files
from dracfg.source.standing import Standing

WAVE = "argocd.argoproj.io/sync-wave"
PATHS = "argocd.argoproj.io/manifest-generate-paths"
ORIGIN = Origin("all.yaml", "Cluster", "west")
RBAC = "rbac.authorization.k8s.io/v1"
RESOURCE = "resource.k8s.io/v1"
NOTHING = Standing()
ADMISSION = "admissionregistration.k8s.io/v1"


def cluster(name: str = "west", destination: str = "{name: west-1}", **more: str) -> str:
    extra = "".join(f"\n    {key}: {value}" for key, value in more.items())
    return f"""
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {{name: {name}}}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops:
    engine: argocd
    repoURL: https://git.example.com/devices.git
    destination: {destination}
    applier: {{serviceAccount: {{namespace: argocd, name: controller}}}}{extra}
"""


def tenant(name: str, on: str = "west") -> str:
    return f"""
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {{name: {name}}}
spec: {{namespaces: [{{name: {name}-b, clusters: [{on}]}}, {{name: {name}-a, clusters: [{on}]}}]}}
"""


def unit(path: str, *objects: dict[str, Any], synced: bool = True) -> Unit:
    artifacts = tuple(Artifact(obj, "objects.yaml", ORIGIN) for obj in objects)
    return Unit(path, artifacts, synced=synced)


def thing(api: str, kind: str, namespace: str | None = None, **annotations: str) -> dict[str, Any]:
    return make(api, kind, "one", ORIGIN, {}, namespace=namespace, annotations=annotations)


def tenant_unit(name: str, on: str = "west") -> Unit:
    return unit(f"{on}/tenants/{name}", thing(RBAC, "RoleBinding", f"{name}-a"))


UNITS = (
    unit("west/tenants/vision", thing(RBAC, "RoleBinding", "vision-a")),
    unit("west/platform", thing(RESOURCE, "DeviceClass")),
    unit("west/guard.2", thing("v1", "ResourceQuota", "vision-b")),
    unit("west/guard", thing("v1", "Namespace"), thing("v1", "ResourceQuota", "vision-a")),
    unit("west/nodes/training", thing("v1", "ConfigMap", "a"), synced=False),
    unit("east/guard", thing("v1", "Namespace")),
)


def argocd(
    catalog: Catalog, units: Iterable[Unit], standing: Standing = NOTHING
) -> tuple[Unit, ...]:
    """What all clusters come to, as a compile puts it together."""
    listed = tuple(units)
    made = [
        one
        for of in catalog.clusters.values()
        for one in applications(catalog, of, listed, standing)
    ]
    return (*made, *parents(catalog))


def objects(units: tuple[Unit, ...], path: str, kind: str) -> dict[str, dict[str, Any]]:
    return {
        artifact.object["metadata"]["name"]: artifact.object
        for unit in units
        if unit.path == path
        for artifact in unit.artifacts
        if artifact.object["kind"] == kind
    }


@pytest.fixture
def made(catalog_of: Any) -> tuple[Unit, ...]:
    return argocd(catalog_of(cluster(), tenant("vision")), UNITS)


def test_there_is_nothing_without_a_cluster_of_argocd(catalog_of: Any, platform: str) -> None:
    assert argocd(catalog_of(platform), UNITS) == ()


def test_units_are_the_root_and_one_a_cluster(made: tuple[Unit, ...]) -> None:
    assert [unit.path for unit in made] == ["gitops/argocd/west", ROOT]
    assert all(unit.synced for unit in made)


def test_projects_come_before_the_applications_in_them(made: tuple[Unit, ...]) -> None:
    assert manifest_files(made[0]) == ("projects.yaml", "applications.yaml")


def test_units_do_not_nest_and_no_cluster_can_take_the_root(catalog_of: Any) -> None:
    catalog = catalog_of(cluster("root"), cluster("argocd"), cluster("gitops-1"))
    paths = [unit.path for unit in argocd(catalog, ())]
    assert len(set(paths)) == len(paths) == 4
    assert not [a for a in paths for b in paths if b.startswith(f"{a}/")]


def test_every_synced_unit_has_a_child_in_the_order_of_the_layers(made: tuple[Unit, ...]) -> None:
    children = objects(made, "gitops/argocd/west", "Application")
    assert [
        (
            name,
            child["metadata"]["annotations"][WAVE],
            child["metadata"]["annotations"][PATHS],
            child["spec"]["source"]["path"],
            child["spec"]["project"],
        )
        for name, child in children.items()
    ] == [
        (f"dracfg-west-{name}", wave, f"/out/west/{path}", f"out/west/{path}", f"dracfg-west-{own}")
        for name, wave, path, own in (
            ("guard", "-20", "guard", "platform"),
            ("guard.2", "-20", "guard.2", "platform"),
            ("platform", "-10", "platform", "platform"),
            ("tenant-vision", "0", "tenants/vision", "tenant-vision"),
        )
    ]


def test_a_child_as_a_whole(made: tuple[Unit, ...]) -> None:
    child = objects(made, "gitops/argocd/west", "Application")["dracfg-west-tenant-vision"]
    assert child == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": "dracfg-west-tenant-vision",
            "namespace": "argocd",
            "labels": {
                "app.kubernetes.io/managed-by": "dracfg",
                "app.kubernetes.io/part-of": "dracfg",
                "dracfg.dev/cluster": "west",
                "dracfg.dev/layer": "tenant",
                "dracfg.dev/tenant": "vision",
            },
            "annotations": {
                PATHS: "/out/west/tenants/vision",
                WAVE: "0",
                "dracfg.dev/origin": "all.yaml#Tenant/vision",
            },
        },
        "spec": {
            "source": {
                "repoURL": "https://git.example.com/devices.git",
                "path": "out/west/tenants/vision",
                "targetRevision": "main",
            },
            "destination": {"name": "west-1", "namespace": "vision-a"},
            "project": "dracfg-west-tenant-vision",
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True, "allowEmpty": False},
                "syncOptions": [
                    "ServerSideApply=true",
                    "PruneLast=true",
                    "ApplyOutOfSyncOnly=true",
                ],
                "retry": {
                    "limit": 5,
                    "backoff": {"duration": "30s", "factor": 2, "maxDuration": "10m"},
                },
            },
        },
    }


def test_only_classes_and_roles_refuse_to_be_shared(made: tuple[Unit, ...]) -> None:
    """Retained objects keep the mark of the Application that they had before a move."""
    strict = {
        name
        for name, child in objects(made, "gitops/argocd/west", "Application").items()
        if "FailOnSharedResource=true" in child["spec"]["syncPolicy"]["syncOptions"]
    }
    assert strict == {"dracfg-west-platform"}


def test_no_application_cascades_forces_or_replaces(made: tuple[Unit, ...]) -> None:
    text = repr(made)
    for word in ("finalizer", "Force=", "Replace=", "tracking-id", "app.kubernetes.io/instance"):
        assert word not in text


def test_a_parent_follows_the_children_of_its_cluster(made: tuple[Unit, ...]) -> None:
    (root,) = [unit for unit in made if unit.path == ROOT]
    assert {artifact.file for artifact in root.artifacts} == {"west.yaml"}
    parent = objects(made, ROOT, "Application")["dracfg-west-applications"]
    here = {"server": "https://kubernetes.default.svc", "namespace": "argocd"}
    assert parent["spec"]["source"]["path"] == "out/gitops/argocd/west"
    assert parent["metadata"]["annotations"][PATHS] == "/out/gitops/argocd/west"
    assert parent["spec"]["destination"] == here
    project = objects(made, ROOT, "AppProject")[parent["spec"]["project"]]
    assert project["spec"]["destinations"] == [here]
    assert "clusterResourceWhitelist" not in project["spec"]
    assert project["spec"]["namespaceResourceWhitelist"] == [
        {"group": "argoproj.io", "kind": "AppProject"},
        {"group": "argoproj.io", "kind": "Application"},
    ]


def kinds_of(project: dict[str, Any], scope: str) -> set[str]:
    return {entry["kind"] for entry in project["spec"].get(f"{scope}ResourceWhitelist", ())}


def test_the_platform_project_holds_the_kinds_of_its_layers(made: tuple[Unit, ...]) -> None:
    project = objects(made, "gitops/argocd/west", "AppProject")["dracfg-west-platform"]
    assert project["spec"]["destinations"] == [{"name": "west-1", "namespace": "*"}]
    assert {
        "DeviceClass",
        "DeviceTaintRule",
        "Namespace",
        "ClusterRole",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    } <= kinds_of(project, "cluster")
    assert {"ResourceQuota", "ConfigMap"} <= kinds_of(project, "namespace")
    assert "ResourceClaim" not in kinds_of(project, "namespace")


def test_a_tenant_project_is_held_to_its_namespaces_and_kinds(made: tuple[Unit, ...]) -> None:
    project = objects(made, "gitops/argocd/west", "AppProject")["dracfg-west-tenant-vision"]
    assert project["spec"]["destinations"] == [
        {"name": "west-1", "namespace": "vision-a"},
        {"name": "west-1", "namespace": "vision-b"},
    ]
    assert "clusterResourceWhitelist" not in project["spec"]
    assert kinds_of(project, "namespace") == {
        "LocalQueue",
        "PrometheusRule",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "RoleBinding",
    }
    assert project["metadata"]["labels"]["dracfg.dev/tenant"] == "vision"


def test_projects_permit_every_object_of_their_units(catalog_of: Any) -> None:
    units = (
        unit("west/platform", thing("x.io/v1", "Clustered"), thing("x.io/v1", "Namespaced", "n")),
        unit("west/tenants/vision", thing("x.io/v1", "Namespaced", "elsewhere")),
    )
    made = argocd(catalog_of(cluster(), tenant("vision")), units)
    projects = objects(made, "gitops/argocd/west", "AppProject")
    own = projects["dracfg-west-platform"]
    assert "Clustered" in kinds_of(own, "cluster")
    assert "Namespaced" in kinds_of(own, "namespace")
    theirs = projects["dracfg-west-tenant-vision"]
    assert "Namespaced" in kinds_of(theirs, "namespace")
    assert {"name": "west-1", "namespace": "elsewhere"} in theirs["spec"]["destinations"]


def test_projects_keep_a_kind_whose_last_object_left(catalog_of: Any) -> None:
    """Argo CD does not see, and so never prunes, live objects of kinds that a project lacks."""
    catalog = catalog_of(cluster())
    hook = unit("west/guard", thing(ADMISSION, "ValidatingWebhookConfiguration"))
    assert (
        argocd(catalog, [hook])[0].artifacts[0]
        == argocd(catalog, [unit("west/guard")])[0].artifacts[0]
    )


def test_what_cert_manager_injects_is_ignored(catalog_of: Any) -> None:
    injected = thing(
        ADMISSION,
        "ValidatingWebhookConfiguration",
        **{"cert-manager.io/inject-ca-from": "ns/webhook"},
    )
    plain = make(ADMISSION, "ValidatingWebhookConfiguration", "two", ORIGIN, {})
    made = argocd(catalog_of(cluster()), [unit("west/guard", injected, plain)])
    spec = objects(made, "gitops/argocd/west", "Application")["dracfg-west-guard"]["spec"]
    assert spec["ignoreDifferences"] == [
        {
            "group": "admissionregistration.k8s.io",
            "kind": "ValidatingWebhookConfiguration",
            "name": "one",
            "jqPathExpressions": [".webhooks[].clientConfig.caBundle"],
        }
    ]
    assert spec["syncPolicy"]["syncOptions"][-1] == "RespectIgnoreDifferences=true"


@pytest.mark.parametrize(
    ("destination", "expected"),
    [
        ("{name: a}", {"name": "a"}),
        ("{server: 'https://a.example'}", {"server": "https://a.example"}),
        ("{name: a, server: 'https://a.example'}", {"name": "a"}),
        ("{}", {"name": "west"}),
    ],
)
def test_a_destination_is_a_name_or_an_address(
    catalog_of: Any, destination: str, expected: dict[str, str]
) -> None:
    made = argocd(catalog_of(cluster(destination=destination)), [unit("west/guard")])
    child = objects(made, "gitops/argocd/west", "Application")["dracfg-west-guard"]
    assert child["spec"]["destination"] == expected


@pytest.mark.parametrize(
    ("path", "child", "parent"),
    [
        ("deploy/out/west", "deploy/out/west/guard", "deploy/out/gitops/argocd/west"),
        ("west", "west/guard", "gitops/argocd/west"),
        ("clusters/w-1", "clusters/w-1/guard", "clusters/gitops/argocd/west"),
    ],
)
def test_gitops_stands_beside_the_tree_of_the_cluster(
    catalog_of: Any, path: str, child: str, parent: str
) -> None:
    made = argocd(catalog_of(cluster(path=path, revision="v1")), [unit("west/guard")])
    (one,) = objects(made, "gitops/argocd/west", "Application").values()
    (root,) = objects(made, ROOT, "Application").values()
    assert [one["spec"]["source"][key] for key in ("path", "targetRevision")] == [child, "v1"]
    assert root["spec"]["source"]["path"] == parent


def test_names_of_all_clusters_differ_and_fit_into_labels(catalog_of: Any) -> None:
    long = "a" * 63
    names = ("a", "a-tenant", "a-tenant-b", "a-guard", long)
    tenants = ("b", "b-platform", "b-tenant-c", "tenant-b", "c", long)
    units = [
        one
        for name in names
        for one in (
            unit(f"{name}/guard"),
            unit(f"{name}/guard.2"),
            unit(f"{name}/platform"),
            *(unit(f"{name}/tenants/{tenant}") for tenant in tenants),
            unit(f"{name}/tenants/b.2"),
        )
    ]
    made = argocd(catalog_of(*map(cluster, names)), units)
    for kind in ("Application", "AppProject"):
        found = [
            artifact.object["metadata"]["name"]
            for unit in made
            for artifact in unit.artifacts
            if artifact.object["kind"] == kind
        ]
        assert len(set(found)) == len(found)
        assert all(len(name) <= 63 and check_dns_subdomain(name) is None for name in found)


def test_parts_come_in_the_order_of_their_numbers(catalog_of: Any) -> None:
    units = [unit(f"west/guard.{number}") for number in (10, 2)] + [unit("west/guard")]
    made = argocd(catalog_of(cluster()), units)
    assert list(objects(made, "gitops/argocd/west", "Application")) == [
        "dracfg-west-guard",
        "dracfg-west-guard.2",
        "dracfg-west-guard.10",
    ]


def test_a_tenant_without_a_unit_on_the_cluster_is_no_child(catalog_of: Any) -> None:
    made = argocd(catalog_of(cluster(), tenant("vision")), [unit("west/guard")])
    assert list(objects(made, "gitops/argocd/west", "Application")) == ["dracfg-west-guard"]


def test_a_tenant_that_comes_or_goes_changes_only_its_own_entries(catalog_of: Any) -> None:
    common = [*UNITS, tenant_unit("search")]
    documents = [cluster(), tenant("vision"), tenant("search")]
    before = argocd(catalog_of(*documents), common)
    after = argocd(catalog_of(*documents, tenant("audio")), [*common, tenant_unit("audio")])
    before_artifacts = {(u.path, repr(a)) for u in before for a in u.artifacts}
    after_artifacts = {(u.path, repr(a)) for u in after for a in u.artifacts}
    assert before_artifacts < after_artifacts
    new = [
        a.object for u in after for a in u.artifacts if (u.path, repr(a)) not in before_artifacts
    ]
    assert [(obj["kind"], obj["metadata"]["name"]) for obj in new] == [
        ("AppProject", "dracfg-west-tenant-audio"),
        ("Application", "dracfg-west-tenant-audio"),
    ]


def test_the_order_of_units_does_not_matter(catalog_of: Any, made: tuple[Unit, ...]) -> None:
    again = argocd(catalog_of(cluster(), tenant("vision")), tuple(reversed(UNITS)))
    assert again == made


@pytest.fixture(scope="module")
def fleet() -> tuple[str, ...]:
    return tuple(f"team-{i:03}" for i in range(MAX_OBJECTS))


@pytest.fixture
def large(catalog_of: Any, fleet: tuple[str, ...]) -> tuple[Unit, ...]:
    """A cluster with as many tenants as are too many for two units."""
    catalog = catalog_of(cluster(), *map(tenant, fleet))
    return argocd(catalog, (*UNITS[1:4], *map(tenant_unit, fleet)))


def test_what_is_too_much_for_one_unit_lies_in_parts(
    large: tuple[Unit, ...], fleet: tuple[str, ...]
) -> None:
    parts = [unit for unit in large if unit.path.startswith("gitops/argocd/west")]
    assert [unit.path for unit in parts] == [
        "gitops/argocd/west",
        *(f"gitops/argocd/west.{i}" for i in range(2, 6)),
    ]
    assert all(len(unit.artifacts) <= MAX_OBJECTS for unit in parts)
    assert {name for unit in parts[1:] for name in objects(large, unit.path, "Application")} == {
        f"dracfg-west-tenant-{name}" for name in fleet
    }
    for unit in parts[1:]:
        projects = objects(large, unit.path, "AppProject")
        children = objects(large, unit.path, "Application")
        assert {child["spec"]["project"] for child in children.values()} == projects.keys()


def test_the_unit_itself_has_the_layers_and_its_parts(large: tuple[Unit, ...]) -> None:
    assert [*objects(large, "gitops/argocd/west", "Application")] == [
        "dracfg-west-guard",
        "dracfg-west-guard.2",
        "dracfg-west-platform",
        *(f"dracfg-west-applications.{i}" for i in range(2, 6)),
    ]
    assert [*objects(large, "gitops/argocd/west", "AppProject")] == ["dracfg-west-platform"]


def test_a_part_is_followed_like_the_parents_own_folder(large: tuple[Unit, ...]) -> None:
    parent = objects(large, ROOT, "Application")["dracfg-west-applications"]
    part = objects(large, "gitops/argocd/west", "Application")["dracfg-west-applications.2"]
    assert part["spec"]["source"]["path"] == "out/gitops/argocd/west.2"
    assert part["metadata"]["annotations"][PATHS] == "/out/gitops/argocd/west.2"
    assert part["spec"]["project"] == parent["spec"]["project"]
    assert part["spec"]["destination"] == parent["spec"]["destination"]
    assert "finalizers" not in part["metadata"]


def test_parts_may_take_applications_over_from_one_another(large: tuple[Unit, ...]) -> None:
    """Else a part that has got a tenant would refuse to sync until the other has pruned it."""
    parent = objects(large, ROOT, "Application")["dracfg-west-applications"]
    part = objects(large, "gitops/argocd/west", "Application")["dracfg-west-applications.2"]
    alone = "FailOnSharedResource=true"
    assert alone in parent["spec"]["syncPolicy"]["syncOptions"]
    assert alone not in part["spec"]["syncPolicy"]["syncOptions"]


def test_the_root_is_the_same_for_few_tenants_as_for_many(
    catalog_of: Any, large: tuple[Unit, ...]
) -> None:
    small = argocd(catalog_of(cluster(), tenant("vision")), UNITS)
    assert [unit for unit in small if unit.path == ROOT] == [
        unit for unit in large if unit.path == ROOT
    ]


def test_who_is_in_a_part_stays_there_when_others_leave(
    catalog_of: Any, large: tuple[Unit, ...], fleet: tuple[str, ...]
) -> None:
    """The parent refuses what a part holds, and a part that goes takes nothing along."""
    paths = [f"{unit.path}/kustomization.yaml" for unit in large]
    stood = Standing(texts=dict.fromkeys(paths, ""))
    left = fleet[:9]
    made = argocd(catalog_of(cluster(), *map(tenant, left)), map(tenant_unit, left), stood)
    before = {name: unit.path for unit in large for name in _names(unit)}
    after = {name: unit.path for unit in made for name in _names(unit)}
    assert {f"dracfg-west-tenant-{name}" for name in left} <= after.keys()
    assert after.items() <= before.items()


def _names(unit: Unit) -> list[str]:
    return [artifact.object["metadata"]["name"] for artifact in unit.artifacts]
