"""Webhook configurations of drivers."""

from __future__ import annotations

from typing import Any

import pytest

from dracfg.kube.objects import schema_faults
from dracfg.link.catalog import Catalog
from dracfg.lower.artifact import Artifact
from dracfg.lower.webhooks import webhooks

SERVICE = "service: {name: hook, namespace: gpu-driver}, path: /validate"
CERTIFICATE = "certManager: gpu-driver/hook"
SPEC = "spec: {attributes: {model: string}, "

NVIDIA = """
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.nvidia.com}
spec:
  preset: gpu.nvidia.com
  webhook: {service: {name: hook, namespace: nvidia}, path: /validate, caBundle: Zm9v}
"""


def found(catalog: Catalog) -> tuple[Artifact, ...]:
    return webhooks(catalog, catalog.clusters["east"])


def served(platform: str, webhook: str = f"{SERVICE}, {CERTIFICATE}") -> str:
    assert SPEC in platform
    return platform.replace(SPEC, f"{SPEC}webhook: {{{webhook}}}, ")


def test_everything_is_written_out(catalog_of: Any, platform: str) -> None:
    (artifact,) = found(catalog_of(served(platform)))
    thing = artifact.object
    assert thing["metadata"]["name"] == "dracfg-gpu.example.org"
    assert thing["metadata"]["annotations"] == {
        "cert-manager.io/inject-ca-from": "gpu-driver/hook",
        "dracfg.dev/origin": "all.yaml#Driver/gpu.example.org/spec/webhook",
    }
    assert thing["webhooks"] == [
        {
            "name": "gpu.example.org.webhooks.dracfg.dev",
            "clientConfig": {
                "service": {
                    "namespace": "gpu-driver",
                    "name": "hook",
                    "path": "/validate",
                    "port": 443,
                }
            },
            "rules": [
                {
                    "operations": ["CREATE", "UPDATE"],
                    "apiGroups": ["resource.k8s.io"],
                    "apiVersions": ["v1"],
                    "resources": ["resourceclaims", "resourceclaimtemplates"],
                    "scope": "*",
                }
            ],
            "failurePolicy": "Ignore",
            "matchPolicy": "Equivalent",
            "namespaceSelector": {
                "matchExpressions": [
                    {
                        "key": "kubernetes.io/metadata.name",
                        "operator": "NotIn",
                        "values": ["gpu-driver", "kube-system"],
                    }
                ]
            },
            "objectSelector": {},
            "sideEffects": "None",
            "timeoutSeconds": 10,
            "admissionReviewVersions": ["v1"],
        }
    ]
    assert artifact.file == "webhooks.yaml"


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36", "1.37"])
def test_it_fits_the_schema(catalog_of: Any, platform: str, minor: str) -> None:
    (artifact,) = found(catalog_of(served(platform)))
    assert schema_faults(artifact.object, minor) == ()


def test_a_ca_bundle_is_written_and_the_failure_policy_taken_over(
    catalog_of: Any, platform: str
) -> None:
    text = served(platform, f"{SERVICE}, caBundle: Zm9v, failurePolicy: Fail, port: 8443")
    (artifact,) = found(catalog_of(text))
    (webhook,) = artifact.object["webhooks"]
    assert webhook["clientConfig"]["caBundle"] == "Zm9v"
    assert webhook["clientConfig"]["service"]["port"] == 8443
    assert webhook["failurePolicy"] == "Fail"
    assert "cert-manager.io/inject-ca-from" not in artifact.object["metadata"]["annotations"]


def test_a_namespace_is_left_out_once(catalog_of: Any, platform: str) -> None:
    text = served(platform).replace("namespace: gpu-driver}", "namespace: kube-system}")
    (artifact,) = found(catalog_of(text))
    (rule,) = artifact.object["webhooks"][0]["namespaceSelector"]["matchExpressions"]
    assert rule["values"] == ["kube-system"]


def test_drivers_without_webhook_or_without_devices_by_claims(
    catalog_of: Any, platform: str
) -> None:
    assert found(catalog_of(platform)) == ()
    assert found(catalog_of(platform, NVIDIA)) == ()
    plugin = served(platform).replace("gpu.example.org: dra", "gpu.example.org: devicePlugin")
    assert found(catalog_of(plugin)) == ()


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ("", 1),
        ("  values: {webhook: {enabled: true}}\n", 0),
        ("  values: {webhook: {enabled: false}}\n", 1),
        ("  values: {webhook: here}\n", 1),
        ("  values: {resources: {webhook: {enabled: true}}}\n", 1),
    ],
)
def test_charts_that_install_it_are_left_to_do_so(
    catalog_of: Any, platform: str, values: str, count: int
) -> None:
    own = platform.split("---")[1]
    moved = platform.replace(own, "\n" + NVIDIA + values).replace(
        "gpu.example.org", "gpu.nvidia.com"
    )
    moved = moved.replace("model: A100", "productName: A100").replace(
        "model: L40S", "productName: L40S"
    )
    assert len(found(catalog_of(moved))) == count
