"""Objects against the API schemas of each minor."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from dracfg.kube.features import feature_matrix
from dracfg.kube.objects import SchemaFault, UnknownKind, object_key, schema_faults

MINORS = ("1.34", "1.35", "1.36", "1.37")


def device_class(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "a100", "labels": {"app.kubernetes.io/managed-by": "dracfg"}},
        "spec": {
            "selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}],
            **spec,
        },
    }


def template(**exactly: Any) -> dict[str, Any]:
    request = {"name": "gpu", "exactly": {"deviceClassName": "a100", **exactly}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "ns"},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "ns"},
    "spec": {"hard": {"a100.deviceclass.resource.k8s.io/devices": "4", "pods": 10}},
}


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize(
    "obj",
    [
        device_class(),
        device_class(
            extendedResourceName="example.com/gpu",
            config=[{"opaque": {"driver": "d.example.com", "parameters": {"a": [1, {"b": True}]}}}],
        ),
        template(count=2, allocationMode="ExactCount", capacity={"requests": {"memory": "10Gi"}}),
        QUOTA,
    ],
)
def test_good_objects(obj: dict[str, Any], minor: str) -> None:
    assert schema_faults(obj, minor) == ()


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize(
    ("obj", "pointer", "message"),
    [
        (device_class(selector=[]), "/spec/selector", "is no field of this type"),
        (device_class(config=None), "/spec/config", "must not be null"),
        (device_class(selectors={}), "/spec/selectors", 'not of type "array"'),
        (
            device_class(
                config=[{"opaque": {"driver": "d", "parameters": {"a": {"b/c": [None]}}}}]
            ),
            "/spec/config/0/opaque/parameters/a/b~1c/0",
            "must not be null",
        ),
        (template(count="2"), "/spec/spec/devices/requests/0/exactly/count", 'type "integer"'),
        (
            template(count=2**63),
            "/spec/spec/devices/requests/0/exactly/count",
            "greater than the maximum",
        ),
        (
            {**QUOTA, "spec": {"hard": {"pods": ["1"]}}},
            "/spec/hard/pods",
            'types "number", "string"',
        ),
        (
            {**QUOTA, "metadata": {"name": "q", "creationTimestamp": None}},
            "/metadata/creationTimestamp",
            "must not be null",
        ),
        (
            {**template(), "spec": {"spec": {"devices": {"requests": [{}]}}}},
            "/spec/spec/devices/requests/0",
            '"name" is a required property',
        ),
    ],
)
def test_faults(obj: dict[str, Any], pointer: str, message: str, minor: str) -> None:
    faults = schema_faults(obj, minor)
    assert isinstance(faults, tuple)
    assert [fault.pointer for fault in faults] == [pointer]
    assert message in faults[0].message


def test_every_fault_is_told_in_order() -> None:
    faults = schema_faults(device_class(b=1, a=1, config=None), "1.36")
    assert isinstance(faults, tuple)
    assert [fault.pointer for fault in faults] == ["/spec/a", "/spec/b", "/spec/config"]


def test_fields_follow_the_minor() -> None:
    derived = template(derivedAttributes=[{"name": "a.b/c", "expression": "1"}])
    assert schema_faults(derived, "1.37") == ()
    assert isinstance(schema_faults(derived, "1.36"), tuple)
    assert schema_faults(derived, "1.36") != ()
    no_spec = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass"}
    assert schema_faults(no_spec, "1.37") == ()
    assert schema_faults(no_spec, "1.36") != ()


@pytest.mark.parametrize(
    ("api_version", "kind", "minor", "reason"),
    [
        ("resource.k8s.io/v1", "DeviceTaintRule", "1.36", "not-served"),
        ("resource.k8s.io/v2", "DeviceClass", "1.37", "not-served"),
        ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "1.35", "not-served"),
        ("v1", "DeviceClass", "1.36", "not-served"),
        ("v1", "Service", "1.36", "no-schema"),
        ("argoproj.io/v1alpha1", "Application", "1.36", "foreign"),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "1.36", "foreign"),
        ("kueue.x-k8s.io/v1beta1", "ClusterQueue", "1.36", "foreign"),
    ],
)
def test_unknown_kinds(api_version: str, kind: str, minor: str, reason: str) -> None:
    judged = schema_faults({"apiVersion": api_version, "kind": kind}, minor)
    assert isinstance(judged, UnknownKind)
    assert judged.reason == reason


def test_objects_without_identity() -> None:
    assert schema_faults({}, "1.36") == (
        SchemaFault("", "apiVersion must be a text that is not empty"),
        SchemaFault("", "kind must be a text that is not empty"),
    )
    assert schema_faults({"apiVersion": "v1", "kind": None}, "1.36") == (
        SchemaFault("", "kind must be a text that is not empty"),
    )
    with pytest.raises(KeyError):
        schema_faults(QUOTA, "1.20")


def test_values_that_json_does_not_have() -> None:
    judged = schema_faults({**QUOTA, "spec": {"hard": {1: "1"}}}, "1.36")
    assert isinstance(judged, tuple)
    assert "JSON does not have" in judged[0].message


def test_object_key() -> None:
    assert object_key(template()) == ("resource.k8s.io/v1", "ResourceClaimTemplate", "ns", "t")
    assert object_key(device_class()).namespace == ""
    assert object_key({}) == ("", "", "", "")


@pytest.mark.parametrize("minor", MINORS)
def test_bundles_are_small_plain_and_agree_with_the_matrix(minor: str) -> None:
    path = resources.files("dracfg.kube") / "schemas" / f"{minor}.json"
    text = path.read_text("utf-8")
    assert len(text) < 400_000
    assert '"null"' not in text
    assert '"description":"' not in text
    bundle = json.loads(text)
    for (known, group_version, kind), served in feature_matrix().served_kinds.items():
        if known == minor:
            assert served in ("default", "flag")
            assert kind in bundle["served"][group_version]
    for group_version, kinds in bundle["kinds"].items():
        for kind in kinds:
            assert feature_matrix().served(group_version, kind, minor) != "no"
