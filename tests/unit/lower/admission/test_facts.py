"""What stands in the expressions' places: names, identities, literals."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from dracfg.cel import Program, admission_environment
from dracfg.link.catalog import Catalog
from dracfg.link.classes import device_classes
from dracfg.lower.admission.facts import facts, rule_versions
from dracfg.lower.admission.literals import literal

NVIDIA = """
apiVersion: dracfg.dev/v1alpha1
kind: Driver
metadata: {name: gpu.nvidia.com}
spec: {preset: gpu.nvidia.com, serviceAccount: {namespace: gpu, name: plugin}}
---
apiVersion: dracfg.dev/v1alpha1
kind: HardwareTier
metadata: {name: h100}
spec:
  driver: gpu.nvidia.com
  match: {attributes: {productName: H100}}
  device: {capacity: {memory: 80Gi}}
---
apiVersion: dracfg.dev/v1alpha1
kind: NodePool
metadata: {name: large}
spec:
  cluster: east
  nodes: 1
  nodeSelector: {pool: large}
  devices: [{tier: h100, perNode: 8}]
  owner: {gpu.nvidia.com: dra}
"""


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([], "[]"),
        ({}, "{}"),
        (["a", "b"], '["a", "b"]'),
        ({"b": "x", "a": "y"}, '{"a": "y", "b": "x"}'),
        (["a", 1], '[dyn("a"), dyn(1)]'),
        ({"a": [1], "b": {"c": True}}, '{"a": dyn([dyn(1)]), "b": dyn({"c": dyn(true)})}'),
        (Decimal("1.50"), "1.5"),
        (Decimal("1E+3"), "1000.0"),
        ('a"\\\n', '"a\\"\\\\\\n"'),
        (None, "null"),
    ],
)
def test_literals(data: Any, text: str) -> None:
    assert literal(data) == text


@pytest.mark.parametrize(
    "data", [{"a": [1, "x", None], "b": {"é": 1.5}}, ["a"], "\u2028\t\x7f", -3]
)
def test_literals_are_read_back(data: Any) -> None:
    program = admission_environment("1.34", has_params=False).compile(
        f"object == {literal(data)} ? true : false"
    )
    assert isinstance(program, Program), program
    assert program.evaluate({"object": data}) is True
    assert program.evaluate({"object": [data, 1]}) is False


def found(catalog: Catalog) -> dict[str, Any]:
    cluster = catalog.clusters["east"]
    return facts(catalog, cluster, device_classes(catalog, cluster))


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        ("nvidia.com/gpu", True),
        ("nvidia.com/gpu.shared", True),
        ("nvidia.com/mig-1g.5gb", True),
        ("nvidia.com/gpuXshared", False),
        ("nvidia.com/gpus", False),
        ("example.com/nvidia.com/gpu", False),
        ("cpu", False),
    ],
)
def test_plugins_names_are_those_of_the_preset(
    catalog_of: Any, platform: str, name: str, is_known: bool
) -> None:
    expression = found(catalog_of(platform, NVIDIA))["extendedNames"]
    assert bool(re.search(expression, name)) is is_known


def test_plugins_names_are_those_of_the_driver_where_it_says(
    catalog_of: Any, platform: str
) -> None:
    said = NVIDIA.replace("plugin}}", "plugin}, devicePlugin: {resources: [my.org/gpu]}}")
    expression = found(catalog_of(platform, said))["extendedNames"]
    assert re.search(expression, "my.org/gpu")
    assert not re.search(expression, "nvidia.com/gpu")


def test_without_a_name_nothing_matches(catalog_of: Any, platform: str) -> None:
    expression = found(catalog_of(platform))["extendedNames"]
    assert not any(re.search(expression, text) for text in ("", "cpu", "\n"))


def test_identity_attributes_are_of_every_release(catalog_of: Any, platform: str) -> None:
    assert found(catalog_of(platform))["identityAttributes"] == []
    named = found(catalog_of(platform, NVIDIA))["identityAttributes"]
    for attribute in ("uuid", "parentUUID", "pcieBusID"):
        assert f"gpu.nvidia.com/{attribute}" in named
    assert "resource.kubernetes.io/pciBusID" in named
    assert "gpu.nvidia.com/productName" not in named


def test_one_account_may_serve_several_drivers(catalog_of: Any, platform: str) -> None:
    both = platform.replace(
        "shareable: true}", "shareable: true, serviceAccount: {namespace: gpu, name: plugin}}"
    )
    assert found(catalog_of(both, NVIDIA))["driverAccounts"] == {
        "system:serviceaccount:gpu:plugin": ["gpu.example.org", "gpu.nvidia.com"]
    }
    moved = NVIDIA.replace("gpu.nvidia.com: dra}", "gpu.nvidia.com: devicePlugin}")
    assert found(catalog_of(platform, moved))["driverAccounts"] == {}


def test_held_pools_are_those_of_dra(catalog_of: Any, platform: str) -> None:
    held = platform.replace(
        "match: {attributes: {model: A100}}",
        "match: {attributes: {model: A100}}\n  reclaim: {onUnknownNode: hold, timeout: 15m}",
    )
    assert found(catalog_of(held))["heldPools"] == [
        {"selector": {"pool": "training"}, "fencing": "nodeLease"}
    ]
    assert found(catalog_of(held))["heldClasses"] == ["a100"]
    let_go = held.replace("onUnknownNode: hold", "onUnknownNode: release")
    assert found(catalog_of(let_go))["heldPools"] == []
    moved = held.replace(
        "perNode: 8}]\n  owner: {gpu.example.org: dra}",
        "perNode: 8}]\n  owner: {gpu.example.org: devicePlugin}",
    )
    assert found(catalog_of(moved))["heldPools"] == []


def test_versions_of_rules() -> None:
    assert rule_versions("resource.k8s.io", "ResourceClaim", "1.34") == ["v1"]
    assert rule_versions("", "ConfigMap", "1.34") == ["v1"]
