"""The policies as objects: what they match, what is written out, and that tenants don't lengthen them."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

import pytest
import yaml

from dracfg.diagnostics.registry import rules
from dracfg.emit.files import render_unit
from dracfg.emit.yaml import Writer
from dracfg.kube.objects import schema_faults
from dracfg.link.catalog import Catalog
from dracfg.link.classes import device_classes
from dracfg.link.index import index
from dracfg.link.linker import link
from dracfg.lower import rights
from dracfg.lower.admission import FILE, admission
from dracfg.lower.artifact import Artifact, Unit

ALWAYS = [
    "dracfg-unmanaged-namespaces",
    "dracfg-claims",
    "dracfg-own-claims",
    "dracfg-unmanaged-workloads",
    "dracfg-workloads",
    "dracfg-taint-rules",
    "dracfg-namespaces",
    "dracfg-managed-objects",
]
HELD = ["dracfg-held-pods", "dracfg-held-claims", "dracfg-held-nodes"]
DRIVERS = ["dracfg-driver-slices", "dracfg-driver-status"]
UNMANAGED = {"dracfg-unmanaged-namespaces", "dracfg-unmanaged-workloads"}
JUDGING_PODS = {"dracfg-unmanaged-workloads", "dracfg-workloads", "dracfg-held-pods"}
CLUSTER_WIDE = {
    "dracfg-taint-rules",
    "dracfg-namespaces",
    "dracfg-managed-objects",
    "dracfg-held-claims",
    "dracfg-held-nodes",
    *DRIVERS,
}


@pytest.fixture
def everything(platform: str) -> str:
    """A platform for which every policy is emitted."""
    return platform.replace(
        "  driver: gpu.example.org\n",
        "  driver: gpu.example.org\n  reclaim: {onUnknownNode: hold, timeout: 15m}\n",
    ).replace(
        "shareable: true}",
        "shareable: true, serviceAccount: {namespace: gpu-driver, name: kubelet-plugin}}",
    )


def artifacts(catalog: Catalog) -> tuple[Artifact, ...]:
    cluster = catalog.clusters["east"]
    return admission(catalog, cluster, device_classes(catalog, cluster))


def policies(catalog: Catalog) -> list[dict[str, Any]]:
    return [artifact.object for artifact in artifacts(catalog)[::2]]


def names(catalog: Catalog) -> list[str]:
    return [policy["metadata"]["name"] for policy in policies(catalog)]


def test_policies_about_what_the_catalog_lacks_are_left_out(
    catalog_of: Any, platform: str, everything: str
) -> None:
    assert names(catalog_of(platform)) == ALWAYS
    assert names(catalog_of(everything)) == [*ALWAYS, *HELD, *DRIVERS]


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_objects_fit_the_schema(catalog_of: Any, everything: str, minor: str) -> None:
    for artifact in artifacts(catalog_of(everything)):
        assert schema_faults(artifact.object, minor) == ()


def test_defaults_are_written_out(catalog_of: Any, everything: str) -> None:
    for policy in policies(catalog_of(everything)):
        spec = policy["spec"]
        assert spec["failurePolicy"] == "Fail"
        constraints = spec["matchConstraints"]
        assert list(constraints) == [
            "namespaceSelector",
            "objectSelector",
            "resourceRules",
            "matchPolicy",
        ]
        assert constraints["matchPolicy"] == "Equivalent"
        for rule in constraints["resourceRules"]:
            assert list(rule) == ["operations", "apiGroups", "apiVersions", "resources", "scope"]
            assert rule["scope"] == "*"


def test_every_validation_is_forbidden_and_none_speaks_of_immutable_fields(
    catalog_of: Any, everything: str
) -> None:
    """Each code is registered, and each registered denial is emitted."""
    codes = set()
    for policy in policies(catalog_of(everything)):
        for rule in policy["spec"]["validations"]:
            assert rule["reason"] == "Forbidden"
            code, _, _ = rule["message"].partition(": ")
            assert f'"{code}: ' in rule["messageExpression"]
            assert "immutable" not in rule["message"] + rule["messageExpression"]
            assert "\n" not in rule["message"]
            codes.add(code)
    text = resources.files("dracfg.diagnostics").joinpath("rules.yaml").read_text()
    section = text.partition("# TEN: what is denied by admission")[2].partition("\n\n")[0]
    registered = yaml.safe_load(section.partition("\n")[2])
    assert codes == registered.keys()
    assert all(rules()[code].severity == "error" for code in codes)


def test_expressions_read_the_keys_that_rights_writes(catalog_of: Any, platform: str) -> None:
    text = json.dumps(policies(catalog_of(platform)))
    for key in (
        rights.TENANT,
        rights.STATE,
        rights.CLASSES,
        rights.OWN_CLAIMS,
        rights.CLAIMS,
        rights.CONFIGS,
        rights.LEGACY,
    ):
        assert f'\\"{key}' in text
    assert f"substring({len(rights.CLASSES)})" in text
    assert f"substring({len('deviceclass.resource.kubernetes.io/')})" in text


def crowd(catalog: Catalog, template: str, number: int) -> Catalog:
    """The catalog with so many tenants like one of its own, linked; only one is read from text."""
    like = catalog.tenants[template].document
    copies = []
    for i in range(number):
        named = {"metadata": like.metadata.model_copy(update={"name": f"team{i}"})}
        places = tuple(
            place.model_copy(update={"name": f"{place.name}-{i}"}) for place in like.spec.namespaces
        )
        spec = like.spec.model_copy(update={"namespaces": places, "admin_access": ()})
        copies.append(like.model_copy(update={**named, "spec": spec}))
    linked = {
        group: tuple(entry.document for entry in getattr(catalog, group).values())
        for group in ("clusters", "drivers", "tiers", "pools")
    }
    policies = (p.document for p in catalog.policies.values() if p.document is not None)
    found, doubles = index([*(d for group in linked.values() for d in group), *policies, *copies])
    joined = link(found, frozenset())
    assert not [*doubles, *joined.faults]
    return joined.catalog


def test_policies_stay_as_long_as_they_are_whoever_joins(
    catalog_of: Any, everything: str, vision: str
) -> None:
    """Objects and bytes of the files of admission, from nobody to 10,000 tenants."""
    catalog = catalog_of(everything, vision)

    def written(tenants: int) -> tuple[int, dict[str, bytes]]:
        joined = crowd(catalog, "vision", tenants)
        assert len(joined.tenants) == tenants
        assert sum(len(tenant.grants) for tenant in joined.tenants.values()) == 3 * tenants
        found = artifacts(joined)
        return len(found), dict(render_unit(Unit("east/guard", found), Writer()).files)

    number, files = written(0)
    assert number == 2 * len([*ALWAYS, *HELD, *DRIVERS])
    assert FILE in files
    for tenants in (10, 1_000, 10_000):
        assert written(tenants) == (number, files)


def actions(catalog: Catalog) -> dict[str, list[str]]:
    bindings = [artifact.object for artifact in artifacts(catalog)[1::2]]
    for binding in bindings:
        assert binding["kind"] == "ValidatingAdmissionPolicyBinding"
        assert binding["metadata"]["name"] == binding["spec"]["policyName"]
    return {b["metadata"]["name"]: b["spec"]["validationActions"] for b in bindings}


def test_unmanaged_namespaces_are_denied_or_warned(catalog_of: Any, platform: str) -> None:
    assert set(map(tuple, actions(catalog_of(platform)).values())) == {("Deny",)}
    warned = platform.replace("kubeadm\n", "kubeadm\n  unmanagedNamespaces: warn\n")
    found = actions(catalog_of(warned))
    assert {name for name, action in found.items() if action == ["Warn"]} == UNMANAGED


def test_exempt_namespaces_are_left_out_by_name(catalog_of: Any, everything: str) -> None:
    exempt = "exemptNamespaces: [{name: z, reason: tests, devices: 0}, {name: a, reason: tests, devices: 1}]"
    catalog = catalog_of(everything.replace("kubeadm\n", f"kubeadm\n  {exempt}\n"))
    for artifact in artifacts(catalog)[::2]:
        name = artifact.object["metadata"]["name"]
        selector = artifact.object["spec"]["matchConstraints"]["namespaceSelector"]
        if name in CLUSTER_WIDE:
            assert selector == {}
        else:
            system = ["kube-system"] if name in JUDGING_PODS else []
            left_out = {"operator": "NotIn", "values": ["a", *system, "z"]}
            key = {"key": "kubernetes.io/metadata.name"}
            assert selector == {"matchExpressions": [key | left_out]}
        assert artifact.file == FILE
        assert str(artifact.origin).endswith("#Cluster/east")
        assert [str(origin).rpartition("#")[2] for origin in artifact.via] == [
            "Cluster/east/spec/gitops/applier",
            "Cluster/east/spec/exemptNamespaces",
            "NodePool/notebooks/spec",
            "HardwareTier/l40s/spec",
            "Driver/gpu.example.org/spec",
            "SharingPolicy/slices/spec",
            "NodePool/training/spec",
            "HardwareTier/a100/spec",
        ]


@pytest.mark.parametrize(
    ("minor", "versions"),
    [
        ("1.34", ["v1alpha3"]),
        ("1.35", ["v1alpha3"]),
        ("1.36", ["v1beta2", "v1alpha3"]),
        ("1.37", ["v1"]),
    ],
)
def test_taint_rules_are_judged_in_the_versions_that_the_minor_serves(
    catalog_of: Any, platform: str, minor: str, versions: list[str]
) -> None:
    catalog = catalog_of(platform.replace('"1.36"', f'"{minor}"'))
    (policy,) = (p for p in policies(catalog) if p["metadata"]["name"] == "dracfg-taint-rules")
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert rule["apiVersions"] == versions


def test_messages_end_with_whom_to_ask(catalog_of: Any, everything: str) -> None:
    asked = everything.replace("kubeadm\n", 'kubeadm\n  contact: "#gpu-platform"\n')
    for policy in policies(catalog_of(asked)):
        for rule in policy["spec"]["validations"]:
            assert rule["message"].endswith("; ask #gpu-platform")
            assert rule["messageExpression"].endswith('+ "; ask #gpu-platform"')


def test_no_placeholder_is_left(catalog_of: Any, everything: str) -> None:
    assert not re.search(r"\$\{", json.dumps(policies(catalog_of(everything))))
