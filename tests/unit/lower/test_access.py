"""Tenants' roles and bindings, and what the applier needs to write them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from dracfg.kube.objects import schema_faults
from dracfg.link.catalog import Catalog
from dracfg.link.classes import device_classes
from dracfg.lower.access import (
    applier_role,
    cluster_role_bindings,
    cluster_roles,
    plural,
    role_bindings,
)
from dracfg.lower.admission import admission
from dracfg.lower.artifact import Artifact

WRITES = {"create", "update", "patch", "delete", "deletecollection"}
GROUP = "rbac.authorization.k8s.io"


@pytest.fixture
def catalog(catalog_of: Any, platform: str, vision: str) -> Catalog:
    linked: Catalog = catalog_of(platform, vision)
    return linked


def roles(catalog: Catalog) -> dict[str, Artifact]:
    found = cluster_roles(catalog, catalog.clusters["east"])
    return {artifact.object["metadata"]["name"]: artifact for artifact in found}


def bindings(catalog: Catalog) -> tuple[Artifact, ...]:
    return role_bindings(catalog.clusters["east"], catalog.tenants["vision"])


def allowed(rules: Iterable[dict[str, list[str]]]) -> set[tuple[str, str, str]]:
    """(verb, group, resource) of rules that hold for every object."""
    return {
        (verb, group, resource)
        for rule in rules
        if "resourceNames" not in rule
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_own_claims_are_there_only_where_somebody_writes_them(
    catalog_of: Any, platform: str, vision: str
) -> None:
    def names(text: str) -> list[str]:
        return list(roles(catalog_of(platform, text)))

    writing = vision.replace("spec:\n", "spec:\n  ownClaims: true\n", 1)
    assert names(vision)[:2] == ["dracfg-tenant-use", "dracfg-tenant-view"]
    assert set(names(writing)) - set(names(vision)) == {"dracfg-tenant-own-claims"}
    removed = names(writing.replace("spec:\n", "spec:\n  state: removed\n", 1))
    assert set(names(vision)) - set(removed) == {"dracfg-monitoring"}
    assert "dracfg-tenant-own-claims" not in removed
    artifact = roles(catalog_of(platform, writing))["dracfg-tenant-own-claims"]
    assert [str(origin) for origin in artifact.via] == ["all.yaml#Tenant/vision/spec/ownClaims"]


def test_roles_grant_what_a_reviewer_would_list(
    catalog_of: Any, platform: str, vision: str
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  ownClaims: true\n", 1))
    granted = {name: allowed(made.object["rules"]) for name, made in roles(catalog).items()}
    forbidden = {"deviceclasses", "resourceslices", "namespaces", "resourcequotas", "secrets"}
    for held in granted.values():
        for verb, group, resource in held:
            assert "*" not in (verb, group, resource)
            assert verb not in {"bind", "escalate", "impersonate"}
            if verb in WRITES:
                assert resource not in forbidden
                assert not resource.endswith("/status")
    tenants = ("dracfg-tenant-use", "dracfg-tenant-view", "dracfg-tenant-own-claims")
    use, view, own = (granted[name] for name in tenants)
    assert {verb for verb, *_ in view} == {"get", "list", "watch"}
    assert {what[1:] for what in use} == {what[1:] for what in view}
    assert {what for what in use if what[1] == "resource.k8s.io"} == {
        what for what in view if what[1] == "resource.k8s.io"
    }
    assert ("create", "", "pods") in use
    assert own == {
        (verb, "resource.k8s.io", resource)
        for verb in ("create", "delete")
        for resource in ("resourceclaims", "resourceclaimtemplates")
    }


def test_bindings_name_the_subjects_in_their_order(catalog: Catalog) -> None:
    found = bindings(catalog)
    assert [(a.object["metadata"]["namespace"], a.object["metadata"]["name"]) for a in found] == [
        ("vision-train", "dracfg-tenant-use"),
        ("vision-train", "dracfg-tenant-view"),
        ("vision-monitor", "dracfg-tenant-use"),
        ("vision-monitor", "dracfg-tenant-view"),
    ]
    use = found[0]
    assert use.object["subjects"] == [
        {"kind": "Group", "apiGroup": GROUP, "name": "vision-eng"},
        {"kind": "User", "apiGroup": GROUP, "name": "ann"},
        {"kind": "ServiceAccount", "name": "runner", "namespace": "ci"},
    ]
    assert use.object["roleRef"] == {
        "apiGroup": GROUP,
        "kind": "ClusterRole",
        "name": "dracfg-tenant-use",
    }
    assert use.object["metadata"]["labels"]["dracfg.dev/tenant"] == "vision"
    assert use.file == "role-bindings.yaml"
    assert str(use.origin) == "all.yaml#Tenant/vision/spec/access/use"
    assert [str(origin) for origin in found[2].via] == ["all.yaml#Tenant/vision/spec/namespaces/1"]


def test_who_writes_claims_is_bound_to_that(catalog_of: Any, platform: str, vision: str) -> None:
    found = bindings(
        catalog_of(platform, vision.replace("spec:\n", "spec:\n  ownClaims: true\n", 1))
    )
    assert [artifact.object["metadata"]["name"] for artifact in found[:3]] == [
        "dracfg-tenant-use",
        "dracfg-tenant-view",
        "dracfg-tenant-own-claims",
    ]
    assert found[2].object["subjects"] == found[0].object["subjects"]


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [
        ("spec:\n", "spec:\n  state: removed\n", 0),
        ("spec:\n", "spec:\n  state: draining\n", 4),
        ("    view: [{group: guests}]\n", "", 2),
    ],
)
def test_bindings_by_state_and_subjects(
    catalog_of: Any, platform: str, vision: str, before: str, after: str, count: int
) -> None:
    assert len(bindings(catalog_of(platform, vision.replace(before, after, 1)))) == count


def test_nobody_is_bound_where_nobody_is_named(catalog_of: Any, platform: str, vision: str) -> None:
    text = vision[: vision.index("  access:")] + vision[vision.index("  namespaces:") :]
    assert bindings(catalog_of(platform, text)) == ()


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_objects_fit_the_schema(catalog: Catalog, minor: str) -> None:
    cluster = catalog.clusters["east"]
    made = [a.object for a in (*cluster_roles(catalog, cluster), *bindings(catalog))]
    for thing in (*made, *applier_role(cluster, made)):
        assert schema_faults(thing, minor) == ()


def test_the_applier_holds_kinds_and_grants_and_binds_by_name(catalog: Catalog) -> None:
    cluster = catalog.clusters["east"]
    classes = device_classes(catalog, cluster)
    policies = [artifact.object for artifact in admission(catalog, cluster, classes)]
    made = [a.object for a in (*cluster_roles(catalog, cluster), *bindings(catalog))]
    role, binding = applier_role(cluster, [*policies, *made])
    granted = set().union(*(allowed(r.object["rules"]) for r in roles(catalog).values()))
    written = {
        (group, resource)
        for group, resource in (
            ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
            ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
            (GROUP, "clusterroles"),
            (GROUP, "rolebindings"),
        )
    }
    verbs = ("get", "list", "watch", "create", "update", "patch", "delete")
    assert allowed(role["rules"]) == granted | {(verb, *what) for verb in verbs for what in written}
    named = [rule for rule in role["rules"] if "resourceNames" in rule]
    assert named == [
        {
            "verbs": ["bind"],
            "apiGroups": [GROUP],
            "resources": ["clusterroles"],
            "resourceNames": [
                "dracfg-monitoring",
                "dracfg-pr-bot",
                "dracfg-pr-bot-records",
                "dracfg-tenant-use",
                "dracfg-tenant-view",
            ],
        }
    ]
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "kustomize-controller", "namespace": "flux-system"}
    ]
    assert binding["roleRef"]["name"] == role["metadata"]["name"] == "dracfg-applier"


def test_the_applier_role_does_not_depend_on_the_order_of_objects(catalog: Catalog) -> None:
    cluster = catalog.clusters["east"]
    made = [a.object for a in (*cluster_roles(catalog, cluster), *bindings(catalog))]
    assert applier_role(cluster, made) == applier_role(cluster, made[::-1])


def test_without_roles_nothing_is_bound_and_without_an_applier_nothing_is_made(
    catalog_of: Any, platform: str, catalog: Catalog
) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
    role, _ = applier_role(catalog.clusters["east"], [namespace])
    assert [rule["resources"] for rule in role["rules"]] == [["namespaces"]]
    engine, end = platform.index("    engine: flux"), platform.index("---")
    plain = catalog_of(platform[:engine] + "    engine: plain\n" + platform[end:])
    assert applier_role(plain.clusters["east"], [namespace]) == ()


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("DeviceClass", "deviceclasses"),
        ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
        ("ResourceClaimTemplate", "resourceclaimtemplates"),
        ("LocalQueue", "localqueues"),
    ],
)
def test_plural(kind: str, resource: str) -> None:
    assert plural(kind) == resource


@pytest.mark.parametrize(
    ("visibility", "role"),
    [("none", None), ("classes", "dracfg-class-reader"), ("slices", "dracfg-slice-reader")],
)
def test_visibility_binds_all_subjects_of_the_tenant(
    catalog_of: Any, platform: str, vision: str, visibility: str, role: str | None
) -> None:
    text = vision.replace("    view: [", f"    visibility: {visibility}\n    view: [", 1)
    catalog = catalog_of(platform, text)
    found = cluster_role_bindings(catalog.clusters["east"], catalog.tenants["vision"])
    made = {a.object["roleRef"]["name"]: a.object for a in found}
    assert made.keys() - {"dracfg-monitoring"} == ({role} if role else set())
    assert (role in roles(catalog)) is (role is not None)
    if role is not None:
        assert made[role]["metadata"]["name"] == f"{role}-vision"
        names = [subject["name"] for subject in made[role]["subjects"]]
        assert names == ["vision-eng", "ann", "runner", "guests"]
        assert schema_faults(made[role], "1.36") == ()


def test_only_service_accounts_watch_devices_in_use(
    catalog_of: Any, platform: str, vision: str
) -> None:
    def watching(text: str) -> list[list[str]]:
        catalog = catalog_of(platform, text)
        found = cluster_role_bindings(catalog.clusters["east"], catalog.tenants["vision"])
        return [[subject["name"] for subject in a.object["subjects"]] for a in found]

    assert watching(vision) == [["runner"]]
    assert watching(vision[: vision.index("  adminAccess")]) == []
    people = vision.replace(", {serviceAccount: {namespace: ci, name: runner}}", "")
    assert watching(people) == []


def test_a_removed_tenant_reads_nothing_of_the_cluster(
    catalog_of: Any, platform: str, vision: str
) -> None:
    text = vision.replace("spec:\n", "spec:\n  state: removed\n", 1)
    text = text.replace("    view: [", "    visibility: slices\n    view: [", 1)
    catalog = catalog_of(platform, text)
    assert cluster_role_bindings(catalog.clusters["east"], catalog.tenants["vision"]) == ()


def test_what_workloads_run_under_reads_no_claim(
    catalog_of: Any, platform: str, vision: str
) -> None:
    """Service accounts of the tenant's own namespaces may run pods, and see no claim, class or slice."""
    own = vision.replace("namespace: ci, name: runner", "namespace: vision-train, name: hub")
    own = own.replace("spec:\n", "spec:\n  ownClaims: true\n", 1)
    own = own.replace("    view: [", "    visibility: slices\n    view: [", 1)
    catalog = catalog_of(platform, own)
    held: dict[str, set[str]] = {}
    cluster, tenant = catalog.clusters["east"], catalog.tenants["vision"]
    for artifact in (*role_bindings(cluster, tenant), *cluster_role_bindings(cluster, tenant)):
        for subject in artifact.object["subjects"]:
            held.setdefault(subject["name"], set()).add(artifact.object["roleRef"]["name"])
    assert held["hub"] == {"dracfg-tenant-run", "dracfg-tenant-own-claims", "dracfg-monitoring"}
    assert "dracfg-slice-reader" in held["vision-eng"]
    read = {"get", "list", "watch"}
    for name in held["hub"] - {"dracfg-monitoring"}:
        rules = allowed(roles(catalog)[name].object["rules"])
        assert not {rule for rule in rules if rule[0] in read and rule[1] == "resource.k8s.io"}


def test_the_run_role_is_use_without_claims(catalog_of: Any, platform: str, vision: str) -> None:
    own = vision.replace("namespace: ci, name: runner", "namespace: vision-train, name: hub")
    made = roles(catalog_of(platform, own))
    use, run = (allowed(made[f"dracfg-tenant-{name}"].object["rules"]) for name in ("use", "run"))
    assert run == {rule for rule in use if rule[1] != "resource.k8s.io"}
    assert "dracfg-tenant-run" not in roles(catalog_of(platform, vision))
