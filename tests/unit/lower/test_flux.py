"""Kustomizations of clusters with Flux."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Artifact, Origin, Unit, make
from dracfg.lower.flux import kustomizations
from dracfg.source.standing import Standing

ORIGIN = Origin("all.yaml", "Cluster", "west")
ADMISSION = "admissionregistration.k8s.io/v1"


def flux(
    catalog: Catalog, units: Iterable[Unit], standing: Standing | None = None
) -> tuple[Unit, ...]:
    """What all clusters come to, as a compile puts it together."""
    listed = tuple(units)
    made = (
        kustomizations(catalog, of, listed, standing or Standing())
        for of in catalog.clusters.values()
    )
    return tuple(one for of in made for one in of)


def cluster(name: str = "west", namespace: str = "flux-system", **more: str) -> str:
    extra = "".join(f"\n    {key}: {value}" for key, value in more.items())
    return f"""
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {{name: {name}}}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops:
    engine: flux
    applier: {{serviceAccount: {{namespace: {namespace}, name: devices}}}}{extra}
"""


def tenant(name: str) -> str:
    return f"""
apiVersion: dracfg.dev/v1alpha1
kind: Tenant
metadata: {{name: {name}}}
spec: {{namespaces: [{{name: {name}, clusters: [west]}}]}}
"""


def unit(path: str, *objects: tuple[str, str], synced: bool = True) -> Unit:
    artifacts = tuple(
        Artifact(make(api, kind, "one", ORIGIN, {}), "objects.yaml", ORIGIN)
        for api, kind in objects
    )
    return Unit(path, artifacts, synced=synced)


UNITS = (
    unit("west/tenants/vision"),
    unit("west/platform", ("resource.k8s.io/v1", "DeviceClass")),
    unit("west/guard.2"),
    unit("west/guard", (ADMISSION, "ValidatingAdmissionPolicy")),
    unit("west/control-plane", synced=False),
    unit("east/guard"),
)


def by_name(units: tuple[Unit, ...]) -> dict[str, dict[str, Any]]:
    return {
        artifact.object["metadata"]["name"]: artifact.object
        for unit in units
        for artifact in unit.artifacts
    }


@pytest.fixture
def made(catalog_of: Any) -> tuple[Unit, ...]:
    return flux(catalog_of(cluster(), tenant("vision")), UNITS)


def test_there_is_one_unit_a_cluster_of_flux(made: tuple[Unit, ...], catalog_of: Any) -> None:
    assert [(unit.path, unit.synced) for unit in made] == [("gitops/flux/west", True)]
    assert {artifact.file for artifact in made[0].artifacts} == {"kustomizations.yaml"}
    plain = cluster().replace("engine: flux", "engine: plain")
    assert flux(catalog_of(plain), UNITS) == ()


def test_each_layer_waits_for_all_of_the_one_before(made: tuple[Unit, ...]) -> None:
    waits = {
        name: [entry["name"] for entry in obj["spec"].get("dependsOn", ())]
        for name, obj in by_name(made).items()
    }
    assert waits == {
        "dracfg-west-guard": [],
        "dracfg-west-guard.2": [],
        "dracfg-west-platform": ["dracfg-west-guard", "dracfg-west-guard.2"],
        "dracfg-west-tenant-vision": ["dracfg-west-platform"],
    }
    assert list(waits) == [
        "dracfg-west-guard",
        "dracfg-west-guard.2",
        "dracfg-west-platform",
        "dracfg-west-tenant-vision",
    ]


def test_a_layer_that_is_missing_is_not_waited_for(catalog_of: Any) -> None:
    units = [unit("west/guard"), unit("west/tenants/vision")]
    made = by_name(flux(catalog_of(cluster(), tenant("vision")), units))
    spec = made["dracfg-west-tenant-vision"]["spec"]
    assert spec["dependsOn"] == [{"name": "dracfg-west-guard"}]


def test_a_kustomization_as_a_whole(made: tuple[Unit, ...]) -> None:
    assert by_name(made)["dracfg-west-tenant-vision"] == {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {
            "name": "dracfg-west-tenant-vision",
            "namespace": "flux-system",
            "labels": {
                "app.kubernetes.io/managed-by": "dracfg",
                "app.kubernetes.io/part-of": "dracfg",
                "dracfg.dev/cluster": "west",
                "dracfg.dev/layer": "tenant",
                "dracfg.dev/tenant": "vision",
            },
            "annotations": {"dracfg.dev/origin": "all.yaml#Tenant/vision"},
        },
        "spec": {
            "dependsOn": [{"name": "dracfg-west-platform"}],
            "interval": "60m",
            "retryInterval": "2m",
            "path": "./out/west/tenants/vision",
            "prune": True,
            "deletionPolicy": "MirrorPrune",
            "serviceAccountName": "devices",
            "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
            "timeout": "3m",
            "wait": True,
        },
    }


def test_guards_and_classes_stay_when_their_kustomization_goes(made: tuple[Unit, ...]) -> None:
    policies = {name: obj["spec"]["deletionPolicy"] for name, obj in by_name(made).items()}
    assert policies == {
        "dracfg-west-guard": "Orphan",
        "dracfg-west-guard.2": "Orphan",
        "dracfg-west-platform": "Orphan",
        "dracfg-west-tenant-vision": "MirrorPrune",
    }


def test_nothing_is_forced_or_substituted(made: tuple[Unit, ...]) -> None:
    for obj in by_name(made).values():
        assert obj["spec"].keys().isdisjoint({"force", "postBuild", "targetNamespace", "patches"})


def test_only_an_account_of_the_same_namespace_can_be_impersonated(catalog_of: Any) -> None:
    (obj,) = by_name(
        flux(catalog_of(cluster(namespace="elsewhere")), [unit("west/guard")])
    ).values()
    assert "serviceAccountName" not in obj["spec"]


def test_the_document_says_source_namespace_path_and_interval(catalog_of: Any) -> None:
    document = cluster(
        namespace="devices",
        source="{kind: OCIRepository, name: tree, namespace: flux-system}",
        interval="1d12h",
        path="clusters/w",
    ).replace("engine: flux", "engine: flux\n    namespace: devices")
    (obj,) = by_name(flux(catalog_of(document), [unit("west/guard")])).values()
    spec = obj["spec"]
    assert obj["metadata"]["namespace"] == "devices"
    assert spec["sourceRef"] == {
        "kind": "OCIRepository",
        "name": "tree",
        "namespace": "flux-system",
    }
    assert spec["interval"] == "24h12h"
    assert spec["path"] == "./clusters/w/guard"
    assert spec["serviceAccountName"] == "devices"


def test_health_is_judged_for_kinds_that_the_unit_holds(catalog_of: Any) -> None:
    units = [
        unit("west/guard", (ADMISSION, "ValidatingAdmissionPolicy"), ("v1", "Namespace")),
        unit("west/platform", ("kueue.x-k8s.io/v1beta2", "ClusterQueue")),
        unit("west/tenants/vision", ("resource.k8s.io/v1", "ResourceClaimTemplate")),
    ]
    made = by_name(flux(catalog_of(cluster(), tenant("vision")), units))
    judged = {
        name: [(c["apiVersion"], c["kind"]) for c in obj["spec"].get("healthCheckExprs", ())]
        for name, obj in made.items()
    }
    assert judged == {
        "dracfg-west-guard": [(ADMISSION, "ValidatingAdmissionPolicy")],
        "dracfg-west-platform": [("kueue.x-k8s.io/v1beta2", "ClusterQueue")],
        "dracfg-west-tenant-vision": [],
    }
    (check,) = made["dracfg-west-guard"]["spec"]["healthCheckExprs"]
    assert check.keys() == {"apiVersion", "kind", "inProgress", "failed", "current"}
    assert "expressionWarnings" in check["failed"]


def test_a_tenant_that_comes_or_goes_changes_only_its_own_entry(catalog_of: Any) -> None:
    documents = [cluster(), tenant("vision")]
    before = by_name(flux(catalog_of(*documents), UNITS))
    units = [*UNITS, unit("west/tenants/audio")]
    after = by_name(flux(catalog_of(*documents, tenant("audio")), units))
    assert after.keys() - before.keys() == {"dracfg-west-tenant-audio"}
    assert {name: after[name] for name in before} == before


def many(*tenants: str) -> list[Unit]:
    return [
        unit("west/guard"),
        unit("west/platform"),
        *(unit(f"west/tenants/{t}") for t in tenants),
    ]


def standing(units: Iterable[Unit]) -> Standing:
    return Standing(
        {f"{one.path}/kustomizations.yaml": tuple(a.object for a in one.artifacts) for one in units}
    )


def tenants_of(units: Iterable[Unit]) -> dict[str, list[str]]:
    return {
        one.path: [
            tenant
            for artifact in one.artifacts
            if (tenant := artifact.object["metadata"]["labels"].get("dracfg.dev/tenant"))
        ]
        for one in units
    }


NAMES = [f"t{number:04}" for number in range(1700)]


def test_tenants_that_are_too_many_for_one_unit_lie_in_parts_of_it(catalog_of: Any) -> None:
    made = flux(catalog_of(cluster()), many(*NAMES))
    held = tenants_of(made)
    assert list(held) == ["gitops/flux/west", "gitops/flux/west.2", "gitops/flux/west.3"]
    assert sorted(name for part in held.values() for name in part) == NAMES
    assert all(len(one.artifacts) <= 900 for one in made)
    part = by_name(made)["dracfg-west-kustomizations.2"]
    assert part["metadata"]["labels"].get("dracfg.dev/layer") is None
    assert part["spec"] == {
        "interval": "60m",
        "retryInterval": "2m",
        "path": "./out/gitops/flux/west.2",
        "prune": True,
        "deletionPolicy": "MirrorPrune",
        "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
        "timeout": "3m",
        "wait": False,
    }
    first = [artifact.object["metadata"]["name"] for artifact in made[0].artifacts]
    assert first[:4] == [
        "dracfg-west-guard",
        "dracfg-west-platform",
        "dracfg-west-kustomizations.2",
        "dracfg-west-kustomizations.3",
    ]


def test_a_tenant_stays_in_the_part_in_which_it_stands(catalog_of: Any) -> None:
    catalog = catalog_of(cluster())
    before = flux(catalog, many(*NAMES))
    newcomers = [f"a{number}" for number in range(40)]
    left = [name for name in NAMES if name not in ("t0003", "t0800", "t0801")]
    now = tenants_of(flux(catalog, many(*newcomers, *left), standing(before)))
    for path, stood in tenants_of(before).items():
        assert set(stood) & set(left) <= set(now[path])
    assert [len(set(now[path]) & set(newcomers)) for path in now] == [1, 2, 37]


def test_a_part_without_tenants_goes_and_the_others_keep_their_numbers(catalog_of: Any) -> None:
    catalog = catalog_of(cluster())
    before = flux(catalog, many(*NAMES))
    last = tenants_of(before)["gitops/flux/west.3"]
    now = flux(catalog, many(*last), standing(before))
    assert tenants_of(now) == {"gitops/flux/west": [], "gitops/flux/west.3": last}
    assert "dracfg-west-kustomizations.2" not in by_name(now)


def test_units_of_one_tenant_stay_together(catalog_of: Any) -> None:
    names = [f"t{number:04}" for number in range(749)]
    made = flux(catalog_of(cluster()), [*many(*names, "vision"), unit("west/tenants/vision.2")])
    assert tenants_of(made)["gitops/flux/west.2"] == ["vision", "vision"]
