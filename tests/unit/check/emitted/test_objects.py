"""Objects that stand twice, break a schema, carry reserved keys, or are too many."""

from dataclasses import replace

import pytest

from dracfg.check.catalog import check_catalog
from dracfg.check.objects import check_units
from dracfg.lower.artifact import Artifact, Origin, Unit, in_namespaces

ORIGIN = Origin("tenants/vision.yaml", "Tenant", "vision", ("spec", "profiles", 0))


def thing(kind="ConfigMap", name="a", api_version="v1", **rest):
    metadata = {"name": name, **rest.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def unit(*objects, path="east/tenants/vision", file="x.yaml", **rest):
    return Unit(path, tuple(Artifact(o, file, ORIGIN) for o in objects), **rest)


def test_a_sound_repository_has_no_findings(build):
    repository = build()
    assert check_units(repository.catalog, repository.units) == ()


@pytest.mark.parametrize("namespace", ["vision-train", "dracfg-system"])
def test_a_namespace_that_is_another_s_is_said_once(build, only, namespace):
    other = (
        "apiVersion: dracfg.dev/v1alpha1\nkind: Tenant\nmetadata: {name: speech}\n"
        f"spec: {{namespaces: [{{name: {namespace}, clusters: [east]}}]}}\n"
    )
    repository = build(more=other)
    assert check_units(repository.catalog, repository.units) == ()
    only(check_catalog(repository.catalog), "TEN002")


def test_two_tiers_can_give_one_class_name(build, only):
    more = """\
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: npu-slices}
spec: {driver: npu.example.org, match: {attributes: {model: N2}}, device: {capacity: {memory: 8Gi}}}
---
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: 8gi}
spec: {mode: exclusive}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: more}
spec:
  cluster: east
  nodes: 1
  nodeSelector: {pool: more}
  devices: [{tier: npu-slices, perNode: 1}]
  sharing: [8gi]
  owner: {npu.example.org: dra}
"""
    repository = build(more=more)
    found = only(check_units(repository.catalog, repository.units), "OBJ002")
    assert "DeviceClass npu-slices-8gi of east" in found.message
    places = {repository.text(r.span) for r in found.related} | {repository.text(found.span)}
    assert {"npu", "npu-slices", "slices", "8gi"} == places


def test_the_same_name_elsewhere_is_no_double(build):
    catalog = build().catalog
    units = [
        unit(thing(metadata={"namespace": "a"})),
        unit(thing(metadata={"namespace": "b"}), path="east/tenants/vision.2"),
        unit(thing("Secret", metadata={"namespace": "a"}), path="east/tenants/vision.3"),
        unit(thing(metadata={"namespace": "a"}), path="east/nodes/x", synced=False),
        unit(thing(metadata={"namespace": "a"}), path="west/tenants/vision"),
    ]
    assert [f for f in check_units(catalog, units) if f.code == "OBJ002"] == []


def test_versions_of_one_kind_are_one_object(build, only):
    catalog = build().catalog
    first = thing("DeviceClass", api_version="resource.k8s.io/v1", spec={})
    second = {**first, "apiVersion": "resource.k8s.io/v1beta2"}
    only(check_units(catalog, [unit(first, second)]), "OBJ002")


def test_a_broken_schema_is_named_with_its_pointer_once(build, only):
    catalog = build().catalog
    broken = [
        thing(metadata={"namespace": space}, data={"a": 1}) for space in ("one", "two", "three")
    ]
    found = only(check_units(catalog, [unit(*broken)]), "OBJ003")
    assert "ConfigMap a" in found.message
    assert "/data/a" in found.message
    assert "fault of dracfg" in found.help


def test_a_broken_retired_object_is_no_fault_of_dracfg(build, only):
    catalog = build().catalog
    found = only(
        check_units(catalog, [unit(thing(data={"a": 1}), file="retired/claims.yaml")]), "OBJ003"
    )
    assert found.help == (
        "it stands in east/tenants/vision/retired/claims.yaml; take that file from git"
    )


@pytest.mark.parametrize(
    ("api_version", "kind", "codes"),
    [
        ("resource.k8s.io/v1alpha2", "DeviceClass", ["OBJ011"]),
        ("resource.k8s.io/v1", "DeviceKlass", ["OBJ011"]),
        ("resource.k8s.io/v1", "DeviceClass", []),
        ("argoproj.io/v1alpha1", "Application", []),
    ],
)
def test_a_kind_that_the_minor_lacks(build, api_version, kind, codes):
    catalog = build().catalog
    given = thing(kind, api_version=api_version, spec={})
    assert [f.code for f in check_units(catalog, [unit(given)])] == codes


def test_units_that_no_engine_applies_are_not_judged(build):
    catalog = build().catalog
    given = thing("Nonsense", "NOT A NAME", nothing=None)
    assert check_units(catalog, [unit(given, synced=False)]) == ()


@pytest.mark.parametrize(("count", "codes"), [(1000, []), (1001, ["OBJ010"])])
def test_a_unit_with_too_many_objects(build, count, codes):
    catalog = build().catalog
    given = unit(*(thing(name=f"a{i}") for i in range(count)))
    assert [f.code for f in check_units(catalog, [given])] == codes


@pytest.mark.parametrize(
    ("path", "mended"),
    [
        ("prod/tenants/vision", "over more namespaces"),
        ("gitops/flux/prod", "over more clusters"),
        ("gitops/argocd/_root", "a repository of their own"),
    ],
)
def test_what_makes_a_large_unit_smaller_depends_on_what_it_holds(build, path, mended):
    given = replace(unit(*(thing(name=f"a{i}") for i in range(1001))), path=path)
    (finding,) = check_units(build().catalog, [given])
    assert finding.help.endswith(mended)


RESERVED = [
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "argocd.argoproj.io/instance",
    "kustomize.toolkit.fluxcd.io/name",
    "dracfg.dev/tenant",
    "policy.dracfg.dev/x",
    "resource.kubernetes.io/admin-access",
    "kubernetes.io/metadata.name",
]


@pytest.mark.parametrize("key", RESERVED)
@pytest.mark.parametrize("managed_by", ["dracfg", "external"])
def test_reserved_labels_of_namespaces(build, only, key, managed_by):
    repository = build(
        (
            "{name: vision-train, clusters: [east]}",
            f"{{name: vision-train, clusters: [east], managedBy: {managed_by}, labels: {{{key}: x}}}}",
        )
    )
    found = only(check_units(repository.catalog, repository.units), "OBJ012")
    assert repository.text(found.span) == key


@pytest.mark.parametrize(
    "key",
    [
        "pod-security.kubernetes.io/enforce",
        "team.example.org/name",
        "notdracfg.dev/x",
        "kueue.x-k8s.io/managed",
        "app.kubernetes.io/name",
    ],
)
def test_other_labels_of_namespaces_are_free(build, key):
    repository = build(
        (
            "{name: vision-train, clusters: [east]}",
            f"{{name: vision-train, clusters: [east], labels: {{{key}: x}}}}",
        )
    )
    assert check_units(repository.catalog, repository.units) == ()


def template(**metadata):
    return thing(
        "ResourceClaimTemplate",
        api_version="resource.k8s.io/v1",
        spec={"metadata": metadata, "spec": {"devices": {}}},
    )


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        (template(labels={"app.kubernetes.io/instance": "x"}), ["OBJ012"]),
        (template(annotations={"argocd.argoproj.io/sync-options": "x"}), ["OBJ012"]),
        (template(annotations={"kustomize.toolkit.fluxcd.io/prune": "x"}), ["OBJ012"]),
        (template(labels={"dracfg.dev/tenant": "x"}), []),
        (thing(metadata={"annotations": {"argocd.argoproj.io/tracking-id": "x"}}), ["OBJ012"]),
        (thing(metadata={"annotations": {"argocd.argoproj.io/sync-options": "Prune=false"}}), []),
    ],
)
def test_marks_of_engines(build, given, codes):
    assert [f.code for f in check_units(build().catalog, [unit(given)])] == codes


