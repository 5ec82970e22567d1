"""What operators apply themselves."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dracfg.lower.artifact import Origin, Unit, make
from dracfg.lower.gitops import ByHand, engine_units, shared_units
from dracfg.lower.snippets import snippets
from dracfg.source.standing import Standing

ORIGIN = Origin("all.yaml", "Cluster", "west")


def cluster(name: str, engine: str, addons: str = "{}") -> str:
    lines = {
        "argocd": "repoURL: https://git.example.com/devices.git\n    destination: {name: x}",
        "flux": "interval: 30m",
        "plain": "revision: main",
    }
    return f"""
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {{name: {name}}}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  addons: {addons}
  gitops:
    engine: {engine}
    {lines[engine]}
    applier: {{serviceAccount: {{namespace: a, name: b}}}}
"""


TENANT = """
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {name: vision}
spec:
  namespaces:
    - {name: own, clusters: [west]}
    - {name: theirs, clusters: [west], managedBy: external}
"""
ROLE = make("rbac.authorization.k8s.io/v1", "ClusterRole", "dracfg-applier", ORIGIN, {"rules": []})
NAMESPACE = make("v1", "Namespace", "theirs", ORIGIN, {})
NONE: dict[str, list[dict[str, Any]]] = {}
PREFIX = "resource.customizations.health."


def only(units: tuple[Unit, ...]) -> Unit:
    (unit,) = units
    return unit


@pytest.mark.parametrize("engine", ["flux", "plain"])
def test_there_is_nothing_where_nothing_is_left_to_do(catalog_of: Any, engine: str) -> None:
    assert snippets(catalog_of(cluster("west", engine)), applier=NONE, external=NONE) == ()


def test_the_folder_is_not_applied_by_an_engine(catalog_of: Any) -> None:
    unit = only(snippets(catalog_of(cluster("west", "argocd")), applier=NONE, external=NONE))
    assert unit.path == "gitops/snippets"
    assert not unit.synced


def test_argocd_gets_health_rules_and_an_exclusion(catalog_of: Any) -> None:
    unit = only(snippets(catalog_of(cluster("west", "argocd")), applier=NONE, external=NONE))
    rules = yaml.safe_load(unit.texts["argocd-health.yaml"])
    assert rules.keys() == {"data"}
    assert {key.removeprefix(PREFIX) for key in rules["data"]} == {
        "argoproj.io_Application",
        "admissionregistration.k8s.io_ValidatingAdmissionPolicy",
        "resource.k8s.io_DeviceClass",
        "resource.k8s.io_ResourceClaim",
        "resource.k8s.io_ResourceClaimTemplate",
    }
    assert (
        "expressionWarnings"
        in rules["data"][f"{PREFIX}admissionregistration.k8s.io_ValidatingAdmissionPolicy"]
    )
    assert yaml.safe_load(unit.texts["argocd-exclusions.yaml"]) == [
        {"apiGroups": ["resource.k8s.io"], "kinds": ["ResourceSlice"], "clusters": ["*"]}
    ]


def test_snippets_of_argocd_cm_have_no_head(catalog_of: Any) -> None:
    """Argo CD finds argocd-cm by its label part-of, which dracfg's own would replace."""
    unit = only(snippets(catalog_of(cluster("west", "argocd")), applier=NONE, external=NONE))
    assert not unit.artifacts
    for name in ("argocd-health.yaml", "argocd-exclusions.yaml"):
        assert "part-of" not in unit.texts[name]
        assert "metadata" not in yaml.safe_load(unit.texts[name])


@pytest.mark.parametrize(
    ("documents", "queues"),
    [
        ((cluster("west", "argocd", '{kueue: "0.17"}'),), {"ClusterQueue", "LocalQueue"}),
        ((cluster("west", "argocd"), cluster("east", "flux", '{kueue: "0.17"}')), set()),
    ],
)
def test_kueue_is_judged_where_a_cluster_of_argocd_has_it(
    catalog_of: Any, documents: tuple[str, ...], queues: set[str]
) -> None:
    unit = only(snippets(catalog_of(*documents), applier=NONE, external=NONE))
    rules = yaml.safe_load(unit.texts["argocd-health.yaml"])["data"]
    start = f"{PREFIX}kueue.x-k8s.io_"
    assert {key.removeprefix(start) for key in rules if key.startswith(start)} == queues


def test_scripts_use_no_library_that_argocd_keeps_closed(catalog_of: Any) -> None:
    catalog = catalog_of(cluster("west", "argocd", '{kueue: "0.17"}'))
    unit = only(snippets(catalog, applier=NONE, external=NONE))
    for script in yaml.safe_load(unit.texts["argocd-health.yaml"])["data"].values():
        assert "return" in script
        for word in ("string.", "io.", "require", "math.", ":format", ":gsub", ":match"):
            assert word not in script.replace("argoproj.io", "")


def test_appliers_and_external_namespaces_have_files_of_their_cluster(catalog_of: Any) -> None:
    catalog = catalog_of(cluster("west", "flux"), cluster("east", "plain"), TENANT)
    unit = only(
        snippets(
            catalog,
            applier={"west": [ROLE], "east": [ROLE]},
            external={"west": [NAMESPACE], "east": []},
        )
    )
    assert [(a.file, a.object["kind"], str(a.origin)) for a in unit.artifacts] == [
        ("applier-east.yaml", "ClusterRole", "all.yaml#Cluster/east/spec/gitops/applier"),
        ("applier-west.yaml", "ClusterRole", "all.yaml#Cluster/west/spec/gitops/applier"),
        ("namespaces-west.yaml", "Namespace", "all.yaml#Tenant/vision/spec/namespaces/1"),
    ]


def test_the_readme_names_every_file_and_no_other(catalog_of: Any) -> None:
    catalog = catalog_of(cluster("west", "argocd"), TENANT)
    unit = only(snippets(catalog, applier={"west": [ROLE]}, external={"west": [NAMESPACE]}))
    named = [line.split("`")[1] for line in unit.texts["README.md"].splitlines() if "`:" in line]
    assert named == [
        "applier-west.yaml",
        "argocd-exclusions.yaml",
        "argocd-health.yaml",
        "namespaces-west.yaml",
    ]


def test_each_engine_gets_its_own_folder(catalog_of: Any) -> None:
    catalog = catalog_of(
        cluster("a", "argocd"),
        cluster("f", "flux"),
        cluster("p", "plain"),
        TENANT.replace("west", "p"),
    )
    units = [Unit(f"{name}/guard") for name in ("a", "f", "p")]
    made = [
        one
        for of in catalog.clusters.values()
        for one in engine_units(catalog, of, units, Standing())
    ]
    assert [unit.path for unit in made] == ["gitops/argocd/a", "gitops/flux/f"]
    shared = shared_units(catalog, {"f": ByHand(applier=[ROLE])})
    assert [unit.path for unit in shared] == ["gitops/argocd/_root", "gitops/snippets"]
