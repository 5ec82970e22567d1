"""No attribute beyond a tier's list gets from a slice into a schema, or past the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dracfg.link.exposure import exposures
from dracfg.lower.metadataschema import tier_schema
from dracfg.metadata import read
from dracfg.pipeline import judge
from tests.unit.metadata.fakedriver import Claim, FakeDriver

GOLDEN = Path(__file__).parents[2] / "golden" / "metadata"
SLICE = Path(__file__).parents[2] / "data" / "metadata" / "slices.yaml"
"""Made by hand in the form of resource.k8s.io/v1: more attributes than any list holds."""


def published() -> dict[str, Any]:
    return next(iter(yaml.safe_load(SLICE.read_text(encoding="utf-8"))["items"]))


def test_from_slice_to_schema_to_reader(tmp_path: Path) -> None:
    catalog = judge(GOLDEN, level="intent").catalog
    (exposed,) = (one for one in exposures(catalog.clusters["beta"]) if one.tier.name == "nic-100g")
    listed = set(exposed.tier.document.spec.expose)
    spec = published()["spec"]
    driver = FakeDriver(tmp_path / "host", tmp_path / "container", name=spec["driver"])
    devices = [
        {"pool": spec["pool"]["name"], "name": one["name"], "attributes": one["attributes"]}
        for one in spec["devices"]
    ]
    assert set(devices[0]["attributes"]) > listed
    schemas = [tier_schema(exposed, version) for version in exposed.versions]
    for schema in schemas:
        part = schema["properties"]["requests"]["items"]["properties"]["devices"]["items"]
        assert set(part["properties"]["attributes"]["properties"]) == listed
        assert "switchPassword" not in json.dumps(schema)
    driver.prepare(Claim("c"), "nic", devices)
    driver.mount()
    found = read(schemas=schemas, root=driver.container)
    for device in found.devices("nic", "nic"):
        assert set(device.attributes) == listed
        assert device.network is None


@pytest.mark.parametrize(
    "key", ["nic.example.com/mtu", "MTU", "mtu ", "resource.kubernetes.io/network", "__class__", ""]
)
def test_names_that_are_nearly_listed(tmp_path: Path, key: str) -> None:
    catalog = judge(GOLDEN, level="intent").catalog
    (exposed,) = (one for one in exposures(catalog.clusters["beta"]) if one.tier.name == "nic-100g")
    driver = FakeDriver(tmp_path / "host", tmp_path / "container")
    device = {"pool": "p", "name": "d", "attributes": {key: {"int": 1}}}
    driver.prepare(Claim("c"), "nic", [device])
    driver.mount()
    schemas = [tier_schema(exposed, version) for version in exposed.versions]
    (read_device,) = read(schemas=schemas, root=driver.container).devices("nic", "nic")
    assert read_device.attributes == {}


def test_network_data_of_a_tier_that_does_not_expose_them(tmp_path: Path) -> None:
    catalog = judge(GOLDEN, level="intent").catalog
    (exposed,) = (
        one for one in exposures(catalog.clusters["alpha"]) if one.tier.name == "flex-170"
    )
    driver = FakeDriver(tmp_path / "host", tmp_path / "container", "gpu.intel.com", ("v1alpha1",))
    network = {"interfaceName": "net1", "ips": ["10.0.0.7/24"]}
    driver.prepare(Claim("c"), "nic", [{"pool": "p", "name": "d", "networkData": network}])
    driver.mount()
    (device,) = read(
        schemas=[tier_schema(exposed, "v1alpha1")], root=driver.container, wait=0
    ).devices("nic", "nic")
    assert device.network is None
