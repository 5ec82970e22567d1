"""What engines are told about single objects, and the order in which files are applied."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dracfg.kube.kinds import kinds
from dracfg.link.catalog import Cluster
from dracfg.lower.artifact import Artifact, Origin, Unit, make
from dracfg.lower.sync import (
    is_retained,
    kustomization,
    manifest_files,
    treatments,
    with_engine,
    without_engine,
)

WAVE = "argocd.argoproj.io/sync-wave"
OPTIONS = "argocd.argoproj.io/sync-options"
PRUNE = "kustomize.toolkit.fluxcd.io/prune"
SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"
ENGINES = ("argocd", "flux", "plain")
ORIGIN = Origin("tenants/vision.yaml", "Tenant", "vision")

CLUSTERS = """
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: argocd}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops:
    engine: argocd
    repoURL: https://git.example.com/devices.git
    destination: {name: argocd}
    applier: {serviceAccount: {namespace: argocd, name: controller}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: flux}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops:
    engine: flux
    applier: {serviceAccount: {namespace: flux-system, name: controller}}
---
apiVersion: dracfg.dev/v1alpha1
kind: Cluster
metadata: {name: plain}
spec:
  kubernetes: "1.36"
  distribution: kubeadm
  gitops: {engine: plain}
"""


@pytest.fixture
def clusters(catalog_of: Any) -> dict[str, Cluster]:
    return dict(catalog_of(CLUSTERS).clusters)


def thing(group: str, kind: str, name: str = "one", namespace: str | None = None) -> dict[str, Any]:
    return make(f"{group}/v1" if group else "v1", kind, name, ORIGIN, {}, namespace=namespace)


def engine_keys(obj: dict[str, Any]) -> dict[str, str]:
    return {
        key: value
        for key, value in obj["metadata"]["annotations"].items()
        if key.startswith(("argocd.", "kustomize."))
    }


@pytest.mark.parametrize(
    ("group", "kind", "wave"),
    [
        ("", "Namespace", "-40"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "-30"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", "-30"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "-30"),
        ("resource.k8s.io", "DeviceTaintRule", "-30"),
        ("", "ResourceQuota", "-20"),
        ("kueue.x-k8s.io", "ClusterQueue", "-20"),
        ("rbac.authorization.k8s.io", "ClusterRole", "-10"),
        ("rbac.authorization.k8s.io", "RoleBinding", "-10"),
        ("", "ConfigMap", "0"),
        ("resource.k8s.io", "DeviceClass", "0"),
        ("resource.k8s.io", "ResourceClaimTemplate", "10"),
        ("resource.k8s.io", "ResourceClaim", "10"),
        ("monitoring.coreos.com", "PrometheusRule", "20"),
    ],
)
def test_argocd_gets_the_wave_of_the_kind(
    clusters: dict[str, Cluster], group: str, kind: str, wave: str
) -> None:
    seen = with_engine(clusters["argocd"], thing(group, kind), retained=False)
    assert engine_keys(seen) == {WAVE: wave}


def test_argocd_is_told_to_keep_what_is_retained(clusters: dict[str, Cluster]) -> None:
    seen = with_engine(clusters["argocd"], thing("", "Namespace"), retained=True)
    assert engine_keys(seen) == {WAVE: "-40", OPTIONS: "Prune=false"}


def test_argocd_gets_no_wave_for_a_kind_without_a_word_on_it(clusters: dict[str, Cluster]) -> None:
    assert engine_keys(with_engine(clusters["argocd"], thing("x.io", "X"), retained=False)) == {}


@pytest.mark.parametrize(
    ("group", "kind", "retained", "expected"),
    [
        ("", "Namespace", True, {PRUNE: "disabled"}),
        ("", "Namespace", False, {}),
        (
            "admissionregistration.k8s.io",
            "ValidatingAdmissionPolicy",
            False,
            {SUBSTITUTE: "disabled"},
        ),
        ("resource.k8s.io", "DeviceClass", False, {SUBSTITUTE: "disabled"}),
        (
            "resource.k8s.io",
            "ResourceClaimTemplate",
            True,
            {PRUNE: "disabled", SUBSTITUTE: "disabled"},
        ),
        ("rbac.authorization.k8s.io", "RoleBinding", False, {}),
    ],
)
def test_flux_keeps_what_is_retained_and_leaves_expressions_alone(
    clusters: dict[str, Cluster],
    group: str,
    kind: str,
    retained: bool,
    expected: dict[str, str],
) -> None:
    seen = with_engine(clusters["flux"], thing(group, kind), retained=retained)
    assert engine_keys(seen) == expected


def test_without_an_engine_nothing_is_added(clusters: dict[str, Cluster]) -> None:
    template = thing("resource.k8s.io", "ResourceClaimTemplate", namespace="a")
    assert with_engine(clusters["plain"], template, retained=True) == template


def test_a_change_of_engine_leaves_no_word_of_the_old_one(clusters: dict[str, Cluster]) -> None:
    policy = thing("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
    before = with_engine(clusters["argocd"], policy, retained=True)
    after = with_engine(clusters["flux"], before, retained=True)
    assert after == with_engine(clusters["flux"], policy, retained=True)
    assert without_engine(before) == without_engine(after) == policy


def test_objects_are_not_changed_in_place(clusters: dict[str, Cluster]) -> None:
    namespace = thing("", "Namespace")
    before = repr(namespace)
    without_engine(with_engine(clusters["argocd"], namespace, retained=True))
    assert repr(namespace) == before


def test_an_object_that_carried_nothing_else_loses_its_annotations() -> None:
    bare = without_engine(
        {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "annotations": {WAVE: "1"}}}
    )
    assert bare["metadata"] == {"name": "a"}


@pytest.mark.parametrize(
    ("annotations", "retained"),
    [
        ({OPTIONS: "Prune=false"}, True),
        ({OPTIONS: "ServerSideApply=true, Prune=false"}, True),
        ({OPTIONS: "Prune=confirm"}, False),
        ({PRUNE: "disabled"}, True),
        ({PRUNE: "enabled"}, False),
        ({}, False),
        (None, False),
    ],
)
def test_retention_is_read_in_either_dialect(
    annotations: dict[str, str] | None, retained: bool
) -> None:
    obj = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "annotations": annotations}}
    assert is_retained(obj) is retained


@pytest.mark.parametrize("engine", ["argocd", "flux"])
@pytest.mark.parametrize("retained", [True, False])
def test_what_is_written_is_read_back(
    clusters: dict[str, Cluster], engine: str, retained: bool
) -> None:
    seen = with_engine(clusters[engine], thing("resource.k8s.io", "DeviceClass"), retained=retained)
    assert is_retained(seen) is retained


@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_what_may_be_in_use_is_retained_by_default(
    clusters: dict[str, Cluster], engine: str
) -> None:
    seen = [with_engine(clusters[engine], thing(*kind)) for kind in treatments()]
    kept = {one["kind"] for one in seen if is_retained(one)}
    assert kept == {"Namespace", "ResourceQuota", "ResourceClaim", "ResourceClaimTemplate"}


def test_the_scope_of_every_kind_is_known() -> None:
    assert treatments().keys() <= kinds().keys()


def test_waves_never_fall_along_the_order_of_applying() -> None:
    """All engines apply in one order: what comes first in the table has no later wave."""
    waves = [treatment.wave for treatment in treatments().values()]
    assert waves == sorted(waves)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_lets_an_engine_replace_force_or_track(
    clusters: dict[str, Cluster], engine: str
) -> None:
    for group, kind in treatments():
        seen = repr(with_engine(clusters[engine], thing(group, kind), retained=True)).lower()
        for word in ("replace", "force", "tracking", "app.kubernetes.io/instance"):
            assert word not in seen


def unit(*files: tuple[str, dict[str, Any]]) -> Unit:
    return Unit("east/x", tuple(Artifact(obj, file, ORIGIN) for file, obj in files))


ADMISSION = "admissionregistration.k8s.io"
RBAC = "rbac.authorization.k8s.io"
FILES = (
    ("namespaces.yaml", thing("", "Namespace")),
    ("admission-policies.yaml", thing(ADMISSION, "ValidatingAdmissionPolicyBinding")),
    ("admission-policies.yaml", thing(ADMISSION, "ValidatingAdmissionPolicy")),
    ("webhooks.yaml", thing(ADMISSION, "ValidatingWebhookConfiguration")),
    ("device-taint-rules.yaml", thing("resource.k8s.io", "DeviceTaintRule")),
    ("quotas.yaml", thing("", "ResourceQuota", namespace="a")),
    ("roles.yaml", thing(RBAC, "ClusterRole")),
    ("role-bindings.yaml", thing(RBAC, "RoleBinding", namespace="a")),
    ("policy-versions.yaml", thing("", "ConfigMap", namespace="a")),
    ("device-classes.yaml", thing("resource.k8s.io", "DeviceClass")),
    ("claim-templates.yaml", thing("resource.k8s.io", "ResourceClaimTemplate", namespace="a")),
    ("claims.yaml", thing("resource.k8s.io", "ResourceClaim", namespace="a")),
    ("alerts.yaml", thing("monitoring.coreos.com", "PrometheusRule", namespace="a")),
    ("extra.yaml", thing("x.io", "X")),
    (
        "retired/claim-templates.yaml",
        thing("resource.k8s.io", "ResourceClaimTemplate", "old", namespace="a"),
    ),
)


@given(st.permutations(FILES))
def test_files_stand_in_the_order_of_applying(shuffled: list[tuple[str, dict[str, Any]]]) -> None:
    assert manifest_files(unit(*shuffled)) == tuple(dict.fromkeys(file for file, _ in FILES))


def test_a_kustomization_lists_manifests_only_and_keeps_their_order() -> None:
    unit = Unit(
        "east/guard",
        (
            Artifact(thing("", "ResourceQuota", namespace="a"), "quotas.yaml", ORIGIN),
            Artifact(thing("", "Namespace", "a"), "namespaces.yaml", ORIGIN),
        ),
        {"NOTES.md": "text"},
    )
    assert kustomization(manifest_files(unit)) == {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "sortOptions": {"order": "fifo"},
        "resources": ["namespaces.yaml", "quotas.yaml"],
    }
