"""A tenant on one cluster: what is found once for all of its objects there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dracfg.kube.quota import quota_keys
from dracfg.link.catalog import Catalog
from dracfg.link.claims import claim_plan, plans_of
from dracfg.link.classes import classes_by_name, device_classes
from dracfg.lower.artifact import in_namespace, make, origin_of
from dracfg.lower.quotas import cluster_keys, quota_artifacts
from dracfg.lower.templates import template_artifacts
from dracfg.lower.tenancy import Tenancy

LACKING = "    - {name: big, requests: [{name: gpu, entitlement: slice, size: 15Gi}]}\n"


def tenancy_of(catalog: Catalog) -> Tenancy:
    return Tenancy(catalog, catalog.clusters["east"], catalog.tenants["vision"])


def hard_of(tenancy: Tenancy, namespace: str) -> dict[str, str]:
    classes = device_classes(tenancy.catalog, tenancy.cluster)
    keys = cluster_keys(tenancy.cluster, classes, extended=True)
    found = {
        one.object["metadata"]["namespace"]: one.object["spec"]["hard"]
        for one in quota_artifacts(tenancy, keys, {})
    }
    hard: dict[str, str] = found[namespace]
    return hard


def test_plans_are_those_of_each_profile_in_their_order(
    catalog_of: Any, platform: str, vision: str
) -> None:
    lacking = vision.replace("    - name: either", f"{LACKING}    - name: either")
    tenancy = tenancy_of(catalog_of(platform, lacking))
    classes = classes_by_name(tenancy.catalog, tenancy.cluster)
    names = [None if plan is None else plan.profile.name for plan in tenancy.plans]
    assert names == ["train", None, "either"]
    profiles = tenancy.tenant.document.spec.profiles
    for profile, plan in zip(profiles, tenancy.plans, strict=True):
        alone = claim_plan(tenancy.tenant, profile, tenancy.cluster, classes)
        assert (alone is None) == (plan is None)
        if plan is not None and alone is not None:
            assert [r.asks[0].plan for r in plan.requests] == [
                r.asks[0].plan for r in alone.requests
            ]


def test_plans_are_made_once_a_catalog(catalog_of: Any, platform: str, vision: str) -> None:
    """Whoever asks gets the same claims; those of another catalog have nothing to do with them."""
    tenancy = tenancy_of(catalog_of(platform, vision))
    catalog, cluster, tenant = tenancy.catalog, tenancy.cluster, tenancy.tenant
    assert plans_of(catalog, cluster, tenant) is tenancy.plans
    assert plans_of(replace(catalog), cluster, tenant) is not tenancy.plans
    fewer = replace(tenant, grants=tuple(one for one in tenant.grants if one.name != "gpu"))
    after = replace(catalog, tenants={**catalog.tenants, tenant.name: fewer})
    assert plans_of(after, cluster, fewer)[0] is None


def test_tiers_are_those_of_profiles(catalog_of: Any, platform: str, vision: str) -> None:
    tenancy = tenancy_of(catalog_of(platform, vision))
    both = ("a100", "l40s")
    assert tenancy.tiers == {"vision-monitor": both, "vision-train": both}
    narrow = vision.replace("{name: train, ", "{name: train, namespaces: [vision-train], ")
    narrow = narrow.replace("{entitlement: extra, count: 4}", "{entitlement: slice, size: 20Gi}")
    tenancy = tenancy_of(catalog_of(platform, narrow))
    assert tenancy.tiers == {"vision-monitor": ("l40s",), "vision-train": both}


def test_a_profile_s_templates_differ_in_their_namespace_alone(
    catalog_of: Any, platform: str, vision: str
) -> None:
    tenancy = tenancy_of(catalog_of(platform, vision))
    made = [one for one in template_artifacts(tenancy) if "train" in one.object["metadata"]["name"]]
    first, second = (one.object for one in made)
    assert first["metadata"]["namespace"] == "vision-train"
    assert second == {
        **first,
        "metadata": {**first["metadata"], "namespace": "vision-monitor"},
    }
    assert list(second["metadata"]) == ["name", "namespace", "labels", "annotations"]


def test_an_object_is_put_into_a_namespace_beside_what_it_was_made_of(
    catalog_of: Any, platform: str
) -> None:
    origin = origin_of(catalog_of(platform).clusters["east"].document)
    bare = make("v1", "Thing", "x", origin, {"spec": {}}, labels={"a": "b"})
    there = make("v1", "Thing", "x", origin, {"spec": {}}, labels={"a": "b"}, namespace="there")
    assert in_namespace(bare, "there") == there
    assert list(in_namespace(bare, "there")["metadata"]) == list(there["metadata"])
    assert "namespace" not in bare["metadata"]


def test_quota_has_every_key_of_the_cluster_s_classes(
    catalog_of: Any, platform: str, vision: str
) -> None:
    """A key that were missing would mean unlimited; only what a namespace may watch is."""
    tenancy = tenancy_of(catalog_of(platform, vision))
    expected = {
        key
        for plan in tenancy.classes.values()
        for key in quota_keys(plan.name, plan.extended_name, tenancy.cluster.minor, True)
    }
    watched = set(quota_keys("a100-admin", None, tenancy.cluster.minor, True))
    assert watched < expected
    train, monitor = (hard_of(tenancy, f"vision-{name}") for name in ("train", "monitor"))
    assert {key for key in train if not key.startswith("count/")} == expected
    assert {key for key in monitor if not key.startswith("count/")} == expected - watched
    assert list(train) == sorted(train)
    held = {key: number for key, number in train.items() if number != "0"}
    assert held["a100.deviceclass.resource.k8s.io/devices"] == "18"
    assert held["l40s-slices-10gi.deviceclass.resource.k8s.io/devices"] == "8"


def test_what_a_plugin_serves_is_bounded_for_everybody(
    catalog_of: Any, platform: str, vision: str
) -> None:
    served = platform.replace(
        "match: {attributes: {model: A100}}\n",
        "match: {attributes: {model: A100}}\n  legacyResource: example.org/gpu\n",
    ).replace(
        "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: dra}",
        "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: devicePlugin}",
    )
    key = "requests.example.org/gpu"
    whole = vision.partition("  adminAccess:")[0]
    assert hard_of(tenancy_of(catalog_of(served, whole)), "vision-train")[key] == "18"
    assert hard_of(tenancy_of(catalog_of(served, whole)), "vision-monitor")[key] == "0"
    gone = whole.replace("spec:\n", "spec:\n  state: removed\n")
    assert hard_of(tenancy_of(catalog_of(served, gone)), "vision-train")[key] == "0"
    assert key not in hard_of(tenancy_of(catalog_of(platform, whole)), "vision-train")
