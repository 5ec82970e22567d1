"""Scope and immutable fields, held against the schemas."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

from dracfg.kube.kinds import kind_of, kinds


@pytest.mark.parametrize(
    ("api_version", "name", "namespaced", "immutable"),
    [
        ("resource.k8s.io/v1", "ResourceClaimTemplate", True, ("/spec",)),
        ("resource.k8s.io/v1beta1", "ResourceClaim", True, ("/spec",)),
        ("resource.k8s.io/v1", "DeviceClass", False, ()),
        ("v1", "Namespace", False, ()),
        ("v1", "ResourceQuota", True, ("/spec/scopes", "/spec/scopeSelector")),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", False, ("/roleRef",)),
        ("kueue.x-k8s.io/v1beta1", "LocalQueue", True, ("/spec/clusterQueue",)),
    ],
)
def test_kind(api_version: str, name: str, namespaced: bool, immutable: tuple[str, ...]) -> None:
    kind = kind_of(api_version, name)
    assert kind is not None
    assert (kind.namespaced, kind.immutable) == (namespaced, immutable)


def test_a_kind_belongs_to_its_group() -> None:
    assert kind_of("example.com/v1", "DeviceClass") is None


def test_immutable_fields_exist_and_every_schema_has_its_kind() -> None:
    path = resources.files("dracfg.kube") / "schemas" / "1.37.json"
    bundle: dict[str, Any] = json.loads(path.read_text("utf-8"))
    seen = 0
    for api_version, definitions in bundle["kinds"].items():
        for name, definition in definitions.items():
            kind = kind_of(api_version, name)
            assert kind is not None, (api_version, name)
            for pointer in kind.immutable:
                schema = bundle["$defs"][definition]
                for part in pointer.split("/")[1:]:
                    schema = schema["properties"][part]
                    if "$ref" in schema:
                        schema = bundle["$defs"][schema["$ref"].rpartition("/")[2]]
                seen += 1
    assert seen > 10
    assert len(kinds()) > 30
