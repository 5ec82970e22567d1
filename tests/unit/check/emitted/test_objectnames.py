"""Names that Kubernetes refuses or that leave no room, and requests named alike."""

import pytest

from dracfg.check.objectnames import keys_fit, name_findings, name_fits, values_fit
from dracfg.check.objects import check_units
from dracfg.lower.artifact import Artifact, Origin

LONG_DOMAIN = ".".join(["a" * 60] * 5)
"""Longer than a DNS subdomain may be, which no pattern of the language can say."""
ORIGIN = Origin("tenants/vision.yaml", "Tenant", "vision", ("spec", "profiles", 0))


def findings(catalog, api_version, kind, name, **rest):
    metadata = {"name": name, **rest.pop("metadata", {})}
    given = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {}, **rest}
    found = [f.code for f in name_findings(catalog, Artifact(given, "x.yaml", ORIGIN))]
    labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
    fits = (
        name_fits(api_version, kind, name)
        and keys_fit(tuple(labels), tuple(annotations))
        and values_fit(labels)
    )
    assert fits is not bool(found)
    return found


def test_a_class_name_over_63_characters_names_its_parts(build):
    tier, policy = "n" * 40, "s" * 20
    repository = build(
        ("metadata: {name: npu}", f"metadata: {{name: {tier}}}"),
        ("tier: npu,", f"tier: {tier},"),
        ("tier: npu,", f"tier: {tier},"),
        ("metadata: {name: slices}", f"metadata: {{name: {policy}}}"),
        ("sharing: [slices]", f"sharing: [{policy}]"),
        ("sharing: slices,", f"sharing: {policy},"),
    )
    found = [f for f in check_units(repository.catalog, repository.units) if f.code == "OBJ001"]
    classes = [f for f in found if f.message.startswith("DeviceClass")]
    assert len(classes) == 2
    longest = max(classes, key=lambda finding: len(finding.found))
    assert "at most 63 characters, it has 66" in longest.message
    assert f"by 3 HardwareTier {tier} (40 characters)" in longest.help
    assert repository.text(longest.span) == tier
    assert repository.text(longest.related[0].span) == policy


def test_a_class_name_of_63_characters_stands(build):
    tier, policy = "n" * 37, "s" * 20
    repository = build(
        ("metadata: {name: npu}", f"metadata: {{name: {tier}}}"),
        ("tier: npu,", f"tier: {tier},"),
        ("tier: npu,", f"tier: {tier},"),
        ("metadata: {name: slices}", f"metadata: {{name: {policy}}}"),
        ("sharing: [slices]", f"sharing: [{policy}]"),
        ("sharing: slices,", f"sharing: {policy},"),
    )
    assert check_units(repository.catalog, repository.units) == ()


@pytest.mark.parametrize(
    ("api_version", "kind", "name", "codes"),
    [
        ("v1", "Namespace", "a.b", ["OBJ001"]),
        ("v1", "Namespace", "a" * 64, ["OBJ001"]),
        ("v1", "ConfigMap", "a.b", []),
        ("v1", "ConfigMap", "a" * 253, []),
        ("v1", "ConfigMap", "a" * 254, ["OBJ001"]),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", "dracfg:Use", []),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", "a/b", ["OBJ001"]),
        ("rbac.authorization.k8s.io/v1", "Role", "..", ["OBJ001"]),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "a" * 63, []),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "a" * 64, ["OBJ001"]),
        ("argoproj.io/v1alpha1", "Application", "a" * 64, []),
        ("argoproj.io/v1alpha1", "Application", "A", ["OBJ001"]),
        ("resource.k8s.io/v1", "ResourceClaimTemplate", "a" * 52, []),
        ("resource.k8s.io/v1", "ResourceClaimTemplate", "a" * 53, ["OBJ015"]),
        ("resource.k8s.io/v1", "ResourceClaimTemplate", "a" * 254, ["OBJ001"]),
    ],
)
def test_names_by_kind(build, api_version, kind, name, codes):
    assert findings(build().catalog, api_version, kind, name) == codes