def test_a_fault_points_at_the_profile(build, only):
    repository = build()
    broken = [
        replace(
            one,
            artifacts=tuple(
                artifact._replace(object={**artifact.object, "extra": 1})
                if artifact.object["metadata"]["name"] == "train"
                else artifact
                for artifact in one.artifacts
            ),
        )
        for one in repository.units
        if one.synced
    ]
    found = only(check_units(repository.catalog, broken), "OBJ003")
    assert repository.text(found.span) == "train"


def test_what_is_wrong_with_a_shared_spec_is_said_of_every_object(build):
    catalog = build().catalog
    spec = {"spec": {"devices": {"constraints": [{"matchAttribute": "a"}]}}}
    templates = [
        thing("ResourceClaimTemplate", name, "resource.k8s.io/v1", spec=spec) for name in "ab"
    ]
    found = [f for f in check_units(catalog, [unit(*templates)]) if f.code == "OBJ001"]
    assert [f.message.partition(":")[0] for f in found] == [
        "ResourceClaimTemplate a",
        "ResourceClaimTemplate b",
    ]


def test_a_spec_is_judged_by_the_profile_that_it_comes_from_too(build):
    """Requests that a profile names alike are found there, those of lowering in the object."""
    asked = "        - {name: gpu, entitlement: gpu, count: 2}\n"
    catalog = build((asked, asked * 2)).catalog
    alike = {"name": "gpu", "exactly": {"deviceClassName": "a"}}
    spec = {"spec": {"devices": {"requests": [alike, alike]}}}
    template = thing("ResourceClaimTemplate", "a", "resource.k8s.io/v1", spec=spec)
    elsewhere = ORIGIN._replace(pointer=("spec", "profiles", 1))
    artifacts = [Artifact(template, "x.yaml", origin) for origin in (ORIGIN, elsewhere)]

    def doubles(*given):
        found = check_units(catalog, [Unit("east/tenants/vision", given)])
        return len([f for f in found if f.code == "OBJ016"])

    assert doubles(artifacts[0]) == 0
    assert doubles(*artifacts) == 1


