"""Rights of namespaces as annotations and labels."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.kube.names import check_qualified_name
from dracfg.link.catalog import Catalog, Place
from dracfg.lower.rights import CLASSES, claims_by_namespace, namespace_labels, rights
from dracfg.lower.tenancy import Tenancy

NAMESPACES = ("vision-train", "vision-monitor")


def noted(catalog: Catalog, namespace: str) -> dict[str, str]:
    places = {place.name: place for place in catalog.tenants["vision"].places}
    return noted_of(catalog, "vision", places[namespace])


def noted_of(catalog: Catalog, tenant: str, place: Place) -> dict[str, str]:
    tenancy = Tenancy(catalog, catalog.clusters["east"], catalog.tenants[tenant])
    return dict(rights(tenancy, {})[place.name])


def labels(catalog: Catalog, namespace: str) -> dict[str, str]:
    places = {place.name: place for place in catalog.tenants["vision"].places}
    return namespace_labels(catalog.clusters["east"], catalog.tenants["vision"], places[namespace])


@pytest.fixture
def catalog(catalog_of: Any, platform: str, vision: str) -> Catalog:
    linked: Catalog = catalog_of(platform, vision)
    return linked


def test_every_class_has_its_text(catalog: Catalog) -> None:
    version = catalog.policies["slices"].version
    assert noted(catalog, "vision-train") == {
        "classes.dracfg.dev/a100": (
            "entitlement=gpu+extra;sharing=whole;size=whole;count=8;version=-;state=open"
        ),
        "classes.dracfg.dev/l40s-slices-10gi": (
            f"entitlement=slice;sharing=slices;size=10Gi;count=2;version={version};state=open;"
            "capacity.gpu.example.org/cores=20;capacity.memory=10Gi"
        ),
        "dracfg.dev/state": "active",
        "dracfg.dev/tenant": "vision",
    }


def test_admin_classes_stand_only_where_the_tenant_watches(catalog: Catalog) -> None:
    train, monitor = (noted(catalog, namespace) for namespace in NAMESPACES)
    assert monitor.keys() - train.keys() == {"classes.dracfg.dev/a100-admin"}
    assert monitor["classes.dracfg.dev/a100-admin"] == (
        "entitlement=-;sharing=whole;size=whole;count=1;version=-;state=open;admin=true"
    )


def test_an_admin_class_of_shared_devices_takes_nothing(
    catalog_of: Any, platform: str, vision: str
) -> None:
    catalog = catalog_of(platform, vision.replace("tiers: [a100]", "tiers: [l40s]"))
    text = noted(catalog, "vision-monitor")["classes.dracfg.dev/l40s-admin"]
    assert text.endswith("state=open;capacity.gpu.example.org/cores=0;capacity.memory=0;admin=true")


def test_tiers_that_the_cluster_lacks_give_no_admin_access(
    catalog_of: Any, platform: str, vision: str
) -> None:
    other = platform.split("---")[2].replace("a100", "h100")
    catalog = catalog_of(platform, other, vision.replace("tiers: [a100]", "tiers: [h100]"))
    assert not [key for key in noted(catalog, "vision-monitor") if key.endswith("-admin")]
    assert "resource.kubernetes.io/admin-access" not in labels(catalog, "vision-monitor")


@pytest.mark.parametrize("state", ["active", "frozen", "draining"])
def test_states_keep_the_classes(catalog_of: Any, platform: str, vision: str, state: str) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", f"spec:\n  state: {state}\n", 1))
    found = noted(catalog, "vision-train")
    assert found["dracfg.dev/state"] == state
    assert len(found) == 4


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_removed_tenants_have_no_classes(
    catalog_of: Any, platform: str, vision: str, namespace: str
) -> None:
    catalog = catalog_of(platform, vision.replace("spec:\n", "spec:\n  state: removed\n", 1))
    assert noted(catalog, namespace) == {
        "dracfg.dev/tenant": "vision",
        "dracfg.dev/state": "removed",
    }
    assert "resource.kubernetes.io/admin-access" not in labels(catalog, namespace)


def test_classes_of_closed_tiers_are_closed(catalog_of: Any, platform: str, vision: str) -> None:
    closed = platform.replace("{pool: training}", "{pool: training}\n  state: draining")
    found = noted(catalog_of(closed, vision), "vision-train")
    assert ";state=closed" in found["classes.dracfg.dev/a100"]
    assert ";state=open;" in found["classes.dracfg.dev/l40s-slices-10gi"]


def test_classes_of_tiers_that_a_plugin_hands_out_are_left_out(
    catalog_of: Any, platform: str, vision: str
) -> None:
    moved = platform.replace(
        "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: dra}",
        "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: devicePlugin}",
    )
    found = noted(catalog_of(moved, vision), "vision-train")
    assert [key for key in found if key.startswith(CLASSES)] == [
        "classes.dracfg.dev/l40s-slices-10gi"
    ]


def test_whole_devices_among_shared_ones_write_every_capacity(
    catalog_of: Any, platform: str, vision: str
) -> None:
    both = platform.replace("sharing: [slices]", "sharing: [slices, whole]")
    more = vision.replace(
        "  profiles:", "    - {name: card, tier: l40s, guaranteed: 1}\n  profiles:"
    )
    text = noted(catalog_of(both, more), "vision-train")["classes.dracfg.dev/l40s"]
    assert text == (
        "entitlement=card;sharing=whole;size=whole;count=1;version=-;state=open;"
        "capacity.gpu.example.org/cores=100;capacity.memory=48Gi"
    )


def test_aligned_requests_count_with_all_their_pairs(
    catalog_of: Any, platform: str, vision: str
) -> None:
    aligned = vision.replace(
        "- {name: train, requests: [{name: gpu, entitlement: gpu, count: 8}]}",
        "- name: train\n"
        "      requests: [{name: a, entitlement: gpu, count: 6}, "
        "{name: b, entitlement: slice, size: 10Gi, count: 6}]\n"
        "      align: [{requests: [a, b], by: resource.kubernetes.io/pcieRoot}]",
    )
    found = noted(catalog_of(platform, aligned), "vision-train")
    assert ";count=6;" in found["classes.dracfg.dev/a100"]
    assert ";count=6;" in found["classes.dracfg.dev/l40s-slices-10gi"]


def test_borrowed_entitlements_count(catalog_of: Any, platform: str, vision: str) -> None:
    search = (
        vision.replace("vision", "search")
        .split("  entitlements:")[0]
        .replace(
            "spec:\n", "spec:\n  acceptedOffers: [{from: vision, entitlement: gpu, count: 2}]\n"
        )
    )
    lent = vision.replace(
        "  profiles:", "  offers: [{entitlement: gpu, count: 2, to: search}]\n  profiles:"
    )
    catalog = catalog_of(platform, lent, search)
    place = catalog.tenants["search"].places[0]
    found = noted_of(catalog, "search", place)
    assert found["classes.dracfg.dev/a100"].startswith("entitlement=vision-gpu;")


def test_claims_that_pods_may_name_are_listed(catalog: Catalog) -> None:
    tenancy = Tenancy(catalog, catalog.clusters["east"], catalog.tenants["vision"])
    named = {"vision-train": ("template/train", "claim/both", "template/train")}
    found = rights(tenancy, named)
    assert found["vision-train"]["dracfg.dev/claims"] == "claim/both,template/train"
    assert "dracfg.dev/claims" not in found["vision-monitor"]
    assert "dracfg.dev/claims" not in rights(tenancy, {})["vision-train"]


def test_claims_are_grouped_by_namespace() -> None:
    def thing(kind: str, name: str, namespace: str = "a") -> dict[str, Any]:
        return {"kind": kind, "metadata": {"name": name, "namespace": namespace}}

    assert claims_by_namespace(
        [
            thing("ResourceClaimTemplate", "x"),
            thing("ResourceClaim", "x"),
            thing("RoleBinding", "y"),
            thing("ResourceClaim", "z", "b"),
        ]
    ) == {"a": ("template/x", "claim/x"), "b": ("claim/z",)}


def test_own_claims_are_a_right(catalog_of: Any, platform: str, vision: str) -> None:
    own = vision.replace("spec:\n", "spec:\n  ownClaims: true\n", 1)
    assert noted(catalog_of(platform, own), "vision-train")["dracfg.dev/own-claims"] == "true"
    removed = own.replace("spec:\n", "spec:\n  state: removed\n", 1)
    assert "dracfg.dev/own-claims" not in noted(catalog_of(platform, removed), "vision-train")


def test_parameters_of_entitled_policies_have_an_id(
    catalog_of: Any, platform: str, vision: str
) -> None:
    with_config = platform.replace(
        "  sizedBy: memory\n", "  sizedBy: memory\n  config: {kind: Share}\n"
    )
    found = noted(catalog_of(with_config, vision), "vision-train")
    assert found["dracfg.dev/configs"] == "gpu.example.org/slices"


def test_names_of_plugins_and_of_classes(catalog_of: Any, platform: str, vision: str) -> None:
    legacy = platform.replace(
        "match: {attributes: {model: A100}}",
        "match: {attributes: {model: A100}}\n  legacyResource: example.org/gpu",
    )
    taken = legacy.replace("gpu\n  device", "gpu\n  takesOverLegacyName: true\n  device")
    found = noted(catalog_of(taken, vision), "vision-train")
    assert found["classes.dracfg.dev/a100"].endswith("state=open;extended=example.org/gpu")
    assert "dracfg.dev/legacy-resources" not in found
    served = legacy.replace(
        "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: dra}",
        "devices: [{tier: a100, perNode: 8}]\n  owner: {gpu.example.org: devicePlugin}",
    )
    found = noted(catalog_of(served, vision), "vision-train")
    assert found["dracfg.dev/legacy-resources"] == "example.org/gpu"


def test_keys_are_valid_and_texts_are_plain(catalog: Catalog) -> None:
    for namespace in NAMESPACES:
        for key, text in noted(catalog, namespace).items():
            assert check_qualified_name(key) is None
            assert text.isascii()
            assert text.isprintable()


def test_labels(catalog_of: Any, platform: str, vision: str) -> None:
    baseline = {"pod-security.kubernetes.io/enforce": "baseline"}
    catalog = catalog_of(platform, vision)
    own = {"dracfg.dev/tenant": "vision", "team": "vision"}
    assert labels(catalog, "vision-train") == own | baseline
    assert labels(catalog, "vision-monitor") == baseline | {
        "dracfg.dev/tenant": "vision",
        "resource.kubernetes.io/admin-access": "true",
    }
    forged = vision.replace("{team: vision}", "{dracfg.dev/tenant: search}")
    assert labels(catalog_of(platform, forged), "vision-train") == baseline | {
        "dracfg.dev/tenant": "vision"
    }


def test_stricter_labels_stand(catalog_of: Any, platform: str, vision: str) -> None:
    key = "pod-security.kubernetes.io/enforce"
    strict = vision.replace("{team: vision}", f"{{{key}: restricted}}")
    assert labels(catalog_of(platform, strict), "vision-train")[key] == "restricted"
