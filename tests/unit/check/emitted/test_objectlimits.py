"""Limits of the API."""

import pytest

from dracfg.check.objectlimits import (
    ANNOTATIONS_BYTES,
    annotation_findings,
    annotations_fit,
    json_bytes,
    limit_findings,
)
from dracfg.check.objectnames import keys_fit
from dracfg.check.objects import check_units
from dracfg.lower.artifact import Artifact, Origin, Unit

PROFILE = Origin("tenants/vision.yaml", "Tenant", "vision", ("spec", "profiles", 0))
TIER = Origin("catalog/all.yaml", "HardwareTier", "a100", ("spec",))
POLICY = Origin("catalog/all.yaml", "SharingPolicy", "slices", ("spec",))


def exact(name="gpu", **rest):
    return {"name": name, "exactly": {"deviceClassName": "a", **rest}}


def claim(**devices):
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "train"},
        "spec": {"spec": {"devices": devices}},
    }


def a_class(**spec):
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "a100"},
        "spec": spec,
    }


def selectors(count, text="true"):
    return [{"cel": {"expression": text}}] * count


def config(size):
    """Parameters of so many bytes as JSON."""
    return {"opaque": {"driver": "d", "parameters": {"a": "x" * (size - len('{"a":""}'))}}}


CASES = [
    ("requests", lambda n: claim(requests=[exact(f"r{i}") for i in range(n)]), 32),
    ("constraints", lambda n: claim(constraints=[{"matchAttribute": "a/b"}] * n), 32),
    ("configs", lambda n: claim(config=[config(99)] * n), 32),
    (
        "alternatives",
        lambda n: claim(requests=[{"name": "a", "firstAvailable": [{"name": "b"}] * n}]),
        8,
    ),
    ("tolerations", lambda n: claim(requests=[exact(tolerations=[{"key": "a"}] * n)]), 16),
    ("selectors", lambda n: claim(requests=[exact(selectors=selectors(n))]), 32),
    ("request names", lambda n: claim(constraints=[{"requests": ["a"] * n}]), 32),
    ("request names", lambda n: claim(config=[{**config(99), "requests": ["a"] * n}]), 32),
    ("bytes of JSON", lambda n: claim(config=[config(n)]), 10240),
    ("bytes of CEL", lambda n: claim(requests=[exact(selectors=selectors(1, "x" * n))]), 10240),
    ("selectors", lambda n: a_class(selectors=selectors(n)), 32),
    ("configs", lambda n: a_class(config=[config(99)] * n), 32),
    ("bytes of CEL", lambda n: a_class(selectors=selectors(1, "x" * n)), 10240),
    (
        "bytes of CEL",
        lambda n: a_class(selectors=selectors(1, "é" * (n // 2) + "x" * (n % 2))),
        10240,
    ),
    ("bytes of JSON", lambda n: a_class(config=[config(n)]), 10240),
]


@pytest.mark.parametrize(("unit", "make", "most"), CASES)
def test_a_limit_is_reached_and_then_passed(build, only, unit, make, most):
    catalog = build().catalog

    def findings(count):
        given = make(count)
        artifact = (
            Artifact(given, "x.yaml", TIER, (POLICY,))
            if given["kind"] == "DeviceClass"
            else Artifact(given, "x.yaml", PROFILE)
        )
        return list(limit_findings(catalog, artifact, "1.36"))

    assert findings(most) == []
    found = only(findings(most + 1), "OBJ009")
    assert f"{most + 1:,} {unit}" in found.message
    assert found.expected == f"at most {most:,}"


def test_all_annotations_together_have_a_limit(build, only):
    catalog = build().catalog
    given = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "a", "annotations": {"a": "x" * 131072, "b": "x" * 131070}},
    }
    artifact = Artifact(given, "x.yaml", PROFILE)
    assert list(annotation_findings(catalog, artifact, "1.36")) == []
    given["metadata"]["annotations"]["c"] = ""
    only(annotation_findings(catalog, artifact, "1.36"), "OBJ009")
    only(check_units(catalog, [Unit("east/guard", (artifact,))]), "OBJ009")


@pytest.mark.parametrize(
    "annotations",
    [
        {f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 61}/{i:063}": "x" for i in range(825)},
        {"a": "\U0001f600" * 65536},
        {"a": "x" * 262144},
    ],
)
def test_annotations_that_fit_do_so_by_far(annotations):
    """Whatever goes over the limit, by as little as may be, is looked at closely."""
    size = sum(len(f"{key}{value}".encode()) for key, value in annotations.items())
    assert size > ANNOTATIONS_BYTES
    assert keys_fit((), tuple(annotations))
    assert not annotations_fit(annotations)


def test_parameters_count_as_the_api_server_gets_them():
    assert json_bytes({"a": "<é>"}) == len('{"a":"\\u003cxx\\u003e"}')


def test_aligned_pairs_can_be_too_many_requests(build, only):
    repository = build(
        ("{name: gpu, entitlement: gpu, count: 2}", "{name: gpu, entitlement: gpu, count: 17}"),
        (
            "    - {name: infer",
            (
                "        - {name: other, entitlement: gpu, count: 17}\n"
                "      align: [{requests: [gpu, other], by: resource.kubernetes.io/pcieRoot}]\n"
                "    - {name: infer"
            ),
        ),
    )
    found = only(check_units(repository.catalog, repository.units), "OBJ009")
    assert found.message == (
        "ResourceClaimTemplate train: the claim has 34 requests; Kubernetes 1.36 takes at most 32"
    )
    assert repository.text(found.span) == "gpu"


def test_parameters_that_are_too_large_are_shown_where_they_stand(build, only):
    repository = build(
        (
            "    - {name: infer",
            (
                "      config:\n        - driver: npu.example.org\n"
                f"          values: {{blob: {'x' * 10240}}}\n"
                "    - {name: infer"
            ),
        )
    )
    found = only(check_units(repository.catalog, repository.units), "OBJ009")
    assert "the config for npu.example.org has 10,251 bytes of JSON" in found.message
    assert repository.text(found.span) == "blob"


def test_the_parameters_of_a_class_are_shown_in_the_policy(build, only):
    repository = build(
        (
            "  sizes: [8Gi, 16Gi]\n",
            f"  sizes: [8Gi]\n  config: {{kind: Thing, values: {{blob: {'x' * 10240}}}}}\n",
        )
    )
    found = only(check_units(repository.catalog, repository.units), "OBJ009")
    assert "DeviceClass npu-slices-8gi" in found.message
    assert repository.text(found.span) == "blob"