def test_what_is_copied_to_claims_is_judged_beside_a_claim_that_is_known(build):
    catalog = build().catalog
    claim = {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a"}}]}}
    sound, marked, misnamed = (
        {"metadata": metadata, "spec": claim}
        for metadata in (
            {"labels": {"a": "b"}},
            {"annotations": {"argocd.argoproj.io/tracking-id": "a"}},
            {"labels": {"a": "b c"}},
        )
    )
    templates = [
        thing("ResourceClaimTemplate", name, "resource.k8s.io/v1", spec=spec)
        for name, spec in (("a", sound), ("b", marked), ("c", misnamed), ("d", sound))
    ]
    found = [(f.code, f.message[:23]) for f in check_units(catalog, [unit(*templates)])]
    assert found == [
        ("OBJ012", "ResourceClaimTemplate b"),
        ("OBJ001", "ResourceClaimTemplate c"),
    ]


def test_a_value_of_a_label_is_judged_wherever_it_stands(build):
    """However many labels with other values were fine before, and however often it comes again."""
    catalog = build().catalog
    things = [
        thing("ConfigMap", name, metadata={"labels": {"a": value}})
        for name, value in (("a", "fine"), ("b", "not fine"), ("c", "fine"), ("d", "not fine"))
    ]
    found = [f for f in check_units(catalog, [unit(*things)]) if f.code == "OBJ001"]
    assert [f.message.partition(":")[0] for f in found] == ["ConfigMap b", "ConfigMap d"]


def test_a_limit_is_that_of_the_minor_however_often_the_claim_was_judged(build):
    catalog = build().catalog
    spec = {"spec": {"devices": {"constraints": [{"matchAttribute": "a.org/b"}] * 33}}}
    templates = [
        thing("ResourceClaimTemplate", name, "resource.k8s.io/v1", spec=spec) for name in "ab"
    ]
    found = check_units(catalog, [unit(*templates[:1], path="gitops/x"), unit(*templates)])
    assert [f.message.partition(":")[0] for f in found if f.code == "OBJ009"] == [
        "ResourceClaimTemplate a",
        "ResourceClaimTemplate b",
    ]


@pytest.mark.parametrize(
    "faulty",
    [
        thing("Deployment", api_version="apps/v1", spec={"replicas": "three"}),
        thing("ResourceClaimTemplate", api_version="resource.k8s.io/v1", spec={"spec": {"x": 1}}),
        thing(name="A_b"),
        thing(metadata={"labels": {"kueue.x-k8s.io/queue-name": "a" * 64}}),
        thing(metadata={"labels": {"a b": "c"}}),
        thing(metadata={"annotations": {"a": "b" * 300_000}}),
        thing(metadata={"annotations": {"argocd.argoproj.io/tracking-id": "a"}}),
    ],
    ids=lambda one: f"{one['kind']} {list(one['metadata'])[-1]}",
)
def test_objects_that_are_alike_are_judged_as_if_they_were_not(build, faulty):
    """Whoever is like another is passed over, so no finding may tell their namespaces apart."""
    catalog = build().catalog
    alike = in_namespaces(faulty, "x.yaml", ORIGIN, [("a", ()), ("b", ()), ("c", ())])
    apart = tuple(one._replace(like=None) for one in alike)
    found = check_units(catalog, [Unit("east/tenants/vision", tuple(alike))])
    assert found
    assert found == check_units(catalog, [Unit("east/tenants/vision", apart)])