@pytest.mark.parametrize(
    ("metadata", "codes"),
    [
        ({"labels": {"a": "b" * 63}}, []),
        ({"labels": {"a": "b" * 64}}, ["OBJ001"]),
        ({"labels": {"a": "b c"}}, ["OBJ001"]),
        ({"labels": {"a/b/c": "d"}}, ["OBJ001"]),
        ({"labels": {"a" * 64: "d"}}, ["OBJ001"]),
        ({"annotations": {"classes.dracfg.dev/" + "a" * 63: "any text"}}, []),
        ({"annotations": {"classes.dracfg.dev/" + "a" * 64: ""}}, ["OBJ001"]),
        ({"annotations": {"Upper.example.org/a": ""}}, []),
    ],
)
def test_labels_and_annotations(build, metadata, codes):
    assert findings(build().catalog, "v1", "ConfigMap", "a", metadata=metadata) == codes


def test_a_namespaces_label_is_shown_where_the_tenant_wrote_it(build, only):
    key = f"{LONG_DOMAIN}/a"
    repository = build(
        (
            "{name: vision-train, clusters: [east]}",
            f"{{name: vision-train, clusters: [east], labels: {{{key}: x}}}}",
        )
    )
    found = only(check_units(repository.catalog, repository.units), "OBJ001")
    assert repository.text(found.span) == key


def paired(name, count, more=""):
    return (
        "    - name: train\n      requests:\n        - {name: gpu, entitlement: gpu, count: 2}\n",
        (
            "    - name: train\n      requests:\n"
            f"        - {{name: {name}, entitlement: gpu, count: {count}}}\n"
            f"        - {{name: b, entitlement: gpu, count: {count}}}\n"
            f"{more}"
            f"      align: [{{requests: [{name}, b], by: resource.kubernetes.io/pcieRoot}}]\n"
        ),
    )


@pytest.mark.parametrize(("length", "codes"), [(61, set()), (62, {"OBJ001"})])
def test_pairs_lengthen_the_names_of_requests(build, length, codes):
    repository = build(paired("r" * length, 2))
    found = check_units(repository.catalog, repository.units)
    assert {f.code for f in found} == codes
    assert {repository.text(f.span) for f in found} == ({"r" * 62} if codes else set())


def test_a_pair_may_be_named_like_another_request(build, only):
    repository = build(paired("a", 2, "        - {name: a-0, entitlement: gpu}\n"))
    found = only(check_units(repository.catalog, repository.units), "OBJ016")
    assert "two requests are named a-0" in found.message
    assert found.span.path == "tenants/vision.yaml"


def test_pairs_beside_another_name_are_fine(build):
    repository = build(paired("a", 2, "        - {name: a-2, entitlement: gpu}\n"))
    assert check_units(repository.catalog, repository.units) == ()


@pytest.mark.parametrize(
    ("resource", "codes"),
    [
        ("nvidia.com/gpu", []),
        ("x.kubernetes.io/gpu", ["OBJ001"]),
        (f"{LONG_DOMAIN}/gpu", ["OBJ001"]),
    ],
)
def test_extended_resource_names(build, resource, codes):
    repository = build(
        (
            "  match: {attributes: {type: gpu,",
            (
                f"  legacyResource: {resource}\n  takesOverLegacyName: true\n"
                "  match: {attributes: {type: gpu,"
            ),
        )
    )
    found = [
        f
        for f in check_units(repository.catalog, repository.units)
        if "extended resource name" in f.message
    ]
    assert [f.code for f in found] == codes
    assert all(repository.text(f.span) == resource for f in found)


def test_the_keys_of_tolerations_are_held_to_label_keys(build, only):
    key = f"{LONG_DOMAIN}/k"
    repository = build(
        (
            "{name: gpu, entitlement: gpu, count: 2}",
            f"{{name: gpu, entitlement: gpu, count: 2, tolerations: [{{key: {key}, operator: Exists}}]}}",
        )
    )
    found = only(check_units(repository.catalog, repository.units), "OBJ001")
    assert "toleration key" in found.message
    assert repository.text(found.span) == "gpu"


def test_the_attribute_of_a_constraint_must_fit(build, only):
    attribute = "a" * 64 + ".org/pcieRoot"
    old, new = paired("a", 2)
    repository = build((old, new.replace("resource.kubernetes.io/pcieRoot", attribute)))
    found = only(check_units(repository.catalog, repository.units), "OBJ001")
    assert attribute in found.message
